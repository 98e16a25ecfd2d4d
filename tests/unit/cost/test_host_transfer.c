/* Leave-one-model-out on samples whose truth is known by construction. */
#include <math.h>
#include <stdio.h>

#include "cmocka_of_tests.h"

#include "cost/host_transfer.h"

enum { MODELS = 5, BATCHES = 3, OPS = 12 };

static pace_host_samples samples;
static pace_transfer_score scores[PACE_OVERHEAD_TYPES];

static int begin(void **state) {
    (void)state;
    return pace_host_samples_init(&samples) != PACE_OK;
}

static int end(void **state) {
    (void)state;
    pace_host_samples_free(&samples);
    return pace_memory_live() != 0;
}

static void add(const char *model, double batch, const char *op, double ns, double count) {
    pace_host_cost figure = {.mean_ns = ns, .count = count};
    assert_int_equal(pace_host_samples_add(&samples, model, batch, PACE_T2, op, figure), PACE_OK);
}

/* Every workload `scale(model, batch)` times the same operators. */
static void add_all(double (*scale)(int model, int batch)) {
    for (int m = 0; m < MODELS; m++)
        for (int b = 0; b < BATCHES; b++)
            for (int o = 0; o < OPS; o++) {
                char model[16], op[16];
                snprintf(model, sizeof model, "m%d", m);
                snprintf(op, sizeof op, "aten::op%d", o);
                add(model, 1 << (3 * b), op, 1000 * (o + 1) * scale(m, b), 10 + m);
            }
}

static void measure(void) {
    pace_host_samples_finish(&samples);
    assert_int_equal(pace_transfer_measure(scores, &samples), PACE_OK);
    assert_int_equal(scores[PACE_T1].pairs, 0);
}

static double alike(int model, int batch) { return 1 + 0 * (model + batch); }
static double by_batch(int model, int batch) { return exp(0.5 * batch) + 0 * model; }
static double by_model(int model, int batch) { return exp(0.3 * (model - 2)) + 0 * batch; }

TEST_WITH(test_same_everywhere, begin, end) {
    add_all(alike);
    measure();
    assert_int_equal(scores[PACE_T2].pairs, MODELS * BATCHES * OPS);
    assert_int_equal(scores[PACE_T2].alone, 0);
    for (int kind = 0; kind < PACE_TRANSFERS; kind++) assert_true(scores[PACE_T2].error[kind].largest < 1e-9);
}

/* The state of a session goes with the batch size: workloads of like batch tell it, the mean of all does not. */
TEST_WITH(test_like_batches, begin, end) {
    add_all(by_batch);
    measure();
    assert_true(scores[PACE_T2].error[PACE_TRANSFER_POOLED].mean > 0.3);
    assert_true(scores[PACE_T2].error[PACE_TRANSFER_OTHERS].mean < 0.05);
}

/* A model that is slower throughout: others cannot know, its other operators tell it. */
TEST_WITH(test_own_scale, begin, end) {
    add_all(by_model);
    measure();
    double others = scores[PACE_T2].error[PACE_TRANSFER_OTHERS].mean;
    assert_true(others > 0.2);
    assert_true(scores[PACE_T2].error[PACE_TRANSFER_SCALED].mean < others / 4);
}

/* T2 of an optimizer: 40 us and 2 us per parameter, whatever the model; nothing else tells it. */
TEST_WITH(test_optimizer_line, begin, end) {
    static const int parameters[] = {3, 16, 60, 161, 300, 400};
    for (int m = 0; m < 6; m++) {
        char model[16];
        snprintf(model, sizeof model, "m%d", m);
        add(model, 8, "torch::autograd::AccumulateGrad", 9000, 100 * parameters[m]);
        add(model, 8, "Optimizer.step#SGD.step", 40000 + 2000 * parameters[m], 100);
    }
    measure();
    assert_true(scores[PACE_T2].error[PACE_TRANSFER_POOLED].largest > 0.5);
    assert_true(scores[PACE_T2].error[PACE_TRANSFER_OTHERS].largest < 1e-6);
}

TEST_WITH(test_what_one_model_has, begin, end) {
    add("a", 0, "aten::relu", 1000, 1);
    add("b", 0, "aten::relu", 1000, 1);
    add("b", 0, "aten::gelu", 2000, 1);
    measure();
    assert_int_equal(scores[PACE_T2].pairs, 2);
    assert_int_equal(scores[PACE_T2].alone, 1);
    assert_true(fabs(scores[PACE_T2].class_error - 0.5) < 1e-9); /* as aten::relu, the only other forward operator */
}

TEST_WITH(test_one_model_is_too_few, begin, end) {
    add("a", 1, "aten::relu", 1000, 1);
    add("a", 2, "aten::relu", 1000, 1);
    add("b", 2, "aten::gelu", 1000, 1);
    pace_host_samples_finish(&samples);
    assert_int_equal(pace_transfer_measure(scores, &samples), PACE_E_INPUT);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

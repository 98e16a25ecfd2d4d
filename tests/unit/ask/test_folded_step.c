/* Steps of many micro-batches that are walked with fewer, against the same walked whole: every figure to the last
 * bit. */
#include "ask/predict/step_ask.h"
#include "cost/optimizer_line.h"
#include "model/lower.h"

#include <stdio.h>
#include <string.h>

#include "cmocka_of_tests.h"

enum { SETTINGS = 10, TRIES = 18 };

static uint32_t below(uint32_t *seed, uint32_t limit) {
    *seed = *seed * 1664525 + 1013904223; /* Numerical Recipes' generator */
    return (*seed >> 16) % limit;
}

static const char *const models[] = {"gpt2", "mlp", "distilbert", "resnet18", "lenet", "vit_tiny_16"};
static const char *const machines[] = {"dgx-h100", "dgx-a100", "dgx-1-v100"};
static const char *const precisions[] = {"precision=fp32", "precision=fp16", "precision=amp"};
static const char *const executions[] = {"execution=eager", "execution=compiled"};
static const char *const again[] = {"recompute=none", "recompute=full"};
static const char *const zeros[] = {"zero_stage=0", "zero_stage=1", "zero_stage=2", "zero_stage=3"};
static const char *const schedules[] = {"schedule=1f1b", "schedule=zero-bubble", "schedule=zb-v"};

#define ONE_OF(list) (list)[below(seed, sizeof(list) / sizeof *(list))]

typedef struct {
    const char *model, *machine;
    char text[SETTINGS][48];
    const char *words[SETTINGS];
    size_t count;
} choice;

static void set(choice *c, const char *text) {
    snprintf(c->text[c->count], sizeof c->text[0], "%s", text);
    c->words[c->count] = c->text[c->count];
    c->count++;
}

static void set_number(choice *c, const char *name, unsigned value) {
    char text[48];
    snprintf(text, sizeof text, "%s=%u", name, value);
    set(c, text);
}

static void draw(choice *c, uint32_t *seed) {
    unsigned pp = 1U << below(seed, 3), dp = 1 + below(seed, 2), m = 100 + below(seed, 40), vpp = 1;
    *c = (choice){.model = ONE_OF(models), .machine = ONE_OF(machines)};
    bool sequence = strcmp(c->model, "gpt2") == 0 || strcmp(c->model, "distilbert") == 0;
    if (!sequence) pp = 1;
    if (pp > 1) vpp = 1 + below(seed, 2), m -= m % pp;
    set(c, ONE_OF(precisions));
    set(c, ONE_OF(executions));
    set(c, ONE_OF(again));
    if (dp > 1) set(c, ONE_OF(zeros));
    if (pp > 1 && vpp == 1) set(c, ONE_OF(schedules));
    set_number(c, "pp", pp);
    set_number(c, "dp", dp);
    if (vpp > 1) set_number(c, "vpp", vpp);
    set_number(c, "micro_batch", 1);
    set_number(c, "global_batch", m * dp);
}

static void assert_same(const pace_step_solution *a, const pace_step_solution *b) {
    assert_true(a->walked && b->walked);
    assert_true(a->time_s.median == b->time_s.median);
    assert_true(a->time_s.spread == b->time_s.spread);
    assert_true(a->time_s.rung == b->time_s.rung);
    assert_true(a->forward_backward_s == b->forward_backward_s);
    assert_true(a->exchange.exposed_s == b->exchange.exposed_s);
    assert_true(a->exchange.exchange_s == b->exchange.exchange_s);
    assert_true(a->exchange.skew_s == b->exchange.skew_s);
}

/* Rounds that were left out; -1: not a step that this model and machine can do. */
static int compare(pace_catalog *catalog, const choice *c) {
    pace_machine machine;
    pace_device_catalog devices;
    const pace_device *device;
    pace_words set = {c->words, c->count};
    pace_step_asked step = {0};
    pace_step_solution folded, whole;
    assert_int_equal(pace_machine_parse(&machine, catalog, c->machine), PACE_OK);
    assert_int_equal(pace_device_catalog_load(&devices, catalog), PACE_OK);
    device = pace_device_find(&devices, machine.device, 0);
    pace_step_words words = {.name = c->model, .set = &set, .device = device, .machine = &machine};
    int rounds = -1;
    pace_status status = pace_step_asked_open(&step, catalog, &words);
    pace_step_case asked = step.asked;
    if (status == PACE_OK) {
        status = pace_step_solve(&folded, &step.pricer, &asked);
        asked.unfolded = true;
        assert_int_equal(pace_step_solve(&whole, &step.pricer, &asked), status);
    }
    if (status == PACE_OK) {
        assert_same(&folded, &whole);
        assert_int_equal(whole.folded, 0);
        rounds = (int)folded.folded;
    }
    pace_step_asked_close(&step);
    pace_device_catalog_free(&devices);
    return rounds;
}

TEST(test_same) {
    uint32_t seed = 3;
    int compared = 0, folded = 0;
    pace_catalog *catalog;
    assert_int_equal(pace_catalog_open(&catalog), PACE_OK);
    for (int i = 0; i < TRIES; i++) {
        choice c;
        draw(&c, &seed);
        int rounds = compare(catalog, &c);
        compared += rounds >= 0;
        folded += rounds > 0;
    }
    assert_true(compared > TRIES / 2 && folded > compared / 2);
    pace_catalog_free(catalog);
}

/* Filling and draining count for more in a folded step: the stage that waits least in it may wait more in the whole
 * one. In single precision hosts run so far ahead that it takes the try that has the device's queue in view. */
TEST(test_busiest_stage) {
    pace_catalog *catalog;
    choice c = {.model = "bert-large", .machine = "dgx-1-v100"};
    assert_int_equal(pace_catalog_open(&catalog), PACE_OK);
    set(&c, "precision=fp32");
    set_number(&c, "pp", 4);
    set_number(&c, "dp", 2);
    set_number(&c, "micro_batch", 1);
    set_number(&c, "global_batch", 320);
    assert_true(compare(catalog, &c) > 100);
    pace_catalog_free(catalog);
}

static double optimizer_parameters(pace_step_asked *step, double micro_batches) {
    pace_graph graph;
    pace_config config = step->asked.config;
    config.global_batch = config.micro_batch * config.dp * micro_batches;
    assert_int_equal(pace_model_lower(&graph, step->asked.model, &config, 0), PACE_OK);
    double parameters;
    assert_int_equal(pace_optimizer_parameters(&parameters, &graph), PACE_OK);
    pace_graph_free(&graph);
    return parameters;
}

/* Caffe's LeNet has four layers with a weight and a bias each, however many micro-batches add their gradients. */
TEST(test_optimizer) {
    pace_catalog *catalog;
    pace_step_asked step = {0};
    pace_words set = {NULL, 0};
    assert_int_equal(pace_catalog_open(&catalog), PACE_OK);
    assert_int_equal(pace_step_model_open(&step, catalog, "lenet", &set), PACE_OK);
    assert_true(optimizer_parameters(&step, 1) == 8);
    assert_true(optimizer_parameters(&step, 4) == 8);
    pace_step_asked_close(&step);
    pace_catalog_free(catalog);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/*
 * A network's loss and gradients against those that PyTorch computed in double precision (tests/data/gradients, written
 * by tools/torch_gradients.py). Skipped where the module is not built.
 */
#include "base/shared_object.h"
#include "trained_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmocka_of_tests.h"

enum { BATCH = 4 };

static const char *path_of(const char *name) {
    static char path[1024];
    const char *source = getenv("PACELINE_SOURCE");
    snprintf(path, sizeof path, "%s/tests/data/gradients/%s", source ? source : ".", name);
    return path;
}

static void fill(pace_network *n) {
    char message[PACE_ENGINE_MESSAGE];
    size_t count, classes;
    bool is_index, is_class;
    for (size_t t = 0; t < n->tensor_count; t++) {
        float *plain = malloc(n->tensors[t].elements * sizeof *plain);
        for (size_t k = 0; k < n->tensors[t].elements; k++) plain[k] = (float)(0.2 * sin(0.7 * (double)k + (double)t));
        assert_int_equal(n->engine->set_tensor(n->net, t, false, plain, message), PACE_ENGINE_OK);
        free(plain);
    }
    float *x = n->engine->input(n->net, 0, &count, &is_index);
    for (size_t k = 0; k < count; k++) x[k] = (float)sin(0.3 * (double)k);
    int32_t *labels = n->engine->labels(n->net, &count, &is_class, &classes);
    for (size_t k = 0; k < count; k++) labels[k] = (int32_t)(k % classes);
}

static void run_pass(pace_network *n, pace_engine_pass pass, uint32_t layer) {
    char message[PACE_ENGINE_MESSAGE];
    if (n->engine->run(n->net, layer, pass, message) != PACE_ENGINE_OK) fail_msg("%s", message);
}

static void run_step(pace_network *n) {
    for (uint32_t i = 0; i < n->model.layers.count; i++) run_pass(n, PACE_PASS_FORWARD, i);
    for (size_t i = n->model.layers.count; i--;) {
        run_pass(n, PACE_PASS_DATA, (uint32_t)i);
        run_pass(n, PACE_PASS_WEIGHTS, (uint32_t)i);
    }
}

/* A line of the file: number, elements, norm, gradient at four places. */
static void check_tensor(pace_network *n, size_t t, FILE *file) {
    char message[PACE_ENGINE_MESSAGE];
    size_t number, count;
    double norm, at[4], square = 0;
    assert_int_equal(fscanf(file, "%zu,%zu,%lf,%lf,%lf,%lf,%lf", &number, &count, &norm, at, at + 1, at + 2, at + 3),
                     7);
    assert_int_equal(number, t);
    const size_t places[4] = {0, count / 3, 2 * count / 3, count - 1};
    float *plain = malloc(n->tensors[t].elements * sizeof *plain);
    assert_int_equal(n->engine->get_tensor(n->net, t, true, plain, message), PACE_ENGINE_OK);
    for (size_t k = 0; k < count; k++) square += (double)plain[k] * plain[k];
    double close = 1e-4 * norm + 1e-6;
    for (int k = 0; k < 4; k++)
        if (fabs((double)plain[places[k]] - at[k]) > close)
            fail_msg("%s: gradient %zu is %g, PyTorch says %g", n->tensor_names[t], places[k], (double)plain[places[k]],
                     at[k]);
    if (fabs(sqrt(square) - norm) > close)
        fail_msg("%s: norm %g, PyTorch says %g", n->tensor_names[t], sqrt(square), norm);
    free(plain);
}

TEST(test_gradients) {
    pace_network n;
    pace_network_asked asked = {.model = path_of("net.yaml"),
                                .batch = BATCH,
                                .seed = 1,
                                .folder = getenv("PACELINE_MODULES")};
    double loss, right, wanted;
    (void)state;
    if (pace_network_open(&n, &asked) != PACE_OK) fail_msg("%s", pace_message());
    FILE *file = fopen(path_of("net.csv"), "r");
    assert_non_null(file);
    fill(&n);
    run_step(&n);
    n.engine->loss(n.net, &loss, &right);
    assert_int_equal(fscanf(file, "%lf", &wanted), 1);
    assert_true(fabs(loss - wanted) < 1e-5);
    for (size_t t = 0; t < n.tensor_count; t++) check_tensor(&n, t, file);
    fclose(file);
    pace_network_close(&n);
}

int main(void) {
    char path[1024];
    if (!pace_shared_object_find(path, sizeof path, getenv("PACELINE_MODULES"), "paceline-train-onednn.so")) {
        puts("skipped: there is no module of layers (libdnnl-dev)");
        return 77;
    }
    return run_tests_of_file(NULL, NULL);
}

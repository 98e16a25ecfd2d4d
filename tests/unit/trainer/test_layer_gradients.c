/*
 * Gradients of every kind of layer against finite differences of the loss along the gradient, and losses of small
 * networks against loops that know nothing of oneDNN. Skipped where the module is not built.
 */
#include "base/shared_object.h"
#include "trained_network.h"
#include "samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

static char folder[] = "/tmp/paceline_layersXXXXXX";

static const char *write_model(const char *text) {
    static char path[128];
    snprintf(path, sizeof path, "%s/net.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return path;
}

static const char *modules(void) { return getenv("PACELINE_MODULES"); }

static void open_net(pace_network *n, const char *text, size_t batch) {
    pace_samples samples;
    pace_network_asked asked = {.model = write_model(text), .batch = batch, .seed = 7, .folder = modules()};
    pace_status status = pace_network_open(n, &asked);
    if (status != PACE_OK) fail_msg("%s", pace_message());
    assert_int_equal(pace_samples_open(&samples, n, &(pace_samples_asked){.seed = 3, .ranks = 1}), PACE_OK);
}

static void run_pass(pace_network *n, pace_engine_pass pass, uint32_t layer) {
    char message[PACE_ENGINE_MESSAGE];
    if (n->engine->run(n->net, layer, pass, message) != PACE_ENGINE_OK) fail_msg("%s", message);
}

static double forward(pace_network *n) {
    double loss, right;
    for (uint32_t i = 0; i < n->model.layers.count; i++) run_pass(n, PACE_PASS_FORWARD, i);
    n->engine->loss(n->net, &loss, &right);
    return loss;
}

static void backward(pace_network *n) {
    for (size_t i = n->model.layers.count; i--;) {
        run_pass(n, PACE_PASS_DATA, (uint32_t)i);
        run_pass(n, PACE_PASS_WEIGHTS, (uint32_t)i);
    }
}

/* The loss with one tensor moved by `far` along a direction, in a network made anew, so that dropout draws the same. */
static double moved(const char *text, size_t batch, size_t tensor, const float *along, double far) {
    pace_network n;
    open_net(&n, text, batch);
    for (size_t e = 0; e < n.tensors[tensor].elements; e++) n.tensors[tensor].weights[e] += (float)(far * along[e]);
    double loss = forward(&n);
    pace_network_close(&n);
    return loss;
}

static void check_tensor(const char *text, size_t batch, const pace_network *n, size_t tensor) {
    const pace_engine_tensor *t = &n->tensors[tensor];
    double square = 0, far = 0;
    for (size_t e = 0; e < t->elements; e++) square += (double)t->gradient[e] * t->gradient[e];
    double length = sqrt(square);
    if (length < 1e-5) fail_msg("%s has no gradient", n->tensor_names[tensor]);
    float *along = calloc(t->elements, sizeof *along);
    for (size_t e = 0; e < t->elements; e++) along[e] = (float)(t->gradient[e] / length);
    double best =
        INFINITY; /* a kink of relu or max may lie within one distance, not within all; deep networks are smooth here */
    for (far = 3e-2; far > 4e-4; far /= 2) {
        double slope = (moved(text, batch, tensor, along, far) - moved(text, batch, tensor, along, -far)) / (2 * far);
        best = fmin(best, fabs(slope - length) / length);
    }
    free(along);
    if (best > 0.01) fail_msg("%s: off by %g of %g", n->tensor_names[tensor], best, length);
}

static void check_batch(const char *layers, size_t batch) {
    char text[2048];
    pace_network n;
    snprintf(text, sizeof text, "family: net\nabout: a\nsource: b\n%s", layers);
    open_net(&n, text, batch);
    forward(&n);
    backward(&n);
    for (size_t i = 0; i < n.tensor_count; i++) check_tensor(text, batch, &n, i);
    pace_network_close(&n);
}

static void check(const char *layers) { check_batch(layers, 3); }

#define IMAGE \
    "inputs: {image: {image: [3, 8, 8]}}\nloss: cross_entropy\nlayers:\n  - conv: {out: 8, kernel: 3, pad: 1}\n"
#define END "  - flatten\n  - linear: 5\n"

TEST(test_convolutions) {
    check(IMAGE "  - conv: {out: 6, kernel: 3, stride: 2, pad: 1, bias: 0}\n" END);
    check(
        IMAGE
        "  - conv: {out: 8, kernel: 3, pad: 1, groups: 8}\n  - conv: {out: 16, kernel: 3, dilation: 2, pad: 2}\n" END);
    check(IMAGE "  - conv: {out: 16, kernel: [1, 3], pad: [0, 1], groups: 2}\n" END);
}

TEST(test_pools) {
    check(IMAGE "  - max_pool: {kernel: 3, stride: 2, ceil: 1}\n" END);
    check(IMAGE "  - max_pool: {kernel: 3, stride: 2, pad: 1}\n" END);
    check(IMAGE "  - avg_pool: {kernel: 3, stride: 1, pad: 1}\n  - adaptive_pool\n" END);
}

TEST(test_norms) {
    check(
        IMAGE
        "  - tanh\n  - conv: {out: 8, bias: 0}\n  - batch_norm\n  - tanh\n  - conv: {out: 8, bias: 0}\n  - batch_norm\n  - tanh\n" END);
    check(IMAGE "  - lrn: 5\n" END);
}

TEST(test_elementwise) {
    static const char *const words[] = {"relu", "relu6", "gelu", "silu", "tanh", "sigmoid", "dropout: 0.4"};
    char text[512];
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(text, sizeof text, IMAGE "  - %s\n" END, words[i]);
        check(text);
    }
}

TEST(test_joins) {
    check(IMAGE "  - add:\n      - [conv: {out: 8, kernel: 3, pad: 1}, tanh, conv: {out: 8}]\n      - []\n  - tanh\n"
                "  - add: [[conv: {out: 8}], [conv: {out: 8, kernel: 3, pad: 1}]]\n" END);
    check(
        IMAGE
        "  - concat:\n      - [conv: {out: 5}]\n      - [conv: {out: 16, kernel: 3, pad: 1}, tanh]\n      - [max_pool: "
        "{kernel: 3, stride: 1, pad: 1}]\n  - conv: {out: 7}\n" END);
    check(
        "inputs: {x: {features: 6}}\nloss: mse\nlayers:\n  - linear: 9\n  - multiply: [[linear: 4], [linear: 4, sigmoid]]\n  - "
        "linear: 2\n");
    check(
        "inputs: {x: {features: 6}}\nloss: binary_cross_entropy\nlayers:\n  - linear: 9\n  - tanh\n  - linear: 1\n  - sigmoid\n");
}

#define TOKENS \
    "inputs: {t: {tokens: 5}}\nloss: cross_entropy\nlayers:\n  - embedding: {rows: 11, width: 8}\n  - layer_norm\n"

TEST(test_sequences) {
    check(TOKENS
          "  - positions: 7\n  - layer_norm\n  - linear: 24\n  - attention: {heads: 2, causal: 1}\n  - linear: 11\n");
    check_batch(TOKENS "  - positions: 7\n  - linear: 11\n", 1); /* nothing to sum over samples */
    check(TOKENS "  - linear: 8\n  - tanh\n  - select\n  - linear: 11\n");
    check(TOKENS "  - linear: 24\n  - attention: {heads: 4, dropout: 0.3}\n  - gelu\n  - linear: 11\n");
    check(TOKENS
          "  - {linear: 8, as: q}\n  - {linear: {out: 8, bias: 0}, from: q, as: k}\n  - {linear: 8, from: q, as: v}\n"
          "  - {attention: {heads: 2}, from: [q, k, v]}\n  - layer_norm\n  - linear: {out: 11, tied: 1, bias: 0}\n");
}

/* Of sparse tables there is no gradient to look at: rows move against it, so that the loss falls by rate times its
 * square. */
TEST(test_recommendation) {
    static const char text[] =
        "family: net\nabout: a\nsource: b\ninputs:\n  dense: {features: 6}\n  sparse: {indices: 6}\n"
        "loss: binary_cross_entropy\nlayers:\n  - {linear: 4, from: dense, as: vector}\n"
        "  - {embedding_bag: {rows: 50, width: 4, tables: 3, lookups: 2}, from: sparse, as: vectors}\n"
        "  - {interaction: , from: [vector, vectors]}\n  - linear: 1\n  - sigmoid\n";
    pace_network n;
    (void)state;
    open_net(&n, text, 4);
    double before = forward(&n);
    backward(&n);
    for (size_t i = 0; i < n.tensor_count; i++)
        if (!n.tensors[i].sparse) check_tensor(text, 4, &n, i);
    double square = 0, rate = 0.02;
    for (size_t i = 0; i < n.tensor_count; i++) {
        if (!n.tensors[i].sparse) continue;
        size_t count = n.tensors[i].elements;
        float *old = malloc(count * sizeof *old);
        memcpy(old, n.tensors[i].weights, count * sizeof *old);
        n.engine->update_rows(n.net, i, (float)rate, NULL);
        for (size_t e = 0; e < count; e++) square += pow((old[e] - n.tensors[i].weights[e]) / rate, 2);
        free(old);
    }
    double fell = before - forward(&n);
    assert_true(square > 0);
    assert_true(fabs(fell - rate * square) < 0.05 * rate * square);
    pace_network_close(&n);
}

/* --- losses by plain loops ---------------------------------------------------------------------------------------- */

static float *plain(pace_network *n, size_t tensor) {
    char message[PACE_ENGINE_MESSAGE];
    float *out = calloc(n->tensors[tensor].elements, sizeof *out);
    assert_int_equal(n->engine->get_tensor(n->net, tensor, false, out, message), PACE_ENGINE_OK);
    return out;
}

/* conv 3 -> 4 of 3 x 3, stride 2, pad 1; relu; rows of 4 x 4 x 4; linear to 5; cross entropy. */
static double by_loops(pace_network *n, size_t batch) {
    size_t count, label_count, classes;
    bool is_index, is_class;
    const float *x = n->engine->input(n->net, 0, &count, &is_index);
    const int32_t *labels = n->engine->labels(n->net, &label_count, &is_class, &classes);
    float *w = plain(n, 0), *b = plain(n, 1), *v = plain(n, 2), *c = plain(n, 3);
    double loss = 0;
    for (size_t s = 0; s < batch; s++) {
        double h[64], scores[5], sum = 0;
        for (int o = 0; o < 4; o++)
            for (int y = 0; y < 4; y++)
                for (int z = 0; z < 4; z++) {
                    double at = b[o];
                    for (int i = 0; i < 3; i++)
                        for (int r = 0; r < 3; r++)
                            for (int q = 0; q < 3; q++) {
                                int row = 2 * y + r - 1, column = 2 * z + q - 1;
                                if (row < 0 || row > 7 || column < 0 || column > 7) continue;
                                at += (double)x[((s * 3 + (size_t)i) * 8 + (size_t)row) * 8 + (size_t)column] *
                                      w[((o * 3 + i) * 3 + r) * 3 + q];
                            }
                    h[(o * 4 + y) * 4 + z] = at > 0 ? at : 0;
                }
        for (int k = 0; k < 5; k++) {
            scores[k] = c[k];
            for (int i = 0; i < 64; i++) scores[k] += v[k * 64 + i] * h[i];
            sum += exp(scores[k]);
        }
        loss += log(sum) - scores[labels[s]];
    }
    free(w), free(b), free(v), free(c);
    return loss / (double)batch;
}

TEST(test_loss_by_loops) {
    pace_network n;
    (void)state;
    open_net(&n,
             "family: net\nabout: a\nsource: b\ninputs: {image: {image: [3, 8, 8]}}\nloss: cross_entropy\nlayers:\n"
             "  - conv: {out: 4, kernel: 3, stride: 2, pad: 1}\n  - relu\n  - flatten\n  - linear: 5\n",
             6);
    double loss = forward(&n);
    assert_true(fabs(loss - by_loops(&n, 6)) < 1e-5);
    pace_network_close(&n);
}

TEST(test_refused) {
    pace_network n;
    (void)state;
    pace_network_asked asked = {.batch = 2, .folder = modules()};
    asked.model =
        write_model("family: net\nabout: a\nsource: b\ninputs: {x: {vectors: [4, 6]}}\nloss: cross_entropy\nlayers:\n"
                    "  - {lstm: 4, name: memory}\n  - linear: 9\n");
    assert_int_equal(pace_network_open(&n, &asked), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "memory"));
    assert_non_null(strstr(pace_message(), "lstm"));
    asked.model = "lenet";
    asked.most_bytes = 1e6;
    assert_int_equal(pace_network_open(&n, &asked), PACE_E_NO_FIT);
    asked.most_bytes = 0;
    const char *set[] = {"precision=fp16"};
    asked.set = (pace_words){set, 1};
    assert_int_equal(pace_network_open(&n, &asked), PACE_E_USAGE);
    asked.set.count = 0;
    asked.folder = "/nowhere";
    assert_int_equal(pace_network_open(&n, &asked), PACE_E_MISSING);
    assert_non_null(strstr(pace_message(), "libdnnl-dev"));
}

int main(void) {
    char path[1024];
    if (!pace_shared_object_find(path, sizeof path, modules(), "paceline-train-onednn.so")) {
        puts("skipped: there is no module of layers (libdnnl-dev)");
        return 77;
    }
    if (!mkdtemp(folder)) return 1;
    int failed = run_tests_of_file(NULL, NULL);
    snprintf(path, sizeof path, "%s/net.yaml", folder);
    unlink(path);
    rmdir(folder);
    return failed;
}

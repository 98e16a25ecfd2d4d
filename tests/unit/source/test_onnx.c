/* ONNX graphs as models: real ones against published counts, a small one written here, and bytes that are none. */
#include "model/lower.h"
#include "source/traces/onnx.h"
#include "source/traces/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

/* Parameters as their sources print them: Caffe's BVLC models, torchvision (ResNet-50, VGG-19, SqueezeNet 1.1), and,
 * for what torchvision has too, billions of multiply-adds. ZFNet-512 is counted by hand from the sizes of its weights.
 */
TEST(test_published) {
    static const struct {
        const char *file;
        double parameters, billions;
    } graphs[] = {
        {"light_bvlc_alexnet", 60965224, 0},
        {"light_inception_v1", 6998552, 0},
        {"light_resnet50", 25557032, 4.09},
        {"light_squeezenet", 1235496, 0.35},
        {"light_vgg19", 143667240, 19.63},
        {"light_zfnet512",
         7 * 7 * 3 * 96 + 96 + 5 * 5 * 96 * 256 + 256 + 9 * 256 * 512 + 512 + 2 * (9 * 512 * 512 + 512) + 18432 * 4096 +
             4096 + 4096 * 1024 + 1024 + 1024 * 1000 + 1000,
         0},
    };
    const char *shared = getenv("PACELINE_SHARED");
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        char path[512];
        pace_model model;
        pace_graph graph;
        pace_config config = pace_config_default();
        snprintf(path, sizeof path, "%s/kernels/onnx_light/%s.onnx", shared ? shared : "", graphs[i].file);
        FILE *file = fopen(path, "rb");
        if (!file) skip();
        fclose(file);
        if (pace_onnx_read(&model, path) != PACE_OK) fail_msg("%s", pace_message());
        pace_model_totals total = pace_model_total(&model, &config);
        if (total.parameters != graphs[i].parameters) fail_msg("%s: %.0f parameters", path, total.parameters);
        double rounded = (double)(long)(total.multiply_adds / 1e7 + 0.5) / 100;
        if (graphs[i].billions > 0 && rounded != graphs[i].billions) fail_msg("%s: %g", path, total.multiply_adds);
        if (pace_model_lower(&graph, &model, &config, 0) != PACE_OK) fail_msg("%s: %s", path, pace_message());
        pace_graph_free(&graph);
        pace_model_free(&model);
    }
}

/* ---- a graph written here ---- */

static void number(pace_wire_bytes *to, uint32_t field, uint64_t value) {
    assert_int_equal(pace_wire_put_number(to, field, value), PACE_OK);
}

static void text(pace_wire_bytes *to, uint32_t field, const char *value) {
    assert_int_equal(pace_wire_put_bytes(to, field, value, strlen(value)), PACE_OK);
}

/* Puts a message into another and frees it. */
static void message(pace_wire_bytes *to, uint32_t field, pace_wire_bytes *inner) {
    assert_int_equal(pace_wire_put_bytes(to, field, inner->items, inner->count), PACE_OK);
    PACE_VEC_FREE(inner);
}

static void initializer(pace_wire_bytes *graph, const char *name, const uint64_t *sizes, size_t count) {
    pace_wire_bytes tensor = {0};
    for (size_t i = 0; i < count; i++) number(&tensor, 1, sizes[i]);
    text(&tensor, 8, name);
    message(graph, 5, &tensor);
}

static void input(pace_wire_bytes *graph, const char *name, const uint64_t *sizes, size_t count) {
    pace_wire_bytes value = {0}, type = {0}, tensor = {0}, shape = {0};
    for (size_t i = 0; i < count; i++) {
        pace_wire_bytes dim = {0};
        if (sizes[i]) number(&dim, 1, sizes[i]);
        else text(&dim, 2, "batch");
        message(&shape, 1, &dim);
    }
    message(&tensor, 2, &shape);
    message(&type, 1, &tensor);
    text(&value, 1, name);
    message(&value, 2, &type);
    message(graph, 11, &value);
}

static void node(pace_wire_bytes *graph, const char *op, const char *inputs, const char *output) {
    pace_wire_bytes to = {0};
    char names[64];
    snprintf(names, sizeof names, "%s", inputs);
    for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) text(&to, 1, name);
    text(&to, 2, output);
    text(&to, 4, op);
    if (strcmp(op, "MaxPool") == 0) {
        static const char *const keys[] = {"kernel_shape", "strides"};
        for (int i = 0; i < 2; i++) {
            pace_wire_bytes attribute = {0};
            text(&attribute, 1, keys[i]);
            for (int k = 0; k < 2; k++) number(&attribute, 8, 2);
            message(&to, 5, &attribute);
        }
    }
    message(graph, 1, &to);
}

/* conv 3x3 to 4 channels, relu, a branch, pool, linear to 10; `op` stands where relu does. */
static pace_wire_bytes write_model(const char *op) {
    static const uint64_t image[] = {0, 3, 8, 8}, filter[] = {4, 3, 3, 3}, bias[] = {4}, narrow[] = {4, 4, 1, 1};
    static const uint64_t weight[] = {36, 10};
    pace_wire_bytes graph = {0}, model = {0};
    initializer(&graph, "w", filter, 4);
    initializer(&graph, "b", bias, 1);
    initializer(&graph, "n", narrow, 4);
    initializer(&graph, "m", weight, 2);
    input(&graph, "x", image, 4);
    input(&graph, "w", filter, 4);
    node(&graph, "Conv", "x w b", "c");
    node(&graph, op, "c", "r");
    node(&graph, "Conv", "r n", "d");
    node(&graph, "Add", "r d", "s");
    node(&graph, "MaxPool", "s", "p");
    node(&graph, "Flatten", "p", "f");
    node(&graph, "MatMul", "f m", "y");
    node(&graph, "Softmax", "y", "z");
    number(&model, 1, 8);
    message(&model, 7, &graph);
    return model;
}

TEST(test_small) {
    pace_wire_bytes bytes = write_model("Relu");
    pace_model model;
    pace_config config = pace_config_default();
    if (pace_onnx_parse(&model, "m.onnx", bytes.items, bytes.count) != PACE_OK) fail_msg("%s", pace_message());
    pace_model_totals total = pace_model_total(&model, &config);
    assert_true(total.parameters == 4 * 27 + 4 + 16 + 360);
    assert_true(total.multiply_adds == 36 * (108 + 16) + 360);
    static const char *const words[] = {"image",    "conv",    "relu",   "conv",         "add",
                                        "max_pool", "flatten", "linear", "cross_entropy"};
    assert_int_equal(model.layers.count, sizeof words / sizeof *words);
    for (size_t i = 0; i < model.layers.count; i++) assert_string_equal(model.layers.items[i].word, words[i]);
    pace_model_free(&model);
    PACE_VEC_FREE(&bytes);
}

TEST(test_refused) {
    pace_model model;
    pace_wire_bytes bytes = write_model("Frobnicate");
    assert_int_equal(pace_onnx_parse(&model, "m.onnx", bytes.items, bytes.count), PACE_E_MISSING);
    assert_non_null(strstr(pace_message(), "node \"r\" (Frobnicate): this operator is not understood"));
    PACE_VEC_FREE(&bytes);
    static const unsigned char garbage[] = "this is no protocol buffer at all";
    assert_int_equal(pace_onnx_parse(&model, "m.onnx", garbage, sizeof garbage), PACE_E_INPUT);
    assert_int_equal(pace_onnx_parse(&model, "m.onnx", garbage, 0), PACE_E_INPUT);
    assert_int_equal(pace_onnx_read(&model, "/no/such.onnx"), PACE_E_IO);
    assert_int_equal(pace_onnx_read(&model, "/tmp"), PACE_E_IO);
    bytes = write_model("Relu"); /* cut anywhere it is refused, or what is left still makes sense */
    for (size_t length = 0; length < bytes.count; length++)
        assert_int_not_equal(pace_onnx_parse(&model, "m.onnx", bytes.items, length), PACE_OK);
    PACE_VEC_FREE(&bytes);
}

/* Bytes come as they are read, once: a file that another program cuts short meanwhile ends earlier, no more. */
TEST(test_read_as_a_stream) {
    pace_wire_bytes bytes = write_model("Relu");
    pace_model model;
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(write(ends[1], bytes.items, bytes.count), bytes.count);
    close(ends[1]);
    if (pace_onnx_read(&model, path) != PACE_OK) fail_msg("%s", pace_message());
    assert_int_equal(model.layers.count, 9);
    close(ends[0]);
    pace_model_free(&model);
    PACE_VEC_FREE(&bytes);
}

TEST(test_allocations_fail) {
    pace_wire_bytes bytes = write_model("Relu");
    int64_t before = pace_memory_live();
    pace_status status = PACE_E_MEMORY;
    for (uint64_t n = 1; status != PACE_OK; n++) {
        pace_model model;
        pace_memory_fail_at(n);
        status = pace_onnx_parse(&model, "m.onnx", bytes.items, bytes.count);
        pace_memory_fail_at(0);
        assert_true(status == PACE_OK || status == PACE_E_MEMORY);
        if (status == PACE_OK) pace_model_free(&model);
        assert_int_equal(pace_memory_live(), before);
    }
    PACE_VEC_FREE(&bytes);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

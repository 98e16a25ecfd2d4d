/* Pooling is the statistics of all samples together; what was never measured falls back, closest first; files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "cost/host_costs.h"

static pace_host_costs costs;

static int open_costs(void **state) {
    (void)state;
    return pace_host_costs_init(&costs) != PACE_OK;
}

static int close_costs(void **state) {
    (void)state;
    pace_host_costs_free(&costs);
    return pace_memory_live() != 0;
}

static void add(pace_overhead_type type, const char *name, double mean_ns, double count) {
    pace_host_cost figure = {.mean_ns = mean_ns, .count = count};
    assert_int_equal(pace_host_costs_add(&costs, type, name, figure), PACE_OK);
}

static double get(pace_overhead_type type, const char *name, bool launching, pace_host_level expected) {
    pace_host_level level;
    double ns = pace_host_costs_get(&costs, type, name, launching, &level).mean_ns;
    assert_int_equal(level, expected);
    return ns;
}

static pace_host_cost statistics(const double *samples, size_t count) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) sum += samples[i];
    for (size_t i = 0; i < count; i++)
        squares += (samples[i] - sum / (double)count) * (samples[i] - sum / (double)count);
    return (pace_host_cost){sum / (double)count, sqrt(squares / (double)count), (double)count};
}

/* Cut anywhere, added in parts or pooled from two databases: the same figure. */
TEST(test_pooling_is_concatenation) {
    double samples[97];
    for (size_t i = 0; i < 97; i++) samples[i] = 1000 + (double)((i * 7919) % 613) * (i % 5 == 0 ? 40 : 1);
    pace_host_cost all = statistics(samples, 97);
    for (size_t cut = 1; cut < 97; cut += 5) {
        pace_host_costs one, other;
        assert_int_equal(pace_host_costs_init(&one), PACE_OK);
        assert_int_equal(pace_host_costs_init(&other), PACE_OK);
        assert_int_equal(pace_host_costs_add(&one, PACE_T2, "a", statistics(samples, cut)), PACE_OK);
        assert_int_equal(pace_host_costs_add(&other, PACE_T2, "b", statistics(samples, 3)), PACE_OK);
        assert_int_equal(pace_host_costs_add(&other, PACE_T2, "a", statistics(samples + cut, 97 - cut)), PACE_OK);
        assert_int_equal(pace_host_costs_pool(&one, &other), PACE_OK);
        pace_host_cost pooled = pace_host_costs_get(&one, PACE_T2, "a", true, NULL);
        assert_true(fabs(pooled.mean_ns - all.mean_ns) < 1e-9 * all.mean_ns);
        assert_true(fabs(pooled.std_ns - all.std_ns) < 1e-9 * all.std_ns);
        assert_true(pooled.count == 97);
        pace_host_costs_free(&one);
        pace_host_costs_free(&other);
    }
}

TEST_WITH(test_falls_back_closest_first, open_costs, close_costs) {
    get(PACE_T2, "aten::relu", true, PACE_HOST_NOTHING);
    add(PACE_T2, "aten::relu_", 100, 1);
    add(PACE_T2, "AddmmBackward0", 500, 1);
    add(PACE_T2, "MulBackward0", 2000, 1000);
    add(PACE_T4, "cudaLaunchKernel", 40, 1);
    assert_true(get(PACE_T2, "aten::relu_", true, PACE_HOST_OWN) == 100);
    assert_true(get(PACE_T2, "aten::relu", true, PACE_HOST_ALIKE) == 100);
    assert_true(get(PACE_T2, "autograd::engine::evaluate_function: AddmmBackward0", true, PACE_HOST_ALIKE) == 500);
    assert_true(get(PACE_T4, "hipLaunchKernel", true, PACE_HOST_ALIKE) == 40);
    /* one figure per name, however often seen: sqrt(501 * 2001) - 1 */
    double class = get(PACE_T2, "autograd::engine::evaluate_function: SumBackward1", true, PACE_HOST_CLASS);
    assert_true(fabs(class - (sqrt(501.0 * 2001.0) - 1)) < 1e-6);
    assert_true(get(PACE_T4, "cuLaunchKernelEx", true, PACE_HOST_CLASS) - 40 < 1e-9);
    get(PACE_T2, "Optimizer.step#SGD.step", true, PACE_HOST_TYPICAL);
    get(PACE_T2, NULL, true, PACE_HOST_TYPICAL);
    get(PACE_T3, "aten::relu", true, PACE_HOST_NOTHING);
}

/* An unknown operator that makes no call is not like the gaps between the calls of those that do. */
TEST_WITH(test_silent_operators_are_a_class, open_costs, close_costs) {
    add(PACE_T2, "aten::linear", 30000, 1);
    add(PACE_T5, "aten::linear", 29000, 1);
    add(PACE_T5, "aten::view", 4000, 1);
    assert_true(fabs(get(PACE_T5, "aten::reshape", false, PACE_HOST_CLASS) - 4000) < 1e-6);
    assert_true(fabs(get(PACE_T5, "aten::matmul", true, PACE_HOST_CLASS) - 29000) < 1e-5);
}

TEST(test_names) {
    static const char *const same[][2] = {
        {"autograd::engine::evaluate_function: ConvolutionBackward0", "ConvolutionBackward"},
        {"aten::cudnn_convolution", "aten::convolution"},
        {"NativeBatchNormBackward0", "CudnnBatchNormBackward"},
        {"torch::autograd::AccumulateGrad", "AccumulateGrad"},
        {"cuLaunchKernel", "hipLaunchKernel"},
        {"aten::add_", "aten::add"},
    };
    char a[PACE_HOST_NAME_LENGTH], b[PACE_HOST_NAME_LENGTH];
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_int_equal(pace_host_name_plain(a, same[i][0]), pace_host_name_plain(b, same[i][1]));
        assert_string_equal(a, b);
    }
    pace_host_name_plain(a, "aten::log2");
    assert_string_equal(a, "log2"); /* another function than log */
    char longest[4 * PACE_HOST_NAME_LENGTH];
    memset(longest, '7', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(pace_host_name_plain(a, longest), PACE_HOST_NAME_LENGTH - 1);
    assert_int_equal(pace_host_name_plain(a, ""), 0);
    assert_int_equal(pace_host_name_kind("Optimizer.step#SGD.step"), PACE_HOST_OPTIMIZER);
    assert_int_equal(pace_host_name_kind("torch::autograd::AccumulateGrad"), PACE_HOST_BACKWARD);
    assert_int_equal(pace_host_name_kind("hipMemcpyWithStream"), PACE_HOST_COPY);
    assert_int_equal(pace_host_name_kind("cumsum"), PACE_HOST_FORWARD);
}

static pace_status read_text(const char *text) {
    char path[] = "/tmp/paceline-overheads-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    pace_status status = pace_host_costs_read(&costs, path);
    remove(path);
    return status;
}

TEST_WITH(test_bad_files_say_where, open_costs, close_costs) {
    static const struct {
        const char *text, *message;
    } files[] = {
        {"", "byte"},
        {"[]", "expected an object of host overheads"},
        {"{}", "expected \"rows\", or \"t1\" to \"t5\""},
        {"{\"rows\": 3}", "expected an array of rows"},
        {"{\"rows\": [{\"type\": \"t9\"}]}", "expected a type, \"t1\" to \"t5\""},
        {"{\"rows\": [{\"name\": \"a\"}]}", "expected a row with a \"type\""},
        {"{\"rows\": [{\"type\": \"t1\", \"mean_ns\": -1}]}", "expected a duration or count of at least 0"},
        {"{\"t2\": {\"a\": [1]}}", "expected a duration"},
        {"{\"t1\": [1, 2]} {}", "expected the end of the document"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_int_not_equal(read_text(files[i].text), PACE_OK);
        if (i && !strstr(pace_message(), files[i].message))
            fail_msg("expected '%s' in '%s'", files[i].message, pace_message());
        assert_non_null(strstr(pace_message(), "/tmp/paceline-overheads-"));
    }
}

TEST_WITH(test_reads_rows, open_costs, close_costs) {
    assert_int_equal(read_text("{\"schema\": \"paceline.overheads/1\", \"rows\": ["
                               "{\"type\": \"t2\", \"name\": \"a\", \"count\": 9, \"kept\": 3, \"mean_ns\": 10, "
                               "\"std_ns\": 0, \"samples_ns\": [10, 10, 10]},"
                               "{\"type\": \"t2\", \"name\": \"a\", \"kept\": 1, \"mean_ns\": 50, \"std_ns\": 0}]}"),
                     PACE_OK);
    assert_true(get(PACE_T2, "a", true, PACE_HOST_OWN) == 20);
}

#define WORKLOAD(name, gradients, t2)                                                                     \
    "{\"workload\": \"" name "\", \"type\": \"t2\", \"name\": \"Optimizer.step#SGD.step\", \"kept\": 5, " \
    "\"mean_ns\": " t2 ", \"std_ns\": 0},"                                                                \
    "{\"workload\": \"" name "\", \"type\": \"t2\", \"name\": \"torch::autograd::AccumulateGrad\", "      \
    "\"kept\": " gradients ", \"mean_ns\": 9, \"std_ns\": 0}"

/* Two workloads of 5 steps, of 10 and 100 parameters: 50 us and 1 us a parameter; of one alone no line is known. */
TEST_WITH(test_optimizers_by_parameters, open_costs, close_costs) {
    static const char step[] = "Optimizer.step#SGD.step";
    assert_int_equal(read_text("{\"rows\": [" WORKLOAD("a", "50", "60000") "]}"), PACE_OK);
    assert_true(pace_host_costs_optimizer_ns(&costs, step, 40) == 0);
    assert_int_equal(read_text("{\"rows\": [" WORKLOAD("a", "50", "60000") ", " WORKLOAD("b", "500", "150000") "]}"),
                     PACE_OK);
    for (double parameters = 1; parameters < 1000; parameters *= 3) {
        double ns = 50000 + 1000 * parameters;
        assert_true(fabs(pace_host_costs_optimizer_ns(&costs, step, parameters) - ns) < 1e-6 * ns);
        assert_true(fabs(pace_host_costs_optimizer_ns(&costs, "Optimizer.step#Adam.step", parameters) - ns) <
                    1e-6 * ns);
    }
    pace_host_costs pooled;
    assert_int_equal(pace_host_costs_init(&pooled), PACE_OK);
    assert_int_equal(pace_host_costs_pool(&pooled, &costs), PACE_OK);
    assert_true(fabs(pace_host_costs_optimizer_ns(&pooled, step, 40) - 90000) < 1e-3);
    pace_host_costs_free(&pooled);
    add(PACE_T2, "Optimizer.step#Adam.step", 7, 1); /* a figure of its own goes before others' lines */
    assert_true(pace_host_costs_optimizer_ns(&costs, "Optimizer.step#Adam.step", 40) == 0);
    assert_true(pace_host_costs_optimizer_ns(&costs, step, 0) == 0);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

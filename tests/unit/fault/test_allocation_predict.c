/* Memory runs out at every place it can while steps are predicted and kernels are learned. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "exhaust.h"
#include "ask/predict/scenarios.h"
#include "report/engines.h"
#include "catalog_of_tests.h"

#define HOST "\"ph\":\"X\",\"pid\":9,\"tid\":9,"
#define DEVICE "\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,\"tid\":7,"
#define SHAPES "\"Input Dims\":[[64,32],[64,32]],\"Input type\":[\"float\",\"float\"],\"Concrete Inputs\":[\"\",\"\"]"
#define ADD(at, id)                                                                                             \
    "{" HOST "\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"ts\":" at "0,\"dur\":8,\"args\":{\"External id\":" id \
    "," SHAPES "}},\n{" HOST "\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":" at "2,\"dur\":4," \
    "\"args\":{\"External id\":" id ",\"correlation\":" id "}},\n"                                              \
    "{" DEVICE "\"name\":\"vectorized_elementwise_kernel\",\"ts\":" at "5,\"dur\":3,"                           \
    "\"args\":{\"device\":0,\"stream\":7,\"External id\":" id ",\"correlation\":" id "}}"

/* One step of a product and two element-wise kernels of equal size. */
static const char trace[] =
    "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100-SXM4-40GB\",\"totalGlobalMem\":42000000000}],\n"
    "\"traceEvents\":[\n"
    "{" HOST "\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"ts\":100,\"dur\":90},\n"
    "{" HOST "\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"ts\":110,\"dur\":9,\"args\":{\"External id\":1,"
    "\"Input Dims\":[[64,32],[32,32]],\"Input type\":[\"float\",\"float\"],\"Concrete Inputs\":[\"\",\"\"]}},\n"
    "{" HOST "\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":112,\"dur\":5,"
    "\"args\":{\"External id\":1,\"correlation\":1}},\n"
    "{" DEVICE "\"name\":\"ampere_sgemm_128x64\",\"ts\":115,\"dur\":9,"
    "\"args\":{\"device\":0,\"stream\":7,\"External id\":1,\"correlation\":1}},\n" ADD("13",
                                                                                       "2") ",\n" ADD("15",
                                                                                                      "3") "\n]}\n";

/* An execution trace of two operators under one thread. */
#define ATTRIBUTES(id)                                                 \
    "\"attrs\":[{\"name\":\"rf_id\",\"type\":\"uint64\",\"value\":" id \
    "},{\"name\":\"tid\",\"type\":\"uint64\",\"value\":1}]"
#define TENSORS \
    "\"inputs\":{\"values\":[1,2],\"shapes\":[[64,32],[32,32]],\"types\":[\"Tensor(float)\",\"Tensor(float)\"]},"
#define NODE(id, name)                                              \
    "{\"id\":" id ",\"name\":\"" name "\",\"ctrl_deps\":1," TENSORS \
    "\"outputs\":{\"values\":[3],\"shapes\":[[64,32]],\"types\":[\"Tensor(float)\"]}," ATTRIBUTES(id) "}"
static const char graph[] =
    "{\"schema\":\"1.0.2-chakra.0.0.4\",\"pid\":1,\"time\":\"x\",\"start_ts\":1,\"nodes\":[\n" NODE(
        "1", "[pytorch|profiler|execution_trace|thread]") ",\n" NODE("2", "aten::mm") ",\n" NODE("3",
                                                                                                 "aten::relu") "]}\n";

typedef struct {
    char trace[64], graph[64], rows[64], fit[80];
} files;

static FILE *make(char *path, size_t size) {
    snprintf(path, size, "/tmp/paceline-fault-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    return fdopen(file, "w");
}

static int make_files(void **state) {
    static files made;
    *state = &made;
    FILE *file = make(made.trace, sizeof made.trace);
    fputs(trace, file);
    fclose(file);
    file = make(made.graph, sizeof made.graph);
    fputs(graph, file);
    fclose(file);
    file = make(made.rows, sizeof made.rows);
    fputs("device,m,n,k,latency_us\n", file);
    for (int i = 0; i < 30; i++)
        fprintf(file, "a100-40-sxm,%d,%d,%d,%d\n", 64 << i % 5, 64 << i % 3, 64 + i, 5 + i % 5 * 3 + i % 3);
    fclose(file);
    snprintf(made.fit, sizeof made.fit, "%s.fit", made.rows);
    return 0;
}

static int remove_files(void **state) {
    files *made = *state;
    unlink(made->trace);
    unlink(made->graph);
    unlink(made->rows);
    unlink(made->fit);
    return 0;
}

/* --- what is asked ----------------------------------------------------------------------------------------------- */

static pace_status ask(const char *input, const pace_predict_options *options) {
    pace_report *report = NULL;
    pace_status status = pace_predict(&report, &input, 1, options);
    if (status == PACE_OK) pace_report_free(report);
    return status;
}

static pace_status predict_trace(const void *context, int choice) {
    static const char *const on[] = {"h100-80-sxm"}, *const fuse[] = {"."}, *const batch[] = {"128"},
                             *const set[] = {NULL}, *const precision[] = {"bf16"}, *const scale[] = {"gemm:0.5"},
                             *const drop[] = {"all"};
    (void)choice;
    pace_predict_options options = {.context = test_context(), .on = {on, 1}, .samples = 64};
    *pace_what_if_words(&options, "fuse") = (pace_words){fuse, 1};
    *pace_what_if_words(&options, "batch") = (pace_words){batch, 1};
    *pace_what_if_words(&options, "precision") = (pace_words){precision, 1};
    *pace_what_if_words(&options, "scale") = (pace_words){scale, 1};
    *pace_what_if_words(&options, "drop_overhead") = (pace_words){drop, 1};
    *pace_what_if_words(&options, "graph") = (pace_words){set, 1};
    return ask(((const files *)context)->trace, &options);
}

static pace_status predict_graph(const void *context, int choice) {
    static const char *const on[] = {"v100-sxm2-16", "dgx-h100"};
    (void)choice;
    return ask(((const files *)context)->graph, &(pace_predict_options){.context = test_context(), .on = {on, 2}});
}

static pace_status predict_model(const void *context, int choice) {
    static const char *const on[] = {"dgx-h100"}, *const set[] = {"dp=2", "execution=graph"};
    const files *made = context;
    const char *fit = made->fit;
    return ask("lenet", &(pace_predict_options){
                            .context = test_context(), .on = {on, 1}, .set = {set, 2}, .fits = {&fit, (size_t)choice}});
}

static pace_status models(const void *context, int choice) {
    static const char *const set[] = {"classes=20"};
    const pace_words words = {set, 1};
    (void)context;
    pace_report *report = NULL;
    pace_status status = pace_models(&report, test_context(), choice ? "lenet" : NULL, choice ? &words : NULL);
    if (status == PACE_OK) pace_report_free(report);
    return status;
}

static pace_status fit(const void *context, int choice) {
    const files *made = context;
    const char *path = made->rows;
    const pace_rows_options options = {.context = test_context(), .fit_path = choice ? made->fit : NULL};
    pace_report *report = NULL;
    pace_status status = pace_fit(&report, &path, 1, &options);
    if (status == PACE_OK) pace_report_free(report);
    return status;
}

static pace_status rows(const void *context, int choice) {
    const files *made = context;
    const pace_rows_options options = {.context = test_context(), .fit_path = choice ? made->fit : NULL};
    pace_report *report = NULL;
    pace_status status = pace_predict_rows(&report, made->rows, &options);
    if (status == PACE_OK) pace_report_free(report);
    return status;
}

/* --- tests ------------------------------------------------------------------------------------------------------- */

TEST(test_trace) { assert_true(exhaust(predict_trace, *state, 0, 20) > 20); }

TEST(test_graph) { assert_true(exhaust(predict_graph, *state, 0, 20) > 20); }

TEST(test_models) {
    assert_true(exhaust(models, *state, 0, 10) > 10);
    assert_true(exhaust(models, *state, 1, 20) > 20);
}

TEST(test_fit) {
    assert_true(exhaust(fit, *state, 0, 20) > 20);
    assert_true(exhaust(fit, *state, 1, 20) > 20);
}

TEST(test_rows) {
    assert_true(exhaust(rows, *state, 0, 20) > 20);
    assert_true(exhaust(rows, *state, 1, 20) > 20);
}

TEST(test_model) {
    assert_true(exhaust(predict_model, *state, 0, 20) > 20);
    assert_true(exhaust(predict_model, *state, 1, 20) > 20);
}

int main(void) {
    unsetenv("PACELINE_CATALOG");
    return run_tests_of_file(make_files, remove_files);
}

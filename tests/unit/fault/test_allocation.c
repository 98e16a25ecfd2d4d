/* Memory runs out at every place it can: each failure is PACE_E_MEMORY with a message, and nothing leaks. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "exhaust.h"
#include "report/engines.h"
#include "catalog_of_tests.h"

#define HOST "\"pid\":9,\"tid\":9,"
#define DEVICE "\"pid\":0,\"tid\":7,"

/* One step of each kind of task, nested, linked, out of order, with escapes, on two devices. */
static const char trace[] =
    "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100-SXM4-80GB\",\"totalGlobalMem\":85000000000}],\n"
    "\"distributedInfo\":{\"rank\":0,\"world_size\":2},\"traceEvents\":[\n"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\"," HOST "\"ts\":100,\"dur\":90},\n"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\"," HOST "\"ts\":190,\"dur\":90},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"MmBackward0\"," HOST "\"ts\":150,\"dur\":10},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm \\u00e9\"," HOST
    "\"ts\":110,\"dur\":20,\"args\":{\"External id\":1,"
    "\"Sequence number\":4,\"Input Dims\":[[64,32],[32,16]],\"Input type\":[\"float\",\"float\"],\"Concrete Inputs\":[\"\",\"\"]}},\n"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\"," HOST
    "\"ts\":115,\"dur\":5,\"args\":{\"correlation\":5}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ampere_sgemm_128x64\"," DEVICE "\"ts\":130,\"dur\":12.125,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":5}},\n"
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD\"," DEVICE "\"ts\":145,\"dur\":3,"
    "\"args\":{\"device\":0,\"stream\":7,\"bytes\":4096}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\"," DEVICE
    "\"ts\":200,\"dur\":30,\"args\":{\"device\":0,"
    "\"stream\":20,\"Collective name\":\"allreduce\",\"In msg nelems\":64,\"Group size\":2,\"dtype\":\"Float\"}},\n"
    "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream Wait Event\"," DEVICE
    "\"ts\":210,\"dur\":1,\"args\":{\"device\":0,"
    "\"stream\":7,\"wait_on_stream\":20,\"wait_on_cuda_event_record_corr_id\":3}},\n"
    "{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"Optimizer.step#SGD\"," HOST "\"ts\":240},\n"
    "{\"ph\":\"E\",\"cat\":\"cpu_op\"," HOST "\"ts\":260},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"pid\":1,\"tid\":7,\"ts\":205,\"dur\":25,"
    "\"args\":{\"device\":1,\"stream\":20}},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\"," HOST "\"ts\":262,\"dur\":2,"
    "\"args\":{\"Collective name\":\"send\",\"Dst Rank\":0,\"Process Group Ranks\":\"[0, 1]\"}},\n"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"nccl:coalesced\"," HOST "\"ts\":265,\"dur\":5},\n"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\"," HOST
    "\"ts\":266,\"dur\":2,\"args\":{\"correlation\":6}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_SendRecv\"," DEVICE
    "\"ts\":270,\"dur\":9,\"args\":{\"device\":0,\"stream\":21,\"correlation\":6}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_SendRecv\"," DEVICE
    "\"ts\":272,\"dur\":9,\"args\":{\"device\":0,\"stream\":22,\"Collective name\":\"recv\",\"Src Rank\":0}},\n"
    "{\"ph\":\"Z\",\"name\":\"of an unknown phase\"," HOST "\"ts\":1}\n]}\n";

typedef struct {
    char path[2][64]; /* a whole trace, and one that breaks off */
    char overheads[80];
} files;

static void write_trace(char *path, size_t size, size_t length) {
    snprintf(path, size, "/tmp/paceline-fault-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal((long)write(file, trace, length), (long)length);
    close(file);
}

static int make_files(void **state) {
    static files made;
    *state = &made;
    write_trace(made.path[0], sizeof made.path[0], sizeof trace - 1);
    write_trace(made.path[1], sizeof made.path[1], sizeof trace - 400);
    snprintf(made.overheads, sizeof made.overheads, "%s.overheads", made.path[0]);
    return 0;
}

static int remove_files(void **state) {
    files *made = *state;
    unlink(made->path[0]);
    unlink(made->path[1]);
    unlink(made->overheads);
    return 0;
}

static int count_bytes(void *context, const void *bytes, size_t length) {
    (void)bytes;
    *(size_t *)context += length;
    return 0;
}

static pace_status analyze(const void *context, int choice) {
    const files *made = context;
    const pace_analyze_options options = {.context = test_context(),
                                          .check = true,
                                          .overheads_path = choice == 2 ? made->overheads : NULL};
    const char *const paths[] = {made->path[0], made->path[1]};
    pace_report *report = NULL;
    pace_status status = pace_analyze(&report, paths, choice == 1 ? 2 : 1, &options);
    if (status == PACE_OK) pace_report_free(report);
    return status;
}

static pace_status compare(const void *context, int choice) {
    const files *made = context;
    (void)choice;
    const pace_compare_options options = {.reading = {.context = test_context()}, .has_limit = true, .limit = 0.05};
    const char *const paths[] = {made->path[0], made->path[1]};
    pace_report *report = NULL;
    size_t missed;
    pace_status status = pace_compare(&report, &missed, paths, 2, &options);
    if (status == PACE_OK) pace_report_free(report);
    return status;
}

static pace_status machines(const void *context, int choice) {
    (void)context;
    pace_report *report = NULL;
    pace_status status = pace_machines(&report, test_context(), choice ? "a100" : NULL);
    if (status == PACE_OK) pace_report_free(report);
    return status;
}

static pace_report *rendered;

static pace_status render(const void *context, int choice) {
    (void)context;
    size_t bytes = 0;
    pace_status status = pace_report_write(rendered, (pace_format)choice, NULL, count_bytes, &bytes);
    if (status == PACE_OK && bytes == 0) return PACE_E_INTERNAL;
    return status;
}

TEST(test_analyze) { assert_true(exhaust(analyze, *state, 0, 50) > 20); }

TEST(test_analyze_two) { assert_true(exhaust(analyze, *state, 1, 50) > 20); }

TEST(test_overheads) { assert_true(exhaust(analyze, *state, 2, 50) > 20); }

TEST(test_compare) { assert_true(exhaust(compare, *state, 0, 50) > 20); }

TEST(test_machines) {
    assert_true(exhaust(machines, *state, 0, 50) > 0);
    assert_true(exhaust(machines, *state, 1, 50) > 0);
}

TEST(test_render) {
    const files *made = *state;
    const char *const paths[] = {made->path[0], made->path[1]};
    assert_int_equal(pace_analyze(&rendered, paths, 2, &(pace_analyze_options){.context = test_context()}), PACE_OK);
    for (int format = PACE_FORMAT_TABLE; format <= PACE_FORMAT_PERFETTO; format++) exhaust(render, made, format, 50);
    pace_report_free(rendered);
}

int main(void) { return run_tests_of_file(make_files, remove_files); }

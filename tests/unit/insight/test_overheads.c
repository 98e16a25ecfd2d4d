/* The five host overheads on a step made by hand; times in microseconds. */

#include "cmocka_of_tests.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "insight/tables/overheads.h"
#include "report/report.h"
#include "report/analyze/analyze_parts.h"

static pace_rank rank;

static void begin(void) {
    rank = (pace_rank){0};
    assert_int_equal(pace_step_init(&rank.step), PACE_OK);
}

static void add(const char *lane_key, pace_task_kind kind, const char *name, int64_t start_us, int64_t end_us) {
    uint32_t lane;
    pace_name id;
    assert_int_equal(pace_step_lane(&lane, &rank.step, lane_key, strlen(lane_key), lane_key[0] == 'd', 0), PACE_OK);
    assert_int_equal(pace_names_add(&id, &rank.step.names, name, strlen(name)), PACE_OK);
    assert_int_equal(pace_step_add_task(&rank.step, lane, kind, id, start_us * 1000, (end_us - start_us) * 1000),
                     PACE_OK);
}

static void finish(void) {
    assert_int_equal(pace_step_finish(&rank.step), PACE_OK);
    assert_int_equal(pace_step_check(&rank.step), PACE_OK);
}

static void measure(pace_overheads *out, double event_ns) {
    assert_int_equal(pace_overheads_measure(out, &rank, event_ns), PACE_OK);
}

static const pace_overhead_row *find(const pace_overheads *all, pace_overhead_type type, const char *name) {
    for (size_t i = 0; i < all->rows.count; i++) {
        const pace_overhead_row *row = &all->rows.items[i];
        if (row->type == type && strcmp(pace_names_text(&rank.step.names, row->name), name) == 0) return row;
    }
    return NULL;
}

static void check(const pace_overheads *all, pace_overhead_type type, const char *name, size_t count,
                  const int64_t *us) {
    const pace_overhead_row *row = find(all, type, name);
    if (!row) fail_msg("no row t%d %s", (int)type + 1, name);
    assert_int_equal(row->count, count);
    for (size_t i = 0; i < count; i++) assert_int_equal(all->samples.items[row->first_sample + i], us[i] * 1000);
}

#define CHECK(all, type, name, ...) \
    check(all, type, name, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* One annotation with five operators and one after it; every type has its known value. */
static void make_step(void) {
    const char *host = "host 1/1";
    begin();
    add(host, PACE_TASK_ANNOTATION, "ProfilerStep#1", 0, 1000);
    add(host, PACE_TASK_PYTHON, "nn.Module: Linear", 5, 150);
    add(host, PACE_TASK_OP, "linear", 10, 100); /* one nested operator, two launches, one ignored call */
    add(host, PACE_TASK_OP, "addmm", 20, 90);
    add(host, PACE_TASK_CALL, "cudaOccupancyMaxActiveBlocksPerMultiprocessor", 25, 28);
    add(host, PACE_TASK_CALL, "cudaLaunchKernel", 40, 47);
    add(host, PACE_TASK_CALL, "cuLaunchKernel", 42, 45); /* the driver under the runtime: no call of its own */
    add(host, PACE_TASK_CALL, "cudaEventRecord", 50, 52);
    add(host, PACE_TASK_CALL, "cudaLaunchKernelExC", 60, 68);
    add(host, PACE_TASK_OP, "aten::detach", 80, 82);
    add(host, PACE_TASK_OP, "view", 110, 125); /* T1 10; no call; one operator below */
    add(host, PACE_TASK_OP, "as_strided", 112, 114);
    add(host, PACE_TASK_OP, "view", 127, 130); /* gap of 2: not over the bound */
    add(host, PACE_TASK_OP, "item", 160, 260); /* T1 30 over the end of the Python frame; a copy, then a wait */
    add(host, PACE_TASK_CALL, "cudaMemcpyAsync", 170, 180);
    add(host, PACE_TASK_CALL, "cudaStreamSynchronize", 183, 250);
    add(host, PACE_TASK_OP, "zero_", 460, 480); /* gap of 200: not under the bound */
    add(host, PACE_TASK_CALL, "cudaMemsetAsync", 465, 471);
    add(host, PACE_TASK_OP, "view", 1020, 1021);
    add("host 1/2", PACE_TASK_OP, "view", 30, 33);
    add("device 0 stream 7", PACE_TASK_KERNEL, "gemm", 50, 70);
    finish();
}

TEST(test_as_recorded) {
    make_step();
    pace_overheads all;
    measure(&all, 0);
    CHECK(&all, PACE_T1, "", 10, 30);
    CHECK(&all, PACE_T2, "linear", 30);
    CHECK(&all, PACE_T2, "item", 10);
    CHECK(&all, PACE_T2, "zero_", 5);
    CHECK(&all, PACE_T3, "linear", 32);
    CHECK(&all, PACE_T3, "item", 10);
    CHECK(&all, PACE_T3, "zero_", 9);
    CHECK(&all, PACE_T4, "cudaLaunchKernel", 7);
    CHECK(&all, PACE_T4, "cudaLaunchKernelExC", 8);
    CHECK(&all, PACE_T4, "cudaMemcpyAsync", 10);
    CHECK(&all, PACE_T4, "cudaMemsetAsync", 6);
    CHECK(&all, PACE_T5, "linear", 13);
    CHECK(&all, PACE_T5, "item", 3);
    CHECK(&all, PACE_T5, "view", 15, 3, 1, 3);
    assert_int_equal(all.rows.count, 14);
    assert_int_equal(all.samples.count, 18);
    assert_null(find(&all, PACE_T4, "cudaStreamSynchronize"));
    assert_null(find(&all, PACE_T2, "addmm"));
    assert_int_equal(all.total[PACE_T5].count, 6);
    assert_float_equal(all.total[PACE_T5].sum_ns, 38000, 0);
    assert_float_equal(all.total[PACE_T1].mean_ns, 20000, 0);
    for (size_t i = 1; i < all.rows.count; i++) {
        const pace_overhead_row *a = &all.rows.items[i - 1], *b = a + 1;
        assert_true(a->type < b->type || (a->type == b->type && a->sum_ns >= b->sum_ns));
        assert_int_equal(b->first_sample, a->first_sample + a->count);
    }
    pace_overheads_free(&all);
    pace_step_free(&rank.step);
}

/* Where nothing can be launched an operator is no overhead; the gaps between operators still are. */
TEST(test_host_only) {
    begin();
    add("host 1/1", PACE_TASK_OP, "aten::mm", 0, 100);
    add("host 1/1", PACE_TASK_OP, "aten::add", 110, 150);
    finish();
    pace_overheads all;
    rank.work.host_is_device = true;
    measure(&all, 0);
    CHECK(&all, PACE_T1, "", 10);
    assert_int_equal(all.rows.count, 1);
    pace_overheads_free(&all);
    rank.work.host_is_device = false;
    measure(&all, 0);
    CHECK(&all, PACE_T5, "aten::mm", 100);
    pace_overheads_free(&all);
    pace_step_free(&rank.step);
}

TEST(test_profiler_cost) {
    make_step();
    pace_overheads all;
    measure(&all, 2000);
    CHECK(&all, PACE_T1, "", 8, 28);
    CHECK(&all, PACE_T2, "linear", 26); /* addmm, occupancy query */
    CHECK(&all, PACE_T3, "linear", 30); /* detach */
    CHECK(&all, PACE_T5, "linear", 11); /* event record */
    CHECK(&all, PACE_T4, "cudaLaunchKernel", 5);
    CHECK(&all, PACE_T5, "view", 13, 3, 1, 3); /* as_strided, in the first */
    CHECK(&all, PACE_T2, "item", 10);
    pace_overheads_free(&all);
    measure(&all, 7500);
    CHECK(&all, PACE_T4, "cudaLaunchKernel", 0); /* not below zero */
    pace_overheads_free(&all);
    pace_step_free(&rank.step);
}

/* numpy 2.4.6 on [1,2,3,4,5,6,7,8,100]: percentiles 25, 75 are 3, 7, so the fence is [-3, 13] and 100 goes; then
 * mean 4.5, std 2.29128784747792, median 4.5. On [1,2,4,8]: 1.75, 5, fence [-3.125, 9.875], all stay; mean 3.75,
 * std 2.680951323690902, median 3. */
TEST(test_fence) {
    begin();
    const int64_t first[] = {5, 100, 3, 8, 1, 2, 7, 4, 6}, second[] = {8, 1, 4, 2};
    for (size_t i = 0; i < 9; i++) add("host 1/1", PACE_TASK_OP, "a", (int64_t)i * 1000, (int64_t)i * 1000 + first[i]);
    for (size_t i = 0; i < 4; i++) add("host 1/2", PACE_TASK_OP, "b", (int64_t)i * 1000, (int64_t)i * 1000 + second[i]);
    finish();
    pace_overheads all;
    measure(&all, 0);
    const pace_overhead_row *a = find(&all, PACE_T5, "a"), *b = find(&all, PACE_T5, "b");
    assert_int_equal(all.rows.count, 2);
    assert_int_equal(a->count, 9);
    assert_int_equal(a->kept, 8);
    assert_float_equal(a->mean_ns, 4500, 1e-9);
    assert_float_equal(a->std_ns, 2291.28784747792, 1e-9);
    assert_float_equal(a->median_ns, 4500, 1e-9);
    assert_float_equal(a->sum_ns, 136000, 0);
    assert_int_equal(b->kept, 4);
    assert_float_equal(b->mean_ns, 3750, 1e-9);
    assert_float_equal(b->std_ns, 2680.951323690902, 1e-9);
    assert_float_equal(b->median_ns, 3000, 1e-9);
    CHECK(&all, PACE_T5, "a", 5, 100, 3, 8, 1, 2, 7, 4, 6);
    pace_overheads_free(&all);
    pace_step_free(&rank.step);
}

/* Old traces: the step is an operator by category. */
TEST(test_labels) {
    begin();
    add("host 1/1", PACE_TASK_OP, "ProfilerStep#5", 0, 100);
    add("host 1/1", PACE_TASK_OP, "a", 10, 20);
    add("host 1/1", PACE_TASK_OP, "## top mlp ##", 25, 60);
    add("host 1/1", PACE_TASK_OP, "a", 30, 40); /* under another label than the one before: no T1 */
    add("host 1/1", PACE_TASK_OP, "a", 47, 50);
    finish();
    pace_overheads all;
    measure(&all, 0);
    CHECK(&all, PACE_T1, "", 7);
    CHECK(&all, PACE_T5, "a", 10, 10, 3);
    assert_int_equal(all.rows.count, 2);
    pace_overheads_free(&all);
    pace_step_free(&rank.step);
}

/* --- the report ------------------------------------------------------------------------------------------- */

typedef struct {
    char text[65536];
    size_t used;
} capture;

static int take(void *context, const void *bytes, size_t length) {
    capture *to = context;
    if (to->used + length >= sizeof to->text) return ENOSPC;
    memcpy(to->text + to->used, bytes, length);
    to->text[to->used += length] = '\0';
    return 0;
}

static void contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("no %s in %s", part, text);
}

static char workload[] = "rank0.json";

static pace_status put(capture *out, const char *path) {
    pace_report *report;
    *out = (capture){0};
    assert_int_equal(pace_report_new(&report, "analyze", "test"), PACE_OK);
    pace_status status = pace_put_overheads(pace_report_root(report), &rank, 2);
    assert_int_equal(pace_report_status(report), PACE_OK);
    pace_write_options options = {0};
    assert_int_equal(pace_report_write(report, PACE_FORMAT_JSON, &options, take, out), PACE_OK);
    pace_report_free(report);
    if (status != PACE_OK || !path) return status;
    pace_rank *traces[] = {&rank, &rank};
    pace_analysis analysis = {.traces = {.items = traces, .count = 2}};
    rank.path = workload;
    return pace_write_overheads(path, &analysis, 2);
}

TEST(test_report_and_file) {
    static capture out;
    char folder[] = "/tmp/paceline-overheads-XXXXXX", path[64], beside[80], text[8192] = "";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/o.json", folder);
    snprintf(beside, sizeof beside, "%s.part", path);
    make_step();
    assert_int_equal(put(&out, path), PACE_OK);
    contains(out.text, "\"overheads_by_operator\"");
    contains(out.text, "\"name\": \"linear\"");
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    contains(text, "\"paceline.overheads/1\"");
    contains(
        text,
        "{\"workload\": \"rank0.json\", \"type\": \"t2\", \"name\": \"linear\", \"count\": 1, \"kept\": 1, \"mean_ns\": 26000, \"std_ns\": 0, "
        "\"median_ns\": 26000, \"samples_ns\": [26000]}");
    contains(text, "\"type\": \"t1\", \"name\": null, \"count\": 2");
    assert_int_equal(access(beside, F_OK), -1);
    pace_host_costs costs; /* what was written of two traces is read back as both */
    pace_host_level level;
    assert_int_equal(pace_host_costs_init(&costs), PACE_OK);
    assert_int_equal(pace_host_costs_read(&costs, path), PACE_OK);
    pace_host_cost linear = pace_host_costs_get(&costs, PACE_T2, "linear", true, &level);
    assert_true(level == PACE_HOST_OWN && linear.count == 2 && linear.mean_ns == 26000 && linear.std_ns == 0);
    pace_host_costs_free(&costs);
    unlink(path);
    rmdir(folder);
    assert_int_equal(put(&out, path), PACE_E_IO);
    contains(pace_message(), path);
    contains(pace_message(), strerror(ENOENT));
    pace_step_free(&rank.step);
}

TEST(test_nothing) {
    static capture out;
    begin();
    finish();
    assert_int_equal(put(&out, NULL), PACE_OK);
    contains(out.text, "\"t5\"");
    contains(out.text, "\"count\": 0");
    pace_step_free(&rank.step);
}

TEST(test_out_of_memory) {
    make_step();
    int64_t live = pace_memory_live();
    pace_status status = PACE_E_MEMORY;
    for (uint64_t n = 1; status != PACE_OK; n++) {
        pace_overheads all;
        pace_memory_fail_at(n);
        status = pace_overheads_measure(&all, &rank, 0);
        pace_memory_fail_at(0);
        if (status == PACE_OK) pace_overheads_free(&all);
        else assert_int_equal(status, PACE_E_MEMORY);
        assert_int_equal(pace_memory_live(), live);
        assert_true(n < 100);
    }
    pace_step_free(&rank.step);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

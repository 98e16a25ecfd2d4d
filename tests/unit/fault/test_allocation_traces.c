/* Memory runs out at every place it can while traces are cut, with and without names, and stored results are read. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "exhaust.h"
#include "report/engines.h"
#include "source/results_store.h"

typedef struct {
    char folder[64], trace[96], slice[96], results[96], more_results[96];
} files;

/* Four steps; the device runs a step behind the host, so that each slice has work of other steps beside it. */
static void write_trace(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 2}, \"traceEvents\": [\n", file);
    for (int step = 0; step < 4; step++) {
        int at = 1000 * step;
        fprintf(
            file,
            "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", \"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": 990},\n",
            step, at);
        for (int k = 0; k < 3; k++) {
            int id = 10 * step + k + 1, start = at + 100 * k;
            fprintf(
                file,
                "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"acme::op%d\", \"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": 50, "
                "\"args\": {\"External id\": %d, \"note\": \"text\"}},\n",
                k, start, id);
            fprintf(
                file,
                "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": 5, "
                "\"args\": {\"correlation\": %d}},\n",
                start + 3, id);
            fprintf(
                file,
                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"my_gemm_%d\", \"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": 60, "
                "\"args\": {\"device\": 0, \"stream\": %d, \"correlation\": %d}},\n",
                k, start + 1200, 7 + k % 2, id);
            fprintf(
                file,
                "{\"ph\": \"s\", \"cat\": \"ac2g\", \"name\": \"ac2g\", \"id\": %d, \"pid\": 1, \"tid\": 1, \"ts\": %d},\n",
                id, start + 3);
        }
    }
    fputs("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 0, \"args\": {\"name\": \"python\"}}]}\n",
          file);
    fclose(file);
}

static int make_files(void **state) {
    static files made;
    *state = &made;
    snprintf(made.folder, sizeof made.folder, "/tmp/paceline-fault-XXXXXX");
    assert_non_null(mkdtemp(made.folder));
    snprintf(made.trace, sizeof made.trace, "%s/trace.json", made.folder);
    snprintf(made.slice, sizeof made.slice, "%s/slice.json.gz", made.folder);
    snprintf(made.results, sizeof made.results, "%s/results.sqlite", made.folder);
    snprintf(made.more_results, sizeof made.more_results, "%s/more.sqlite", made.folder);
    write_trace(made.trace);
    return 0;
}

static int remove_files(void **state) {
    const files *made = *state;
    unlink(made->trace);
    unlink(made->slice);
    unlink(made->results);
    unlink(made->more_results);
    return rmdir(made->folder);
}

static pace_status slice(const void *context, int choice) {
    const files *made = context;
    const char *const paths[] = {made->trace};
    const pace_slice_options options = {.context = test_context(),
                                        .output = made->slice,
                                        .steps = {.numbers = choice == 2 ? NULL : "1:2"},
                                        .anonymize = choice >= 1};
    pace_report *report = NULL;
    pace_status status = pace_slice_traces(&report, paths, 1, &options);
    if (status == PACE_OK) pace_report_free(report);
    return status;
}

TEST(test_slice) {
    for (int choice = 0; choice < 3; choice++) assert_true(exhaust(slice, *state, choice, 50) > 20);
}

#ifdef PACE_HAVE_SQLITE
static pace_status history(const void *context, int choice) {
    const files *made = context;
    const pace_history_options options = {.has_limit = true, .limit = 0.05, .last = (size_t)choice + 2};
    pace_report *report = NULL;
    size_t missed;
    const char *const paths[] = {made->results, made->more_results};
    pace_status status = pace_history(&report, &missed, paths, 2, &options);
    if (status == PACE_OK) pace_report_free(report);
    return status;
}

TEST(test_history) {
    const files *made = *state;
    const pace_stored_run run = {.verb = "analyze", .series = "analyze", .label = "", .command = ""};
    for (int i = 0; i < 8; i++) {
        const pace_stored_figure figures[] = {{0, "step_spread.median_ns", 100 + i}, {0, "window.busy_ns", 50 - i}};
        assert_int_equal(pace_results_add(i % 2 ? made->results : made->more_results, &run, figures, 2), PACE_OK);
    }
    assert_true(exhaust(history, *state, 1, 50) > 20);
}
#endif

int main(void) { return run_tests_of_file(make_files, remove_files); }

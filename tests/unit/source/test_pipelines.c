/* Timelines of jobs: memory may run out anywhere while they are read, and nothing is left behind. */
#include "source/traces/trace_formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

static void exhaust_memory(const char *path) {
    int64_t live = pace_memory_live();
    pace_status status = PACE_E_MEMORY;
    for (uint64_t n = 1; status != PACE_OK; n++) {
        pace_step_list steps;
        pace_read_notes notes;
        pace_memory_fail_at(n);
        status = pace_trace_read(&steps, path, &notes, (pace_progress){0});
        pace_memory_fail_at(0);
        if (status == PACE_OK) pace_step_list_free(&steps);
        else if (status != PACE_E_MEMORY) fail_msg("%s: allocation %d: %s", path, (int)n, pace_message());
        assert_true(pace_memory_live() == live);
        assert_true(n < 10000);
    }
}

TEST(memory_runs_out) {
    static const char *const files[] = {"table.csv", "unnumbered.csv",  "events.json",
                                        "log.json",  "log_chunks.json", "settings.json"};
    const char *source = getenv("PACELINE_SOURCE");
    char path[512];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/pipelines/%s", source ? source : ".", files[i]);
        exhaust_memory(path);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/* Timelines of jobs: memory may run out anywhere while they are read, and nothing is left behind. */
#include <stdio.h>
#include <stdlib.h>

#include "cmocka_of_tests.h"

#include "exhaust_reading.h"

TEST(memory_runs_out) {
    static const char *const files[] = {"table.csv", "unnumbered.csv",  "events.json",
                                        "log.json",  "log_chunks.json", "settings.json"};
    const char *source = getenv("PACELINE_SOURCE");
    char path[512];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/pipelines/%s", source ? source : ".", files[i]);
        exhaust_reading(path);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

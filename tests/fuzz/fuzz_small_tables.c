/* Fuzz target of tables of host overheads ('o') and of a profiler's cost ('p'), and of the cases of validate ('c'): any
 * bytes behind that letter are read or refused with a message. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ask/validate/cases.h"
#include "ask/rows/overhead_rows.h"
#include "ask/rows/profiler_rows.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void overheads(pace_input *input) {
    pace_host_samples samples = {0};
    if (pace_host_samples_init(&samples) != PACE_OK) abort();
    if (pace_overhead_rows_read(&samples, test_catalog(), input) != PACE_OK && !*pace_message()) abort();
    pace_host_samples_free(&samples);
}

static void profiler(pace_input *input) {
    pace_profiler_rows rows = {0};
    pace_profiler_cost cost;
    if (pace_profiler_rows_read(&rows, test_catalog(), input) != PACE_OK) {
        if (!*pace_message()) abort();
    } else if (pace_profiler_fit(&cost, &rows) == PACE_OK && !(cost.low_ns <= cost.high_ns)) {
        abort();
    }
    pace_profiler_rows_free(&rows);
}

static void cases(const char *path) {
    pace_cases found;
    if (pace_cases_load(&found, path) != PACE_OK) {
        if (!*pace_message()) abort();
        return;
    }
    for (size_t i = 0; i < found.items.count; i++)
        if (!found.items.items[i].name || found.items.items[i].file_count > PACE_CASE_FILES) abort();
    pace_cases_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    if (size == 0) return 0;
    int file = memfd_create("table", 0);
    if (file < 0 || write(file, data + 1, size - 1) != (ssize_t)(size - 1)) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    pace_input *input;
    if (pace_input_open(&input, path) != PACE_OK) abort();
    if (data[0] == 'o') overheads(input);
    if (data[0] == 'p') profiler(input);
    pace_input_free(input);
    if (data[0] == 'c') cases(path);
    close(file);
    return 0;
}

/* Fuzz target of rows about jobs: any bytes become rows that have a time, or say why not. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "ask/rows/job_rows.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const pace_job_rows *rows, const pace_job_setting *usual) {
    for (size_t row = 0; row < rows->jobs.count; row++) {
        double part_s[PACE_JOB_PARTS], sum = 0;
        pace_job_setting setting;
        pace_job_sample sample;
        bool measured;
        if (rows->faults.items[row]) {
            if (!*rows->faults.items[row]) abort();
            continue;
        }
        if (pace_job_rows_parts(part_s, &setting, rows, row, usual) != PACE_OK) continue;
        for (int p = 0; p < PACE_JOB_PARTS; p++) sum += part_s[p];
        if (!(sum >= 0)) abort();
        if (pace_job_rows_sample(&sample, &measured, rows, row, usual) != PACE_OK) abort();
        if (!(pace_job_sample_time(&sample, usual->machine.figure + PACE_FIGURE_EFFICIENCY, 0) >= 0)) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static pace_job_catalog catalog; /* kept: reading it takes longer than the rows do */
    const pace_job_setting_words words = {0};
    pace_job_setting setting;
    pace_job_rows rows;
    pace_input *input;
    if (!catalog.yaml && pace_job_catalog_load(&catalog, test_catalog()) != PACE_OK) abort();
    if (pace_job_setting_parse(&setting, &catalog, &words) != PACE_OK) abort();
    if (pace_input_open_memory(&input, "rows.csv", data, size) != PACE_OK) return 0;
    if (pace_job_rows_read(&rows, input, &catalog) == PACE_OK) {
        if (rows.jobs.count != rows.csv.rows || rows.faults.count != rows.csv.rows) abort();
        ask(&rows, &setting);
        pace_job_rows_free(&rows);
    }
    pace_input_free(input);
    return 0;
}

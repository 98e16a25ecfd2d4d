/* Fuzz target of rows about steps and of their fits: any bytes become rows that have an answer or say why not. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ask/step_rows/step_fit.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer_all(const pace_step_rows *rows) {
    pace_step_pricer pricer;
    if (pace_step_pricer_open(&pricer, test_catalog()) != PACE_OK) return;
    for (size_t i = 0; i < rows->rows.count && i < 8; i++) {
        const pace_step_row *row = &rows->rows.items[i];
        pace_step_answer answer;
        if (!memchr(row->status, 0, sizeof row->status)) abort();
        if (!row->model && !*row->status) abort();
        if (!row->model || pace_step_row_answer(&answer, &pricer, row, NULL) != PACE_OK) continue;
        if (!(answer.time_s.median > 0) || !isfinite(answer.time_s.median)) abort();
        if (!(answer.memory_bytes >= 0)) abort();
    }
    pace_step_pricer_close(&pricer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_step_defaults defaults = {"dgx-a100*2"};
    pace_step_rows rows;
    pace_step_fit fit;
    pace_yaml *yaml;
    pace_input *input;
    if (pace_yaml_parse(&yaml, "fit.json", data, size) == PACE_OK) {
        if (pace_step_fit_read(&fit, yaml) == PACE_OK && !(fit.spread >= 0)) abort();
        pace_yaml_free(yaml);
    }
    if (pace_input_open_memory(&input, "steps.csv", data, size) != PACE_OK) return 0;
    if (pace_step_rows_read(&rows, test_catalog(), input, &defaults) == PACE_OK) {
        answer_all(&rows);
        pace_step_rows_free(&rows);
    }
    pace_input_free(input);
    return 0;
}

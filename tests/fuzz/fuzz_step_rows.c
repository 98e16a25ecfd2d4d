/* Fuzz target of rows about steps and of their fits: any bytes become rows that have an answer or say why not. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ask/step_rows/step_fit.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An answer prices a whole step, which takes as long as reading hundreds of rows, and walking one of a hundred layers
 * as long as thousands of answers: the first rows are asked, and steps of more layers in closed form. */
enum { ASKED = 3, MOST_WALKED = 24 };

static bool is_small(const pace_step_case *asked) {
    return (double)asked->model->layers.count * pace_config_micro_batches(&asked->config) <= MOST_WALKED;
}

static pace_status answer(pace_step_answer *out, pace_step_pricer *pricer, const pace_step_row *row) {
    const pace_step_factors none = pace_step_factors_none();
    pace_step_case asked = pace_step_row_case(row);
    pace_step_solution solution;
    if (is_small(&asked)) return pace_step_row_answer(out, pricer, row, NULL);
    PACE_TRY(pace_step_settle(&solution, pricer, &asked));
    pace_step_answer_of(out, &solution, &none, NULL, &asked);
    return PACE_OK;
}

static void answer_all(const pace_step_rows *rows) {
    pace_step_pricer pricer;
    if (pace_step_pricer_open(&pricer, test_catalog()) != PACE_OK) return;
    for (size_t i = 0; i < rows->rows.count && i < ASKED; i++) {
        const pace_step_row *row = &rows->rows.items[i];
        pace_step_answer found;
        if (!memchr(row->status, 0, sizeof row->status)) abort();
        if (!row->model && !*row->status) abort();
        if (!row->model || answer(&found, &pricer, row) != PACE_OK) continue;
        if (!(found.time_s.median > 0) || !isfinite(found.time_s.median)) abort();
        if (!(found.memory_bytes >= 0)) abort();
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

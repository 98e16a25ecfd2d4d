/* Fuzz target of rows about scaling: any bytes become rows that can be asked, or say why not. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ask/rows/scaling_rows.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_scaling_rows rows;
    pace_input *input;
    if (pace_input_open_memory(&input, "rows.csv", data, size) != PACE_OK) return 0;
    if (pace_scaling_rows_read(&rows, test_catalog(), input, NULL) == PACE_OK) {
        for (size_t i = 0; i < rows.rows.count; i++) {
            const pace_scaling_row *row = &rows.rows.items[i];
            if (!memchr(row->status, 0, sizeof row->status)) abort();
            if (!*row->status && !(row->workers >= 1 && row->batch >= 1 && row->one_worker >= 0)) abort();
        }
        pace_scaling_rows_free(&rows);
    }
    pace_input_free(input);
    return 0;
}

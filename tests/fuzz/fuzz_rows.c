/* Fuzz target of tables: any bytes become rows, each with an answer or a reason. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ask/rows/kernel_units.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static pace_device_catalog catalog;
    pace_input *input;
    pace_kernel_rows rows;
    if (catalog.count == 0 && pace_device_catalog_load(&catalog, test_catalog()) != PACE_OK) abort();
    if (pace_input_open_memory(&input, "fuzz", data, size) != PACE_OK) return 0;
    if (pace_kernel_rows_read(&rows, input, &catalog, NULL) == PACE_OK) {
        if (pace_kernel_units_settle(&rows, test_catalog()) != PACE_OK) abort();
        for (size_t i = 0; i < rows.rows.count; i++) {
            const pace_kernel_row *row = &rows.rows.items[i];
            if (row->row >= rows.csv.rows || !memchr(row->status, 0, sizeof row->status)) abort();
            if (!*row->status && (!row->device || !(row->op.read_bytes + row->op.write_bytes > 0))) abort();
        }
        pace_kernel_rows_free(&rows);
    }
    pace_input_free(input);
    return 0;
}

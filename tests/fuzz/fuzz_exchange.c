/* Fuzz target of exchange rows and logs: any bytes become rows, and a fit when they can. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ask/rows/exchange_rows.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_exchange_defaults defaults = {NULL, NULL};
    pace_exchange_rows rows;
    pace_exchange_fit fit;
    pace_input *input;
    if (pace_input_open_memory(&input, "all_reduce.log", data, size) != PACE_OK) return 0;
    if (pace_exchange_rows_read(&rows, test_catalog(), input, &defaults) == PACE_OK) {
        for (size_t i = 0; i < rows.rows.count; i++)
            if (!memchr(rows.rows.items[i].status, 0, sizeof rows.rows.items[i].status)) abort();
        if (rows.rows.count > 0 && pace_exchange_rows_fit(&fit, &rows, 1, 6, NULL, NULL) == PACE_OK) {
            for (size_t i = 0; i < fit.points.count; i++)
                if (!(fit.points.items[i].time_s > 0)) abort();
            pace_exchange_fit_free(&fit);
        }
        pace_exchange_rows_free(&rows);
    }
    pace_input_free(input);
    return 0;
}

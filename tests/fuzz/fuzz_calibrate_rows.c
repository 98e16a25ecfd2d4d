/* Fuzz target of the table that calibrate continues: any bytes are continued or refused with a message. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rows_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_table(const uint8_t *data, size_t size) {
    pace_rows_file rows;
    char path[64];
    int file = memfd_create("rows", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (pace_rows_file_open(&rows, path, "box") == PACE_OK) {
        for (size_t i = 0; i < rows.rows.count; i++)
            if (!(rows.rows.items[i].median_s > 0)) abort();
        pace_rows_file_close(&rows);
    } else if (!*pace_message()) {
        abort();
    }
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_table(data, size);
    return 0;
}

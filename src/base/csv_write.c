#include "base/csv_write.h"

#include <string.h>

pace_status pace_csv_put_cell(pace_text *out, const char *cell) {
    size_t length = strlen(cell);
    PACE_TRY(pace_grow(&out->items, &out->capacity, out->count + 2 * length + 4, 1));
    out->items[out->count++] = '"';
    for (; *cell; cell++) {
        if (*cell == '"') out->items[out->count++] = '"';
        out->items[out->count++] = *cell;
    }
    out->items[out->count++] = '"';
    out->items[out->count++] = ',';
    return PACE_OK;
}

/* The last comma becomes the line's end. */
void pace_csv_end_line(pace_text *out) {
    if (out->count > 0) out->items[out->count - 1] = '\n';
}

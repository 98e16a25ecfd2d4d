#include "source/usage/usage_held.h"

#include <string.h>

enum { MOST_BYTES = 1 << 26 };

/* Cells that fields are read from; those behind are none of them. */
static size_t cells_read(const pace_usage_binding *b) {
    int last = b->skip;
    for (int f = 0; f < PACE_USAGE_FIELDS; f++)
        if (b->field[f] > last) last = b->field[f];
    for (int m = 0; m < PACE_USAGE_METRICS; m++)
        if (b->metric[m] > last) last = b->metric[m];
    return (size_t)(last + 1);
}

pace_status pace_usage_hold(bool *kept, pace_usage_held *held, const pace_usage_binding *binding,
                            const pace_usage_text *cells, uint64_t line) {
    *kept = held->text.count < MOST_BYTES;
    if (!*kept) return PACE_OK;
    for (size_t i = 0, count = cells_read(binding); i < count; i++) {
        size_t end = held->text.count + cells[i].length;
        PACE_TRY(pace_grow(&held->text.items, &held->text.capacity, end + 1, 1));
        if (cells[i].length) memcpy(held->text.items + held->text.count, cells[i].data, cells[i].length);
        held->text.count = end;
        PACE_TRY(PACE_PUSH(&held->lengths, cells[i].length));
    }
    return PACE_PUSH(&held->lines, line);
}

bool pace_usage_next_held(pace_usage_text *cells, uint64_t *line, pace_usage_held *held,
                          const pace_usage_binding *binding) {
    if (held->row == held->lines.count) return false;
    for (size_t i = 0, count = cells_read(binding); i < count; i++) {
        cells[i] = (pace_usage_text){held->text.items + held->from, held->lengths.items[held->cell++]};
        held->from += cells[i].length;
    }
    *line = held->lines.items[held->row++];
    return true;
}

void pace_usage_held_free(pace_usage_held *held) { PACE_VEC_FREE(&held->text, &held->lengths, &held->lines); }

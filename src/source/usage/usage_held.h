/* Rows with dates of either order, such as 03/04/2026, kept until another row of the file tells the order. */
#pragma once

#include "source/usage/usage_cells.h"
#include "source/usage/usage_row.h"

typedef struct {
    PACE_VEC(char) text;
    PACE_VEC(size_t) lengths; /* of cells, those of a row behind each other */
    PACE_VEC(uint64_t) lines;
    size_t from, cell, row; /* what is given back next: its text, its first cell, its line */
} pace_usage_held;

/** Keeps a row. `*kept` = false: so many are kept that no more are. */
pace_status pace_usage_hold(bool *kept, pace_usage_held *held, const pace_usage_binding *binding,
                            const pace_usage_text *cells, uint64_t line) PACE_MUST_CHECK;
/** Gives the rows back in their order; false behind the last. `cells` has room for PACE_USAGE_MOST_CELLS. */
bool pace_usage_next_held(pace_usage_text *cells, uint64_t *line, pace_usage_held *held,
                          const pace_usage_binding *binding);
void pace_usage_held_free(pace_usage_held *held);

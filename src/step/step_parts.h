/* Everything that a step owns, as a table: its columns and its vectors. Private to step/. */
#pragma once

#include "step/step.h"

/* Where a step keeps an array, how long it is and how long it may become; 0 = it has no capacity of its own. */
typedef struct {
    size_t items, count, capacity; /* places within pace_step */
    size_t size;                   /* of an element */
} pace_step_part;

/* The columns of tasks come first: their `count` and `capacity` are the step's. */
extern const pace_step_part pace_step_parts[];
extern const size_t pace_step_column_count, pace_step_part_count;

static inline void *pace_step_part_items(const pace_step *step, const pace_step_part *part) {
    void *items;
    memcpy(&items, (const char *)step + part->items, sizeof items);
    return items;
}

static inline size_t pace_step_part_length(const pace_step *step, const pace_step_part *part) {
    size_t count;
    memcpy(&count, (const char *)step + part->count, sizeof count);
    return count;
}

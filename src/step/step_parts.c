#include "step/step_parts.h"

#include <stddef.h>

#define ARRAY(items, count, capacity) \
    { offsetof(pace_step, items), offsetof(pace_step, count), capacity, sizeof *((pace_step *)0)->items }
#define COLUMN(name) ARRAY(name, count, offsetof(pace_step, capacity))
#define VECTOR(name) ARRAY(name.items, name.count, offsetof(pace_step, name.capacity))

const pace_step_part pace_step_parts[] = {
    COLUMN(start_ns),
    COLUMN(duration),
    COLUMN(name),
    COLUMN(lane),
    COLUMN(detail),
    COLUMN(kind),
    COLUMN(stage),
    COLUMN(stage_given),
    COLUMN(correlation),
    COLUMN(external),
    ARRAY(above, count, 0),
    VECTOR(long_tasks),
    VECTOR(names.bytes),
    VECTOR(names.offset),
    VECTOR(names.hash),
    ARRAY(names.slots, names.slot_count, 0),
    VECTOR(lanes),
    ARRAY(lane_slots, lane_slot_count, 0),
    VECTOR(exchanges),
    VECTOR(records),
    VECTOR(bytes),
    VECTOR(syncs),
    VECTOR(memory),
    VECTOR(counters),
    VECTOR(waits),
    VECTOR(gradients),
    VECTOR(made_for),
    VECTOR(autograd_notes),
    VECTOR(autograd_arrows),
    VECTOR(devices),
    VECTOR(kept_steps),
    VECTOR(marking),
    ARRAY(has_gradient, has_gradient_words, 0),
};
const size_t pace_step_column_count = 10, pace_step_part_count = PACE_COUNT(pace_step_parts);

void pace_step_free(pace_step *step) {
    for (size_t i = 0; i < pace_step_part_count; i++) pace_free(pace_step_part_items(step, &pace_step_parts[i]));
    *step = (pace_step){0};
}

#include "insight/tables/memory_lives.h"

#include "base/memory.h"
#include "base/text.h"

typedef struct {
    const pace_memory_event *events;
    uint32_t *last; /* hash of addresses: event + 1 that took memory there last */
    size_t mask;
} finder;

static bool same_place(const pace_memory_event *a, const pace_memory_event *b) {
    return a->address == b->address && a->device_id == b->device_id && a->device_type == b->device_type;
}

static uint32_t *slot_of(const finder *f, const pace_memory_event *event) {
    uint64_t key = event->address + (uint64_t)event->device_type + ((uint64_t)(uint16_t)event->device_id << 8);
    size_t slot = (key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & f->mask;
    while (f->last[slot] && !same_place(&f->events[f->last[slot] - 1], event)) slot = (slot + 1) & f->mask;
    return &f->last[slot];
}

static void follow(uint32_t *partner, const finder *f, size_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const pace_memory_event *event = &f->events[i];
        partner[i] = PACE_NO_EVENT;
        if (event->address == 0) continue;
        uint32_t *last = slot_of(f, event), took = *last ? *last - 1 : PACE_NO_EVENT;
        bool held = took != PACE_NO_EVENT && f->events[took].bytes > 0 && partner[took] == PACE_NO_EVENT;
        if (held) partner[took] = i;
        if (held && event->bytes <= 0) partner[i] = took;
        if (took != PACE_NO_EVENT || event->bytes > 0) *last = i + 1;
    }
}

pace_status pace_memory_lives(uint32_t **out, const pace_step *step) {
    size_t count = step->memory.count, slots = 64;
    while (slots < count * 2) slots *= 2;
    finder f = {step->memory.items, pace_alloc(slots, sizeof *f.last), slots - 1};
    uint32_t *partner = pace_alloc(count, sizeof *partner);
    pace_status status = f.last && partner ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) follow(partner, &f, count);
    pace_free(f.last);
    return PACE_GIVE(out, partner, status, pace_free(partner));
}

uint32_t pace_memory_task(const pace_step *step, const pace_memory_event *event) {
    uint32_t task = pace_lane_begun_by(step, &step->lanes.items[event->lane], event->at_ns);
    while (task != PACE_NO_TASK && pace_step_end_ns(step, task) < event->at_ns) task = pace_task_parent(step, task);
    return task;
}

static uint32_t operator_around(const pace_step *step, uint32_t task) {
    while (task != PACE_NO_TASK && !pace_task_is_operator(step, task)) task = pace_task_parent(step, task);
    return task;
}

uint32_t pace_memory_asker(const pace_step *step, const pace_memory_event *event) {
    uint32_t op = operator_around(step, pace_memory_task(step, event));
    while (op != PACE_NO_TASK && pace_starts(pace_step_name(step, op), "aten::empty")) {
        uint32_t around = operator_around(step, pace_task_parent(step, op));
        if (around == PACE_NO_TASK) break;
        op = around;
    }
    return op;
}

#include "insight/steps/cycles.h"
#include "base/order.h"

#include "insight/steps/typical_step.h"

#include <stdlib.h>
#include <string.h>

/* Its steps, or its work where it has none; the profiler's own range may reach further. */
static int64_t begins_at(const pace_rank *trace) {
    int64_t at = trace->marks.items.count ? trace->marks.items.items[0].start_ns : trace->work.window.first_ns;
    return trace->step.base_ns + at;
}

static int64_t ends_at(const pace_rank *trace) {
    size_t marks = trace->marks.items.count;
    int64_t at = marks ? trace->marks.items.items[marks - 1].end_ns : trace->work.window.last_ns;
    return trace->step.base_ns + at;
}

/* One after the other, but for work that outlasts its file: a tenth of the shorter at most. */
static bool follow(const pace_rank *a, const pace_rank *b) {
    int64_t a_ns = ends_at(a) - begins_at(a), b_ns = ends_at(b) - begins_at(b);
    int64_t from = begins_at(a) > begins_at(b) ? begins_at(a) : begins_at(b);
    int64_t to = ends_at(a) < ends_at(b) ? ends_at(a) : ends_at(b);
    return (to - from) * 10 <= (a_ns < b_ns ? a_ns : b_ns);
}

/* The process of its first thread, "host 4711/", or NULL. */
static const char *process_of(size_t *length, const pace_step *step) {
    for (size_t i = 0; i < step->lanes.count; i++) {
        if (step->lanes.items[i].device) continue;
        const char *key = pace_names_text(&step->names, step->lanes.items[i].key);
        *length = strcspn(key, "/");
        return key[*length] ? key : NULL;
    }
    return NULL;
}

static bool same_process(const pace_rank *a, const pace_rank *b) {
    size_t a_length = 0, b_length = 0;
    if (a->step.rank != b->step.rank) return false;
    if (a->step.rank >= 0) return true;
    const char *a_process = process_of(&a_length, &a->step), *b_process = process_of(&b_length, &b->step);
    return a_process && b_process && a_length == b_length && memcmp(a_process, b_process, a_length) == 0;
}

/* The profiler counts a process's steps on, so that cycles never hold the same: processes of containers, which all have
 * one number, do. */
static bool share_a_step(const pace_rank *a, const pace_rank *b) {
    const pace_marks *of_a = &a->marks, *of_b = &b->marks;
    for (size_t i = 0; i < of_a->items.count; i++) {
        const char *label = pace_names_text(&a->step.names, of_a->items.items[i].label);
        for (size_t k = 0; pace_name_marks_step(label) && k < of_b->items.count; k++)
            if (strcmp(label, pace_names_text(&b->step.names, of_b->items.items[k].label)) == 0) return true;
    }
    return false;
}

bool pace_are_cycles(const pace_rank *a, const pace_rank *b) {
    return same_process(a, b) && follow(a, b) && !share_a_step(a, b);
}

/* The first file that `of` is a cycle with, or itself. */
static size_t first_cycle(pace_rank *const *traces, size_t of) {
    for (size_t i = 0; i < of; i++)
        if (!traces[i]->left_out && pace_are_cycles(traces[i], traces[of])) return i;
    return of;
}

static pace_status measure(pace_cycle *cycle) {
    pace_typical_step typical;
    PACE_TRY(pace_typical_step_of(&typical, cycle->trace));
    cycle->step_ns = typical.to_ns - typical.from_ns;
    cycle->steps = typical.mark == SIZE_MAX ? 0 : typical.steps;
    return PACE_OK;
}

#define BEGIN(cycle) begins_at((cycle)->trace)
PACE_ORDER(by_time, pace_cycle, PACE_UP_OF(BEGIN))

/* Numbers the cycles of one process, which stand from `first` on; alone a file is none. */
static pace_status number_cycles(pace_cycles *out, size_t first) {
    size_t of = out->count - first;
    if (of < 2) {
        out->count = first;
        return PACE_OK;
    }
    qsort(out->items + first, of, sizeof *out->items, by_time);
    for (size_t i = 0; i < of; i++) {
        pace_cycle *cycle = &out->items[first + i];
        cycle->number = i;
        cycle->of = of;
        cycle->after_ns = begins_at(cycle->trace) - begins_at(out->items[first].trace);
        PACE_TRY(measure(cycle));
    }
    return PACE_OK;
}

/* Half of the cycles' steps are shorter; of two in the middle the shorter is taken, of equal ones the first. */
static size_t median_cycle(const pace_cycle *cycles, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t before = 0;
        for (size_t k = 0; k < count; k++)
            before += cycles[k].step_ns < cycles[i].step_ns || (k < i && cycles[k].step_ns == cycles[i].step_ns);
        if (before == (count - 1) / 2) return i;
    }
    return 0;
}

pace_status pace_cycles_find(pace_cycles *out, pace_rank *const *traces, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (traces[i]->left_out || first_cycle(traces, i) != i) continue;
        size_t first = out->count;
        PACE_TRY(PACE_PUSH(out, ((pace_cycle){.trace = traces[i]})));
        for (size_t k = i + 1; k < count; k++)
            if (!traces[k]->left_out && first_cycle(traces, k) == i)
                PACE_TRY(PACE_PUSH(out, ((pace_cycle){.trace = traces[k]})));
        PACE_TRY(number_cycles(out, first));
    }
    if (out->count == 0) return PACE_OK;
    size_t chosen = median_cycle(out->items, out->items[0].of);
    PACE_ITEMS (pace_cycle, cycle, out) cycle->chosen = cycle->number == (chosen < cycle->of ? chosen : cycle->of - 1);
    return PACE_OK;
}

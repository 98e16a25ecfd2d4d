#include "insight/tables/kernel_stats.h"

#include "base/order.h"
#include "base/pattern.h"
#include "insight/tables/launch_shape.h"

#include <math.h>

typedef struct {
    const pace_step *step;
    size_t names;
    size_t *first;      /* name -> where its calls begin among `tasks`, and where the last name's end */
    uint32_t *tasks;    /* by name */
    int64_t *durations; /* of the same calls */
    int64_t *scratch;   /* as many */
    int64_t *launch_ns; /* launch -> time of the name at hand */
    float *occupancy;   /* launch -> 1 + its occupancy; -1 = unknown, 0 = not yet read */
    int64_t *self_ns;   /* without a device: operator -> its self time among the chosen work; else NULL */
} sorter;

/* Without a device an operator is many pieces of work: what it computes itself, around those that it calls. */
static bool is_first_piece(sorter *s, const pace_work_item *item) {
    if (!s->self_ns) return true;
    bool first = s->self_ns[item->task] == 0;
    s->self_ns[item->task] += item->end_ns - item->start_ns;
    return first && s->self_ns[item->task] > 0;
}

static size_t count_calls(sorter *s, const pace_work *work, const pace_work_choice *choice) {
    PACE_ITEMS (const pace_work_item, item, &work->items)
        if (pace_work_is_chosen(item, choice) && is_first_piece(s, item)) s->first[s->step->name[item->task]]++;
    size_t sum = 0;
    for (size_t n = 0; n <= s->names; n++) {
        size_t own = s->first[n];
        s->first[n] = sum;
        sum += own;
    }
    return sum;
}

static void place(sorter *s, uint32_t task, int64_t duration_ns) {
    size_t at = s->first[s->step->name[task]]++;
    s->tasks[at] = task;
    s->durations[at] = duration_ns;
}

/* Calls by name, by counting; `first` then holds where each name's calls end. */
static void place_calls(sorter *s, const pace_work *work, const pace_work_choice *choice) {
    PACE_ITEMS (const pace_work_item, item, &work->items) {
        if (!pace_work_is_chosen(item, choice)) continue;
        if (!s->self_ns) place(s, item->task, item->end_ns - item->start_ns);
        else if (s->self_ns[item->task] > 0) {
            place(s, item->task, s->self_ns[item->task]);
            s->self_ns[item->task] = 0;
        }
    }
}

static double occupancy_of(sorter *s, pace_name launch) {
    if (s->occupancy[launch] == 0) { /* not yet read */
        double read = pace_launch_shape_read(pace_names_text(&s->step->names, launch)).occupancy;
        s->occupancy[launch] = read >= 0 ? (float)(1 + read) : -1;
    }
    return (double)s->occupancy[launch] - 1;
}

/* Before the durations are sorted: they stand beside their tasks. */
static void note_launches(pace_kernel_row *row, sorter *s, size_t from, size_t to) {
    double known_ns = 0, sum_ns = 0;
    row->occupancy = NAN;
    for (size_t i = from; i < to; i++) {
        pace_name launch = pace_step_launch(s->step, s->tasks[i]);
        if (!launch) continue;
        if (s->launch_ns[launch] == 0) row->launches++;
        s->launch_ns[launch] += s->durations[i] + 1; /* one of no duration counts, too */
        if (s->launch_ns[launch] > s->launch_ns[row->launch]) row->launch = launch;
        double occupancy = occupancy_of(s, launch), ns = (double)s->durations[i];
        sum_ns += ns;
        if (occupancy < 0) continue;
        known_ns += ns;
        row->occupancy = (row->occupancy >= 0 ? row->occupancy : 0) + occupancy * ns;
    }
    if (known_ns > 0) row->occupancy /= known_ns;
    else row->occupancy = NAN;
    row->occupancy_known = sum_ns > 0 ? known_ns / sum_ns : 0;
    for (size_t i = from; i < to; i++) s->launch_ns[pace_step_launch(s->step, s->tasks[i])] = 0;
}

PACE_ORDER(by_time, pace_kernel_row, PACE_DOWN(calls.sum_ns) PACE_UP(name))

static pace_status make_rows(pace_kernel_rows *out, sorter *s, const regex_t *pattern) {
    size_t from = 0;
    for (size_t n = 0; n < s->names; n++) {
        size_t to = s->first[n];
        pace_kernel_row row = {.name = (pace_name)n};
        bool fits = to > from && (!pattern || pace_pattern_fits(pattern, pace_names_text(&s->step->names, row.name)));
        if (fits) {
            note_launches(&row, s, from, to);
            row.calls = pace_distribution_of(s->durations + from, s->scratch, to - from);
            PACE_TRY(PACE_PUSH(out, row));
        }
        from = to;
    }
    PACE_SORT(out, by_time);
    return PACE_OK;
}

static pace_status sort_calls(pace_kernel_rows *out, sorter *s, const pace_rank *rank, const pace_work_choice *choice,
                              const regex_t *pattern) {
    s->first = pace_alloc(s->names + 1, sizeof *s->first);
    s->launch_ns = pace_alloc(s->names, sizeof *s->launch_ns);
    s->occupancy = pace_alloc(s->names, sizeof *s->occupancy);
    if (rank->work.host_is_device) s->self_ns = pace_alloc(s->step->count, sizeof *s->self_ns);
    if (!s->first || !s->launch_ns || !s->occupancy || (rank->work.host_is_device && !s->self_ns)) return PACE_E_MEMORY;
    size_t calls = count_calls(s, &rank->work, choice);
    if (!PACE_MAKE(s->tasks, calls) || !PACE_MAKE(s->durations, calls) || !PACE_MAKE(s->scratch, calls))
        return PACE_E_MEMORY;
    place_calls(s, &rank->work, choice);
    return make_rows(out, s, pattern);
}

pace_status pace_kernel_stats(pace_kernel_rows *out, const pace_rank *rank, const pace_work_choice *choice) {
    pace_kernel_rows rows = {0};
    sorter s = {.step = &rank->step, .names = pace_names_count(&rank->step.names)};
    regex_t pattern;
    if (choice->name) PACE_TRY(pace_pattern_compile(&pattern, "filter:", choice->name));
    pace_status status = sort_calls(&rows, &s, rank, choice, choice->name ? &pattern : NULL);
    if (choice->name) regfree(&pattern);
    PACE_FREE(s.first, s.tasks, s.durations, s.scratch, s.launch_ns, s.occupancy, s.self_ns);
    return PACE_GIVE(out, rows, status, PACE_VEC_FREE(&rows));
}

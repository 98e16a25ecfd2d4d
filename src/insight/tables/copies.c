#include "insight/tables/copies.h"

#include "base/order.h"

#include <math.h>

typedef struct {
    pace_name name;
    uint32_t task;
} copy;

typedef PACE_VEC(copy) copies;

PACE_ORDER(by_name, copy, PACE_UP(name) PACE_UP(task))

static pace_status gather(copies *out, const pace_rank *rank, const pace_work_choice *choice) {
    const pace_step *step = &rank->step;
    PACE_ITEMS (const pace_work_item, item, &rank->work.items) {
        bool moves = step->kind[item->task] == PACE_TASK_COPY || step->kind[item->task] == PACE_TASK_MEMSET;
        if (moves && pace_work_is_chosen(item, choice))
            PACE_TRY(PACE_PUSH(out, ((copy){step->name[item->task], item->task})));
    }
    PACE_SORT(out, by_name);
    return PACE_OK;
}

static double rate(double bytes, double ns) { return ns > 0 ? bytes / ns * 1e9 : NAN; }

static pace_copy_row measure(const pace_step *step, const copy *of, size_t count, int64_t *durations,
                             int64_t *scratch) {
    pace_copy_row row = {.name = of->name, .bytes_per_s = NAN, .best_bytes_per_s = NAN};
    double sized_ns = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t task = of[i].task;
        durations[i] = pace_task_ns(step, task);
        if (!step->detail[task]) continue;
        double bytes = (double)step->bytes.items[step->detail[task] - 1];
        row.sized++;
        row.bytes += bytes;
        sized_ns += (double)durations[i];
        if (bytes <= row.largest_bytes) continue;
        row.largest_bytes = bytes;
        row.best_bytes_per_s = rate(bytes, (double)durations[i]);
    }
    if (row.sized) row.bytes_per_s = rate(row.bytes, sized_ns);
    row.calls = pace_distribution_of(durations, scratch, count);
    return row;
}

PACE_ORDER(by_time, pace_copy_row, PACE_DOWN(calls.sum_ns) PACE_UP(name))

static pace_status make_rows(pace_copy_rows *out, const pace_step *step, const copies *all) {
    int64_t *durations = pace_alloc(all->count, sizeof *durations), *scratch = pace_alloc(all->count, sizeof *scratch);
    pace_status status = durations && scratch ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0, next; i < all->count && status == PACE_OK; i = next) {
        for (next = i + 1; next < all->count && all->items[next].name == all->items[i].name; next++) {}
        status = PACE_PUSH(out, measure(step, all->items + i, next - i, durations, scratch));
    }
    PACE_FREE(durations, scratch);
    PACE_SORT(out, by_time);
    return status;
}

pace_status pace_copies_measure(pace_copy_rows *out, const pace_rank *rank, const pace_work_choice *choice) {
    copies all = {0};
    pace_copy_rows rows = {0};
    pace_status status = gather(&all, rank, choice);
    if (status == PACE_OK) status = make_rows(&rows, &rank->step, &all);
    PACE_VEC_FREE(&all);
    return PACE_GIVE(out, rows, status, PACE_VEC_FREE(&rows));
}

#include "insight/tables/kernel_ranks.h"

#include "base/order.h"
#include "base/sort.h"
#include "insight/tables/kernel_stats.h"

#include <string.h>

/* One kernel on one rank. */
typedef struct {
    pace_name name;
    uint32_t rank;
    size_t calls;
    int64_t time_ns;
    double median_ns;
} place;

typedef PACE_VEC(place) places;

static pace_work_choice choice_of(const pace_rank *rank, const pace_work_choice *choice, bool of_steps) {
    pace_work_choice own = *choice;
    size_t marks = rank->marks.items.count;
    if (of_steps && marks) own.start_ns = rank->marks.items.items[0].from_ns;
    if (of_steps && marks) own.end_ns = rank->marks.items.items[marks - 1].to_ns;
    return own;
}

static pace_status add_rank(places *out, pace_names *names, const pace_rank *rank, uint32_t number,
                            const pace_work_choice *choice) {
    pace_kernel_rows rows;
    PACE_TRY(pace_kernel_stats(&rows, rank, choice));
    pace_status status = PACE_OK;
    for (size_t i = 0; i < rows.count && status == PACE_OK; i++) {
        const pace_kernel_row *row = &rows.items[i];
        const char *text = pace_names_text(&rank->step.names, row->name);
        place here = {.rank = number,
                      .calls = row->calls.count,
                      .time_ns = row->calls.sum_ns,
                      .median_ns = row->calls.median_ns};
        status = pace_names_add(&here.name, names, text, strlen(text));
        if (status == PACE_OK) status = PACE_PUSH(out, here);
    }
    PACE_VEC_FREE(&rows);
    return status;
}

PACE_ORDER(by_name, place, PACE_UP(name) PACE_UP(rank))

static pace_kernel_ranks_row row_of(const place *of, size_t count, double *scratch) {
    pace_kernel_ranks_row row = {
        .name = of->name, .ranks = count, .least_calls = SIZE_MAX, .least_ns = INT64_MAX, .most_ns = -1};
    for (size_t i = 0; i < count; i++) {
        if (of[i].calls < row.least_calls) row.least_calls = of[i].calls;
        if (of[i].calls > row.most_calls) row.most_calls = of[i].calls;
        if (of[i].time_ns < row.least_ns) row.least_ns = of[i].time_ns, row.least_rank = of[i].rank;
        if (of[i].time_ns > row.most_ns) row.most_ns = of[i].time_ns, row.most_rank = of[i].rank;
    }
    for (size_t i = 0; i < count; i++) scratch[i] = (double)of[i].time_ns;
    row.median_ns = pace_median(scratch, count);
    for (size_t i = 0; i < count; i++) scratch[i] = of[i].median_ns;
    row.median_call_ns = pace_median(scratch, count);
    return row;
}

#define EXCESS(row) ((double)(row)->most_ns - (row)->median_ns)
PACE_ORDER(by_excess, pace_kernel_ranks_row, PACE_DOWN_OF(EXCESS) PACE_UP(name))

static pace_status make_rows(pace_kernel_ranks *ranks, places *all, size_t rank_count) {
    double *scratch = pace_alloc(rank_count, sizeof *scratch);
    pace_status status = scratch ? PACE_OK : PACE_E_MEMORY;
    PACE_SORT(all, by_name);
    for (size_t i = 0, next; i < all->count && status == PACE_OK; i = next) {
        for (next = i + 1; next < all->count && all->items[next].name == all->items[i].name; next++) {}
        status = PACE_PUSH(&ranks->rows, row_of(&all->items[i], next - i, scratch));
    }
    pace_free(scratch);
    PACE_SORT(&ranks->rows, by_excess);
    return status;
}

pace_status pace_kernel_ranks_find(pace_kernel_ranks *out, const pace_analysis *analysis,
                                   const pace_work_choice *choice, bool of_steps) {
    pace_kernel_ranks ranks = {0};
    places all = {0};
    PACE_TRY(pace_names_init(&ranks.names));
    pace_status status = PACE_OK;
    for (size_t i = 0; i < analysis->ranks.count && status == PACE_OK; i++) {
        const pace_work_choice own = choice_of(analysis->ranks.items[i], choice, of_steps);
        status = add_rank(&all, &ranks.names, analysis->ranks.items[i], (uint32_t)i, &own);
    }
    if (status == PACE_OK) status = make_rows(&ranks, &all, analysis->ranks.count);
    PACE_VEC_FREE(&all);
    return PACE_GIVE(out, ranks, status, pace_kernel_ranks_free(&ranks));
}

void pace_kernel_ranks_free(pace_kernel_ranks *ranks) {
    pace_names_free(&ranks->names);
    PACE_VEC_FREE(&ranks->rows);
}

/* Kernels by name: the spread of their times, how they were launched, how they differ between ranks. */
#include "report/analyze/analyze_parts.h"
#include "insight/tables/kernel_ranks.h"
#include "insight/tables/kernel_stats.h"
#include "insight/tables/launch_shape.h"
#include "base/print.h"

typedef struct {
    const char *name;
    pace_kernel_row of;
    double mean_ns, share, blocks_per_sm;
    char grid[40], block[40];
} kernel_row;

/* "132 x 1 x 4", without what is 1 behind. */
static void write_three(char *out, size_t size, const double three[3]) {
    size_t parts = three[2] > 1 ? 3 : three[1] > 1 ? 2 : three[0] > 0 ? 1 : 0;
    out[0] = '\0';
    for (size_t i = 0; i < parts; i++) pace_list(out, size, " x ", "%.0f", three[i]);
}

static kernel_row row_of(const pace_rank *rank, const pace_kernel_row *from, int64_t total_ns) {
    const pace_distribution *calls = &from->calls;
    const pace_launch_shape shape = pace_launch_shape_read(pace_names_text(&rank->step.names, from->launch));
    kernel_row row = {.name = pace_names_text(&rank->step.names, from->name),
                      .of = *from,
                      .mean_ns = (double)calls->sum_ns / (double)calls->count,
                      .share = total_ns > 0 ? (double)calls->sum_ns / (double)total_ns : 0,
                      .blocks_per_sm = shape.blocks_per_sm};
    write_three(row.grid, sizeof row.grid, shape.grid);
    write_three(row.block, sizeof row.block, shape.block);
    return row;
}

PACE_TABLE(kernels, "kernels", "Device time by kernel", PACE_FOR_ALL, 10,
           {"name", "name", PACE_SHOW_TEXT, PACE_OF(kernel_row, name)},
           {"calls", "calls", PACE_SHOW_INT, PACE_OF(kernel_row, of.calls.count)},
           {"time_ns", "time", PACE_SHOW_NS, PACE_OF(kernel_row, of.calls.sum_ns)},
           {"share", "share", PACE_SHOW_SHARE, PACE_OF(kernel_row, share)},
           {"least_ns", "min", PACE_SHOW_NS, PACE_OF(kernel_row, of.calls.least_ns)},
           {"median_ns", "median", PACE_SHOW_NS, PACE_WHOLE_OF(kernel_row, of.calls.median_ns)},
           {"mean_ns", NULL, PACE_SHOW_NS, PACE_WHOLE_OF(kernel_row, mean_ns)},
           {"most_ns", "max", PACE_SHOW_NS, PACE_OF(kernel_row, of.calls.most_ns)},
           {"std_ns", "std", PACE_SHOW_NS, PACE_WHOLE_OF(kernel_row, of.calls.std_ns)},
           {"occupancy", NULL, PACE_SHOW_SHARE, PACE_OF(kernel_row, of.occupancy)},
           {"occupancy_known", NULL, PACE_SHOW_SHARE, PACE_OF(kernel_row, of.occupancy_known)},
           {"grid", NULL, PACE_SHOW_TEXT, PACE_OF(kernel_row, grid)},
           {"block", NULL, PACE_SHOW_TEXT, PACE_OF(kernel_row, block)},
           {"blocks_per_sm", NULL, PACE_SHOW_REAL, PACE_OF(kernel_row, blocks_per_sm)},
           {"launches", NULL, PACE_SHOW_INT, PACE_OF(kernel_row, of.launches)});

/* The same rows, the other half of their columns: both together are wider than a page. */
PACE_TABLE_IF_ROWS(launches, "kernel_launches", "How these kernels were launched", PACE_FOR_PEOPLE, 10,
                   {"name", "name", PACE_SHOW_TEXT, PACE_OF(kernel_row, name)},
                   {"grid", "grid", PACE_SHOW_TEXT, PACE_OF(kernel_row, grid)},
                   {"block", "block", PACE_SHOW_TEXT, PACE_OF(kernel_row, block)},
                   {"blocks_per_sm", "blocks per SM", PACE_SHOW_REAL, PACE_OF(kernel_row, blocks_per_sm)},
                   {"occupancy", "occupancy", PACE_SHOW_SHARE, PACE_OF(kernel_row, of.occupancy)},
                   {"launches", "shapes", PACE_SHOW_INT, PACE_OF(kernel_row, of.launches)});

static void put_launches(pace_node *root, const pace_rank *rank, const pace_kernel_rows *rows,
                         const pace_work_shown *shown) {
    size_t known = 0;
    for (size_t i = 0; i < rows->count && i < launches.rows_shown; i++) known += rows->items[i].launch != 0;
    if (known == 0) return;
    pace_node *table = pace_open_table(root, &launches, 0);
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].launch)
            pace_table_put(table, &(kernel_row[]){row_of(rank, &rows->items[i], shown->total_ns)});
    pace_node_note(
        root, "grid and block: of the launch shape with most time, of so many shapes; blocks per SM: blocks of the "
              "whole grid for each multiprocessor (below 1 some stand idle); occupancy: the profiler's "
              "estimate of the threads a multiprocessor holds at once, of those it could hold.");
}

typedef struct {
    const char *name;
    pace_kernel_ranks_row of;
    char least_rank[PACE_RANK_NAME], most_rank[PACE_RANK_NAME];
} rank_row;

PACE_TABLE_IF_ROWS(by_rank, "kernels_by_rank", "Kernels that one rank spends most on beyond the others", PACE_FOR_ALL,
                   10, {"name", "name", PACE_SHOW_TEXT, PACE_OF(rank_row, name)},
                   {"ranks", "ranks", PACE_SHOW_INT, PACE_OF(rank_row, of.ranks)},
                   {"least_calls", NULL, PACE_SHOW_INT, PACE_OF(rank_row, of.least_calls)},
                   {"most_calls", NULL, PACE_SHOW_INT, PACE_OF(rank_row, of.most_calls)},
                   {"least_ns", "least", PACE_SHOW_NS, PACE_OF(rank_row, of.least_ns)},
                   {"least_rank", "by", PACE_SHOW_TEXT, PACE_OF(rank_row, least_rank)},
                   {"median_ns", "median", PACE_SHOW_NS, PACE_WHOLE_OF(rank_row, of.median_ns)},
                   {"most_ns", "most", PACE_SHOW_NS, PACE_OF(rank_row, of.most_ns)},
                   {"most_rank", "by", PACE_SHOW_TEXT, PACE_OF(rank_row, most_rank)},
                   {"median_call_ns", NULL, PACE_SHOW_NS, PACE_WHOLE_OF(rank_row, of.median_call_ns)});

static pace_status put_ranks(pace_node *root, const pace_analysis *analysis, const pace_work_shown *shown) {
    pace_kernel_ranks ranks;
    PACE_TRY(pace_kernel_ranks_find(&ranks, analysis, &shown->work, shown->steps));
    pace_node *table = pace_open_table(root, &by_rank, 0);
    PACE_ITEMS (const pace_kernel_ranks_row, from, &ranks.rows) {
        rank_row row = {.name = pace_names_text(&ranks.names, from->name), .of = *from};
        pace_rank_name(row.least_rank, analysis->ranks.items[from->least_rank]);
        pace_rank_name(row.most_rank, analysis->ranks.items[from->most_rank]);
        pace_table_put(table, &row);
    }
    pace_kernel_ranks_free(&ranks);
    return PACE_OK;
}

pace_status pace_put_kernels(size_t *found, pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                             const pace_work_shown *shown) {
    pace_kernel_rows rows;
    PACE_TRY(pace_kernel_stats(&rows, rank, &shown->work));
    *found += rows.count;
    pace_node *table = rows.count ? pace_work_table(root, &kernels, 0, shown) : NULL;
    for (size_t i = 0; i < rows.count; i++)
        pace_table_put(table, &(kernel_row[]){row_of(rank, &rows.items[i], shown->total_ns)});
    put_launches(root, rank, &rows, shown);
    PACE_VEC_FREE(&rows);
    return analysis->ranks.count > 1 ? put_ranks(root, analysis, shown) : PACE_OK;
}

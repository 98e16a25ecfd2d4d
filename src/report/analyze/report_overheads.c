/* The host overheads of the analyze report. */
#include "report/analyze/analyze_parts.h"
#include "base/order.h"
#include "insight/tables/overheads.h"

#include <math.h>
#include <stdlib.h>

static void put_totals(pace_node *root, const pace_overheads *overheads) {
    pace_node *object = pace_node_object(root, "overheads", NULL, PACE_FOR_JSON);
    for (size_t i = 0; i < PACE_OVERHEAD_TYPES; i++) {
        const pace_overhead_row *total = &overheads->total[i];
        pace_node *type = pace_node_object(object, pace_overhead_names[i], NULL, PACE_FOR_JSON);
        pace_node_int(type, "count", (int64_t)total->count);
        pace_node_real(type, "median_ns", total->count ? total->median_ns : NAN);
        pace_node_real(type, "mean_ns", total->count ? total->mean_ns : NAN);
    }
}

typedef struct {
    const char *type, *name;
    pace_overhead_row of;
} overhead_row;

PACE_TABLE(by_operator, "overheads_by_operator", "Host overhead per operator", PACE_FOR_ALL, 12,
           {"type", "host time", PACE_SHOW_WORD, PACE_OF(overhead_row, type)},
           {"name", "name", PACE_SHOW_TEXT, PACE_OF(overhead_row, name)},
           {"count", "count", PACE_SHOW_INT, PACE_OF(overhead_row, of.count)},
           {"median_ns", "median", PACE_SHOW_NS, PACE_WHOLE_OF(overhead_row, of.median_ns)},
           {"mean_ns", "mean", PACE_SHOW_NS, PACE_WHOLE_OF(overhead_row, of.mean_ns)},
           {"std_ns", "std", PACE_SHOW_NS, PACE_WHOLE_OF(overhead_row, of.std_ns)},
           {"total_ns", "total", PACE_SHOW_NS, PACE_WHOLE_OF(overhead_row, of.sum_ns)});

static void put_row(pace_node *table, const pace_rank *rank, const pace_overhead_row *row) {
    const char *name = row->name ? pace_names_text(&rank->step.names, row->name) : NULL;
    pace_table_put(table, &(overhead_row){pace_overhead_names[row->type], name, *row});
}

PACE_ORDER_AT(by_sum, pace_overhead_row, PACE_DOWN(sum_ns) if (a != b) return a < b ? -1 : 1;)

/* Largest first whatever the type: the rows shown are the ones worth looking at. */
static pace_status put_table(pace_node *root, const pace_rank *rank, const pace_overheads *overheads) {
    size_t count = overheads->rows.count;
    if (count == 0) return PACE_OK;
    const pace_overhead_row **order = pace_alloc(count, sizeof *order);
    if (!order) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) order[i] = &overheads->rows.items[i];
    qsort(order, count, sizeof *order, by_sum);
    pace_node *table = pace_open_table(root, &by_operator, 0);
    for (size_t i = 0; i < count; i++) put_row(table, rank, order[i]);
    pace_free(order);
    pace_node_note(
        root,
        "Host time that is no operator's own work: before its first call of the runtime, after its last, between them, "
        "in such a call, and between operators (T2, T3, T5, T4, T1 of the DLRM performance model). Median, mean and "
        "std exclude outliers.");
    return PACE_OK;
}

pace_status pace_put_overheads(pace_node *root, const pace_rank *rank, double profiler_event_us) {
    pace_overheads overheads;
    PACE_TRY(pace_overheads_measure(&overheads, rank, profiler_event_us * 1e3));
    put_totals(root, &overheads);
    pace_status status = put_table(root, rank, &overheads);
    pace_overheads_free(&overheads);
    return status;
}

/* How the host put work on the device: launch calls, queues of streams, copies. */
#include "report/analyze/analyze_parts.h"
#include "insight/tables/copies.h"
#include "insight/tables/launches.h"
#include "insight/tables/queues.h"

#include <math.h>

typedef struct {
    const char *call;
    pace_launch_row of;
} launch_row;

PACE_TABLE_IF_ROWS(launches, "launches", "Launches by runtime call", PACE_FOR_ALL, 6,
                   {"call", "call", PACE_SHOW_TEXT, PACE_OF(launch_row, call)},
                   {"calls", "calls", PACE_SHOW_INT, PACE_OF(launch_row, of.calls.count)},
                   {"call_sum_ns", NULL, PACE_SHOW_NS, PACE_OF(launch_row, of.calls.sum_ns)},
                   {"call_median_ns", "call median", PACE_SHOW_NS, PACE_WHOLE_OF(launch_row, of.calls.median_ns)},
                   {"call_p90_ns", "call p90", PACE_SHOW_NS, PACE_WHOLE_OF(launch_row, of.calls.p90_ns)},
                   {"call_most_ns", NULL, PACE_SHOW_NS, PACE_OF(launch_row, of.calls.most_ns)},
                   {"long_calls", "long calls", PACE_SHOW_INT, PACE_OF(launch_row, of.long_calls)},
                   {"work", NULL, PACE_SHOW_INT, PACE_OF(launch_row, of.delays.count)},
                   {"delay_median_ns", "delay median", PACE_SHOW_NS, PACE_WHOLE_OF(launch_row, of.delays.median_ns)},
                   {"delay_p90_ns", "delay p90", PACE_SHOW_NS, PACE_WHOLE_OF(launch_row, of.delays.p90_ns)},
                   {"delay_most_ns", NULL, PACE_SHOW_NS, PACE_OF(launch_row, of.delays.most_ns)},
                   {"long_delays", NULL, PACE_SHOW_INT, PACE_OF(launch_row, of.long_delays)},
                   {"short_work", "short work", PACE_SHOW_INT, PACE_OF(launch_row, of.short_work)},
                   {"short_work_ns", NULL, PACE_SHOW_NS, PACE_OF(launch_row, of.short_work_ns)},
                   {"below_call", "below its call", PACE_SHOW_INT, PACE_OF(launch_row, of.below_call)});

static pace_status put_launches(pace_node *root, const pace_rank *rank, const pace_work_shown *shown,
                                const pace_launch_limits *limits) {
    pace_launch_rows rows;
    PACE_TRY(pace_launches_measure(&rows, rank, &shown->work, limits));
    pace_node *table = pace_work_table(root, &launches, 0, shown);
    for (size_t i = 0; i < rows.count; i++) {
        pace_name call = rows.items[i].call;
        pace_table_put(table,
                       &(launch_row){call ? pace_names_text(&rank->step.names, call) : "all launches", rows.items[i]});
    }
    if (rows.count)
        pace_node_note(root,
                       "call: how long the host is in it (long: above %lld µs); delay: from its return to the start of "
                       "the work, 0 where that starts earlier; p90: 9 of 10 are shorter; short work takes less than "
                       "%lld µs; 'below its call': work shorter than the call that launched it.",
                       (long long)(limits->long_call_ns / 1000), (long long)(limits->short_work_ns / 1000));
    PACE_VEC_FREE(&rows);
    return PACE_OK;
}

typedef struct {
    const char *stream;
    pace_queue_row of;
    double full_share;
} queue_row;

PACE_TABLE_IF_ROWS(queues, "queues", "Work waiting on each stream", PACE_FOR_ALL, 8,
                   {"stream", "stream", PACE_SHOW_TEXT, PACE_OF(queue_row, stream)},
                   {"work", "launched", PACE_SHOW_INT, PACE_OF(queue_row, of.pieces)},
                   {"median_length", "median length", PACE_SHOW_REAL, PACE_OF(queue_row, of.median)},
                   {"most", "max length", PACE_SHOW_INT, PACE_OF(queue_row, of.most)},
                   {"empty_share", "found empty", PACE_SHOW_SHARE, PACE_OF(queue_row, of.empty_share)},
                   {"full_ns", "full for", PACE_SHOW_NS, PACE_OF(queue_row, of.full_ns)},
                   {"full_share", NULL, PACE_SHOW_SHARE, PACE_OF(queue_row, full_share)});

static pace_status put_queues(pace_node *root, const pace_rank *rank, const pace_work_shown *shown,
                              const pace_launch_limits *limits) {
    pace_queue_rows rows;
    PACE_TRY(pace_queues_measure(&rows, rank, &shown->work, limits->full_queue));
    pace_node *table = pace_work_table(root, &queues, 0, shown);
    int64_t span_ns = rank->work.window.span_ns;
    PACE_ITEMS (const pace_queue_row, from, &rows) {
        const char *stream = pace_names_text(&rank->step.names, rank->step.lanes.items[from->lane].key);
        pace_table_put(table, &(queue_row){stream, *from, span_ns > 0 ? (double)from->full_ns / (double)span_ns : 0});
    }
    if (rows.count)
        pace_node_note(
            root,
            "length: work that was launched and has not begun, at each change; 'found empty': work that began "
            "with nothing in line behind it, as where the host is the slower side; full: %d or more in line, "
            "where the next launch waits.",
            limits->full_queue);
    PACE_VEC_FREE(&rows);
    return PACE_OK;
}

typedef struct {
    const char *name;
    pace_copy_row of;
    double bytes, largest_bytes;
} copy_row;

PACE_TABLE_IF_ROWS(copies, "copies", "Copies and fills of device memory", PACE_FOR_ALL, 8,
                   {"name", "kind", PACE_SHOW_TEXT, PACE_OF(copy_row, name)},
                   {"calls", "calls", PACE_SHOW_INT, PACE_OF(copy_row, of.calls.count)},
                   {"time_ns", "time", PACE_SHOW_NS, PACE_OF(copy_row, of.calls.sum_ns)},
                   {"median_ns", NULL, PACE_SHOW_NS, PACE_WHOLE_OF(copy_row, of.calls.median_ns)},
                   {"total_bytes", "bytes", PACE_SHOW_BYTES, PACE_OF(copy_row, bytes)},
                   {"bytes_per_s", "byte/s", PACE_SHOW_RATE, PACE_OF(copy_row, of.bytes_per_s)},
                   {"largest_bytes", "largest", PACE_SHOW_BYTES, PACE_OF(copy_row, largest_bytes)},
                   {"best_bytes_per_s", "its byte/s", PACE_SHOW_RATE, PACE_OF(copy_row, of.best_bytes_per_s)});

static pace_status put_copies(pace_node *root, const pace_rank *rank, const pace_work_shown *shown) {
    pace_copy_rows rows;
    PACE_TRY(pace_copies_measure(&rows, rank, &shown->work));
    pace_node *table = pace_work_table(root, &copies, 0, shown);
    PACE_ITEMS (const pace_copy_row, from, &rows) {
        pace_table_put(table, &(copy_row){.name = pace_names_text(&rank->step.names, from->name),
                                          .of = *from,
                                          .bytes = from->sized ? from->bytes : NAN,
                                          .largest_bytes = from->sized ? from->largest_bytes : NAN});
    }
    PACE_VEC_FREE(&rows);
    return PACE_OK;
}

pace_status pace_put_launches(pace_node *root, const pace_rank *rank, const pace_work_shown *shown,
                              pace_catalog *catalog) {
    pace_launch_limits limits;
    PACE_TRY(pace_launch_limits_load(&limits, catalog));
    PACE_TRY(put_launches(root, rank, shown, &limits));
    PACE_TRY(put_queues(root, rank, shown, &limits));
    return put_copies(root, rank, shown);
}

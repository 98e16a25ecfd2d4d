/* How the host put work on the device: launch calls, queues of streams, copies. */
#include "report/analyze_parts.h"

#include "insight/copies.h"
#include "insight/launches.h"
#include "insight/queues.h"

#include <math.h>

static int64_t whole_ns(double ns) { return ns >= 0 ? llround(ns) : PACE_NO_INT; }

typedef struct {
    const char *call;
    size_t calls, long_calls, work, long_delays, short_work, below_call;
    int64_t call_median_ns, call_p90_ns, call_most_ns, call_sum_ns, delay_median_ns, delay_p90_ns, delay_most_ns,
        short_work_ns;
} launch_row;

static const pace_table launches = {
    .key = "launches",
    .title = "Launches by runtime call",
    .audience = PACE_FOR_ALL,
    .rows_shown = 6,
    .hidden_when_empty = true,
    PACE_CELLS({"call", "call", PACE_SHOW_TEXT, PACE_OF(launch_row, call)},
               {"calls", "calls", PACE_SHOW_INT, PACE_OF(launch_row, calls)},
               {"call_sum_ns", NULL, PACE_SHOW_NS, PACE_OF(launch_row, call_sum_ns)},
               {"call_median_ns", "call median", PACE_SHOW_NS, PACE_OF(launch_row, call_median_ns)},
               {"call_p90_ns", "call p90", PACE_SHOW_NS, PACE_OF(launch_row, call_p90_ns)},
               {"call_most_ns", NULL, PACE_SHOW_NS, PACE_OF(launch_row, call_most_ns)},
               {"long_calls", "long calls", PACE_SHOW_INT, PACE_OF(launch_row, long_calls)},
               {"work", NULL, PACE_SHOW_INT, PACE_OF(launch_row, work)},
               {"delay_median_ns", "delay median", PACE_SHOW_NS, PACE_OF(launch_row, delay_median_ns)},
               {"delay_p90_ns", "delay p90", PACE_SHOW_NS, PACE_OF(launch_row, delay_p90_ns)},
               {"delay_most_ns", NULL, PACE_SHOW_NS, PACE_OF(launch_row, delay_most_ns)},
               {"long_delays", NULL, PACE_SHOW_INT, PACE_OF(launch_row, long_delays)},
               {"short_work", "short work", PACE_SHOW_INT, PACE_OF(launch_row, short_work)},
               {"short_work_ns", NULL, PACE_SHOW_NS, PACE_OF(launch_row, short_work_ns)},
               {"below_call", "below its call", PACE_SHOW_INT, PACE_OF(launch_row, below_call)})};

static launch_row row_of(const pace_step *step, const pace_launch_row *from) {
    return (launch_row){.call = from->call ? pace_names_text(&step->names, from->call) : "all launches",
                        .calls = from->calls.count,
                        .long_calls = from->long_calls,
                        .work = from->delays.count,
                        .long_delays = from->long_delays,
                        .short_work = from->short_work,
                        .below_call = from->below_call,
                        .call_median_ns = whole_ns(from->calls.median_ns),
                        .call_p90_ns = whole_ns(from->calls.p90_ns),
                        .call_most_ns = from->calls.most_ns,
                        .call_sum_ns = from->calls.sum_ns,
                        .delay_median_ns = whole_ns(from->delays.median_ns),
                        .delay_p90_ns = whole_ns(from->delays.p90_ns),
                        .delay_most_ns = from->delays.most_ns,
                        .short_work_ns = from->short_work_ns};
}

static pace_status put_launches(pace_node *root, const pace_rank *rank, const pace_work_shown *shown,
                                const pace_launch_limits *limits) {
    pace_launch_rows rows;
    PACE_TRY(pace_launches_measure(&rows, rank, &shown->work, limits));
    pace_node *table = pace_work_table(root, &launches, 0, shown);
    for (size_t i = 0; i < rows.count; i++) pace_table_put(table, &(launch_row[]){row_of(&rank->step, &rows.items[i])});
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
    size_t work;
    int64_t most, full_ns;
    double median, empty_share, full_share;
} queue_row;

static const pace_table queues = {
    .key = "queues",
    .title = "Work waiting on each stream",
    .audience = PACE_FOR_ALL,
    .rows_shown = 8,
    .hidden_when_empty = true,
    PACE_CELLS({"stream", "stream", PACE_SHOW_TEXT, PACE_OF(queue_row, stream)},
               {"work", "launched", PACE_SHOW_INT, PACE_OF(queue_row, work)},
               {"median_length", "median length", PACE_SHOW_REAL, PACE_OF(queue_row, median)},
               {"most", "max length", PACE_SHOW_INT, PACE_OF(queue_row, most)},
               {"empty_share", "found empty", PACE_SHOW_SHARE, PACE_OF(queue_row, empty_share)},
               {"full_ns", "full for", PACE_SHOW_NS, PACE_OF(queue_row, full_ns)},
               {"full_share", NULL, PACE_SHOW_SHARE, PACE_OF(queue_row, full_share)})};

static pace_status put_queues(pace_node *root, const pace_rank *rank, const pace_work_shown *shown,
                              const pace_launch_limits *limits) {
    pace_queue_rows rows;
    PACE_TRY(pace_queues_measure(&rows, rank, &shown->work, limits->full_queue));
    pace_node *table = pace_work_table(root, &queues, 0, shown);
    int64_t span_ns = rank->work.window.span_ns;
    for (size_t i = 0; i < rows.count; i++) {
        const pace_queue_row *from = &rows.items[i];
        pace_table_put(table, &(queue_row){.stream = pace_names_text(&rank->step.names,
                                                                     rank->step.lanes.items[from->lane].key),
                                           .work = from->pieces,
                                           .most = from->most,
                                           .full_ns = from->full_ns,
                                           .median = from->median,
                                           .empty_share = from->empty_share,
                                           .full_share = span_ns > 0 ? (double)from->full_ns / (double)span_ns : 0});
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
    size_t calls;
    int64_t time_ns, median_ns;
    double bytes, bytes_per_s, largest_bytes, best_bytes_per_s;
} copy_row;

static const pace_table copies = {
    .key = "copies",
    .title = "Copies and fills of device memory",
    .audience = PACE_FOR_ALL,
    .rows_shown = 8,
    .hidden_when_empty = true,
    PACE_CELLS({"name", "kind", PACE_SHOW_TEXT, PACE_OF(copy_row, name)},
               {"calls", "calls", PACE_SHOW_INT, PACE_OF(copy_row, calls)},
               {"time_ns", "time", PACE_SHOW_NS, PACE_OF(copy_row, time_ns)},
               {"median_ns", NULL, PACE_SHOW_NS, PACE_OF(copy_row, median_ns)},
               {"total_bytes", "bytes", PACE_SHOW_BYTES, PACE_OF(copy_row, bytes)},
               {"bytes_per_s", "byte/s", PACE_SHOW_RATE, PACE_OF(copy_row, bytes_per_s)},
               {"largest_bytes", "largest", PACE_SHOW_BYTES, PACE_OF(copy_row, largest_bytes)},
               {"best_bytes_per_s", "its byte/s", PACE_SHOW_RATE, PACE_OF(copy_row, best_bytes_per_s)})};

static pace_status put_copies(pace_node *root, const pace_rank *rank, const pace_work_shown *shown) {
    pace_copy_rows rows;
    PACE_TRY(pace_copies_measure(&rows, rank, &shown->work));
    pace_node *table = pace_work_table(root, &copies, 0, shown);
    for (size_t i = 0; i < rows.count; i++) {
        const pace_copy_row *from = &rows.items[i];
        pace_table_put(table, &(copy_row){.name = pace_names_text(&rank->step.names, from->name),
                                          .calls = from->calls.count,
                                          .time_ns = from->calls.sum_ns,
                                          .median_ns = whole_ns(from->calls.median_ns),
                                          .bytes = from->sized ? from->bytes : NAN,
                                          .bytes_per_s = from->bytes_per_s,
                                          .largest_bytes = from->sized ? from->largest_bytes : NAN,
                                          .best_bytes_per_s = from->best_bytes_per_s});
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

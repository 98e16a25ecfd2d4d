/* The report of `paceline predict --simulate TRACE...`: execution traces of many ranks, replayed message by message. */
#include "ask/replay_asked.h"
#include "report/engines.h"
#include "report/machine_note.h"
#include "report/table.h"

typedef struct {
    const char *workload, *bottleneck;
    size_t ranks, nodes_read;
    double time_us, work_us, low_us, high_us, utilisation, sent_bytes;
    uint64_t messages;
} workload_row;

static const pace_table workloads = {
    "workloads", "Replayed on the machine's links", PACE_FOR_ALL, 0,
    PACE_CELLS({"workload", "workload", PACE_SHOW_TEXT, PACE_OF(workload_row, workload)},
               {"ranks", "ranks", PACE_SHOW_INT, PACE_OF(workload_row, ranks)},
               {"nodes_read", "nodes", PACE_SHOW_INT, PACE_OF(workload_row, nodes_read)},
               {"time_us", "time µs", PACE_SHOW_REAL, PACE_OF(workload_row, time_us)},
               {"work_us", "work µs", PACE_SHOW_REAL, PACE_OF(workload_row, work_us)},
               {"low_us", "low µs", PACE_SHOW_REAL, PACE_OF(workload_row, low_us)},
               {"high_us", "high µs", PACE_SHOW_REAL, PACE_OF(workload_row, high_us)},
               {"bottleneck", "busiest link", PACE_SHOW_TEXT, PACE_OF(workload_row, bottleneck)},
               {"utilisation_share", "used", PACE_SHOW_SHARE, PACE_OF(workload_row, utilisation)},
               {"messages", "messages", PACE_SHOW_INT, PACE_OF(workload_row, messages)},
               {"sent_bytes", "sent", PACE_SHOW_BYTES, PACE_OF(workload_row, sent_bytes)})};

static void put_workload(pace_node *table, const pace_replayed_workload *w) {
    pace_table_put(table, &(workload_row){.workload = w->name,
                                          .ranks = w->ranks,
                                          .nodes_read = w->nodes_read,
                                          .time_us = w->time_s.median * 1e6,
                                          .work_us = w->work_s * 1e6,
                                          .low_us = pace_estimate_low(w->time_s) * 1e6,
                                          .high_us = pace_estimate_high(w->time_s) * 1e6,
                                          .bottleneck = *w->bottleneck ? w->bottleneck : NULL,
                                          .utilisation = w->busiest_share,
                                          .messages = w->messages,
                                          .sent_bytes = w->sent_bytes});
}

static void warn_of(pace_report *report, const pace_replayed_workload *w) {
    if (w->apart)
        pace_report_warn(report, PACE_WARN_RANKS_MISSING, w->name,
                         "%s: %zu exchange%s whose other ranks are not here: as long as recorded", w->name, w->apart,
                         w->apart == 1 ? "" : "s");
    if (w->guessed)
        pace_report_warn(report, PACE_WARN_SIZES_UNKNOWN, w->name,
                         "%s: %zu piece%s of work of which the recording gives neither time nor amount: as long as "
                         "kernels usually take",
                         w->name, w->guessed, w->guessed == 1 ? "" : "s");
}

static pace_status describe(pace_report *report, void *context) {
    const pace_replay_asked *asked = context;
    pace_node *root = pace_report_root(report);
    for (size_t i = 0; i < asked->paths.count; i++) pace_report_add_input(report, asked->paths.items[i], 0);
    pace_node_text(root, "machine", asked->machine.name);
    pace_node *table = pace_open_table(root, &workloads, 0);
    for (size_t i = 0; i < asked->workloads.count; i++) {
        warn_of(report, &asked->workloads.items[i]);
        put_workload(table, &asked->workloads.items[i]);
    }
    pace_node_note(root,
                   "Unless --algorithm says otherwise, collectives run as a ring, broadcasts as a binomial tree and "
                   "all-to-alls pairwise. Work without a time is priced on the machine's device; the host is ignored.");
    pace_put_machine_note(root, &asked->machine);
    return PACE_OK;
}

pace_status pace_simulate_traces(pace_report **out, const char *const *paths, size_t count,
                                 const pace_simulate_options *options) {
    pace_replay_asked asked = {0};
    pace_status status = pace_replay_ask(&asked, paths, count, options);
    if (status == PACE_OK)
        status = pace_report_build(out, "replay", "Traces replayed, message by message", describe, &asked);
    pace_replay_asked_free(&asked);
    return status;
}

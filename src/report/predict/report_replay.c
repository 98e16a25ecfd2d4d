/* The report of `paceline predict --simulate TRACE...`: execution traces of many ranks, replayed message by message. */
#include "ask/predict/replay_asked.h"
#include "report/engines.h"
#include "report/predict/predict_parts.h"
#include "report/table.h"

PACE_TABLE(workloads, "workloads", "Replayed on the machine's links", PACE_FOR_ALL, 0,
           {"workload", "workload", PACE_SHOW_TEXT, PACE_OF(pace_replayed_workload, name)},
           {"ranks", "ranks", PACE_SHOW_INT, PACE_OF(pace_replayed_workload, ranks)},
           {"nodes_read", "nodes", PACE_SHOW_INT, PACE_OF(pace_replayed_workload, nodes_read)},
           {"time_us", "time µs", PACE_SHOW_REAL, PACE_US_OF(pace_replayed_workload, time_s)},
           {"work_us", "work µs", PACE_SHOW_REAL, PACE_US_OF(pace_replayed_workload, work_s)},
           {"low_us", "low µs", PACE_SHOW_REAL, PACE_LOW_US_OF(pace_replayed_workload, time_s)},
           {"high_us", "high µs", PACE_SHOW_REAL, PACE_HIGH_US_OF(pace_replayed_workload, time_s)},
           {"bottleneck", "busiest link", PACE_SHOW_TEXT, PACE_KNOWN_OF(pace_replayed_workload, bottleneck)},
           {"utilisation_share", "used", PACE_SHOW_SHARE, PACE_OF(pace_replayed_workload, busiest_share)},
           {"messages", "messages", PACE_SHOW_INT, PACE_OF(pace_replayed_workload, messages)},
           {"sent_bytes", "sent", PACE_SHOW_BYTES, PACE_OF(pace_replayed_workload, sent_bytes)});

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
    for (size_t i = 0; i < asked->workloads.count; i++) warn_of(report, &asked->workloads.items[i]);
    PACE_PUT_ROWS(root, &workloads, &asked->workloads);
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

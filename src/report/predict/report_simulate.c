/* The report of `paceline predict --kind exchange --simulate`: a collective simulated on a machine's links, beside its
 * closed form. */
#include "base/print.h"
#include "report/predict/predict_parts.h"
#include "report/engines.h"
#include "ask/predict/simulation_asked.h"
#include "report/show.h"
#include "report/table.h"

#include <math.h>

typedef struct {
    int64_t bytes;
    pace_estimate time_s;
    double algbw, busbw, stragglers_us;
    const char *algorithm, *protocol, *program, *bottleneck, *why;
    double apart;
    pace_simulation_answer of;
} size_row;

PACE_TABLE(sizes, "sizes", "Simulated time and bandwidth by size", PACE_FOR_ALL, 0,
           {"bytes", "size B", PACE_SHOW_INT, PACE_OF(size_row, bytes)},
           {"time_us", "time µs", PACE_SHOW_REAL, PACE_US_OF(size_row, of.time_s)},
           {"algbw_GB_per_s", "algbw GB/s", PACE_SHOW_REAL, PACE_OF(size_row, algbw)},
           {"busbw_GB_per_s", "busbw GB/s", PACE_SHOW_REAL, PACE_OF(size_row, busbw)},
           {"algorithm", "algorithm", PACE_SHOW_TEXT, PACE_OF(size_row, algorithm)},
           {"protocol", "protocol", PACE_SHOW_TEXT, PACE_OF(size_row, protocol)},
           {"program", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, program)},
           {"closed_form_us", "closed form µs", PACE_SHOW_REAL, PACE_US_OF(size_row, of.closed_s)},
           {"apart_share", NULL, PACE_SHOW_SHARE, PACE_OF(size_row, apart)},
           {"why_apart", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, why)},
           {"low_us", "low µs", PACE_SHOW_REAL, PACE_LOW_US_OF(size_row, time_s)},
           {"high_us", "high µs", PACE_SHOW_REAL, PACE_HIGH_US_OF(size_row, time_s)},
           {"bottleneck", "busiest link", PACE_SHOW_TEXT, PACE_OF(size_row, bottleneck)},
           {"utilisation_share", "used", PACE_SHOW_SHARE, PACE_OF(size_row, of.flows.busiest_share)},
           {"messages", NULL, PACE_SHOW_INT, PACE_OF(size_row, of.flows.messages)},
           {"stragglers_us", NULL, PACE_SHOW_REAL, PACE_OF(size_row, stragglers_us)},
           {"simulated_ranks", "ranks simulated", PACE_SHOW_INT, PACE_OF(size_row, of.flows.simulated_ranks)});

enum { LOGGED_OPERATIONS = 100000 };

static void put_row(pace_node *table, const pace_simulation_asked *a, double bytes, const pace_simulation_answer *given,
                    const pace_library_run *run, const pace_stragglers_cost *slow) {
    double algbw = given->time_s > 0 ? bytes / given->time_s / 1e9 : NAN;
    double factor = pace_bus_factor(a->question.collective, (int)a->simulation.ranks_of_job);
    const char *program = pace_exchange_algorithms[given->algorithm].name;
    pace_table_put(table, &(size_row){.bytes = llround(bytes),
                                      .time_s = pace_simulation_estimate(a, given),
                                      .algbw = algbw,
                                      .busbw = algbw * factor,
                                      .algorithm = *run->algorithm ? run->algorithm : program,
                                      .protocol = *run->protocol ? run->protocol : NULL,
                                      .program = program,
                                      .apart = given->time_s / given->closed_s - 1,
                                      .why = pace_simulation_why_apart(a, given),
                                      .bottleneck = given->flows.busiest_share > 0 ? given->bottleneck : NULL,
                                      .stragglers_us = slow->count ? slow->cost_s * 1e6 : NAN,
                                      .of = *given});
}

/* How the closed form, which takes ranks to be in step and links to be free, differs, and why. */
static void compare_closed_form(pace_node *root, const pace_simulation_asked *a, const pace_simulation_answer *given,
                                const pace_library_run *run) {
    const char *why = pace_simulation_why_apart(a, given), *library = *run->algorithm ? " of the library" : "";
    double apart = 100 * (given->closed_s / given->time_s - 1);
    if (!(given->closed_s > 0)) return;
    if (!why) pace_node_sentence(root, false, "The closed form%s agrees: %.4g ms.", library, given->closed_s * 1e3);
    else
        pace_node_sentence(root, false, "The closed form%s, %.4g ms, is %.3g %% %s: %s.", library,
                           given->closed_s * 1e3, fabs(apart), apart > 0 ? "more" : "less", why);
}

static void put_summary(pace_node *root, const pace_simulation_asked *a, double bytes,
                        const pace_simulation_answer *given, const pace_library_run *run) {
    const pace_simulation *s = &a->simulation;
    pace_estimate time_s = pace_simulation_estimate(a, given);
    const char *program = pace_exchange_algorithms[given->algorithm].name;
    char how[96], others[48] = "";
    if (s->question.jobs > 1)
        pace_snprintf(others, sizeof others, " beside %u such job%s", s->question.jobs - 1,
                      s->question.jobs > 2 ? "s" : "");
    if (*run->algorithm)
        pace_snprintf(how, sizeof how, "%s with %s on %d channels", run->algorithm, run->protocol, run->way.channels);
    else pace_snprintf(how, sizeof how, "%s", program);
    pace_node_sentence(root, true, "%s of %s by %s on %u ranks of %s takes %.4g ms%s (90 %% interval %.4g to %.4g ms).",
                       pace_collective_rows[a->question.collective].name, pace_show_bytes(bytes).text, how,
                       s->ranks_of_job, a->machine.name, given->time_s * 1e3, others, pace_estimate_low(time_s) * 1e3,
                       pace_estimate_high(time_s) * 1e3);
    if (given->flows.busiest_share > 0)
        pace_node_sentence(root, false, "The busiest link is %s, at %.3g %% of its capacity.", given->bottleneck,
                           100 * given->flows.busiest_share);
    if (given->grown_from)
        pace_node_sentence(root, false,
                           "At most %u nodes were simulated, with messages as large; the time of %u continues their "
                           "line (--unfolded simulates all).",
                           given->grown_from, s->nodes_of_job);
    compare_closed_form(root, a, given, run);
}

static void name_stragglers(pace_node *root, const pace_stragglers_cost *slow, uint32_t ranks, double time_s) {
    char who[96];
    if (!slow->count) return;
    pace_snprintf(who, sizeof who, "Rank %u of %u is slow", slow->slowest, ranks);
    if (slow->count > 1)
        pace_snprintf(who, sizeof who, "Rank %u and %u other%s of %u are slow", slow->slowest, slow->count - 1,
                      slow->count > 2 ? "s" : "", ranks);
    pace_node_sentence(root, false, "%s, at %.3g %% of the rate: that costs %.4g ms, %.3g %% of the time.", who,
                       slow->rate * 100, slow->cost_s * 1e3, slow->cost_s / time_s * 100);
}

/* What is given is that of the last size. */
static pace_status put_sizes(pace_simulation_answer *given, pace_library_run *run, pace_stragglers_cost *slow,
                             pace_node *root, const pace_simulation_asked *a, pace_flow_log *log,
                             pace_size_times *times) {
    pace_node *table = pace_open_table(root, &sizes, 0);
    for (size_t i = 0; i < a->sizes.count; i++) {
        double bytes = a->sizes.items[i];
        PACE_TRY(pace_simulation_asked_run(given, run, a, bytes, i + 1 == a->sizes.count ? log : NULL));
        PACE_TRY(pace_simulation_stragglers(slow, a, bytes, given));
        put_row(table, a, bytes, given, run, slow);
        PACE_TRY(pace_size_times_add(times, bytes, given->time_s,
                                     *run->algorithm ? run->algorithm : pace_exchange_algorithms[given->algorithm].name,
                                     run->protocol));
    }
    return PACE_OK;
}

static pace_status build_with(pace_report *report, const pace_simulation_asked *a, pace_flow_log *log,
                              pace_size_times *times) {
    const pace_machine *m = &a->machine;
    const pace_simulation *s = &a->simulation;
    pace_node *root = pace_report_root(report);
    pace_simulation_answer given;
    pace_stragglers_cost slow;
    pace_library_run run;
    pace_node_text(root, "machine", m->name);
    pace_node_text(root, "network", pace_network_kind_names[m->network.kind]);
    pace_node_text(root, "collective", pace_collective_rows[a->question.collective].name);
    pace_node_int(root, "ranks", s->ranks_of_job);
    pace_node_int(root, "jobs", s->question.jobs);
    pace_node_int(root, "nodes", m->nodes);
    pace_node_text(root, "library", a->by_library ? a->library.nccl.line : "textbook");
    PACE_TRY(put_sizes(&given, &run, &slow, root, a, log, times));
    put_summary(root, a, a->sizes.items[a->sizes.count - 1], &given, &run);
    name_stragglers(root, &slow, s->question.ranks, given.time_s);
    pace_say_reversals(root, times);
    pace_node_note(root,
                   "Every message is a flow, and flows share links max-min fairly. Links reach the same share of their "
                   "peak as large exchanges. GB = 1e9 bytes.");
    pace_put_pieces_note(root, a->collective);
    pace_put_machine_note(root, m);
    return PACE_OK;
}

/* The operations that a page draws: those of the last size. */
static pace_status build(pace_report *report, void *context) {
    pace_simulation_asked *a = context;
    pace_flow_log log = {.limit = LOGGED_OPERATIONS};
    pace_size_times times = {0};
    pace_status status = build_with(report, a, &log, &times);
    PACE_VEC_FREE(&times);
    if (status != PACE_OK) {
        pace_flow_log_free(&log);
        return status;
    }
    return pace_put_exchange_timeline(pace_report_root(report), &log, a->simulation.ranks_of_job,
                                      a->simulation.numbered_of_job);
}

pace_status pace_simulate_exchange(pace_report **out, const pace_simulate_options *options) {
    pace_simulation_asked a = {0};
    pace_status status = pace_simulation_ask(&a, options);
    if (status == PACE_OK) status = pace_report_build(out, "simulation", "An exchange, message by message", build, &a);
    pace_simulation_asked_free(&a);
    return status;
}

/* Critical path, what would help most, collectives. */
#include "report/analyze/analyze_parts.h"
#include "insight/ranks/lateness.h"
#include "insight/tables/path_rows.h"
#include "report/show.h"
#include "base/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* --- the path ---------------------------------------------------------------------------------------------------- */

enum { WITH_DEVICES = 1 }; /* a trace has several */

static unsigned devices_of(const pace_analysis *analysis) {
    return pace_analysis_has_devices(analysis) ? WITH_DEVICES : 0;
}

typedef struct {
    uint32_t device;
    int64_t rank, time_ns, visits;
    double share;
} rank_row;

static const pace_table_column rank_columns[] = {{"device_id", "device", PACE_SHOW_INT, PACE_OF(rank_row, device),
                                                  .only_if = WITH_DEVICES},
                                                 {"rank", "rank", PACE_SHOW_INT, PACE_OF(rank_row, rank)},
                                                 {"time_ns", "on the path", PACE_SHOW_NS, PACE_OF(rank_row, time_ns)},
                                                 {"share", "share", PACE_SHOW_SHARE, PACE_OF(rank_row, share)},
                                                 {"count", "visits", PACE_SHOW_INT, PACE_OF(rank_row, visits)},
                                                 {0}};
enum { SHOWN_RANKS = 16 };

static const pace_table by_rank = {"by_rank", "The path through the ranks", PACE_FOR_ALL, SHOWN_RANKS,
                                   .columns = rank_columns};
static const pace_table by_this_rank = {"by_rank", NULL, PACE_FOR_JSON, 16, .columns = rank_columns};

/* How the path runs through the ranks. */
static void put_by_rank(pace_node *path, const pace_critical *critical, const pace_analysis *analysis) {
    int64_t length = critical->to_ns - critical->from_ns;
    uint32_t most = 0;
    char name[PACE_RANK_NAME];
    bool across = critical->scope == PACE_PATH_OF_ALL_RANKS;
    pace_node *table = pace_open_table(path, across ? &by_rank : &by_this_rank, devices_of(analysis));
    uint32_t count = (uint32_t)critical->by_rank_ns.count;
    for (uint32_t r = 0; r < count; r++)
        if (critical->by_rank_ns.items[r] > critical->by_rank_ns.items[most]) most = r;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = count > SHOWN_RANKS ? (i == 0 ? most : i <= most ? i - 1 : i) : i; /* the first rows are shown */
        const pace_rank *rank = analysis->ranks.items[r];
        int64_t time_ns = critical->by_rank_ns.items[r];
        pace_table_put(table,
                       &(rank_row){rank->device_id, pace_rank_number(rank), time_ns, pace_path_visits(critical, r),
                                   length > 0 ? (double)time_ns / (double)length : 0});
    }
    if (across)
        pace_node_note(path, "The path follows the late rank wherever others waited: %.0f %% of it is on %s.",
                       length > 0 ? 100.0 * (double)critical->by_rank_ns.items[most] / (double)length : 0.0,
                       pace_rank_name(name, analysis->ranks.items[most]));
    if (critical->scope == PACE_PATH_TOO_LARGE)
        pace_node_note(
            path,
            "All ranks together are too large to replay: the path is this rank's, and its waiting for other ranks "
            "counts as balance.");
    if (critical->scope == PACE_PATH_KNOTTED)
        pace_node_note(path,
                       "The ranks' waits contradict each other, so they cannot be replayed together: the path is this "
                       "rank's, and its waiting for other ranks counts as balance.");
}

/* Which step the path and the drawing are of. */
static const char *label_of(const pace_critical *critical, const pace_rank *rank) {
    if (critical->mark == SIZE_MAX) return "the whole trace";
    return pace_names_text(&rank->step.names, rank->marks.items.items[critical->mark].label);
}

static void put_figures(pace_node *path, const pace_critical *critical, const pace_rank *rank) {
    int64_t length = critical->to_ns - critical->from_ns;
    pace_node *figures = pace_node_object(path, NULL, NULL, PACE_FOR_JSON);
    pace_node_text(figures, "step",
                   critical->mark == SIZE_MAX
                       ? NULL
                       : pace_names_text(&rank->step.names, rank->marks.items.items[critical->mark].label));
    static const char *const scopes[] = {"one_rank", "all_ranks", "too_large", "knotted"};
    pace_node_text(figures, "scope", scopes[critical->scope]);
    pace_node_int(figures, "length_ns", length);
    pace_node_int(figures, "start_ns", pace_rank_shown_ns(rank, critical->from_ns));
    pace_node_int(figures, "pieces", (int64_t)critical->pieces.count);
    pace_node_int(figures, "replay_error_ns", critical->worst_error_ns);
    pace_node_real(figures, "unexplained_share", length > 0 ? (double)critical->unexplained_ns / (double)length : 0);
    pace_node_int(figures, "handovers", (int64_t)critical->handovers);
    pace_node_int(figures, "recorded_handovers", (int64_t)critical->recorded_handovers);
    pace_node *by = pace_node_object(path, "by_resource", NULL, PACE_FOR_JSON);
    for (int r = 0; r < PACE_ADVICES; r++) {
        char key[32];
        snprintf(key, sizeof key, "%s_ns", pace_advice_names[r]);
        pace_node_int(by, key, critical->by_resource_ns[r]);
    }
}

typedef struct {
    const char *name, *what;
    uint8_t resource;
    size_t count;
    int64_t time_ns;
    double share;
} top_row;

PACE_TABLE(top, "top", NULL, PACE_FOR_ALL, 10, {"name", "on the path", PACE_SHOW_TEXT, PACE_OF(top_row, name)},
           {"resource", "resource", PACE_SHOW_WORD, PACE_WORD_OF(top_row, resource, pace_advice_names)},
           {"what", "what", PACE_SHOW_WORD, PACE_OF(top_row, what)},
           {"count", "times", PACE_SHOW_INT, PACE_OF(top_row, count)},
           {"time_ns", "time", PACE_SHOW_NS, PACE_OF(top_row, time_ns)},
           {"share", "share", PACE_SHOW_SHARE, PACE_OF(top_row, share)});

static pace_status put_top(pace_node *path, const pace_critical *critical, const pace_analysis *analysis) {
    int64_t length = critical->to_ns - critical->from_ns;
    pace_path_rows rows;
    PACE_TRY(pace_path_rows_of(&rows, critical, analysis));
    pace_node *table = pace_open_table(path, &top, 0);
    PACE_ITEMS (const pace_path_row, row, &rows) {
        pace_table_put(table, &(top_row){*row->name ? row->name : "(before the first recorded work of the step)",
                                         row->waiting ? "before it" : "itself", row->resource, row->count, row->time_ns,
                                         length > 0 ? (double)row->time_ns / (double)length : 0});
    }
    pace_path_rows_free(&rows);
    return PACE_OK;
}

/* Time on the path that passed before a rank's own trace began. */
static void put_before_traces(pace_node *path, const pace_critical *critical, const pace_analysis *analysis) {
    int64_t before_ns = 0, length = critical->to_ns - critical->from_ns;
    const pace_rank *whose = NULL;
    char name[PACE_RANK_NAME];
    PACE_ITEMS (const pace_path_piece, piece, &critical->pieces) {
        const pace_rank *rank = analysis->ranks.items[piece->rank];
        int64_t begins_ns = rank->step.begins_ns + rank->shift_ns - analysis->ranks.items[critical->home]->shift_ns;
        if (piece->resource != PACE_ADVICE_GAP || piece->start_ns >= begins_ns) continue;
        before_ns += (pace_piece_end(piece) < begins_ns ? pace_piece_end(piece) : begins_ns) - piece->start_ns;
        whose = rank;
    }
    pace_node_int(pace_node_object(path, NULL, NULL, PACE_FOR_JSON), "before_trace_ns", before_ns);
    if (whose && before_ns * 100 >= length)
        pace_node_sentence(path, false, "%.0f %% of the path lies before the trace of %s begins: nobody recorded it.",
                           100.0 * (double)before_ns / (double)length, pace_rank_name(name, whose));
}

/* What the trace does not tell; of a predicted step all is known. */
static void put_doubts(pace_node *path, const pace_critical *critical, bool made) {
    int64_t length = critical->to_ns - critical->from_ns;
    char unexplained[96] = "";
    if (!made && critical->unexplained_ns > length / 2000) /* what is not shown as 0.0 % */
        pace_snprintf(unexplained, sizeof unexplained, " No recorded dependency explains %.1f %% of the path.",
                      100.0 * (double)critical->unexplained_ns / (double)length);
    pace_node_note(path, "'itself': it ran; 'gap before': nothing%s ran, and it came next.%s",
                   made ? "" : " that is recorded", unexplained);
    if (!made && critical->handovers)
        pace_node_note(
            path,
            "%zu task%s waited for another thread or stream. The trace records %.0f %% of these dependencies; the "
            "rest are inferred from timestamps.",
            critical->handovers, critical->handovers == 1 ? "" : "s",
            100.0 * (double)critical->recorded_handovers / (double)critical->handovers);
}

static pace_status put_path(pace_node *root, const pace_critical *critical, const pace_analysis *analysis,
                            const pace_rank *rank) {
    char title[160];
    snprintf(title, sizeof title, "Critical path of %s", label_of(critical, rank));
    pace_node *path = pace_node_object(root, "critical_path", title, PACE_FOR_ALL);
    put_figures(path, critical, rank);
    PACE_TRY(put_top(path, critical, analysis));
    put_by_rank(path, critical, analysis);
    put_before_traces(path, critical, analysis);
    put_doubts(path, critical, analysis->made);
    return PACE_OK;
}

/* --- advice ------------------------------------------------------------------------------------------------------ */

typedef struct {
    const char *resource;
    double elasticity, at_most;
    int64_t step_if_free_ns;
} advice_row;

PACE_TABLE(advice, "advice", "What would help most", PACE_FOR_ALL, 0,
           {"resource", "resource", PACE_SHOW_WORD, PACE_OF(advice_row, resource)},
           {"elasticity", "of the path", PACE_SHOW_SHARE, PACE_OF(advice_row, elasticity)},
           {"at_most", "saved alone", PACE_SHOW_SHARE, PACE_OF(advice_row, at_most)},
           {"step_if_free_ns", "step without it", PACE_SHOW_NS, PACE_OF(advice_row, step_if_free_ns)});

/* Whether freeing resource `a` saves less than `b`; where both save alike, whether it is less of the path. */
static bool helps_less(const pace_critical *critical, int a, int b) {
    if (critical->without_ns[a] != critical->without_ns[b]) return critical->without_ns[a] > critical->without_ns[b];
    return critical->by_resource_ns[a] < critical->by_resource_ns[b];
}

static void put_advice(pace_node *root, const pace_critical *critical) {
    int64_t length = critical->to_ns - critical->from_ns;
    int order[PACE_ADVICE_GAP] = {0}, count = 0;
    for (int r = 0; r < PACE_ADVICE_GAP; r++) {
        if (critical->by_resource_ns[r] == 0 && critical->without_ns[r] >= length) continue;
        int at = count++;
        for (; at > 0 && helps_less(critical, order[at - 1], r); at--) order[at] = order[at - 1];
        order[at] = r;
    }
    pace_node *table = pace_open_table(root, &advice, 0);
    for (int i = 0; i < count; i++) {
        int r = order[i];
        pace_table_put(table,
                       &(advice_row){pace_advice_names[r], (double)critical->by_resource_ns[r] / (double)length,
                                     1 - (double)critical->without_ns[r] / (double)length, critical->without_ns[r]});
    }
    pace_node_note(root,
                   "'of the path': share of the critical path, the chain of work and waits that decides when the step "
                   "ends; 'saved alone': how much shorter this step is when it is replayed as if the resource took no "
                   "time, behind the step before it as it was. Where steps overlap, a change to all of them may save "
                   "more, as what-ifs and remedies show, which are tried on several in a row. Compute bound, memory "
                   "bound: kernels that arithmetic, or the memory's bandwidth, limits; copies: by copy engines; "
                   "network: exchanges between ranks; balance: waiting for late ranks.");
}

/* --- who is late, who waits -------------------------------------------------------------------------------------- */

PACE_TABLE(balance, "balance", "Late ranks and waiting ranks", PACE_FOR_ALL, 16,
           {"device_id", "device", PACE_SHOW_INT, PACE_OF(pace_lateness, device), .only_if = WITH_DEVICES},
           {"rank", "rank", PACE_SHOW_INT, PACE_OF(pace_lateness, rank)},
           {"times_last", "times last", PACE_SHOW_INT, PACE_OF(pace_lateness, times_last)},
           {"late_ns", "late by", PACE_SHOW_NS, PACE_OF(pace_lateness, late_ns)},
           {"waiting_ns", "waiting for others", PACE_SHOW_NS, PACE_OF(pace_lateness, waiting_ns)},
           {"compute_ns", "compute", PACE_SHOW_NS, PACE_OF(pace_lateness, compute_ns)},
           {"compute_over_mean", "compute over mean", PACE_SHOW_SHARE, PACE_OF(pace_lateness, compute_over_mean)});

static pace_status put_lateness(pace_node *root, const pace_analysis *analysis) {
    char name[PACE_RANK_NAME];
    size_t ranks = analysis->ranks.count, latest = 0, waits = 0;
    if (analysis->collectives.items.count == 0) return PACE_OK;
    pace_lateness *rows;
    PACE_TRY(pace_lateness_of(&rows, analysis));
    pace_node *table = pace_open_table(root, &balance, devices_of(analysis));
    for (size_t r = 0; r < ranks; r++) {
        pace_table_put(table, &rows[r]);
        if (rows[r].times_last > rows[latest].times_last) latest = r;
        if (rows[r].waiting_ns > rows[waits].waiting_ns) waits = r;
    }
    const pace_rank *rank = analysis->ranks.items[rows[latest].index];
    if (rows[latest].times_last)
        pace_node_sentence(root, false, "%s was last to reach %" PRId64 " of %zu collectives.",
                           pace_rank_name(name, rank), rows[latest].times_last, analysis->collectives.items.count);
    if (analysis->latest.rank && rows[waits].waiting_ns > 0)
        pace_node_sentence(root, false, "%s waits longest for others: %s in all.",
                           pace_rank_name(name, analysis->ranks.items[rows[waits].index]),
                           pace_show_ns(rows[waits].waiting_ns).text);
    pace_free(rows);
    return PACE_OK;
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *cause;
    int64_t end_ns, transfer_ns, wait_ns, last_rank, cause_ns;
    double bytes;
    uint32_t last_device;
} collective_row;

PACE_TABLE_IF_ROWS(collectives, "collectives", "Collectives across ranks", PACE_FOR_ALL, 16,
                   {"name", "collective", PACE_SHOW_TEXT, PACE_OF(collective_row, name)},
                   {"end_ns", NULL, PACE_SHOW_INT, PACE_OF(collective_row, end_ns)},
                   {"bytes", "bytes", PACE_SHOW_BYTES, PACE_OF(collective_row, bytes)},
                   {"transfer_ns", "transfer", PACE_SHOW_NS, PACE_OF(collective_row, transfer_ns)},
                   {"wait_ns", "waiting, mean", PACE_SHOW_NS, PACE_OF(collective_row, wait_ns)},
                   {"last_rank", "last rank", PACE_SHOW_INT, PACE_OF(collective_row, last_rank)},
                   {"cause", "late because of", PACE_SHOW_WORD, PACE_OF(collective_row, cause)},
                   {"cause_ns", "late by", PACE_SHOW_NS, PACE_OF(collective_row, cause_ns)},
                   {"last_device", "last device", PACE_SHOW_INT, PACE_OF(collective_row, last_device),
                    .only_if = WITH_DEVICES});

static void put_collectives(pace_node *root, const pace_analysis *analysis) {
    const pace_collectives *c = &analysis->collectives;
    pace_node *table = pace_open_table(root, &collectives, devices_of(analysis));
    PACE_ITEMS (const pace_measured_collective, own, &c->items) {
        const pace_rank *last = analysis->ranks.items[own->last_rank];
        pace_table_put(table,
                       &(collective_row){own->name, own->cause ? own->cause : "-",
                                         pace_rank_shown_ns(last, own->end_ns), own->transfer_ns,
                                         own->wait_ns / (int64_t)own->members, pace_rank_number(last), own->cause_ns,
                                         own->bytes >= 0 ? (double)own->bytes : NAN, last->device_id});
    }
    if (c->groups_unknown)
        pace_node_note(root,
                       "Which ranks exchange with each other is not known: no trace names the members, and too few "
                       "exchanges end together. Waiting for a rank counts as exposed communication.");
    if (c->unmatched)
        pace_node_note(root, "%zu communication kernels of the first rank have no match on every other rank.",
                       c->unmatched);
}

/* What leads, and what was tried of what would help. */
static pace_status put_help(pace_node *root, const pace_critical *critical, const pace_analysis *analysis,
                            const pace_rank *rank, bool tries) {
    pace_remedies remedies = {0};
    if (tries) PACE_TRY(pace_remedies_try(&remedies, analysis, critical, rank));
    pace_status status = pace_put_lead(root, critical, analysis, rank, tries ? &remedies : NULL);
    if (status == PACE_OK && tries) pace_put_remedies(root, &remedies, analysis);
    pace_remedies_free(&remedies);
    return status;
}

pace_status pace_put_path(pace_node *root, const pace_critical *critical, const pace_analysis *analysis,
                          const pace_rank *rank, bool tries) {
    if (critical->to_ns > critical->from_ns) {
        put_advice(root, critical);
        PACE_TRY(put_help(root, critical, analysis, rank, tries));
        PACE_TRY(put_path(root, critical, analysis, rank));
    }
    put_collectives(root, analysis);
    PACE_TRY(pace_put_messages(root, analysis));
    return put_lateness(root, analysis);
}

pace_status pace_put_critical(pace_node *root, const pace_analysis *analysis, const pace_rank *rank) {
    pace_critical critical;
    PACE_TRY(pace_critical_find_across(&critical, analysis, rank));
    pace_status status = pace_put_timeline(root, analysis, rank, &critical);
    if (status == PACE_OK) status = pace_put_path(root, &critical, analysis, rank, true);
    pace_critical_free(&critical);
    return status;
}

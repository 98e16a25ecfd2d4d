/* Critical path, what would help most, collectives, the drawing of the step. */
#include "report/analyze_parts.h"

#include "insight/critical.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the path ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name; /* "" = nothing recorded; borrowed from a rank's step */
    uint32_t rank;
    pace_name number; /* of the name, in that rank's step */
    uint8_t resource;
    bool waiting;
    int64_t time_ns;
    size_t count;
} path_row;

static int by_kind(const path_row *a, const path_row *b) {
    if (a->resource != b->resource) return a->resource < b->resource ? -1 : 1;
    return (int)a->waiting - (int)b->waiting;
}

static int by_number(const void *left, const void *right) {
    const path_row *a = left, *b = right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return by_kind(a, b);
}

static int by_text(const void *left, const void *right) {
    const path_row *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : by_kind(a, b);
}

static int by_time(const void *left, const void *right) {
    const path_row *a = left, *b = right;
    if (a->time_ns != b->time_ns) return a->time_ns > b->time_ns ? -1 : 1;
    return by_text(left, right);
}

static size_t merge(path_row *rows, size_t count, int (*order)(const void *, const void *)) {
    size_t kept = 0;
    if (count) qsort(rows, count, sizeof *rows, order);
    for (size_t i = 0; i < count; i++) {
        if (kept && order(&rows[kept - 1], &rows[i]) == 0) {
            rows[kept - 1].time_ns += rows[i].time_ns;
            rows[kept - 1].count += rows[i].count;
        } else {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

static const char *name_of(const pace_analysis *analysis, const pace_path_piece *piece) {
    return piece->task == PACE_NO_TASK ? "" : pace_step_name(&analysis->ranks.items[piece->rank]->step, piece->task);
}

/* Names are numbers in each rank and texts between them: pieces are merged by number, the few left by text. */
static size_t gather(path_row *rows, const pace_critical *critical, const pace_analysis *analysis) {
    for (size_t i = 0; i < critical->pieces.count; i++) {
        const pace_path_piece *piece = &critical->pieces.items[i];
        const pace_step *step = &analysis->ranks.items[piece->rank]->step;
        rows[i] = (path_row){.name = name_of(analysis, piece),
                             .rank = piece->rank,
                             .number = piece->task == PACE_NO_TASK ? 0 : step->name[piece->task],
                             .resource = piece->resource,
                             .waiting = piece->waiting,
                             .time_ns = piece->end_ns - piece->start_ns,
                             .count = 1};
    }
    size_t kept = merge(rows, critical->pieces.count, by_number);
    kept = merge(rows, kept, by_text);
    if (kept) qsort(rows, kept, sizeof *rows, by_time);
    return kept;
}

static void put_rank(pace_node *table, const pace_rank *rank) {
    if (rank->step.rank >= 0) pace_table_int(table, rank->step.rank);
    else pace_table_none(table);
}

/* How the path runs through the ranks. */
static void put_by_rank(pace_node *path, const pace_critical *critical, const pace_analysis *analysis) {
    static const pace_column columns[] = {{"device_id", "device", PACE_SHOW_INT}, /* only where a trace has several */
                                          {"rank", "rank", PACE_SHOW_INT},
                                          {"time_ns", "on the path", PACE_SHOW_NS},
                                          {"share", "share", PACE_SHOW_SHARE},
                                          {"count", "visits", PACE_SHOW_INT}};
    int64_t length = critical->to_ns - critical->from_ns;
    uint32_t most = 0;
    char name[PACE_RANK_NAME];
    bool across = critical->scope == PACE_PATH_OF_ALL_RANKS, devices = pace_analysis_has_devices(analysis);
    pace_node *table = pace_node_table(path, "by_rank", across ? "The path through the ranks" : NULL,
                                       across ? PACE_FOR_ALL : PACE_FOR_JSON, columns + !devices, 4 + devices, 16);
    for (uint32_t r = 0; r < critical->by_rank_ns.count; r++) {
        int64_t visits = 0;
        if (critical->by_rank_ns.items[r] > critical->by_rank_ns.items[most]) most = r;
        for (size_t i = 0; i < critical->pieces.count; i++)
            visits += critical->pieces.items[i].rank == r && (i == 0 || critical->pieces.items[i - 1].rank != r);
        pace_table_row(table);
        if (devices) pace_table_int(table, analysis->ranks.items[r]->device_id);
        put_rank(table, analysis->ranks.items[r]);
        pace_table_int(table, critical->by_rank_ns.items[r]);
        pace_table_real(table, length > 0 ? (double)critical->by_rank_ns.items[r] / (double)length : 0);
        pace_table_int(table, visits);
    }
    if (across)
        pace_node_note(
            path,
            "The path runs through all ranks, on the one that was late where others waited: %.0f %% of it on "
            "%s.",
            length > 0 ? 100.0 * (double)critical->by_rank_ns.items[most] / (double)length : 0.0,
            pace_rank_name(name, analysis->ranks.items[most]));
    if (critical->scope == PACE_PATH_TOO_LARGE)
        pace_node_note(
            path, "The step of all ranks is too large to be replayed at once: the path is this rank's, and what it "
                  "waited for others stands as balance.");
    if (critical->scope == PACE_PATH_KNOTTED)
        pace_node_note(path,
                       "The ranks' waits contradict each other, so that they cannot be replayed at once: the path is "
                       "this rank's, and what it waited for others stands as balance.");
}

static pace_status put_path(pace_node *root, const pace_critical *critical, const pace_analysis *analysis,
                            const pace_rank *rank) {
    int64_t length = critical->to_ns - critical->from_ns;
    pace_node *path = pace_node_object(root, "critical_path", "Critical path", PACE_FOR_ALL);
    pace_node *figures = pace_node_object(path, NULL, NULL, PACE_FOR_JSON);
    pace_node_text(figures, "step",
                   critical->mark == SIZE_MAX
                       ? NULL
                       : pace_names_text(&rank->step.names, rank->marks.items.items[critical->mark].label));
    static const char *const scopes[] = {"one_rank", "all_ranks", "too_large", "knotted"};
    pace_node_text(figures, "scope", scopes[critical->scope]);
    pace_node_int(figures, "length_ns", length);
    pace_node_int(figures, "start_ns", critical->from_ns);
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
    path_row *rows = pace_alloc(critical->pieces.count, sizeof *rows);
    if (!rows) return PACE_E_MEMORY;
    size_t count = gather(rows, critical, analysis);
    static const pace_column columns[] = {{"name", "on the path", PACE_SHOW_TEXT},
                                          {"resource", "resource", PACE_SHOW_TEXT},
                                          {"what", "what", PACE_SHOW_TEXT},
                                          {"count", "times", PACE_SHOW_INT},
                                          {"time_ns", "time", PACE_SHOW_NS},
                                          {"share", "share", PACE_SHOW_SHARE}};
    pace_node *table = pace_node_table(path, "top", NULL, PACE_FOR_ALL, columns, 6, 10);
    for (size_t i = 0; i < count; i++) {
        pace_table_row(table);
        pace_table_text(table, *rows[i].name ? rows[i].name : "(before the step's first recorded work)");
        pace_table_text(table, pace_advice_names[rows[i].resource]);
        pace_table_text(table, rows[i].waiting ? "before it" : "itself");
        pace_table_int(table, (int64_t)rows[i].count);
        pace_table_int(table, rows[i].time_ns);
        pace_table_real(table, length > 0 ? (double)rows[i].time_ns / (double)length : 0);
    }
    pace_free(rows);
    put_by_rank(path, critical, analysis);
    pace_node_note(path, "%.1f %% of the path is delay that no recorded dependency explains.",
                   length > 0 ? 100.0 * (double)critical->unexplained_ns / (double)length : 0.0);
    if (critical->handovers)
        pace_node_note(path,
                       "%zu starts of the step were decided by another thread or stream; for %.0f %% of them the trace "
                       "names the wait, the rest is inferred from times.",
                       critical->handovers, 100.0 * (double)critical->recorded_handovers / (double)critical->handovers);
    return PACE_OK;
}

/* --- advice ------------------------------------------------------------------------------------------------------ */

static void put_advice(pace_node *root, const pace_critical *critical) {
    static const pace_column columns[] = {{"resource", "resource", PACE_SHOW_TEXT},
                                          {"elasticity", "elasticity", PACE_SHOW_SHARE},
                                          {"at_most", "at most saved", PACE_SHOW_SHARE},
                                          {"step_if_free_ns", "step if free", PACE_SHOW_NS}};
    int64_t length = critical->to_ns - critical->from_ns;
    int order[PACE_ADVICE_GAP] = {0}, count = 0;
    for (int r = 0; r < PACE_ADVICE_GAP; r++) {
        if (critical->by_resource_ns[r] == 0 && critical->without_ns[r] >= length) continue;
        int at = count++;
        for (; at > 0 && critical->by_resource_ns[order[at - 1]] < critical->by_resource_ns[r]; at--)
            order[at] = order[at - 1];
        order[at] = r;
    }
    pace_node *table = pace_node_table(root, "advice", "What would help most", PACE_FOR_ALL, columns, 4, 0);
    for (int i = 0; i < count; i++) {
        int r = order[i];
        pace_table_row(table);
        pace_table_text(table, pace_advice_names[r]);
        pace_table_real(table, (double)critical->by_resource_ns[r] / (double)length);
        pace_table_real(table, 1 - (double)critical->without_ns[r] / (double)length);
        pace_table_int(table, critical->without_ns[r]);
    }
    if (count)
        pace_node_sentence(
            root, true,
            "What would help most: %s, on %.0f %% of the critical path; if it were free the %s would be %.1f %% shorter.",
            pace_advice_names[order[0]], 100.0 * (double)critical->by_resource_ns[order[0]] / (double)length,
            critical->mark == SIZE_MAX ? "trace" : "step",
            100 - 100.0 * (double)critical->without_ns[order[0]] / (double)length);
}

/* --- who is late, who waits -------------------------------------------------------------------------------------- */

static pace_status put_lateness(pace_node *root, const pace_analysis *analysis) {
    static const pace_column columns[] = {{"device_id", "device", PACE_SHOW_INT}, /* only where a trace has several */
                                          {"rank", "rank", PACE_SHOW_INT},
                                          {"times_last", "times last", PACE_SHOW_INT},
                                          {"waiting_ns", "waiting for others", PACE_SHOW_NS},
                                          {"compute_ns", "compute", PACE_SHOW_NS},
                                          {"compute_over_mean", "compute over mean", PACE_SHOW_SHARE}};
    const pace_collectives *c = &analysis->collectives;
    size_t ranks = analysis->ranks.count, latest = 0;
    if (c->items.count == 0) return PACE_OK;
    int64_t *waiting = pace_alloc(2 * ranks, sizeof *waiting);
    if (!waiting) return PACE_E_MEMORY;
    int64_t *last = waiting + ranks;
    double mean = 0;
    for (size_t r = 0; r < ranks; r++) mean += (double)analysis->ranks.items[r]->work.window.compute_ns / (double)ranks;
    for (size_t i = 0; i < c->items.count; i++) {
        last[c->items.items[i].last_rank]++;
        for (size_t r = 0; r < ranks; r++) {
            uint32_t part = c->parts.items[c->items.items[i].first_part + r];
            if (part == PACE_NO_TASK) continue;
            const pace_work_item *item = &analysis->ranks.items[r]->work.items.items[part];
            if (item->wait_until_ns > item->start_ns) waiting[r] += item->wait_until_ns - item->start_ns;
        }
    }
    bool devices = pace_analysis_has_devices(analysis);
    pace_node *table =
        pace_node_table(root, "balance", "Who is late, who waits", PACE_FOR_ALL, columns + !devices, 5 + devices, 16);
    for (size_t r = 0; r < ranks; r++) {
        double compute = (double)analysis->ranks.items[r]->work.window.compute_ns;
        if (last[r] > last[latest]) latest = r;
        pace_table_row(table);
        if (devices) pace_table_int(table, analysis->ranks.items[r]->device_id);
        put_rank(table, analysis->ranks.items[r]);
        pace_table_int(table, last[r]);
        pace_table_int(table, waiting[r]);
        pace_table_int(table, (int64_t)compute);
        pace_table_real(table, mean > 0 ? compute / mean - 1 : 0);
    }
    char name[PACE_RANK_NAME];
    pace_node_sentence(root, false, "The last to reach %" PRId64 " of %zu collectives was %s.", last[latest],
                       c->items.count, pace_rank_name(name, analysis->ranks.items[latest]));
    pace_free(waiting);
    return PACE_OK;
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

static void put_collectives(pace_node *root, const pace_analysis *analysis) {
    static const pace_column columns[] = {
        {"name", "collective", PACE_SHOW_TEXT},       {"end_ns", NULL, PACE_SHOW_INT},
        {"bytes", "bytes", PACE_SHOW_BYTES},          {"transfer_ns", "transfer", PACE_SHOW_NS},
        {"wait_ns", "waiting, mean", PACE_SHOW_NS},   {"last_rank", "last rank", PACE_SHOW_INT},
        {"cause", "late because of", PACE_SHOW_WORD}, {"cause_ns", "by", PACE_SHOW_NS},
        {"last_device", "last device", PACE_SHOW_INT}}; /* only where a trace has several */
    bool devices = pace_analysis_has_devices(analysis);
    const pace_collectives *c = &analysis->collectives;
    pace_node *table = pace_node_table(root, "collectives", c->items.count ? "Collectives across ranks" : NULL,
                                       c->items.count ? PACE_FOR_ALL : PACE_FOR_JSON, columns, 8 + devices, 16);
    for (size_t i = 0; i < c->items.count; i++) {
        const pace_measured_collective *own = &c->items.items[i];
        pace_table_row(table);
        pace_table_text(table, own->name);
        pace_table_int(table, own->end_ns);
        if (own->bytes >= 0) pace_table_real(table, (double)own->bytes);
        else pace_table_none(table);
        pace_table_int(table, own->transfer_ns);
        pace_table_int(table, own->wait_ns / (int64_t)own->members);
        put_rank(table, analysis->ranks.items[own->last_rank]);
        pace_table_text(table, own->cause ? own->cause : "-");
        pace_table_int(table, own->cause_ns);
        if (devices) pace_table_int(table, analysis->ranks.items[own->last_rank]->device_id);
    }
    if (c->unmatched)
        pace_node_note(root, "%zu communication kernels of the first rank have no partner on every other rank.",
                       c->unmatched);
}

/* --- the drawing -------------------------------------------------------------------------------------------------- */

static void put_lanes(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                      const pace_critical *critical) {
    static const char *const resource_colors[PACE_RESOURCES] = {"compute", "memory", "copy",  "communication",
                                                                "host",    "idle",   "input", "other"};
    static const char *const class_colors[] = {"compute", "memory", "communication", "copy"};
    pace_node *lanes = pace_node_lanes(root, "The step", critical->from_ns, critical->to_ns);
    pace_lanes_lane(lanes, "stage");
    for (size_t i = 0; i < rank->tiles.count; i++) {
        const pace_tile *t = &rank->tiles.items[i];
        if (t->end_ns > critical->from_ns && t->start_ns < critical->to_ns)
            pace_lanes_slice(lanes, t->start_ns, t->end_ns, pace_stage_names[t->stage], pace_stage_names[t->stage]);
    }
    pace_lanes_lane(lanes, "resource");
    for (size_t i = 0; i < rank->tiles.count; i++) {
        const pace_tile *t = &rank->tiles.items[i];
        if (t->end_ns > critical->from_ns && t->start_ns < critical->to_ns)
            pace_lanes_slice(lanes, t->start_ns, t->end_ns, resource_colors[t->resource],
                             pace_resource_names[t->resource]);
    }
    pace_lanes_lane(lanes, "critical path");
    for (size_t i = 0; i < critical->pieces.count; i++) {
        const pace_path_piece *p = &critical->pieces.items[i];
        const pace_rank *own = analysis->ranks.items[p->rank];
        const char *name = p->task == PACE_NO_TASK ? "before" : name_of(analysis, p);
        char elsewhere[256];
        if (own != rank) {
            char which[PACE_RANK_NAME];
            snprintf(elsewhere, sizeof elsewhere, "%s: %s", pace_rank_name(which, own), name);
            name = elsewhere;
        }
        pace_lanes_slice(lanes, p->start_ns, p->end_ns, p->waiting ? "idle" : "path", name);
    }
    for (uint32_t lane = 0; lane < rank->step.lanes.count; lane++) {
        bool named = false;
        for (size_t i = 0; i < rank->work.items.count; i++) {
            const pace_work_item *item = &rank->work.items.items[i];
            if (rank->step.lane[item->task] != lane || item->end_ns <= critical->from_ns ||
                item->start_ns >= critical->to_ns)
                continue;
            if (!named) pace_lanes_lane(lanes, pace_names_text(&rank->step.names, rank->step.lanes.items[lane].key));
            named = true;
            pace_lanes_slice(lanes, item->start_ns, item->end_ns, class_colors[item->class],
                             pace_step_name(&rank->step, item->task));
        }
    }
}

pace_status pace_put_critical(pace_node *root, const pace_analysis *analysis, const pace_rank *rank) {
    pace_critical critical;
    PACE_TRY(pace_critical_find_across(&critical, analysis, rank));
    pace_status status = PACE_OK;
    if (critical.to_ns > critical.from_ns) {
        put_lanes(root, analysis, rank, &critical);
        put_advice(root, &critical);
        status = put_path(root, &critical, analysis, rank);
    }
    put_collectives(root, analysis);
    pace_put_messages(root, analysis);
    if (status == PACE_OK) status = put_lateness(root, analysis);
    pace_critical_free(&critical);
    return status;
}

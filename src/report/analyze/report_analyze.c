/* pace_analyze(): loads the traces, asks insight, and lays the answer out. */
#include "insight/spread.h"
#include "report/engines.h"
#include "report/analyze/analyze_parts.h"
#include "report/show.h"
#include "base/print.h"

#include <inttypes.h>
#include <stdio.h>

static void put_window(pace_node *node, const pace_window *w) {
    pace_node_int(node, "span_ns", w->span_ns);
    pace_node_int(node, "busy_ns", w->busy_ns);
    pace_node_int(node, "compute_ns", w->compute_ns);
    pace_node_int(node, "communication_ns", w->communication_ns);
    pace_node_int(node, "overlapped_ns", w->overlapped_ns);
    pace_node_int(node, "exposed_ns", w->exposed_ns);
    pace_node_int(node, "idle_ns", w->idle_ns);
    pace_node_int(node, "memory_ns", w->memory_ns);
    pace_node_int(node, "kernels", (int64_t)w->kernels);
}

static void put_spread(pace_node *root, const pace_analysis *analysis, const pace_rank *slowest) {
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < analysis->ranks.count; i++) {
        int64_t span = analysis->ranks.items[i]->work.window.span_ns;
        if (span < least) least = span;
        if (span > most) most = span;
    }
    pace_node_int(root, "slowest_rank", pace_rank_number(slowest));
    if (slowest->trace) pace_node_int(root, "slowest_device", slowest->device_id);
    pace_node *spread = pace_node_object(root, "spread", NULL, PACE_FOR_JSON);
    pace_node_int(spread, "least_span_ns", least);
    pace_node_int(spread, "most_span_ns", most);
}

static void put_json_device_name(pace_node *item, const pace_rank *rank) {
    const pace_traced_device *device = pace_step_device(&rank->step, rank->device_id);
    pace_node_text(item, "device", device && device->name ? pace_names_text(&rank->step.names, device->name) : NULL);
}

static void put_counts(pace_node *item, const pace_step *step) {
    pace_node *counts = pace_node_object(item, "counts", NULL, PACE_FOR_JSON);
    const size_t *kinds = step->kind_count;
    pace_node_int(counts, "events", (int64_t)step->event_count);
    pace_node_int(counts, "complete_events", (int64_t)step->complete_count);
    pace_node_int(counts, "operators", (int64_t)kinds[PACE_TASK_OP]);
    pace_node_int(counts, "runtime_calls", (int64_t)kinds[PACE_TASK_CALL]);
    pace_node_int(counts, "kernels", (int64_t)kinds[PACE_TASK_KERNEL]);
    pace_node_int(counts, "copies", (int64_t)kinds[PACE_TASK_COPY]);
    pace_node_int(counts, "memsets", (int64_t)kinds[PACE_TASK_MEMSET]);
    pace_node_int(counts, "kernels_linked", (int64_t)step->linked_kernels);
}

typedef struct {
    const char *label;
    pace_mark mark;
    int64_t host_ns, device_ns;
    pace_window in; /* the host's interval */
    const char *verdict, *differs_in;
} step_row;

static step_row step_of(const pace_rank *rank, size_t number) {
    const pace_mark *mark = &rank->marks.items.items[number];
    return (step_row){.label = pace_names_text(&rank->step.names, mark->label),
                      .mark = *mark,
                      .host_ns = mark->end_ns - mark->start_ns,
                      .device_ns = mark->to_ns - mark->from_ns,
                      .in = pace_work_window(&rank->work, mark->start_ns, mark->end_ns)};
}

PACE_TABLE(steps, "steps", NULL, PACE_FOR_JSON, 0, {"label", "step", PACE_SHOW_TEXT, PACE_OF(step_row, label)},
           {"start_ns", NULL, PACE_SHOW_INT, PACE_OF(step_row, mark.start_ns)},
           {"duration_ns", "duration", PACE_SHOW_NS, PACE_OF(step_row, host_ns)},
           {"busy_ns", "busy", PACE_SHOW_NS, PACE_OF(step_row, in.busy_ns)},
           {"compute_ns", "compute", PACE_SHOW_NS, PACE_OF(step_row, in.compute_ns)},
           {"communication_ns", "communication", PACE_SHOW_NS, PACE_OF(step_row, in.communication_ns)},
           {"overlapped_ns", "overlapped", PACE_SHOW_NS, PACE_OF(step_row, in.overlapped_ns)},
           {"kernels", "kernels", PACE_SHOW_INT, PACE_OF(step_row, in.kernels)},
           {"device_start_ns", NULL, PACE_SHOW_INT, PACE_OF(step_row, mark.from_ns)},
           {"device_end_ns", NULL, PACE_SHOW_INT, PACE_OF(step_row, mark.to_ns)});

static void put_json_steps(pace_node *item, const pace_rank *rank) {
    pace_node *table = pace_open_table(item, &steps, 0);
    for (size_t k = 0; k < rank->marks.items.count; k++) pace_table_put(table, &(step_row[]){step_of(rank, k)});
}

/* Each device of a trace of several. */
static pace_status put_json_devices(pace_node *item, const pace_analysis *analysis, const pace_rank *trace) {
    pace_node *list = NULL;
    for (size_t i = 0; i < analysis->ranks.count; i++) {
        const pace_rank *rank = analysis->ranks.items[i];
        if (rank->trace != trace) continue;
        if (!list) list = pace_node_list(item, "devices");
        pace_node *one = pace_node_item(list);
        pace_node_int(one, "device_id", rank->device_id);
        put_json_device_name(one, rank);
        put_window(pace_node_object(one, "window", NULL, PACE_FOR_JSON), &rank->work.window);
        put_json_steps(one, rank);
        PACE_TRY(pace_put_json_matrices(one, rank));
    }
    return PACE_OK;
}

static pace_status put_json_rank(pace_node *list, const pace_analysis *analysis, const pace_rank *trace) {
    pace_node *item = pace_node_item(list);
    pace_node_int(item, "rank", pace_rank_number(trace));
    pace_node_text(item, "path", trace->path);
    put_json_device_name(item, trace);
    pace_node_int(item, "clock_shift_ns", trace->shift_ns);
    put_window(pace_node_object(item, "window", NULL, PACE_FOR_JSON), &trace->work.window);
    put_counts(item, &trace->step);
    put_json_steps(item, trace);
    return put_json_devices(item, analysis, trace);
}

static pace_status put_json_ranks(pace_node *root, const pace_analysis *analysis) {
    pace_node *list = pace_node_list(root, "ranks");
    size_t traces = analysis->traces.count, others = analysis->others.count;
    for (size_t i = 0, k = 0; i + k < traces + others;) { /* both by rank number */
        bool other = i == traces || (k < others && pace_rank_number(analysis->others.items[k]) <
                                                       pace_rank_number(analysis->traces.items[i]));
        PACE_TRY(put_json_rank(list, analysis, other ? analysis->others.items[k++] : analysis->traces.items[i++]));
    }
    return PACE_OK;
}

typedef struct {
    uint32_t device;
    char rank[PACE_RANK_NAME];
    pace_window of;
    const char *path;
} window_row;

enum { WITH_DEVICES = 1, /* a trace has several */ USUAL = 1, UNUSUAL = 2, SHOWN_RANKS = 16 };

PACE_TABLE(windows, "windows", "The whole trace", PACE_FOR_PEOPLE, SHOWN_RANKS,
           {"device_id", "device", PACE_SHOW_INT, PACE_OF(window_row, device), .only_if = WITH_DEVICES},
           {"rank", "rank", PACE_SHOW_TEXT, PACE_OF(window_row, rank)},
           {"span_ns", "span", PACE_SHOW_NS, PACE_OF(window_row, of.span_ns)},
           {"busy_ns", "busy", PACE_SHOW_NS, PACE_OF(window_row, of.busy_ns)},
           {"compute_ns", "compute", PACE_SHOW_NS, PACE_OF(window_row, of.compute_ns)},
           {"communication_ns", "comm", PACE_SHOW_NS, PACE_OF(window_row, of.communication_ns)},
           {"overlapped_ns", "overlapped", PACE_SHOW_NS, PACE_OF(window_row, of.overlapped_ns)},
           {"exposed_ns", "exposed", PACE_SHOW_NS, PACE_OF(window_row, of.exposed_ns)},
           {"memory_ns", "copies", PACE_SHOW_NS, PACE_OF(window_row, of.memory_ns)},
           {"idle_ns", "idle", PACE_SHOW_NS, PACE_OF(window_row, of.idle_ns)},
           {"kernels", "kernels", PACE_SHOW_INT, PACE_OF(window_row, of.kernels)},
           {"path", NULL, PACE_SHOW_TEXT, PACE_OF(window_row, path)});

/* Of many ranks the reported one stands first: the first rows are shown. */
static void put_rank_table(pace_node *root, const pace_analysis *analysis, const pace_rank *reported) {
    pace_node *table = pace_open_table(root, &windows, pace_analysis_has_devices(analysis) ? WITH_DEVICES : 0);
    size_t count = analysis->ranks.count, first = 0;
    while (first + 1 < count && analysis->ranks.items[first] != reported) first++;
    for (size_t i = 0; i < count; i++) {
        size_t r = count > SHOWN_RANKS ? (i == 0 ? first : i <= first ? i - 1 : i) : i;
        const pace_rank *rank = analysis->ranks.items[r];
        window_row row = {.device = rank->device_id, .rank = "-", .of = rank->work.window, .path = rank->path};
        if (rank->step.rank >= 0) snprintf(row.rank, sizeof row.rank, "%" PRId64, rank->step.rank);
        else if (analysis->ranks.count > 1 && !rank->trace) pace_rank_name(row.rank, rank);
        pace_table_put(table, &row);
    }
    pace_node_note(root,
                   "compute: time with any kernel but exchanges between ranks, compute bound and memory bound alike; "
                   "comm: time with such an exchange; overlapped: with both; exposed: comm without compute; copies: "
                   "copy engines and fills; idle: none of these.");
}

typedef struct {
    char rank[PACE_RANK_NAME];
    pace_cycle of;
    int64_t cycle;
    const char *verdict, *path;
} cycle_row;

PACE_TABLE(cycle_table, "cycles", "Cycles of the profiler", PACE_FOR_ALL, SHOWN_RANKS,
           {"rank", "rank", PACE_SHOW_TEXT, PACE_OF(cycle_row, rank)},
           {"cycle", "cycle", PACE_SHOW_INT, PACE_OF(cycle_row, cycle)},
           {"after_ns", "after", PACE_SHOW_NS, PACE_OF(cycle_row, of.after_ns)},
           {"steps", "steps", PACE_SHOW_INT, PACE_OF(cycle_row, of.steps)},
           {"step_ns", "typical step", PACE_SHOW_NS, PACE_OF(cycle_row, of.step_ns)},
           {"verdict", "", PACE_SHOW_TEXT, PACE_OF(cycle_row, verdict)},
           {"path", "file", PACE_SHOW_TEXT, PACE_OF(cycle_row, path)});

/* Files of one process, one of which the other figures are of. */
static void put_cycles(pace_node *root, const pace_analysis *analysis) {
    if (analysis->cycles.count == 0) return;
    pace_node *table = pace_open_table(root, &cycle_table, 0);
    PACE_ITEMS (const pace_cycle, cycle, &analysis->cycles) {
        cycle_row row = {.rank = "-", .of = *cycle, .cycle = (int64_t)cycle->number + 1, .path = cycle->trace->path};
        row.verdict = cycle->chosen ? "analysed" : "";
        if (cycle->trace->step.rank >= 0) snprintf(row.rank, sizeof row.rank, "%" PRId64, cycle->trace->step.rank);
        pace_table_put(table, &row);
    }
    pace_node_note(
        root, "cycle: a file of the same process, recorded after the one before; after: since its first cycle began.");
}

static void put_spread_of_steps(pace_node *root, const pace_rank *rank, const pace_spread *spread,
                                const pace_typical_step *typical) {
    pace_node *node = pace_node_object(root, "step_spread", NULL, PACE_FOR_JSON);
    pace_node_int(node, "median_ns", spread->median_ns);
    pace_node_int(node, "least_ns", spread->least_ns);
    pace_node_int(node, "most_ns", spread->most_ns);
    pace_node_real(node, "robust_relative_spread", spread->spread);
    pace_node_text(node, "typical", typical->mark == SIZE_MAX ? NULL : pace_typical_label(rank, typical));
    pace_node_int(node, "steps", (int64_t)typical->steps);
    pace_node_int(node, "left_out", (int64_t)typical->left_out);
}

PACE_TABLE(step_table, "step_table", "Steps", PACE_FOR_ALL, 12,
           {"label", "step", PACE_SHOW_TEXT, PACE_OF(step_row, label)},
           {"host_ns", "host", PACE_SHOW_NS, PACE_OF(step_row, host_ns)},
           {"device_ns", "device", PACE_SHOW_NS, PACE_OF(step_row, device_ns)},
           {"busy_ns", "busy", PACE_SHOW_NS, PACE_OF(step_row, in.busy_ns), .shown_if = USUAL}, /* makes room */
           {"compute_ns", "compute", PACE_SHOW_NS, PACE_OF(step_row, in.compute_ns)},
           {"communication_ns", "comm", PACE_SHOW_NS, PACE_OF(step_row, in.communication_ns)},
           {"exposed_ns", "exposed", PACE_SHOW_NS, PACE_OF(step_row, in.exposed_ns)},
           {"kernels", "kernels", PACE_SHOW_INT, PACE_OF(step_row, in.kernels)},
           {"verdict", "", PACE_SHOW_TEXT, PACE_OF(step_row, verdict), .only_if = UNUSUAL},
           {"differs_in", "differs in", PACE_SHOW_WORD, PACE_OF(step_row, differs_in), .only_if = UNUSUAL});

static bool all_usual(const pace_spread *spread) {
    for (size_t k = 0; k < spread->notes.count; k++)
        if (spread->notes.items[k].verdict != PACE_STEP_USUAL) return false;
    return true;
}

static void put_step_table(pace_node *root, const pace_rank *rank, const pace_spread *spread,
                           const pace_typical_step *typical) {
    if (rank->marks.items.count == 0) return;
    pace_node *table = pace_open_table(root, &step_table, all_usual(spread) ? USUAL : UNUSUAL);
    for (size_t k = 0; k < rank->marks.items.count; k++) {
        const pace_step_note *note = &spread->notes.items[k];
        step_row row = step_of(rank, k);
        row.in = pace_work_window(&rank->work, row.mark.from_ns, row.mark.to_ns);
        row.verdict = pace_step_verdict_names[note->verdict];
        row.differs_in = note->resource_ns ? pace_resource_names[note->resource] : "";
        pace_table_put(table, &row);
    }
    pace_node_note(
        root,
        "'host' is a step's annotation, up to where the next begins; all other times are of its interval on the "
        "device, which runs from the end of the work launched before it to the end of its own: what the host does "
        "behind the last launch of a step counts in the next.");
    put_spread_of_steps(root, rank, spread, typical);
}

/* What the headline's median leaves out, by name. */
static void put_left_out(pace_node *root, const pace_rank *rank, const pace_spread *spread,
                         const pace_typical_step *typical) {
    char text[512] = "";
    size_t named = 0;
    for (size_t k = 0; k < spread->notes.count && strlen(text) + 96 < sizeof text; k++) {
        pace_step_verdict verdict = spread->notes.items[k].verdict;
        const pace_mark *mark = &rank->marks.items.items[k];
        if (verdict != PACE_STEP_WARM_UP && verdict != PACE_STEP_OUTLIER) continue;
        pace_append(text, sizeof text, "%s%.40s (%s, %s)", named++ ? ", " : "",
                    pace_names_text(&rank->step.names, mark->label), pace_step_verdict_names[verdict],
                    pace_show_ns(mark->to_ns - mark->from_ns).text);
    }
    if (typical->steps > 1)
        pace_node_sentence(
            root, false,
            "The figures below are of %s, %s; steps range from %s to %s, with a robust standard deviation of "
            "%.1f %% (1.48 times the median distance from the median).",
            pace_typical_label(rank, typical),
            typical->steps % 2 ? "the step of median length" : "the longer of the two steps in the middle",
            pace_show_ns(spread->least_ns).text, pace_show_ns(spread->most_ns).text, 100 * spread->spread);
    if (named) pace_node_sentence(root, false, "Left out: %s%s.", text, named < typical->left_out ? " and more" : "");
}

static void add_inputs(pace_report *report, pace_rank *const *traces, size_t count) {
    for (size_t i = 0; i < count; i++) pace_report_add_input(report, traces[i]->path, traces[i]->bytes);
}

pace_status pace_new_report(pace_report **out, const char *verb, const char *title,
                            const pace_analysis *const *analyses, size_t count) {
    pace_report *report;
    PACE_TRY(pace_report_new(&report, verb, title));
    for (size_t a = 0; a < count; a++) {
        add_inputs(report, analyses[a]->traces.items, analyses[a]->traces.count);
        add_inputs(report, analyses[a]->others.items, analyses[a]->others.count);
        pace_report_warn_all(report, &analyses[a]->warnings);
    }
    *out = report;
    return PACE_OK;
}

static pace_status build_of(pace_report *report, pace_analysis *analysis, const pace_rank *rank,
                            const pace_spread *spread, const pace_analyze_options *options) {
    pace_node *root = pace_report_root(report);
    pace_report_show_rows(report, options->rows_shown);
    pace_typical_step typical;
    PACE_TRY(pace_typical_step_find(&typical, rank, spread));
    pace_put_headline(root, analysis, rank, &typical, options);
    put_left_out(root, rank, spread, &typical);
    put_window(pace_node_object(root, "window", NULL, PACE_FOR_JSON), &pace_rank_trace(rank)->work.window);
    if (analysis->ranks.count > 1) put_spread(root, analysis, rank);
    if (rank->work.items.count) put_rank_table(root, analysis, rank);
    put_cycles(root, analysis);
    put_step_table(root, rank, spread, &typical);
    PACE_TRY(pace_put_step_bars(root, rank));
    PACE_TRY(pace_put_rank_heat(root, analysis, rank));
    PACE_TRY(put_json_ranks(root, analysis));
    pace_put_step_matrix(root, rank, &typical);
    PACE_TRY(pace_put_insights(root, analysis, rank, &typical, options));
    return pace_report_status(report);
}

static pace_status build(pace_report *report, pace_analysis *analysis, const pace_analyze_options *options) {
    const pace_rank *rank = pace_analysis_slowest(analysis);
    pace_spread spread;
    PACE_TRY(pace_spread_measure(&spread, rank));
    pace_status status = build_of(report, analysis, rank, &spread, options);
    pace_spread_free(&spread);
    return status;
}

pace_status pace_load_analysis(pace_analysis **out, const char *const *paths, size_t count,
                               const pace_analyze_options *options) {
    pace_analysis *analysis = pace_alloc(1, sizeof *analysis);
    if (!analysis) return PACE_E_MEMORY;
    pace_status status = pace_analysis_load(analysis, options->context->catalog, paths, count, options);
    return PACE_GIVE(out, analysis, status, pace_free(analysis));
}

static pace_status report_on(pace_report **out, pace_analysis *analysis, const pace_analyze_options *options) {
    const pace_analysis *const one[] = {analysis};
    pace_report *report;
    PACE_TRY(pace_new_report(&report, "analyze", "Where the time of a step goes", one, 1));
    return pace_report_give(out, report, build(report, analysis, options));
}

pace_status pace_analyze(pace_report **out, const char *const *paths, size_t path_count,
                         const pace_analyze_options *options) {
    pace_analysis *analysis;
    pace_report *report = NULL; /* unless another process has it */
    PACE_TRY(pace_load_analysis(&analysis, paths, path_count, options));
    pace_status status = analysis->elsewhere ? PACE_OK : report_on(&report, analysis, options);
    if (report)
        pace_report_set_trace(report, pace_write_analysis_trace, analysis, pace_free_analysis); /* owns it now */
    else pace_free_analysis(analysis);
    if (status == PACE_OK) *out = report;
    return status;
}

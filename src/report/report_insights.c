/* The insights of the analyze report, most useful first. */
#include "insight/profiler_cost.h"
#include "ask/context.h"
#include "base/text.h"
#include "report/analyze_parts.h"

#include "cost/roofline.h"
#include "insight/operators.h"

#include <stdio.h>
#include <string.h>

static const char no_operator[] = "(none)";

static void put_rate(pace_node *table, double amount, double seconds) {
    if (seconds > 0 && amount > 0) pace_table_real(table, amount / seconds);
    else pace_table_none(table);
}

static void put_operator_table(pace_node *root, const pace_rank *rank, const pace_operator_rows *rows, const char *key,
                               const char *title, bool modelled) {
    static const pace_column columns[] = {
        {"name", "name", PACE_SHOW_TEXT},
        {"calls", "calls", PACE_SHOW_INT},
        {"time_ns", "time", PACE_SHOW_NS},
        {"share", "share", PACE_SHOW_SHARE},
        {"flop_per_s", "flop/s", PACE_SHOW_RATE},
        {"bytes_per_s", "byte/s", PACE_SHOW_RATE},
        {"roofline_share", "roofline", PACE_SHOW_SHARE},
    };
    int64_t total = 0;
    for (size_t i = 0; i < rows->count; i++) total += rows->items[i].time_ns;
    pace_node *table = pace_node_table(root, key, title, PACE_FOR_ALL, columns, modelled ? 7 : 4, 10);
    for (size_t i = 0; i < rows->count; i++) {
        const pace_operator_row *row = &rows->items[i];
        pace_table_row(table);
        pace_table_text(table, row->name ? pace_names_text(&rank->step.names, row->name) : no_operator);
        pace_table_int(table, (int64_t)row->calls);
        pace_table_int(table, row->time_ns);
        pace_table_real(table, total > 0 ? (double)row->time_ns / (double)total : 0);
        if (!modelled) continue;
        double seconds = row->modelled_ns * 1e-9;
        put_rate(table, row->flop, seconds);
        put_rate(table, row->bytes, seconds);
        put_rate(table, row->roofline_s, seconds);
    }
}

/* "[[512], [141, 512], [512, 512], [], []]" as "[512] [141,512] [512,512]": what people and programs read alike.
 * Never longer than the text. */
static void write_sizes(char *out, const char *text) {
    size_t used = 0, end = 0;
    unsigned depth = 0;
    for (const char *at = text; *at && *at != '\n'; at++) {
        depth += *at == '[';
        depth -= *at == ']' && depth > 0;
        if (*at == ' ' || (*at == '[' && depth == 1) || depth == 0) continue;
        out[used++] = *at == ',' && depth == 1 ? ' ' : *at;
        if (*at >= '0' && *at <= '9') end = used + 1;
    }
    while (end && end < used && out[end - 1] != ' ' && out[end] == ']') end++; /* the brackets that close it */
    out[end < used ? end : used] = '\0';
}

/* The element type of the first tensor: "c10::BFloat16". */
static bool write_type(char *out, size_t size, const char *text) {
    const char *line = strchr(text, '\n');
    for (const char *at = line ? strchr(line, '"') : NULL; at && *at == '"'; at = strchr(at + 1, '"')) {
        size_t length = strcspn(++at, "\"");
        if (length && length < size && !pace_starts(at, "Scalar")) {
            snprintf(out, size, "%.*s", (int)length, at);
            return true;
        }
        at += length;
        if (!*at) break;
    }
    return false;
}

static pace_status put_shape_row(pace_node *table, const pace_rank *rank, const pace_operator_row *row,
                                 int64_t total_ns) {
    const char *text = row->shapes ? pace_names_text(&rank->step.names, row->shapes) : "";
    char type[48], *sizes = pace_alloc(strlen(text) + 1, 1);
    if (!sizes) return PACE_E_MEMORY;
    if (*text == '[') write_sizes(sizes, text);
    pace_table_row(table);
    pace_table_text(table, row->name ? pace_names_text(&rank->step.names, row->name) : no_operator);
    pace_table_text(table, sizes);
    pace_free(sizes);
    if (*text == '[' && write_type(type, sizeof type, text)) pace_table_text(table, type);
    else pace_table_none(table);
    pace_table_int(table, (int64_t)row->calls);
    pace_table_int(table, row->time_ns);
    pace_table_real(table, total_ns > 0 ? (double)row->time_ns / (double)total_ns : 0);
    double calls = (double)row->calls, seconds = row->modelled_ns * 1e-9;
    put_rate(table, row->flop, calls);
    put_rate(table, row->bytes, calls);
    put_rate(table, row->flop, seconds);
    put_rate(table, row->bytes, seconds);
    put_rate(table, row->roofline_s, seconds);
    return PACE_OK;
}

/* Only where the trace recorded shapes. */
static pace_status put_shapes(pace_node *root, const pace_rank *rank) {
    static const pace_column columns[] = {
        {"name", "name", PACE_SHOW_TEXT},
        {"shapes", "shapes", PACE_SHOW_TEXT},
        {"type", NULL, PACE_SHOW_TEXT},
        {"calls", "calls", PACE_SHOW_INT},
        {"time_ns", "time", PACE_SHOW_NS},
        {"share", "share", PACE_SHOW_SHARE},
        {"flop_per_call", NULL, PACE_SHOW_REAL},
        {"bytes_per_call", NULL, PACE_SHOW_BYTES},
        {"flop_per_s", "flop/s", PACE_SHOW_RATE},
        {"bytes_per_s", NULL, PACE_SHOW_RATE},
        {"roofline_share", "roofline", PACE_SHOW_SHARE},
    };
    pace_operator_rows rows;
    PACE_TRY(pace_operators_sum(&rows, rank, PACE_BY_SHAPES));
    int64_t total_ns = 0;
    bool any = false;
    for (size_t i = 0; i < rows.count; i++) total_ns += rows.items[i].time_ns, any = any || rows.items[i].shapes;
    pace_node *table = pace_node_table(root, "operator_shapes", "Device time by operator and shapes, whole trace",
                                       any ? PACE_FOR_ALL : PACE_FOR_JSON, PACE_COLUMNS(columns), 10);
    pace_status status = PACE_OK;
    for (size_t i = 0; i < rows.count && status == PACE_OK; i++)
        status = put_shape_row(table, rank, &rows.items[i], total_ns);
    PACE_VEC_FREE(&rows);
    PACE_TRY(status);
    if (!any && total_ns > 0)
        pace_node_note(root, "The trace records no shapes (record_shapes=True does): flop and bytes are unknown.");
    return PACE_OK;
}

/* Kernels without a launch: most often those still queued from before the trace began. */
static void put_unlinked(pace_node *root, const pace_rank *rank) {
    size_t count = 0;
    int64_t time_ns = 0, total_ns = 0;
    for (size_t i = 0; i < rank->work.items.count && !rank->work.host_is_device; i++) {
        const pace_work_item *item = &rank->work.items.items[i];
        bool unlinked = rank->step.cause[item->task] == PACE_NO_TASK;
        count += unlinked;
        total_ns += item->end_ns - item->start_ns;
        if (unlinked) time_ns += item->end_ns - item->start_ns;
    }
    if (count == 0) return;
    pace_node_note(root,
                   "%zu kernels and copies, %.1f %% of the device time, have no launch in the trace (issued before it "
                   "began, or not recorded): no operator is known for them.",
                   count, total_ns > 0 ? 100.0 * (double)time_ns / (double)total_ns : 0.0);
}

/* Throughput and utilisation over the steps: what is modelled of the operators' flop, against the device's
 * half-precision or single-precision peak as their elements have it. Recomputed work counts (HFU); without recompute
 * that is MFU too. */
static pace_status put_throughput(pace_node *root, const pace_rank *rank, const pace_analyze_options *options) {
    pace_matrix mean;
    size_t steps = pace_mean_matrix(&mean, rank);
    double step_s = (double)pace_matrix_total(&mean) * 1e-9;
    pace_node *node = pace_node_object(root, "throughput", NULL, PACE_FOR_JSON);
    if (steps == 0 || step_s <= 0) return PACE_OK;
    pace_operator_rows rows;
    const pace_mark *marks = rank->marks.items.items;
    PACE_TRY(pace_operators_sum_within(&rows, rank, PACE_BY_OPERATOR, marks[0].from_ns,
                                       marks[rank->marks.items.count - 1].to_ns));
    double flop = 0, modelled_ns = 0, all_ns = 0;
    for (size_t i = 0; i < rows.count; i++) {
        flop += rows.items[i].flop;
        modelled_ns += rows.items[i].modelled_ns;
        all_ns += (double)rows.items[i].time_ns;
    }
    PACE_VEC_FREE(&rows);
    pace_node_real(node, "steps_per_s", 1 / step_s);
    if (options->samples_per_step > 0) {
        pace_node_real(node, "samples_per_s", options->samples_per_step / step_s);
        pace_node_sentence(root, false, "%.1f samples or tokens per second and rank.",
                           options->samples_per_step / step_s);
    }
    if (flop <= 0) return PACE_OK;
    double rate = flop / (double)steps / step_s;
    pace_node_real(node, "flop_per_step", flop / (double)steps);
    pace_node_real(node, "flop_per_s", rate);
    pace_node_real(node, "modelled_share", all_ns > 0 ? modelled_ns / all_ns : 0);
    int element_bytes = pace_main_element_bytes(rank);
    double peak = rank->device ? pace_device_peak(rank->device, element_bytes) : 0;
    if (peak > 0) {
        pace_node_real(node, "hfu", rate / peak);
        pace_node_note(
            root,
            "%.3g TFLOP/s over the step, %.1f %% of the %.4g TFLOP/s peak of %s (%d-byte elements), from operators of "
            "known shapes: %.0f %% of the device time.",
            rate / 1e12, 100 * rate / peak, peak / 1e12, rank->device->name, element_bytes,
            all_ns > 0 ? 100 * modelled_ns / all_ns : 0.0);
    }
    return PACE_OK;
}

/* Without peak rates there is no roofline: said, not left for the reader to notice. */
static void put_unknown_device(pace_node *root, const pace_rank *rank) {
    if (rank->device || rank->work.host_is_device || rank->work.items.count == 0) return;
    const pace_traced_device *traced = pace_step_device(&rank->step, rank->device_id);
    const char *name = traced && traced->name ? pace_names_text(&rank->step.names, traced->name) : NULL;
    if (name)
        pace_node_note(root,
                       "The catalogue does not know the device '%s': no roofline and no utilisation (--on names one).",
                       name);
    else pace_node_note(root, "The trace does not name its device: no roofline and no utilisation (--on names one).");
}

static pace_status put_operators(pace_node *root, const pace_rank *rank, const pace_analyze_options *options) {
    static const struct {
        pace_grouping grouping;
        const char *key, *title;
    } parts[] = {{PACE_BY_OPERATOR, "operators", "Device time by operator, whole trace"},
                 {PACE_BY_KERNEL, "kernels", "Device time by kernel, whole trace"},
                 {PACE_BY_MODULE, "modules", "Device time by module or annotation, whole trace"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        pace_operator_rows rows;
        PACE_TRY(pace_operators_sum(&rows, rank, parts[i].grouping));
        bool empty =
            rows.count == 0 || (parts[i].grouping == PACE_BY_MODULE && rows.count == 1 && rows.items[0].name == 0);
        if (!empty) put_operator_table(root, rank, &rows, parts[i].key, parts[i].title, i == 0);
        PACE_VEC_FREE(&rows);
        if (i > 0) continue;
        put_unlinked(root, rank);
        put_unknown_device(root, rank);
        PACE_TRY(put_throughput(root, rank, options));
        PACE_TRY(put_shapes(root, rank));
    }
    return PACE_OK;
}

/* As given, or guessed from the rank that is reported. */
static pace_status profiler_cost(double *out_us, pace_node *root, const pace_rank *rank,
                                 const pace_analyze_options *options) {
    pace_estimate cost_ns;
    *out_us = options->profiler_event_us;
    if (!options->profiler_guess) return PACE_OK;
    PACE_TRY(pace_profiler_cost_guess(&cost_ns, options->context->catalog, rank));
    *out_us = cost_ns.median / 1e3;
    if (cost_ns.median > 0)
        pace_node_note(
            root,
            "Recording an event is guessed to cost %.2f us (%.2f to %.2f), from the shortest ones, and taken "
            "off the overheads. 'paceline fit --kind profiler' measures it.",
            cost_ns.median / 1e3, pace_estimate_low(cost_ns) / 1e3, pace_estimate_high(cost_ns) / 1e3);
    else pace_node_note(root, "Too few host events to guess what recording one costs: nothing is taken off.");
    return PACE_OK;
}

pace_status pace_put_insights(pace_node *root, pace_analysis *analysis, const pace_rank *rank,
                              const pace_analyze_options *options) {
    PACE_TRY(pace_put_critical(root, analysis, rank));
    pace_put_idle_causes(root, rank);
    PACE_TRY(put_operators(root, rank, options));
    double profiler_event_us;
    PACE_TRY(profiler_cost(&profiler_event_us, root, rank, options));
    PACE_TRY(pace_put_overheads(root, rank, profiler_event_us));
    if (!options->overheads_path) return PACE_OK;
    return pace_write_overheads(options->overheads_path, analysis, profiler_event_us);
}

/* The insights of the analyze report, most useful first. */
#include "ask/context.h"
#include "base/numbers.h"
#include "base/text.h"
#include "report/analyze/analyze_parts.h"
#include "insight/steps/throughput.h"
#include "insight/tables/profiler_cost.h"
#include "base/print.h"

#include <stdio.h>
#include <string.h>

static const char no_operator[] = "(no operator recorded)";

typedef struct {
    const char *name, *shapes, *type;
    size_t calls;
    int64_t time_ns;
    double share, flop_per_call, bytes_per_call;
    pace_work_rates rates;
} operator_row;

static operator_row row_of(const pace_rank *rank, const pace_operator_row *from, const char *nameless,
                           int64_t total_ns) {
    double calls = (double)from->calls;
    return (operator_row){.name = from->name ? pace_names_text(&rank->step.names, from->name) : nameless,
                          .calls = from->calls,
                          .time_ns = from->time_ns,
                          .share = total_ns > 0 ? (double)from->time_ns / (double)total_ns : 0,
                          .flop_per_call = pace_known_rate(from->flop, calls),
                          .bytes_per_call = pace_known_rate(from->bytes, calls),
                          .rates = pace_work_rates_of(from->flop, from->bytes, from->modelled_ns, from->roofline_s)};
}

enum { MODELLED = 1 };

static const pace_table_column operator_columns[] = {
    {"name", "name", PACE_SHOW_TEXT, PACE_OF(operator_row, name)},
    {"calls", "calls", PACE_SHOW_INT, PACE_OF(operator_row, calls)},
    {"time_ns", "time", PACE_SHOW_NS, PACE_OF(operator_row, time_ns)},
    {"share", "share", PACE_SHOW_SHARE, PACE_OF(operator_row, share)},
    {"flop_per_s", "flop/s", PACE_SHOW_RATE, PACE_OF(operator_row, rates.flop_per_s), .only_if = MODELLED},
    {"bytes_per_s", "byte/s", PACE_SHOW_RATE, PACE_OF(operator_row, rates.bytes_per_s), .only_if = MODELLED},
    {"roofline_share", "roofline", PACE_SHOW_SHARE, PACE_OF(operator_row, rates.roofline_share), .only_if = MODELLED},
    {0}};

/* By pace_grouping. */
static const pace_table by[] = {[PACE_BY_OPERATOR] = {"operators", "Device time by operator", PACE_FOR_ALL, 10,
                                                      .columns = operator_columns},
                                [PACE_BY_MODULE] = {"modules", "Device time by module or annotation", PACE_FOR_ALL, 10,
                                                    .columns = operator_columns}};

static void put_operator_table(pace_node *root, const pace_rank *rank, const pace_operator_rows *rows,
                               pace_grouping grouping, const pace_work_shown *shown) {
    pace_node *table = pace_work_table(root, &by[grouping], grouping == PACE_BY_OPERATOR ? MODELLED : 0, shown);
    const char *nameless = grouping == PACE_BY_MODULE ? "(no module recorded)" : no_operator;
    for (size_t i = 0; i < rows->count; i++)
        pace_table_put(table, &(operator_row[]){row_of(rank, &rows->items[i], nameless, shown->total_ns)});
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

static const pace_table_column shape_columns[] = {
    {"name", "name", PACE_SHOW_TEXT, PACE_OF(operator_row, name)},
    {"shapes", "shapes", PACE_SHOW_TEXT, PACE_OF(operator_row, shapes)},
    {"type", NULL, PACE_SHOW_TEXT, PACE_OF(operator_row, type)},
    {"calls", "calls", PACE_SHOW_INT, PACE_OF(operator_row, calls)},
    {"time_ns", "time", PACE_SHOW_NS, PACE_OF(operator_row, time_ns)},
    {"share", "share", PACE_SHOW_SHARE, PACE_OF(operator_row, share)},
    {"flop_per_call", NULL, PACE_SHOW_REAL, PACE_OF(operator_row, flop_per_call)},
    {"bytes_per_call", NULL, PACE_SHOW_BYTES, PACE_OF(operator_row, bytes_per_call)},
    {"flop_per_s", "flop/s", PACE_SHOW_RATE, PACE_OF(operator_row, rates.flop_per_s)},
    {"bytes_per_s", NULL, PACE_SHOW_RATE, PACE_OF(operator_row, rates.bytes_per_s)},
    {"roofline_share", "roofline", PACE_SHOW_SHARE, PACE_OF(operator_row, rates.roofline_share)},
    {0}};
static const pace_table operator_shapes = {"operator_shapes", "Device time by operator and shapes", PACE_FOR_ALL, 10,
                                           .columns = shape_columns};
static const pace_table no_shapes = {"operator_shapes", NULL, PACE_FOR_JSON, 10, .columns = shape_columns};

static pace_status put_shape_row(pace_node *table, const pace_rank *rank, const pace_operator_row *from,
                                 int64_t total_ns) {
    const char *text = from->shapes ? pace_names_text(&rank->step.names, from->shapes) : "";
    char type[48], *sizes = pace_alloc(strlen(text) + 1, 1);
    if (!sizes) return PACE_E_MEMORY;
    operator_row row = row_of(rank, from, no_operator, total_ns);
    if (*text == '[') write_sizes(sizes, text);
    row.shapes = sizes;
    row.type = *text == '[' && write_type(type, sizeof type, text) ? type : NULL;
    pace_table_put(table, &row);
    pace_free(sizes);
    return PACE_OK;
}

/* For people only where the trace recorded shapes. */
static pace_status put_shapes(pace_node *root, const pace_rank *rank, const pace_work_shown *shown) {
    pace_operator_rows rows;
    PACE_TRY(pace_operators_sum_chosen(&rows, rank, PACE_BY_SHAPES, &shown->work));
    bool any = false;
    for (size_t i = 0; i < rows.count; i++) any = any || rows.items[i].shapes;
    pace_node *table = pace_work_table(root, any ? &operator_shapes : &no_shapes, 0, shown);
    pace_status status = PACE_OK;
    bool beyond = false;
    for (size_t i = 0; i < rows.count && status == PACE_OK; i++) {
        status = put_shape_row(table, rank, &rows.items[i], shown->total_ns);
        beyond |= row_of(rank, &rows.items[i], no_operator, shown->total_ns).rates.roofline_share > 1;
    }
    PACE_VEC_FREE(&rows);
    PACE_TRY(status);
    if (beyond)
        pace_node_note(root,
                       "Above 100 %% the algorithm needs fewer operations than are counted (Winograd's convolutions), "
                       "or a cache held the tensor.");
    if (!any && shown->total_ns > 0 && !shown->work.name)
        pace_node_note(root, "The trace records no shapes (use record_shapes=True): flop and bytes are unknown.");
    return PACE_OK;
}

static void put_unlinked(pace_node *root, const pace_rank *rank) {
    pace_unlinked_work unlinked = pace_unlinked_work_of(rank);
    if (unlinked.count == 0) return;
    pace_node_note(root,
                   "%zu kernels and copies, %.1f %% of the device time, have no launch in the trace (issued before it "
                   "began, or not recorded), so their operator is unknown.",
                   unlinked.count,
                   unlinked.all_ns > 0 ? 100.0 * (double)unlinked.time_ns / (double)unlinked.all_ns : 0.0);
}

static pace_status put_throughput(pace_node *root, const pace_rank *rank, const pace_typical_step *typical,
                                  const pace_analyze_options *options) {
    pace_node *node = pace_node_object(root, "throughput", NULL, PACE_FOR_JSON);
    pace_throughput t;
    PACE_TRY(pace_throughput_of(&t, rank, typical));
    if (!(t.steps_per_s > 0)) return PACE_OK;
    pace_node_real(node, "steps_per_s", t.steps_per_s);
    if (options->samples_per_step > 0) {
        double samples_per_s = options->samples_per_step * t.steps_per_s;
        pace_node_real(node, "samples_per_s", samples_per_s);
        pace_node_sentence(root, false, "%.1f samples or tokens per second per rank.", samples_per_s);
    }
    if (!(t.flop_per_step > 0)) return PACE_OK;
    pace_node_real(node, "flop_per_step", t.flop_per_step);
    pace_node_real(node, "flop_per_s", t.flop_per_s);
    pace_node_real(node, "modelled_share", t.modelled_share);
    if (!(t.peak_flop_per_s > 0)) return PACE_OK;
    pace_node_real(node, "hfu", t.utilisation);
    pace_node_note(root,
                   "%.3g TFLOP/s over the step: %.1f %% of the %.4g TFLOP/s peak of %s (%d-byte elements), counting "
                   "operators of known shapes (%.0f %% of its device time).",
                   t.flop_per_s / 1e12, 100 * t.utilisation, t.peak_flop_per_s / 1e12, rank->device->name,
                   t.element_bytes, 100 * t.modelled_share);
    return PACE_OK;
}

/* Without peak rates there is no roofline: said, not left for the reader to notice. */
static void put_unknown_device(pace_node *root, const pace_rank *rank) {
    if (rank->device || rank->work.host_is_device || rank->work.items.count == 0) return;
    const pace_traced_device *traced = pace_step_device(&rank->step, rank->device_id);
    const char *name = traced && traced->name ? pace_names_text(&rank->step.names, traced->name) : NULL;
    if (name)
        pace_node_note(root,
                       "The catalogue lacks the device '%s': no roofline and no utilisation (name a device with --on).",
                       name);
    else
        pace_node_note(root, "The trace does not name its device: no roofline and no utilisation (name it with --on).");
}

/* One row without a name: no module and no annotation was recorded. */
static bool says_nothing(const pace_operator_rows *rows, pace_grouping grouping) {
    return rows->count == 0 || (grouping == PACE_BY_MODULE && rows->count == 1 && rows->items[0].name == 0);
}

static pace_status put_grouping(size_t *found, pace_node *root, const pace_rank *rank, pace_grouping grouping,
                                const pace_work_shown *shown) {
    pace_operator_rows rows;
    PACE_TRY(pace_operators_sum_chosen(&rows, rank, grouping, &shown->work));
    *found += rows.count;
    if (!says_nothing(&rows, grouping)) put_operator_table(root, rank, &rows, grouping, shown);
    PACE_VEC_FREE(&rows);
    return PACE_OK;
}

/* Names the operators that take most, as they could be meant. */
static pace_status refuse_filter(const pace_rank *rank, const char *filter) {
    enum { NAMED = 8 };
    pace_operator_rows rows;
    char names[640] = "";
    size_t named = 0;
    PACE_TRY(pace_operators_sum(&rows, rank, PACE_BY_OPERATOR));
    for (size_t i = 0; i < rows.count && named < NAMED; i++)
        if (rows.items[i].name && ++named)
            pace_list(names, sizeof names, ", ", "%.60s", pace_names_text(&rank->step.names, rows.items[i].name));
    PACE_VEC_FREE(&rows);
    return pace_fail(PACE_E_USAGE,
                     "filter: expected a part of the name of an operator, kernel or module, found '%.80s'%s%s%s",
                     filter, *names ? "; there are: " : "", names, named == NAMED ? ", ..." : "");
}

static pace_status put_operators(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                                 const pace_typical_step *typical, const pace_analyze_options *options) {
    pace_work_shown shown;
    size_t found = 0;
    PACE_TRY(pace_work_shown_of(&shown, rank, options));
    if (options->stage && shown.total_ns == 0)
        return pace_fail(PACE_E_USAGE, "stage: expected one that did work, found '%.80s'", options->stage);
    PACE_TRY(pace_put_categories(root, analysis, rank, &shown));
    PACE_TRY(put_grouping(&found, root, rank, PACE_BY_OPERATOR, &shown));
    put_unlinked(root, rank);
    put_unknown_device(root, rank);
    PACE_TRY(put_throughput(root, rank, typical, options));
    PACE_TRY(put_shapes(root, rank, &shown));
    PACE_TRY(pace_put_kernels(&found, root, analysis, rank, &shown));
    pace_put_durations(root, rank, &shown);
    PACE_TRY(pace_put_chains(root, analysis, rank, &shown));
    PACE_TRY(put_grouping(&found, root, rank, PACE_BY_MODULE, &shown));
    PACE_TRY(pace_put_modules(root, rank, &shown));
    PACE_TRY(pace_put_launches(root, rank, &shown, options->context->catalog));
    PACE_TRY(pace_put_memory(root, rank));
    PACE_TRY(pace_put_counters(root, rank));
    return found || !options->filter ? PACE_OK : refuse_filter(rank, options->filter);
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
            "Recording an event costs an estimated %.2f µs (%.2f to %.2f, from the shortest events), which is "
            "subtracted from the overheads. 'paceline fit --kind profiler' measures it.",
            cost_ns.median / 1e3, pace_estimate_low(cost_ns) / 1e3, pace_estimate_high(cost_ns) / 1e3);
    else pace_node_note(root, "Too few host events to estimate what recording one costs: nothing is subtracted.");
    return PACE_OK;
}

pace_status pace_put_insights(pace_node *root, pace_analysis *analysis, const pace_rank *rank,
                              const pace_typical_step *typical, const pace_analyze_options *options) {
    PACE_TRY(pace_put_critical(root, analysis, rank));
    PACE_TRY(pace_put_exchange_totals(root, analysis, rank, options->context->catalog));
    PACE_TRY(pace_put_beside_exchanges(root, rank));
    pace_put_idle_causes(root, rank);
    PACE_TRY(put_operators(root, analysis, rank, typical, options));
    double profiler_event_us;
    PACE_TRY(profiler_cost(&profiler_event_us, root, rank, options));
    PACE_TRY(pace_put_overheads(root, rank, profiler_event_us));
    if (!options->overheads_path) return PACE_OK;
    return pace_write_overheads(options->overheads_path, analysis, profiler_event_us);
}

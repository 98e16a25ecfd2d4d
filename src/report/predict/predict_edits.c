#include "report/predict/predict_parts.h"
#include "forecast/what_ifs.h"
#include "report/table.h"
#include "base/print.h"

static bool edits(const pace_scenario *scenario) {
    for (size_t i = 0; i < pace_what_if_count; i++)
        if (pace_what_ifs[i]->edits_kernels && pace_what_if_is_asked(scenario, pace_what_ifs[i])) return true;
    return false;
}

typedef struct {
    int64_t launches, unknown;
    double ns, unknown_ns;
} coverage;

static coverage cover(const pace_forecast_result *result) {
    coverage sum = {0};
    for (int f = 0; f < PACE_FORECAST_FAMILIES; f++) {
        sum.launches += (int64_t)result->families[f].launches;
        sum.unknown += (int64_t)result->families[f].unknown;
        sum.ns += result->families[f].kernel_ns;
        sum.unknown_ns += result->families[f].unknown_ns;
    }
    return sum;
}

typedef struct {
    const char *scenario;
    int64_t samples, batch, launches, unknown;
    pace_forecast_edits of;
    double unknown_share;
    size_t beyond;
} edit_row;

static const pace_table_column edit_columns[] = {
    {"scenario", "what if", PACE_SHOW_TEXT, PACE_OF(edit_row, scenario)},
    {"samples", "samples", PACE_SHOW_INT, PACE_OF(edit_row, samples)},
    {"batch", "batch", PACE_SHOW_INT, PACE_OF(edit_row, batch)},
    {"scaled_kernels", "scaled", PACE_SHOW_INT, PACE_OF(edit_row, of.scaled_kernels)},
    {"fused_kernels", "fused", PACE_SHOW_INT, PACE_OF(edit_row, of.fused_kernels)},
    {"fused_lookups", "lookups", PACE_SHOW_INT, PACE_OF(edit_row, of.fused_tables)},
    {"launches", "launches", PACE_SHOW_INT, PACE_OF(edit_row, launches)},
    {"unknown", "unknown", PACE_SHOW_INT, PACE_OF(edit_row, unknown)},
    {"unknown_share", "of time", PACE_SHOW_SHARE, PACE_OF(edit_row, unknown_share)},
    {"beyond_roofline", "too fast", PACE_SHOW_INT, PACE_OF(edit_row, beyond)},
    {0}};
static const pace_table changed = {"edits", "What was changed", PACE_FOR_ALL, 0, .columns = edit_columns};
static const pace_table unchanged = {"edits", NULL, PACE_FOR_JSON, 0, .columns = edit_columns};

static void put_row(pace_node *table, const pace_scenario *scenario, const pace_forecast_result *result) {
    coverage all = cover(result);
    int64_t samples = result->edits.present.samples;
    pace_table_put(table, &(edit_row){.scenario = scenario->label,
                                      .samples = samples ? samples : PACE_NO_INT,
                                      .batch = scenario->batch > 0 ? (int64_t)scenario->batch : PACE_NO_INT,
                                      .launches = all.launches,
                                      .unknown = all.unknown,
                                      .of = result->edits,
                                      .unknown_share = all.ns > 0 ? all.unknown_ns / all.ns : 0,
                                      .beyond = result->beyond});
}

static void say_samples(pace_node *root, const pace_scenario *scenarios, const pace_forecast_result *results,
                        size_t count) {
    for (size_t i = 0; i < count; i++) {
        const pace_batch_size *present = &results[i].edits.present;
        if (scenarios[i].batch <= 0 || present->of == 0) continue;
        char passes[64] = "";
        if (present->passes > 1) pace_snprintf(passes, sizeof passes, ", %zu times a step,", present->passes);
        pace_node_note(
            root,
            "A batch of %lld samples%s was inferred: the first dimension of %zu of %zu %s (--samples says a step's).",
            (long long)present->samples, passes, present->agree, present->of, present->from);
        return;
    }
}

static bool any_asks(const pace_what_if *what_if, const pace_scenario *scenarios, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (pace_what_if_is_asked(&scenarios[i], what_if)) return true;
    return false;
}

/* Each once: what-ifs may share one. */
static void say_assumptions(pace_node *root, const pace_scenario *scenarios, size_t count) {
    const char *last = NULL;
    for (size_t i = 0; i < pace_what_if_count; i++) {
        const char *text = pace_what_ifs[i]->assumption;
        if (!text || text == last || !any_asks(pace_what_ifs[i], scenarios, count)) continue;
        pace_node_note(root, "%s", text);
        last = text;
    }
}

/* Operators that launch something, each once, as many as fit. */
static void list_names(char *out, size_t size, const pace_graph *graph) {
    enum { MOST = 8 };
    const char *names[MOST];
    size_t count = 0;
    *out = '\0';
    for (size_t i = 0; i < graph->launches.count && count < MOST; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        const char *op = pace_names_text(&graph->names, graph->nodes.items[launch->node].name);
        const char *name = launch->name ? pace_names_text(&graph->names, launch->name) : op;
        bool known = false;
        for (size_t k = 0; k < count; k++) known |= strcmp(names[k], name) == 0;
        if (known) continue;
        names[count++] = name;
        pace_append(out, size, "%s%.60s", *out ? ", " : "; there are: ", name);
    }
    if (count == MOST) pace_append(out, size, ", ...");
}

/* A what-if that changes nothing is likely not the one that was meant. */
static void warn(pace_report *report, const pace_graph *graph, const pace_scenario *scenario,
                 const pace_forecast_result *result) {
    coverage all = cover(result);
    bool needs_sizes = false;
    for (size_t i = 0; i < pace_what_if_count; i++) {
        const pace_what_if *one = pace_what_ifs[i];
        if (!pace_what_if_is_asked(scenario, one)) continue;
        needs_sizes |= one->needs_sizes;
        char names[600] = "";
        if (!pace_what_if_is_idle(one, &result->edits)) continue;
        if (one->by_name) list_names(names, sizeof names, graph);
        pace_report_warn(report, PACE_WARN_WHAT_IF_IDLE, scenario->label, "\"%.60s\": %s%s", scenario->label, one->idle,
                         names);
    }
    if (needs_sizes && all.unknown_ns > 0.2 * all.ns)
        pace_report_warn(report, PACE_WARN_SIZES_UNKNOWN, scenario->label,
                         "\"%.60s\": %.0f %% of the kernel time is in kernels of unknown size%s", scenario->label,
                         100 * all.unknown_ns / all.ns,
                         all.unknown_ns < all.ns ? "" : ": record shapes (record_shapes=True)");
}

void pace_put_edits(pace_report *report, const pace_graph *graph, const pace_scenario *scenarios,
                    const pace_forecast_result *results, size_t count) {
    pace_node *root = pace_report_root(report);
    bool any = false;
    for (size_t i = 0; i < count; i++) any |= edits(&scenarios[i]);
    pace_node *table = pace_open_table(root, any ? &changed : &unchanged, 0);
    for (size_t i = 0; i < count; i++) put_row(table, &scenarios[i], &results[i]);
    if (any) {
        say_samples(root, scenarios, results, count);
        say_assumptions(root, scenarios, count);
    }
    for (size_t i = 0; i < count; i++) warn(report, graph, &scenarios[i], &results[i]);
    if (results[0].beyond)
        pace_report_warn(
            report, PACE_WARN_WORK_OVERSTATED, NULL,
            "self-check: %zu kernel%s measured faster than the device's roofline allows: a cache still held "
            "what they read, or the recorded shapes overstate their work",
            results[0].beyond, results[0].beyond == 1 ? " was" : "s were");
}

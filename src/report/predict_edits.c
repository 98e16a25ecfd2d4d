#include "report/predict_edits.h"

#include "report/show.h"
#include "report/table.h"

static bool edits(const pace_scenario *scenario) {
    return scenario->batch > 0 || scenario->has_precision || scenario->scales.count || scenario->fuse.count ||
           scenario->fuse_tables || scenario->balance_tables;
}

typedef struct {
    int64_t launches, unknown;
    double ns, unknown_ns;
} coverage;

static coverage cover(const pace_forecast_result *result) {
    coverage sum = {0};
    for (int f = 0; f < PACE_OP_FAMILIES; f++) {
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
        pace_node_note(root,
                       "Inferred: the step has %lld samples, the first size of %zu of %zu %s (--samples says it).",
                       (long long)present->samples, present->agree, present->of, present->from);
        return;
    }
}

static void say_assumptions(pace_node *root, const pace_scenario *scenarios, size_t count) {
    bool batch = false, precision = false, fuse = false, tables = false;
    for (size_t i = 0; i < count; i++) {
        batch |= scenarios[i].batch > 0;
        precision |= scenarios[i].has_precision;
        fuse |= scenarios[i].fuse.count > 0;
        tables |= scenarios[i].fuse_tables || scenarios[i].balance_tables;
    }
    if (batch)
        pace_node_note(root, "Batch: host time, updates and exchanges of gradients stay; kernels of unknown sizes are "
                             "taken to grow in proportion, which widens the interval.");
    if (precision)
        pace_node_note(root,
                       "Precision: casts, master weights and exchanges stay as they are; kernels of unknown sizes "
                       "too.");
    if (fuse)
        pace_node_note(root, "Fusion: neighbours of equal size are taken to feed each other, and what lies between not "
                             "to be needed again.");
    if (tables) pace_node_note(root, "Tables: those of one launch are taken to be looked up alike.");
}

static bool drops(const pace_scenario *scenario) {
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        if (scenario->overhead_scale[type] == 0) return true;
    return false;
}

/* A what-if that changes nothing is likely not the one that was meant. */
static void warn(pace_report *report, const pace_scenario *scenario, const pace_forecast_result *result) {
    coverage all = cover(result);
    if (scenario->scales.count && result->edits.scaled_kernels == 0)
        pace_report_warn(report, "\"%s\": no kernel and no operator that launches one has a name that matches",
                         scenario->label);
    if (drops(scenario) && result->edits.dropped_types == 0)
        pace_report_warn(report, "\"%s\": the step has no such overhead to drop", scenario->label);
    if (scenario->fuse.count && result->edits.fused_kernels == 0)
        pace_report_warn(report, "\"%s\": no two element-wise kernels of equal size that match follow each other",
                         scenario->label);
    if (scenario->fuse_tables && result->edits.fused_tables == 0)
        pace_report_warn(report, "\"%s\": no two embedding lookups of known sizes that could be one", scenario->label);
    if ((scenario->batch > 0 || scenario->has_precision) && all.unknown_ns > 0.2 * all.ns)
        pace_report_warn(report, "\"%s\": nothing is known of the sizes of %.0f %% of the kernels' time%s",
                         scenario->label, 100 * all.unknown_ns / all.ns,
                         all.unknown_ns < all.ns ? "" : ": record shapes (record_shapes=True)");
}

void pace_put_edits(pace_report *report, const pace_scenario *scenarios, const pace_forecast_result *results,
                    size_t count) {
    pace_node *root = pace_report_root(report);
    bool any = false;
    for (size_t i = 0; i < count; i++) any |= edits(&scenarios[i]);
    pace_node *table = pace_open_table(root, any ? &changed : &unchanged, 0);
    for (size_t i = 0; i < count; i++) put_row(table, &scenarios[i], &results[i]);
    if (any) {
        say_samples(root, scenarios, results, count);
        say_assumptions(root, scenarios, count);
    }
    for (size_t i = 0; i < count; i++) warn(report, &scenarios[i], &results[i]);
    if (results[0].beyond)
        pace_report_warn(
            report,
            "self-check: %zu kernel%s measured faster than the device's roofline allows: what their operators "
            "say is not quite what they do",
            results[0].beyond, results[0].beyond == 1 ? " was" : "s were");
}

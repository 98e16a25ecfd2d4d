#include "ask/fleet/usage_asked.h"
#include "base/yaml_member.h"
#include "source/usage/usage_words.h"
#include "base/print.h"

#include <string.h>

static pace_status name_known(const pace_usage_mappings *mappings, const char *path) {
    char names[512] = "";
    for (size_t i = 0; i < mappings->count; i++) pace_list(names, sizeof names, ", ", "%s", mappings->items[i].name);
    return pace_fail(
        PACE_E_INPUT,
        "%s: expected records of a cluster (%s), found neither their columns nor their first bytes; " PACE_FIELD
        "mapping says what other columns are",
        path, names);
}

pace_status pace_usage_are_records(bool *out, const char *const *paths, size_t count,
                                   const pace_usage_options *options) {
    pace_usage_mappings mappings;
    pace_usage_reading found = {0};
    pace_status status = pace_usage_mappings_load(&mappings, options->context->catalog, &options->mapping);
    /* the reader of job tables says of a file why it cannot be read, under mpirun to all processes */
    for (size_t i = 0; status == PACE_OK && !found.mapping && i < count; i++) {
        pace_status one = pace_usage_recognise(&found, &mappings, paths[i]);
        if (one == PACE_E_MEMORY || one == PACE_E_USAGE) status = one == PACE_E_MEMORY ? one : PACE_E_INPUT;
    }
    *out = found.mapping != NULL || options->mapping.count > 0;
    pace_usage_mappings_free(&mappings);
    return status;
}

static pace_status read_file(pace_usage_reading *out, pace_usage_asked *a, const char *path) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_usage_read(out, input, pace_usage_add, &a->usage);
    pace_input_free(input);
    PACE_TRY(status);
    if (out->taken > 0 || out->refused == 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: none of %llu rows could be read as %s: %s", path, (unsigned long long)out->rows,
                     out->mapping->title, out->reason);
}

static pace_status recognise(pace_usage_asked *a, const char *path) {
    pace_usage_reading reading;
    PACE_TRY(pace_usage_recognise(&reading, &a->mappings, path));
    return reading.mapping ? PACE_PUSH(&a->readings, reading) : name_known(&a->mappings, path);
}

/* Counters last: which job held a node is known by then. */
static pace_status read_files(pace_usage_asked *a, const char *const *paths, size_t count) {
    for (size_t i = 0; i < count; i++) PACE_TRY(recognise(a, paths[i]));
    for (int counters = 0; counters < 2; counters++)
        for (size_t i = 0; i < count; i++) {
            const pace_usage_mapping *mapping = a->readings.items[i].mapping;
            if (mapping->of != PACE_USAGE_OF_NOTHING && (mapping->of == PACE_USAGE_OF_COUNTERS) == (counters == 1))
                PACE_TRY(read_file(&a->readings.items[i], a, paths[i]));
        }
    return PACE_OK;
}

static pace_status set_zone(pace_usage_mappings *mappings, const char *zone) {
    double seconds;
    if (!zone) return PACE_OK;
    if (!pace_usage_zone(&seconds, (pace_usage_text){zone, strlen(zone)}))
        return pace_fail(PACE_E_USAGE, "zone: expected hours from UTC, such as +08:00, found \"%.40s\"", zone);
    for (size_t i = 0; i < mappings->count; i++) mappings->items[i].zone_s = seconds;
    return PACE_OK;
}

static pace_status set_dates(pace_usage_mappings *mappings, const char *dates) {
    size_t order = PACE_DATES_MONTH_FIRST;
    if (!dates) return PACE_OK;
    while (pace_date_order_names[order] && strcmp(pace_date_order_names[order], dates) != 0) order++;
    if (!pace_date_order_names[order])
        return pace_fail(PACE_E_USAGE, "dates: expected month-first or day-first, found \"%.40s\"", dates);
    for (size_t i = 0; i < mappings->count; i++) mappings->items[i].times.dates = (pace_date_order)order;
    return PACE_OK;
}

static pace_status load_rules(pace_usage_rules *out, pace_catalog *catalog) {
    const pace_yaml *yaml;
    const pace_yaml_node *rules;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "usage.yaml"));
    PACE_TRY(pace_yaml_member(&rules, yaml, pace_yaml_root(yaml), "rules"));
    PACE_TRY(pace_yaml_real(&out->held_busy, yaml, rules, "held_busy", 0, 1));
    PACE_TRY(pace_yaml_real(&out->held_hours, yaml, rules, "held_hours", 0, 1e6));
    PACE_TRY(pace_yaml_real(&out->shared_busy, yaml, rules, "shared_busy", 0, 1));
    PACE_TRY(pace_yaml_real(&out->doubted_below_s, yaml, rules, "doubted_below_s", 0, 1e6));
    PACE_TRY(pace_yaml_real(&out->doubted_above_days, yaml, rules, "doubted_above_days", 1, 1e6));
    return pace_yaml_real(&out->fewest_jobs, yaml, rules, "fewest_jobs", 1, 1e6);
}

/* What the GPUs cost, and what they can do. */
static pace_status know_gpus(pace_usage_asked *a, const pace_usage_options *options) {
    bool *used = pace_alloc(pace_names_count(&a->usage.names), sizeof *used);
    if (!used) return PACE_E_MEMORY;
    for (size_t i = 0; i < a->usage.runs.count; i++) used[a->usage.runs.items[i].by[PACE_BY_GPU]] = true;
    pace_status status =
        pace_usage_prices_find(&a->prices, options->context->catalog, &options->price, &a->usage.names, used);
    if (status == PACE_OK) status = pace_usage_rates_find(&a->rates, options->context->catalog, &a->usage.names, used);
    pace_free(used);
    return status;
}

/* Functions of Prometheus drop the name of what they are of; recording rules make another. */
static pace_status say_none(const pace_usage_asked *a, const char *path) {
    const pace_usage_reading *r = &a->readings.items[0];
    if (r->unknown_metrics == 0)
        return pace_fail(PACE_E_INPUT, "%s (%s): expected jobs that hold GPUs, or counters over time, found none", path,
                         r->mapping->title);
    return pace_fail(
        PACE_E_INPUT,
        "%s (%s): expected values of counters such as %s, found %llu of counters that are called otherwise; "
        "the first is called \"%s\"%s",
        path, r->mapping->title, r->mapping->metrics[0].name, (unsigned long long)r->unknown_metrics, r->unknown_metric,
        *r->unknown_metric ? "" : ": functions such as avg_over_time() drop the name, so ask without them");
}

pace_status pace_usage_ask(pace_usage_asked *out, const char *const *paths, size_t count,
                           const pace_usage_options *options) {
    *out = (pace_usage_asked){0};
    PACE_TRY(pace_usage_init(&out->usage));
    PACE_TRY(pace_usage_mappings_load(&out->mappings, options->context->catalog, &options->mapping));
    PACE_TRY(load_rules(&out->rules, options->context->catalog));
    PACE_TRY(set_zone(&out->mappings, options->zone));
    PACE_TRY(set_dates(&out->mappings, options->dates));
    PACE_TRY(read_files(out, paths, count));
    PACE_TRY(pace_usage_join(&out->usage));
    if (out->usage.runs.count == 0) return say_none(out, paths[0]);
    if (options->dates && !out->usage.year_last)
        return pace_fail(PACE_E_USAGE, "dates: has no effect: no date of these jobs is like 03/04/2026");
    PACE_TRY(know_gpus(out, options));
    PACE_TRY(
        pace_usage_figures_of(&out->figures, &out->usage, out->prices.of, out->rates, (size_t)out->rules.fewest_jobs));
    PACE_TRY(pace_usage_models_find(&out->models, options->context->catalog, &out->usage, &out->figures));
    return pace_usage_changes_of(&out->changes, &out->usage, out->prices.of, &out->rules);
}

void pace_usage_asked_free(pace_usage_asked *asked) {
    pace_usage_models_free(&asked->models);
    pace_usage_figures_free(&asked->figures);
    pace_usage_prices_free(&asked->prices);
    pace_free(asked->rates);
    pace_usage_free(&asked->usage);
    PACE_VEC_FREE(&asked->readings);
    pace_usage_mappings_free(&asked->mappings);
}

/* Records of a cluster read and put together, whatever they are: what must hold of the figures. */
#pragma once

#include <math.h>
#include <stdlib.h>

#include "catalog_of_tests.h"
#include "fleet/usage_advice.h"
#include "source/usage/usage_reader.h"

static void check_usage_group(const pace_usage_group *g) {
    double rounding = 1e-6 * (1 + g->gpu_hours);
    if (!(g->gpu_hours >= 0) || g->judged_gpu_hours > g->gpu_hours + rounding ||
        g->idle_gpu_hours > g->judged_gpu_hours + rounding || !(g->idle_gpu_hours >= -rounding) ||
        g->lost_gpu_hours > g->gpu_hours + rounding || g->jobs > g->runs)
        abort();
}

static void check_usage_figures(const pace_usage *usage) {
    static const pace_usage_rules rules = {.held_busy = 0.05, .held_hours = 1, .shared_busy = 0.5, .fewest_jobs = 2};
    pace_usage_figures figures;
    pace_usage_changes changes;
    double *prices = pace_alloc(pace_names_count(&usage->names), sizeof *prices);
    if (!prices) abort();
    if (pace_usage_figures_of(&figures, usage, prices, NULL, 2) != PACE_OK) abort();
    check_usage_group(&figures.all);
    for (int by = 0; by < PACE_USAGE_BYS; by++)
        for (size_t i = 0; i < figures.by[by].count; i++) check_usage_group(&figures.by[by].items[i]);
    if (!(figures.unjudged.low <= figures.unjudged.idle * (1 + 1e-9) + 1e-9)) abort();
    if (pace_usage_changes_of(&changes, usage, prices, &rules) != PACE_OK) abort();
    pace_usage_figures_free(&figures);
    pace_free(prices);
}

/* Reads `data` by the mapping. */
static void read_usage(const pace_usage_mapping *mapping, const uint8_t *data, size_t size) {
    pace_input *input;
    pace_usage usage;
    pace_usage_reading reading = {.mapping = mapping, .separator = mapping->separator};
    if (pace_input_open_memory(&input, "fuzz", data, size) != PACE_OK) return;
    if (pace_usage_init(&usage) != PACE_OK) abort();
    if (pace_usage_read(&reading, input, pace_usage_add, &usage) == PACE_OK) {
        if (reading.taken + reading.skipped + reading.refused != reading.rows) abort();
        if (pace_usage_join(&usage) != PACE_OK) abort();
        check_usage_figures(&usage);
    }
    pace_usage_free(&usage);
    pace_input_free(input);
}

/* Reads `data` by the mapping of the catalogue that knows it, else by every one of the form. */
static inline void read_usage_of_form(bool json, const uint8_t *data, size_t size) {
    static pace_usage_mappings mappings; /* kept: to copy them takes longer than most inputs */
    static const pace_words none = {0};
    char *head = malloc(size + 1);
    if (!head) abort();
    if (!mappings.count && pace_usage_mappings_load(&mappings, test_catalog(), &none) != PACE_OK) abort();
    for (size_t i = 0; i < size; i++) head[i] = (char)data[i];
    pace_usage_reading known;
    pace_usage_recognised(&known, &mappings, head, size);
    for (size_t i = 0; i < mappings.count; i++)
        if (mappings.items[i].json == json && (!known.mapping || known.mapping == &mappings.items[i]))
            read_usage(&mappings.items[i], data, size);
    free(head);
}

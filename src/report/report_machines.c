/*
 * The report of `paceline machines`: the device catalogue as a table, or one device in full.
 */
#include "base/print.h"
#include "machine/device_resolve.h"
#include "ask/context.h"
#include "report/report.h"
#include "report/report_topology.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const rate_keys[PACE_PRECISIONS] = {
    [PACE_FP64] = "fp64_flop_per_s", [PACE_FP32] = "fp32_flop_per_s", [PACE_FP32_MATRIX] = "fp32_matrix_flop_per_s",
    [PACE_TF32] = "tf32_flop_per_s", [PACE_FP16] = "fp16_flop_per_s", [PACE_BF16] = "bf16_flop_per_s",
    [PACE_FP8] = "fp8_flop_per_s",   [PACE_INT8] = "int8_op_per_s",   [PACE_FP4] = "fp4_flop_per_s",
};

static const char *const achievable_keys[PACE_PRECISIONS] = {
    [PACE_FP64] = "achievable_fp64_flop_per_s",
    [PACE_FP32] = "achievable_fp32_flop_per_s",
    [PACE_FP32_MATRIX] = "achievable_fp32_matrix_flop_per_s",
    [PACE_TF32] = "achievable_tf32_flop_per_s",
    [PACE_FP16] = "achievable_fp16_flop_per_s",
    [PACE_BF16] = "achievable_bf16_flop_per_s",
    [PACE_FP8] = "achievable_fp8_flop_per_s",
    [PACE_INT8] = "achievable_int8_op_per_s",
    [PACE_FP4] = "achievable_fp4_flop_per_s",
};

static const char *const rate_titles[PACE_PRECISIONS] = {
    [PACE_FP64] = "FP64", [PACE_FP32] = "FP32", [PACE_FP32_MATRIX] = "FP32 matrix",
    [PACE_TF32] = "TF32", [PACE_FP16] = "FP16", [PACE_BF16] = "BF16",
    [PACE_FP8] = "FP8",   [PACE_INT8] = "INT8", [PACE_FP4] = "FP4",
};

/* The figures that are one number, in the order they are shown. */
static const struct {
    const char *key; /* in the catalogue and in JSON */
    const char *title;
    size_t offset;
    double unit;
    const char *suffix;
} figures[] = {
    {"memory_bytes", "Memory", offsetof(pace_device, memory_bytes), 1073741824.0, "GiB"},
    {"memory_bytes_per_s", "Memory bandwidth", offsetof(pace_device, memory_bytes_per_s), 1e9, "GB/s"},
    {"achievable_bytes_per_s", "Memory bandwidth, measured", offsetof(pace_device, achievable_bytes_per_s), 1e9,
     "GB/s"},
    {"l2_bytes", "L2 cache", offsetof(pace_device, l2_bytes), 1048576.0, "MiB"},
    {"l2_bytes_per_s", "L2 bandwidth, measured", offsetof(pace_device, l2_bytes_per_s), 1e9, "GB/s"},
    {"base_hz", "Base clock", offsetof(pace_device, base_hz), 1e6, "MHz"},
    {"boost_hz", "Boost clock", offsetof(pace_device, boost_hz), 1e6, "MHz"},
    {"pcie_bytes_per_s", "Host link, one direction", offsetof(pace_device, pcie_bytes_per_s), 1e9, "GB/s"},
    {"pcie_pinned_bytes_per_s", "Copy, page-locked memory", offsetof(pace_device, pcie_pinned_bytes_per_s), 1e9,
     "GB/s"},
    {"pcie_pageable_bytes_per_s", "Copy, pageable memory", offsetof(pace_device, pcie_pageable_bytes_per_s), 1e9,
     "GB/s"},
    {"launch_s", "Kernel launch", offsetof(pace_device, launch_s), 1e-6, "us"},
    {"tdp_w", "Design power", offsetof(pace_device, tdp_w), 1, "W"},
};

static const pace_column device_columns[] = {
    {"name", "Name", PACE_SHOW_TEXT},
    {"vendor", NULL, PACE_SHOW_TEXT},
    {"fp32_flop_per_s", "FP32", PACE_SHOW_RATE},
    {"tf32_flop_per_s", "TF32", PACE_SHOW_RATE},
    {"fp16_flop_per_s", "FP16", PACE_SHOW_RATE},
    {"bf16_flop_per_s", "BF16", PACE_SHOW_RATE},
    {"fp8_flop_per_s", "FP8", PACE_SHOW_RATE},
    {"memory_bytes", "Memory", PACE_SHOW_BYTES},
    {"memory_bytes_per_s", "Bandwidth", PACE_SHOW_RATE},
    {"sm_count", "SMs", PACE_SHOW_INT},
    {"confidence", NULL, PACE_SHOW_TEXT},
    {"achievable_bf16_flop_per_s", NULL, PACE_SHOW_RATE},
    {"achievable_bytes_per_s", NULL, PACE_SHOW_RATE},
    {"l2_bytes_per_s", NULL, PACE_SHOW_RATE},
    {"pcie_pinned_bytes_per_s", NULL, PACE_SHOW_RATE},
    {"launch_s", NULL, PACE_SHOW_REAL},
    {"source", NULL, PACE_SHOW_TEXT},
};

static const pace_precision shown[] = {PACE_FP32, PACE_TF32, PACE_FP16, PACE_BF16, PACE_FP8};

static const pace_column rate_columns[] = {
    {"precision", "Precision", PACE_SHOW_TEXT}, {"flop_per_s", "Peak", PACE_SHOW_RATE},
    {"achievable", "Measured", PACE_SHOW_RATE}, {"confidence", "Confidence", PACE_SHOW_TEXT},
    {"source", "Source", PACE_SHOW_INT},
};

static const pace_column figure_columns[] = {
    {"figure", "Figure", PACE_SHOW_TEXT},
    {"value", "Value", PACE_SHOW_TEXT},
    {"confidence", "Confidence", PACE_SHOW_TEXT},
    {"source", "Source", PACE_SHOW_INT},
};

static const pace_column source_columns[] = {
    {"figure", "Figure", PACE_SHOW_TEXT},
    {"confidence", "Confidence", PACE_SHOW_TEXT},
    {"source", "Source", PACE_SHOW_TEXT},
};

enum { FIGURES = sizeof figures / sizeof *figures, MOST_SOURCES = FIGURES + 2 * PACE_PRECISIONS + 1 };

/* One device and the sources met so far; the first is the entry's own. */
typedef struct {
    const pace_device_catalog *catalog;
    const pace_device *device;
    const char *sources[MOST_SOURCES];
    int source_count;
} description;

static void figure_cell(pace_node *table, double value) {
    if (value > 0) pace_table_real(table, value);
    else pace_table_none(table);
}

static void add_row(pace_node *table, const pace_device_catalog *catalog, const pace_device *device) {
    pace_table_row(table);
    pace_table_text(table, device->name);
    pace_table_text(table, device->vendor);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) figure_cell(table, device->flop_per_s[shown[i]]);
    figure_cell(table, device->memory_bytes);
    figure_cell(table, device->memory_bytes_per_s);
    if (device->sm_count) pace_table_int(table, device->sm_count);
    else pace_table_none(table);
    pace_table_text(table, pace_device_figure_source(catalog, device, "flop_per_s", NULL).confidence);
    figure_cell(table, device->achievable_flop_per_s[PACE_BF16]);
    figure_cell(table, device->achievable_bytes_per_s);
    figure_cell(table, device->l2_bytes_per_s);
    figure_cell(table, device->pcie_pinned_bytes_per_s);
    figure_cell(table, device->launch_s);
    pace_table_text(table, device->source);
}

static void describe_all(pace_report *report, const pace_device_catalog *catalog,
                         const pace_machine_catalog *machines) {
    pace_node *root = pace_report_root(report);
    pace_node_sentence(root, true, "The catalogue knows %zu devices and %zu machines.", catalog->count,
                       machines->machines.count);
    pace_node *table = pace_node_table(root, "devices", "Devices", PACE_FOR_ALL, PACE_COLUMNS(device_columns), 0);
    for (size_t i = 0; i < catalog->count; i++) add_row(table, catalog, &catalog->devices[i]);
    pace_node_note(root, "Rates are dense peaks per second, without sparsity; \"-\" means not supported or not known. "
                         "\"paceline machines NAME\" shows what was measured, and all sources.");
    pace_put_machines(root, machines);
}

static double figure_value(const pace_device *device, size_t i) {
    return *(const double *)(const void *)((const char *)device + figures[i].offset);
}

static void member(pace_node *object, const char *key, double value) {
    pace_node_real(object, key, value > 0 ? value : NAN);
}

static void source_row(pace_node *table, const description *d, const char *shown_key, const char *key,
                       const char *precision) {
    pace_figure_source source = pace_device_figure_source(d->catalog, d->device, key, precision);
    pace_table_row(table);
    pace_table_text(table, shown_key);
    pace_table_text(table, source.confidence);
    pace_table_text(table, source.source);
}

/* What a program reads: every figure under its own key, and where each known one is from. */
static void describe_for_programs(pace_node *root, const description *d) {
    const pace_device *device = d->device;
    pace_node *object = pace_node_object(root, "device", NULL, PACE_FOR_JSON);
    pace_node_text(object, "name", device->name);
    pace_node_text(object, "vendor", device->vendor);
    for (int i = 0; i < PACE_PRECISIONS; i++) member(object, rate_keys[i], device->flop_per_s[i]);
    for (int i = 0; i < PACE_PRECISIONS; i++) member(object, achievable_keys[i], device->achievable_flop_per_s[i]);
    for (size_t i = 0; i < FIGURES; i++) member(object, figures[i].key, figure_value(device, i));
    if (device->sm_count) pace_node_int(object, "sm_count", device->sm_count);
    else pace_node_null(object, "sm_count");
    pace_node_text(object, "source", device->source);
    pace_node_text(object, "confidence", pace_device_figure_source(d->catalog, device, "name", NULL).confidence);
    pace_node *table = pace_node_table(root, "sources", NULL, PACE_FOR_JSON, source_columns, 3, 0);
    for (int i = 0; i < PACE_PRECISIONS; i++)
        if (device->flop_per_s[i] > 0)
            source_row(table, d, rate_keys[i], "flop_per_s", pace_precision_key((pace_precision)i));
    for (int i = 0; i < PACE_PRECISIONS; i++)
        if (device->achievable_flop_per_s[i] > 0)
            source_row(table, d, achievable_keys[i], "achievable_flop_per_s", pace_precision_key((pace_precision)i));
    for (size_t i = 0; i < FIGURES; i++)
        if (figure_value(device, i) > 0) source_row(table, d, figures[i].key, figures[i].key, NULL);
}

/* The number of a source in the list under the tables, from 1. */
static int source_number(description *d, const char *source) {
    for (int i = 0; i < d->source_count; i++)
        if (strcmp(d->sources[i], source) == 0) return i + 1;
    d->sources[d->source_count++] = source;
    return d->source_count;
}

static void source_cells(pace_node *table, description *d, const char *key, const char *precision) {
    pace_figure_source source = pace_device_figure_source(d->catalog, d->device, key, precision);
    pace_table_text(table, source.confidence);
    pace_table_int(table, source_number(d, source.source));
}

static void describe_rates(pace_node *root, description *d) {
    const pace_device *device = d->device;
    pace_node *table = pace_node_table(root, "rates", "Rates", PACE_FOR_PEOPLE, PACE_COLUMNS(rate_columns), 0);
    for (int i = 0; i < PACE_PRECISIONS; i++) {
        if (device->flop_per_s[i] <= 0) continue;
        pace_table_row(table);
        pace_table_text(table, rate_titles[i]);
        pace_table_real(table, device->flop_per_s[i]);
        figure_cell(table, device->achievable_flop_per_s[i]);
        source_cells(table, d, device->achievable_flop_per_s[i] > 0 ? "achievable_flop_per_s" : "flop_per_s",
                     pace_precision_key((pace_precision)i));
    }
}

static void describe_figures(pace_node *root, description *d) {
    char text[64];
    pace_node *table = pace_node_table(root, "figures", "Figures", PACE_FOR_PEOPLE, PACE_COLUMNS(figure_columns), 0);
    for (size_t i = 0; i < FIGURES; i++) {
        double value = figure_value(d->device, i);
        if (value <= 0) continue;
        pace_snprintf(text, sizeof text, "%.6g %s", value / figures[i].unit, figures[i].suffix);
        pace_table_row(table);
        pace_table_text(table, figures[i].title);
        pace_table_text(table, text);
        source_cells(table, d, figures[i].key, NULL);
    }
    if (!d->device->sm_count) return;
    snprintf(text, sizeof text, "%d", d->device->sm_count);
    pace_table_row(table);
    pace_table_text(table, "SMs or compute units");
    pace_table_text(table, text);
    source_cells(table, d, "sm_count", NULL);
}

static void describe_one(pace_report *report, const pace_device_catalog *catalog, const pace_device *device) {
    description d = {.catalog = catalog, .device = device};
    pace_node *root = pace_report_root(report);
    source_number(&d, device->source);
    pace_node_sentence(root, true, "%s (%s)", device->name, device->vendor);
    describe_for_programs(root, &d);
    describe_rates(root, &d);
    describe_figures(root, &d);
    pace_node_note(root, "Peaks are dense, without sparsity, and from source 1. Measured is the best matrix product.");
    for (int i = 0; i < d.source_count; i++) pace_node_note(root, "Source %d: %s.", i + 1, d.sources[i]);
}

static pace_status build(pace_report **out, pace_device_catalog *catalog, const pace_machine_catalog *machines,
                         const char *name) {
    const pace_device *device = NULL;
    const pace_machine *machine = name ? pace_machine_of_name(machines, name) : NULL;
    if (name && !machine) PACE_TRY(pace_device_resolve(&device, catalog, name, 0));
    pace_report *report = NULL;
    PACE_TRY(pace_report_new(&report, "machines", machine ? "Machine" : name ? "Device" : "Devices"));
    if (machine) pace_put_machine(pace_report_root(report), machine);
    else if (device) describe_one(report, catalog, device);
    else describe_all(report, catalog, machines);
    pace_status status = pace_report_status(report);
    if (status != PACE_OK) pace_report_free(report);
    else *out = report;
    return status;
}

pace_status pace_machines(pace_report **out, pace_context *context, const char *name) {
    pace_device_catalog catalog;
    PACE_TRY(pace_device_catalog_load(&catalog, context->catalog));
    pace_machine_catalog machines = {0};
    pace_status status = pace_machine_catalog_load(&machines, context->catalog);
    if (status == PACE_OK) status = build(out, &catalog, &machines, name);
    pace_machine_catalog_free(&machines);
    pace_device_catalog_free(&catalog);
    return status;
}

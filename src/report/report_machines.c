/*
 * The report of `paceline machines`: the device catalogue as a table, or one device in full.
 */
#include "machine/device.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const rate_keys[PACE_PRECISIONS] = {
    [PACE_FP64] = "fp64_flop_per_s", [PACE_FP32] = "fp32_flop_per_s", [PACE_TF32] = "tf32_flop_per_s",
    [PACE_FP16] = "fp16_flop_per_s", [PACE_BF16] = "bf16_flop_per_s", [PACE_FP8] = "fp8_flop_per_s",
    [PACE_INT8] = "int8_op_per_s",
};

static const char *const rate_titles[PACE_PRECISIONS] = {
    [PACE_FP64] = "FP64", [PACE_FP32] = "FP32", [PACE_TF32] = "TF32", [PACE_FP16] = "FP16",
    [PACE_BF16] = "BF16", [PACE_FP8] = "FP8",   [PACE_INT8] = "INT8",
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
    {"source", NULL, PACE_SHOW_TEXT},
};

static const pace_precision shown[] = {PACE_FP32, PACE_TF32, PACE_FP16, PACE_BF16, PACE_FP8};

static const pace_column rate_columns[] = {
    {"precision", "Precision", PACE_SHOW_TEXT},
    {"flop_per_s", "Peak FLOP/s", PACE_SHOW_RATE},
};

static const pace_column figure_columns[] = {
    {"figure", "Figure", PACE_SHOW_TEXT},
    {"value", "Value", PACE_SHOW_TEXT},
};

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Edit distance, ignoring case; texts are cut at the length of a catalogue name. */
static size_t distance(const char *a, const char *b) {
    size_t row[sizeof((pace_device *)0)->name + 1];
    size_t columns = strnlen(b, sizeof row / sizeof *row - 1);
    for (size_t j = 0; j <= columns; j++) row[j] = j;
    for (size_t i = 1; a[i - 1] && i < 4 * sizeof row / sizeof *row; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t replaced = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            diagonal = row[j];
            size_t shorter = row[j] < row[j - 1] ? row[j] : row[j - 1];
            row[j] = replaced < shorter + 1 ? replaced : shorter + 1;
        }
    }
    return row[columns];
}

static pace_status fail_unknown(const pace_device_catalog *catalog, const char *name) {
    const pace_device *best = NULL;
    for (size_t i = 0; i < catalog->count; i++)
        if (!best || distance(name, catalog->devices[i].name) < distance(name, best->name)) best = &catalog->devices[i];
    if (!best) return pace_fail(PACE_E_MISSING, "the device catalogue is empty");
    return pace_fail(PACE_E_MISSING, "the catalogue has no device \"%.80s\"; the closest name is \"%s\"", name,
                     best->name);
}

static void figure_cell(pace_node *table, double value) {
    if (value > 0) pace_table_real(table, value);
    else pace_table_none(table);
}

static void add_row(pace_node *table, const pace_device *device) {
    pace_table_row(table);
    pace_table_text(table, device->name);
    pace_table_text(table, device->vendor);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) figure_cell(table, device->flop_per_s[shown[i]]);
    figure_cell(table, device->memory_bytes);
    figure_cell(table, device->memory_bytes_per_s);
    if (device->sm_count) pace_table_int(table, device->sm_count);
    else pace_table_none(table);
    pace_table_text(table, device->source);
}

static void describe_all(pace_report *report, const pace_device_catalog *catalog) {
    pace_node *root = pace_report_root(report);
    pace_node_sentence(root, true, "The catalogue knows %zu devices.", catalog->count);
    pace_node *table = pace_node_table(root, "devices", "Devices", PACE_FOR_ALL, device_columns,
                                       sizeof device_columns / sizeof *device_columns, 0);
    for (size_t i = 0; i < catalog->count; i++) add_row(table, &catalog->devices[i]);
    pace_node_note(root, "Rates are dense peaks per second, without sparsity; \"-\" means not supported or not known.");
}

static void figure(pace_node *object, const char *key, double value) {
    pace_node_real(object, key, value > 0 ? value : NAN);
}

/* What a program reads: every figure under its own key. */
static void describe_for_programs(pace_node *root, const pace_device *device, const pace_yaml_node *entry) {
    pace_node *object = pace_node_object(root, "device", NULL, PACE_FOR_JSON);
    pace_node_text(object, "name", device->name);
    pace_node_text(object, "vendor", device->vendor);
    for (int i = 0; i < PACE_PRECISIONS; i++) figure(object, rate_keys[i], device->flop_per_s[i]);
    figure(object, "boost_hz", device->boost_hz);
    figure(object, "memory_bytes", device->memory_bytes);
    figure(object, "memory_bytes_per_s", device->memory_bytes_per_s);
    figure(object, "l2_bytes", device->l2_bytes);
    figure(object, "l2_bytes_per_s", device->l2_bytes_per_s);
    if (device->sm_count) pace_node_int(object, "sm_count", device->sm_count);
    else pace_node_null(object, "sm_count");
    figure(object, "launch_s", device->launch_s);
    figure(object, "pcie_bytes_per_s", device->pcie_bytes_per_s);
    pace_node_text(object, "source", device->source);
    pace_node_text(object, "confidence", pace_yaml_text(pace_yaml_get(entry, "confidence")));
}

static void figure_row(pace_node *table, const char *title, double value, double unit, const char *suffix) {
    char text[64];
    if (value <= 0) return;
    snprintf(text, sizeof text, "%.6g %s", value / unit, suffix);
    pace_table_row(table);
    pace_table_text(table, title);
    pace_table_text(table, text);
}

static void describe_for_people(pace_node *root, const pace_device *device) {
    pace_node *rates = pace_node_table(root, "rates", "Peak rates", PACE_FOR_PEOPLE, rate_columns, 2, 0);
    for (int i = 0; i < PACE_PRECISIONS; i++) {
        if (device->flop_per_s[i] <= 0) continue;
        pace_table_row(rates);
        pace_table_text(rates, rate_titles[i]);
        pace_table_real(rates, device->flop_per_s[i]);
    }
    pace_node *table = pace_node_table(root, "figures", "Figures", PACE_FOR_PEOPLE, figure_columns, 2, 0);
    figure_row(table, "Memory", device->memory_bytes, 1073741824.0, "GiB");
    figure_row(table, "Memory bandwidth", device->memory_bytes_per_s, 1e9, "GB/s");
    figure_row(table, "L2 cache", device->l2_bytes, 1048576.0, "MiB");
    figure_row(table, "L2 bandwidth", device->l2_bytes_per_s, 1e9, "GB/s");
    figure_row(table, "SMs or compute units", device->sm_count, 1, "");
    figure_row(table, "Boost clock", device->boost_hz, 1e6, "MHz");
    figure_row(table, "Host link, one direction", device->pcie_bytes_per_s, 1e9, "GB/s");
    figure_row(table, "Host cost of a launch", device->launch_s, 1e-6, "us");
}

static void describe_one(pace_report *report, const pace_device_catalog *catalog, const pace_device *device) {
    pace_node *root = pace_report_root(report);
    pace_node_sentence(root, true, "%s (%s)", device->name, device->vendor);
    describe_for_programs(root, device, catalog->nodes[device - catalog->devices]);
    describe_for_people(root, device);
    pace_node_note(root, "Rates are dense peaks, without sparsity. Source: %s.", device->source);
}

static pace_status build(pace_report **out, const pace_device_catalog *catalog, const char *name) {
    const pace_device *device = name ? pace_device_find(catalog, name, 0) : NULL;
    if (name && !device) return fail_unknown(catalog, name);
    pace_report *report = NULL;
    PACE_TRY(pace_report_new(&report, "machines", name ? "Device" : "Devices"));
    if (device) describe_one(report, catalog, device);
    else describe_all(report, catalog);
    pace_status status = pace_report_status(report);
    if (status != PACE_OK) pace_report_free(report);
    else *out = report;
    return status;
}

pace_status pace_machines(pace_report **out, const char *name) {
    pace_device_catalog catalog;
    PACE_TRY(pace_device_catalog_load(&catalog));
    pace_status status = build(out, &catalog, name);
    pace_device_catalog_free(&catalog);
    return status;
}

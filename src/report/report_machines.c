/*
 * The report of `paceline machines`: the device catalogue as a table, or one device in full.
 */
#include "base/print.h"
#include "report/engines.h"
#include "machine/device_resolve.h"
#include "report/table.h"
#include "machine/machine.h"
#include "report/report.h"
#include "base/text.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* --- machines ----------------------------------------------------------------------------------------------------- */

typedef struct {
    pace_machine of;
    const char *inside, *between;
    double inside_bytes_per_s, nic_bytes_per_s;
    int nics;
} machine_row;

PACE_TABLE(machine_table, "machines", "Machines: nodes of devices and their links", PACE_FOR_ALL, 0,
           {"name", "Name", PACE_SHOW_TEXT, PACE_OF(machine_row, of.name)},
           {"device", "Device", PACE_SHOW_TEXT, PACE_OF(machine_row, of.device)},
           {"devices_of_node", "Devices", PACE_SHOW_INT, PACE_OF(machine_row, of.devices)},
           {"inside", "Inside", PACE_SHOW_TEXT, PACE_OF(machine_row, inside)},
           {"inside_bytes_per_s", "one device", PACE_SHOW_RATE, PACE_OF(machine_row, inside_bytes_per_s)},
           {"between", "Between", PACE_SHOW_TEXT, PACE_OF(machine_row, between)},
           {"nics", "NICs", PACE_SHOW_INT, PACE_OF(machine_row, nics)},
           {"nic_bytes_per_s", "one NIC", PACE_SHOW_RATE, PACE_OF(machine_row, nic_bytes_per_s)},
           {"confidence", NULL, PACE_SHOW_TEXT, PACE_OF(machine_row, of.confidence)},
           {"source", NULL, PACE_SHOW_TEXT, PACE_OF(machine_row, of.source)});

static const char *kind_of(const pace_link *link) {
    return link->kind == PACE_LINK_NONE ? NULL : pace_link_kind_names[link->kind];
}

static double rate_of(const pace_link *link) { return link->kind == PACE_LINK_NONE ? NAN : link->bytes_per_s; }

/* A table "machines" of all there are. */
static void put_machines(pace_node *root, const pace_machine_catalog *catalog) {
    pace_node *table = pace_open_table(root, &machine_table, 0);
    PACE_ITEMS (const pace_machine, m, &catalog->machines) {
        pace_table_put(table, &(machine_row){.of = *m,
                                             .inside = kind_of(&m->inside),
                                             .inside_bytes_per_s = rate_of(&m->inside),
                                             .between = kind_of(&m->between),
                                             .nics = m->between.kind == PACE_LINK_NONE ? 0 : m->nics,
                                             .nic_bytes_per_s = rate_of(&m->between)});
    }
    pace_node_note(
        root, "Link rates are peaks in one direction. \"paceline predict --kind exchange --on NAME*NODES\" predicts "
              "exchanges.");
}

static void put_link(pace_node *root, const char *where, const pace_link *link) {
    if (link->kind == PACE_LINK_NONE) return;
    pace_node_sentence(
        root, false, "%s: %s, %.4g GB/s at peak, of which large exchanges reach %.3g %%; latency %.3g µs per message.",
        where, pace_link_kind_names[link->kind], link->bytes_per_s / 1e9, 100 * link->efficiency,
        link->latency_s * 1e6);
}

/* One machine in words. */
static void put_machine(pace_node *root, const pace_machine *m) {
    pace_node_sentence(root, true, "%s: nodes of %d %s", m->name, m->devices, m->device);
    put_link(root, "One device inside a node", &m->inside);
    put_link(root, "One NIC", &m->between);
    pace_node_text(root, "name", m->name);
    pace_node_text(root, "device", m->device);
    pace_node_int(root, "devices_of_node", m->devices);
    pace_node_int(root, "nics", m->nics);
    pace_node_real(root, "inside_bytes_per_s", m->inside.bytes_per_s);
    pace_node_real(root, "inside_latency_s", m->inside.latency_s);
    pace_node_real(root, "nic_bytes_per_s", m->between.bytes_per_s);
    pace_node_real(root, "between_latency_s", m->between.latency_s);
    pace_node_note(root, "Source (%s): %s.", m->confidence, m->source);
}

/* By catalogue name, ignoring case; NULL when there is none. */
static const pace_machine *machine_of_name(const pace_machine_catalog *catalog, const char *name) {
    for (size_t i = 0; i < catalog->machines.count; i++)
        if (pace_strcasecmp(catalog->machines.items[i].name, name) == 0) return &catalog->machines.items[i];
    return NULL;
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

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

/* A peak has the same key without what stands before it. */
static const char *rate_key(int precision) { return achievable_keys[precision] + strlen("achievable_"); }

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
    {"sustained_hz", "Clock under load", offsetof(pace_device, sustained_hz), 1e6, "MHz"},
    {"pcie_bytes_per_s", "Host link, one direction", offsetof(pace_device, pcie_bytes_per_s), 1e9, "GB/s"},
    {"pcie_pinned_bytes_per_s", "Copy, page-locked memory", offsetof(pace_device, pcie_pinned_bytes_per_s), 1e9,
     "GB/s"},
    {"pcie_pageable_bytes_per_s", "Copy, pageable memory", offsetof(pace_device, pcie_pageable_bytes_per_s), 1e9,
     "GB/s"},
    {"launch_s", "Kernel launch", offsetof(pace_device, launch_s), 1e-6, "µs"},
    {"tdp_w", "Design power", offsetof(pace_device, tdp_w), 1, "W"},
};

enum { FIGURES = PACE_COUNT(figures), MOST_SOURCES = FIGURES + 2 * PACE_PRECISIONS + 1 };

/* One device and the sources met so far; the first is the entry's own. */
typedef struct {
    const pace_device_catalog *catalog;
    const pace_device *device;
    const char *sources[MOST_SOURCES];
    int source_count;
} description;

typedef struct {
    pace_device of;
    const char *confidence;
} device_row;

PACE_TABLE(devices, "devices", "Devices", PACE_FOR_ALL, 0,
           {"name", "Name", PACE_SHOW_TEXT, PACE_OF(device_row, of.name)},
           {"vendor", NULL, PACE_SHOW_TEXT, PACE_OF(device_row, of.vendor)},
           {"fp32_flop_per_s", "FP32", PACE_SHOW_RATE, PACE_KNOWN_OF(device_row, of.flop_per_s[PACE_FP32])},
           {"tf32_flop_per_s", "TF32", PACE_SHOW_RATE, PACE_KNOWN_OF(device_row, of.flop_per_s[PACE_TF32])},
           {"fp16_flop_per_s", "FP16", PACE_SHOW_RATE, PACE_KNOWN_OF(device_row, of.flop_per_s[PACE_FP16])},
           {"bf16_flop_per_s", "BF16", PACE_SHOW_RATE, PACE_KNOWN_OF(device_row, of.flop_per_s[PACE_BF16])},
           {"fp8_flop_per_s", "FP8", PACE_SHOW_RATE, PACE_KNOWN_OF(device_row, of.flop_per_s[PACE_FP8])},
           {"memory_bytes", "Memory", PACE_SHOW_BYTES, PACE_KNOWN_OF(device_row, of.memory_bytes)},
           {"memory_bytes_per_s", "Bandwidth", PACE_SHOW_RATE, PACE_KNOWN_OF(device_row, of.memory_bytes_per_s)},
           {"sm_count", "SMs", PACE_SHOW_INT, PACE_KNOWN_OF(device_row, of.sm_count)},
           {"confidence", NULL, PACE_SHOW_TEXT, PACE_OF(device_row, confidence)},
           {"achievable_bf16_flop_per_s", NULL, PACE_SHOW_RATE,
            PACE_KNOWN_OF(device_row, of.achievable_flop_per_s[PACE_BF16])},
           {"achievable_bytes_per_s", NULL, PACE_SHOW_RATE, PACE_KNOWN_OF(device_row, of.achievable_bytes_per_s)},
           {"l2_bytes_per_s", NULL, PACE_SHOW_RATE, PACE_KNOWN_OF(device_row, of.l2_bytes_per_s)},
           {"pcie_pinned_bytes_per_s", NULL, PACE_SHOW_RATE, PACE_KNOWN_OF(device_row, of.pcie_pinned_bytes_per_s)},
           {"launch_s", NULL, PACE_SHOW_REAL, PACE_KNOWN_OF(device_row, of.launch_s)},
           {"source", NULL, PACE_SHOW_TEXT, PACE_OF(device_row, of.source)});

static void add_row(pace_node *table, const pace_device_catalog *catalog, const pace_device *device) {
    pace_figure_source source = pace_device_figure_source(catalog, device, "flop_per_s", NULL);
    pace_table_put(table, &(device_row){*device, source.confidence});
}

typedef struct {
    pace_device_catalog devices;
    pace_machine_catalog machines;
    const pace_device *device; /* NULL, as the machine: not asked for */
    const pace_machine *machine;
    const char *vendor; /* whose devices alone are asked for; NULL = all */
    pace_machine own;   /* of a file */
} asked;

static bool is_of(const pace_device *device, const char *vendor) {
    return !vendor || pace_strcasecmp(device->vendor, vendor) == 0;
}

static size_t count_of(const pace_device_catalog *catalog, const char *vendor) {
    size_t count = 0;
    for (size_t i = 0; i < catalog->count; i++) count += is_of(&catalog->devices[i], vendor);
    return count;
}

/* All devices and machines, or a vendor's devices. */
static void describe_all(pace_report *report, const asked *a) {
    pace_node *root = pace_report_root(report);
    if (a->vendor)
        pace_node_sentence(root, true, "The catalogue has %zu devices of this vendor.",
                           count_of(&a->devices, a->vendor));
    else
        pace_node_sentence(root, true, "The catalogue has %zu devices and %zu machines.", a->devices.count,
                           a->machines.machines.count);
    pace_node *table = pace_open_table(root, &devices, 0);
    for (size_t i = 0; i < a->devices.count; i++)
        if (is_of(&a->devices.devices[i], a->vendor)) add_row(table, &a->devices, &a->devices.devices[i]);
    pace_node_note(root, "Rates are dense peaks per second, without sparsity; \"-\" means unsupported or unknown. "
                         "\"paceline machines NAME\" shows measured rates and all sources.");
    if (!a->vendor) put_machines(root, &a->machines);
}

static double figure_value(const pace_device *device, size_t i) {
    return *(const double *)(const void *)((const char *)device + figures[i].offset);
}

typedef struct {
    const char *figure, *confidence, *source;
} source_row;

PACE_TABLE(sources, "sources", NULL, PACE_FOR_JSON, 0,
           {"figure", "Figure", PACE_SHOW_TEXT, PACE_OF(source_row, figure)},
           {"confidence", "Confidence", PACE_SHOW_TEXT, PACE_OF(source_row, confidence)},
           {"source", "Source", PACE_SHOW_TEXT, PACE_OF(source_row, source)});

static void put_source(pace_node *table, const description *d, const char *shown_key, const char *key,
                       const char *precision) {
    pace_figure_source source = pace_device_figure_source(d->catalog, d->device, key, precision);
    pace_table_put(table, &(source_row){shown_key, source.confidence, source.source});
}

static void put_sources(pace_node *root, const description *d) {
    const pace_device *device = d->device;
    pace_node *table = pace_open_table(root, &sources, 0);
    for (int i = 0; i < PACE_PRECISIONS; i++)
        if (device->flop_per_s[i] > 0)
            put_source(table, d, rate_key(i), "flop_per_s", pace_precision_key((pace_precision)i));
    for (int i = 0; i < PACE_PRECISIONS; i++)
        if (device->achievable_flop_per_s[i] > 0)
            put_source(table, d, achievable_keys[i], "achievable_flop_per_s", pace_precision_key((pace_precision)i));
    for (size_t i = 0; i < FIGURES; i++)
        if (figure_value(device, i) > 0) put_source(table, d, figures[i].key, figures[i].key, NULL);
}

/* What a program reads: every figure under its own key, and where each known one is from. */
static void describe_for_programs(pace_node *root, const description *d) {
    const pace_device *device = d->device;
    pace_node *object = pace_node_object(root, "device", NULL, PACE_FOR_JSON);
    pace_node_text(object, "name", device->name);
    pace_node_text(object, "vendor", device->vendor);
    for (int i = 0; i < PACE_PRECISIONS; i++) pace_node_real(object, rate_key(i), pace_known(device->flop_per_s[i]));
    for (int i = 0; i < PACE_PRECISIONS; i++)
        pace_node_real(object, achievable_keys[i], pace_known(device->achievable_flop_per_s[i]));
    for (size_t i = 0; i < FIGURES; i++) pace_node_real(object, figures[i].key, pace_known(figure_value(device, i)));
    pace_node_int(object, "sm_count", device->sm_count ? device->sm_count : PACE_NO_INT);
    pace_node_text(object, "source", device->source);
    pace_node_text(object, "confidence", pace_device_figure_source(d->catalog, device, "name", NULL).confidence);
    put_sources(root, d);
}

/* The number of a source in the list under the tables, from 1. */
static int source_number(description *d, const char *source) {
    for (int i = 0; i < d->source_count; i++)
        if (strcmp(d->sources[i], source) == 0) return i + 1;
    d->sources[d->source_count++] = source;
    return d->source_count;
}

/* A figure for people, with the number of its source. */
typedef struct {
    const char *title, *confidence;
    char value[64];
    double peak, achievable;
    int source;
} figure_row;

static void set_source(figure_row *row, description *d, const char *key, const char *precision) {
    pace_figure_source source = pace_device_figure_source(d->catalog, d->device, key, precision);
    row->confidence = source.confidence;
    row->source = source_number(d, source.source);
}

PACE_TABLE(rates, "rates", "Rates", PACE_FOR_PEOPLE, 0,
           {"precision", "Precision", PACE_SHOW_TEXT, PACE_OF(figure_row, title)},
           {"flop_per_s", "Peak", PACE_SHOW_RATE, PACE_OF(figure_row, peak)},
           {"achievable", "Measured", PACE_SHOW_RATE, PACE_OF(figure_row, achievable)},
           {"confidence", "Confidence", PACE_SHOW_TEXT, PACE_OF(figure_row, confidence)},
           {"source", "Source", PACE_SHOW_INT, PACE_OF(figure_row, source)});

static void describe_rates(pace_node *root, description *d) {
    pace_node *table = pace_open_table(root, &rates, 0);
    for (int i = 0; i < PACE_PRECISIONS; i++) {
        double achievable = d->device->achievable_flop_per_s[i];
        figure_row row = {.title = rate_titles[i],
                          .peak = d->device->flop_per_s[i],
                          .achievable = pace_known(achievable)};
        if (row.peak <= 0) continue;
        set_source(&row, d, achievable > 0 ? "achievable_flop_per_s" : "flop_per_s",
                   pace_precision_key((pace_precision)i));
        pace_table_put(table, &row);
    }
}

PACE_TABLE(one_figure, "figures", "Figures", PACE_FOR_PEOPLE, 0,
           {"figure", "Figure", PACE_SHOW_TEXT, PACE_OF(figure_row, title)},
           {"value", "Value", PACE_SHOW_TEXT, PACE_OF(figure_row, value)},
           {"confidence", "Confidence", PACE_SHOW_TEXT, PACE_OF(figure_row, confidence)},
           {"source", "Source", PACE_SHOW_INT, PACE_OF(figure_row, source)});

static void describe_figures(pace_node *root, description *d) {
    pace_node *table = pace_open_table(root, &one_figure, 0);
    for (size_t i = 0; i < FIGURES; i++) {
        double value = figure_value(d->device, i);
        figure_row row = {.title = figures[i].title};
        if (value <= 0) continue;
        pace_snprintf(row.value, sizeof row.value, "%.6g %s", value / figures[i].unit, figures[i].suffix);
        set_source(&row, d, figures[i].key, NULL);
        pace_table_put(table, &row);
    }
    if (!d->device->sm_count) return;
    figure_row row = {.title = "SMs or compute units"};
    snprintf(row.value, sizeof row.value, "%d", d->device->sm_count);
    set_source(&row, d, "sm_count", NULL);
    pace_table_put(table, &row);
}

static void describe_one(pace_report *report, const pace_device_catalog *catalog, const pace_device *device) {
    description d = {.catalog = catalog, .device = device};
    pace_node *root = pace_report_root(report);
    source_number(&d, device->source);
    pace_node_sentence(root, true, "%s (%s)", device->name, device->vendor);
    describe_for_programs(root, &d);
    describe_rates(root, &d);
    describe_figures(root, &d);
    pace_node_note(root, "Peaks are dense, without sparsity, from source 1. Measured: the best matrix product.");
    for (int i = 0; i < d.source_count; i++) pace_node_note(root, "Source %d: %s.", i + 1, d.sources[i]);
}

static pace_status build(pace_report *report, void *context) {
    const asked *a = context;
    if (a->machine) put_machine(pace_report_root(report), a->machine);
    else if (a->device) describe_one(report, &a->devices, a->device);
    else describe_all(report, a);
    return PACE_OK;
}

static pace_status find(asked *a, const char *name) {
    if (name) a->machine = machine_of_name(&a->machines, name);
    if (name && !a->machine && pace_machine_is_meant(a->devices.documents, name)) {
        PACE_TRY(pace_machine_parse(&a->own, a->devices.documents, name));
        a->machine = &a->own;
    }
    if (name && count_of(&a->devices, name)) a->vendor = name;
    return name && !a->machine && !a->vendor ? pace_device_resolve(&a->device, &a->devices, name, 0) : PACE_OK;
}

pace_status pace_machines(pace_report **out, pace_context *context, const char *name) {
    asked a = {0};
    PACE_TRY(pace_device_catalog_load(&a.devices, context->catalog));
    pace_status status = pace_machine_catalog_load(&a.machines, context->catalog);
    if (status == PACE_OK) status = find(&a, name);
    const char *title = a.machine ? "Machine" : a.device ? "Device" : "Devices";
    if (status == PACE_OK) status = pace_report_build(out, "machines", title, build, &a);
    pace_machine_catalog_free(&a.machines);
    pace_device_catalog_free(&a.devices);
    return status;
}

#include "entry_file.h"

#include "base/beside.h"
#include "base/print.h"
#include "base/sort.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- from rows to figures --------------------------------------------------------------------------------------- */

static const pace_precision precisions[PACE_POINT_DTYPES] = {
    [PACE_POINT_FP64] = PACE_FP64, [PACE_POINT_FP32] = PACE_FP32, [PACE_POINT_TF32] = PACE_TF32,
    [PACE_POINT_FP16] = PACE_FP16, [PACE_POINT_BF16] = PACE_BF16,
};

static void raise_to(double *figure, double value) {
    if (value > *figure) *figure = value;
}

static void take_product(pace_device *device, const pace_measured_row *row) {
    pace_precision precision = precisions[row->point.dtype];
    double flop = pace_point_flop(&row->point);
    raise_to(&device->flop_per_s[precision], flop / row->best_s);
    raise_to(&device->achievable_flop_per_s[precision], flop / row->median_s);
}

/* From memory when the tensors are four times the cache, from the cache when they fill an eighth to a half of it. */
static void take_stream(pace_device *device, const pace_measured_row *row, double cache_bytes, double *cache_rate) {
    double moved = pace_point_moved_bytes(&row->point), tensors = pace_point_footprint(&row->point);
    if (!(moved > 0)) return;
    if (tensors >= 4 * cache_bytes) {
        raise_to(&device->memory_bytes_per_s, moved / row->best_s);
        raise_to(&device->achievable_bytes_per_s, moved / row->median_s);
    } else if (tensors >= cache_bytes / 8 && tensors <= cache_bytes / 2) {
        raise_to(cache_rate, moved / row->median_s);
    }
}

static void take_transfer(pace_device *device, const pace_measured_row *row) {
    double bytes = row->point.size[PACE_SIZE_BYTES];
    bool pinned = row->point.op == PACE_MEASURE_H2D_PINNED || row->point.op == PACE_MEASURE_D2H_PINNED;
    bool pageable = row->point.op == PACE_MEASURE_H2D_PAGEABLE || row->point.op == PACE_MEASURE_D2H_PAGEABLE;
    if (pinned) raise_to(&device->pcie_pinned_bytes_per_s, bytes / row->median_s);
    if (pageable) raise_to(&device->pcie_pageable_bytes_per_s, bytes / row->median_s);
    if (pinned || pageable) raise_to(&device->pcie_bytes_per_s, bytes / row->best_s);
}

static double median_spread(const pace_rows_file *rows) {
    double *spreads = pace_alloc(rows->rows.count + 1, sizeof *spreads), median;
    if (!spreads) return 0;
    for (size_t i = 0; i < rows->rows.count; i++) spreads[i] = rows->rows.items[i].spread;
    qsort(spreads, rows->rows.count, sizeof *spreads, pace_ascending);
    median = spreads[rows->rows.count / 2];
    pace_free(spreads);
    return median;
}

/* The bus and the chip can do what the vendor says even when nobody reached it. */
static void keep_known_peaks(pace_device *device, const pace_device *known) {
    for (int i = 0; i < PACE_PRECISIONS; i++) raise_to(&device->flop_per_s[i], known->flop_per_s[i]);
    raise_to(&device->memory_bytes_per_s, known->memory_bytes_per_s);
    raise_to(&device->pcie_bytes_per_s, known->pcie_bytes_per_s);
    raise_to(&device->boost_hz, known->boost_hz);
    device->base_hz = known->base_hz;
    device->tdp_w = known->tdp_w;
}

void pace_measured_device_make(pace_measured_device *out, const pace_rows_file *rows, const pace_device_facts *facts,
                               const char *name, const pace_device *known) {
    pace_device device = {.memory_bytes = facts->memory_bytes,
                          .is_cpu = facts->is_cpu,
                          .l2_bytes = facts->cache_bytes,
                          .sm_count = (int)facts->sm_count,
                          .boost_hz = facts->boost_hz,
                          .launch_s = facts->launch_s};
    double cache_rate = 0;
    snprintf(device.name, sizeof device.name, "%.47s", name);
    snprintf(device.vendor, sizeof device.vendor, "%.15s", *facts->vendor ? facts->vendor : "generic");
    for (size_t i = 0; i < rows->rows.count; i++) {
        const pace_measured_row *row = &rows->rows.items[i];
        if (row->point.op == PACE_MEASURE_GEMM) take_product(&device, row);
        else if (row->point.op >= PACE_MEASURE_H2D_PINNED) take_transfer(&device, row);
        else take_stream(&device, row, facts->cache_bytes, &cache_rate);
    }
    if (known) keep_known_peaks(&device, known);
    if (cache_rate >= device.memory_bytes_per_s && device.memory_bytes_per_s > 0) device.l2_bytes_per_s = cache_rate;
    *out = (pace_measured_device){device, median_spread(rows)};
}

/* --- writing ---------------------------------------------------------------------------------------------------- */

typedef struct {
    FILE *file;
    const char *confidence;
} writer;

static void put_figure(const writer *w, const char *before, double value) {
    char number[32];
    if (!(value > 0)) return;
    pace_print_figure(number, value, 6);
    fprintf(w->file, "%s{value: %s, source: calibrate, confidence: %s}", before, number, w->confidence);
}

static void put_line(const writer *w, const char *key, double value) {
    char before[64];
    snprintf(before, sizeof before, "    %s: ", key);
    put_figure(w, before, value);
    if (value > 0) fputc('\n', w->file);
}

static void put_rates(const writer *w, const char *key, const double *rates) {
    bool any = false;
    for (int i = 0; i < PACE_PRECISIONS; i++) {
        char before[32];
        if (!(rates[i] > 0)) continue;
        if (!any) fprintf(w->file, "    %s:\n", key);
        snprintf(before, sizeof before, "      %s: ", pace_precision_key((pace_precision)i));
        put_figure(w, before, rates[i]);
        fputc('\n', w->file);
        any = true;
    }
}

static void put_entry(const writer *w, const pace_measured_device *measured, const char *how) {
    const pace_device *d = &measured->device;
    fprintf(w->file, "# A device as measured; the format is that of catalog/devices.yaml, and --on takes this file.\n");
    fprintf(w->file, "# Peaks are those of the best batch, achievable rates those of the median batch.\n");
    fprintf(w->file, "sources:\n  calibrate: \"%s\"\ndevices:\n  - name: %s\n    vendor: %s\n%s", how, d->name,
            d->vendor, d->is_cpu ? "    kind: cpu\n" : "");
    put_rates(w, "flop_per_s", d->flop_per_s);
    put_rates(w, "achievable_flop_per_s", d->achievable_flop_per_s);
    put_line(w, "base_hz", d->base_hz);
    put_line(w, "boost_hz", d->boost_hz);
    put_line(w, "memory_bytes", d->memory_bytes);
    put_line(w, "memory_bytes_per_s", d->memory_bytes_per_s);
    put_line(w, "achievable_bytes_per_s", d->achievable_bytes_per_s);
    put_line(w, "l2_bytes", d->l2_bytes);
    put_line(w, "l2_bytes_per_s", d->l2_bytes_per_s);
    if (d->sm_count > 0) fprintf(w->file, "    sm_count: %d\n", d->sm_count);
    put_line(w, "launch_s", d->launch_s);
    put_line(w, "pcie_bytes_per_s", d->pcie_bytes_per_s);
    put_line(w, "pcie_pinned_bytes_per_s", d->pcie_pinned_bytes_per_s);
    put_line(w, "pcie_pageable_bytes_per_s", d->pcie_pageable_bytes_per_s);
    put_line(w, "tdp_w", d->tdp_w);
    fprintf(w->file, "    source: \"%s\"\n    confidence: %s\n", how, w->confidence);
}

bool pace_measured_has(const pace_measured_device *device, bool products) {
    bool rates = false;
    for (int i = 0; i < PACE_PRECISIONS; i++) rates |= device->device.flop_per_s[i] > 0;
    return products ? rates : device->device.memory_bytes_per_s > 0;
}

pace_status pace_entry_file_write(const char *path, const pace_measured_device *device, const char *how) {
    bool rates = pace_measured_has(device, true);
    if (!rates || !pace_measured_has(device, false))
        return pace_fail(PACE_E_MISSING,
                         "%s: a device entry needs rows of the families gemm and memory; there are none of %s", path,
                         rates ? "memory" : "gemm");
    pace_beside beside;
    PACE_TRY(pace_beside_open(&beside, path));
    put_entry(&(writer){beside.file, device->spread > 0.05 ? "medium" : "high"}, device, how);
    pace_status status = PACE_OK;
    if (ferror(beside.file)) status = pace_fail(PACE_E_IO, "%s: could not be written: %s", path, strerror(errno));
    return pace_beside_close(&beside, status);
}

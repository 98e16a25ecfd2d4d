/*
 * Devices: what an accelerator can do at best, from catalog/devices.yaml, found by its catalogue name or by the
 * name a trace gives it ("NVIDIA A100-SXM4-40GB").
 */
#ifndef PACE_MACHINE_DEVICE_H
#define PACE_MACHINE_DEVICE_H

#include "machine/catalog.h"

/* Precisions of pace_device.flop_per_s: dense matrix rates, no sparsity. */
typedef enum {
    PACE_FP64,
    PACE_FP32,
    PACE_TF32,
    PACE_FP16,
    PACE_BF16,
    PACE_FP8,
    PACE_INT8,
    PACE_PRECISIONS
} pace_precision;

typedef struct {
    char name[48]; /* catalogue name, "a100-40-sxm" */
    char vendor[16];
    double flop_per_s[PACE_PRECISIONS]; /* 0 = not supported. FP32 is the vector rate; TF32, FP16 … the matrix rate */
    double boost_hz;                    /* 0 = unknown */
    double memory_bytes;
    double memory_bytes_per_s;
    double l2_bytes;
    double l2_bytes_per_s;   /* 0 = unknown */
    int sm_count;            /* SMs or compute units */
    double launch_s;         /* host cost of a kernel launch, 0 = unknown */
    double pcie_bytes_per_s; /* host link, one direction */
    const char *source;      /* where the figures are from; borrowed from the catalogue */
} pace_device;

typedef struct {
    pace_yaml *yaml; /* owns the text */
    pace_device *devices;
    size_t count;
    pace_yaml_node const **nodes; /* for matching */
} pace_device_catalog;

pace_status pace_device_catalog_load(pace_device_catalog *out) PACE_MUST_CHECK;
void pace_device_catalog_free(pace_device_catalog *catalog);

/** By catalogue name (case-insensitive), or by a trace's device name: the entry with the longest `match` phrase
 * whose words all occur in it, memory_bytes (0 = unknown) breaking ties between sizes. NULL when unknown. */
const pace_device *pace_device_find(const pace_device_catalog *catalog, const char *name, double memory_bytes);

#endif

/*
 * Devices: what an accelerator can do at best and what was measured of it, from catalog/devices.yaml, found by its
 * catalogue name or by the name a trace or a table gives it ("NVIDIA A100-SXM4-40GB").
 */
#pragma once

#include "machine/doubts.h"

/* Precisions of the rates of a device: dense, no sparsity. */
typedef enum {
    PACE_FP64,
    PACE_FP32,        /* the vector rate */
    PACE_FP32_MATRIX, /* FP32 on matrix units, where a device has it */
    PACE_TF32,        /* this and the following: the matrix rate */
    PACE_FP16,
    PACE_BF16,
    PACE_FP8,
    PACE_INT8,
    PACE_FP4,
    PACE_PRECISIONS
} pace_precision;

/* Every figure is positive; 0 = unknown or not supported. */
typedef struct {
    char name[48]; /* catalogue name, "a100-40-sxm" */
    char vendor[16];
    bool is_cpu;                        /* kind: cpu. Operators do their work themselves, in the host's memory */
    double flop_per_s[PACE_PRECISIONS]; /* the vendor's peak */
    double achievable_flop_per_s[PACE_PRECISIONS]; /* best rate of a matrix product that was measured */
    double base_hz, boost_hz;                      /* clock of the SMs or compute units */
    double sustained_hz;                           /* clock of products that go on, where power holds it below boost */
    double memory_bytes;
    double memory_bytes_per_s;     /* the vendor's peak */
    double achievable_bytes_per_s; /* of a streaming kernel that reads and writes, measured */
    double l2_bytes;
    double l2_bytes_per_s;   /* reads that hit, measured */
    int sm_count;            /* SMs or compute units */
    int generation;          /* NVIDIA's compute capability times ten (70 = V100); 0 = unknown, or another vendor */
    bool peers_over_nvlink;  /* over PCIe it reaches no other device but through the host's memory */
    double launch_s;         /* time per kernel launch, back to back from one thread, measured */
    double pcie_bytes_per_s; /* host link, one direction, raw rate of the bus */
    double pcie_pinned_bytes_per_s;   /* large copy between host and device, page-locked host memory, measured */
    double pcie_pageable_bytes_per_s; /* the same from ordinary host memory */
    double tdp_w;
    bool is_part;       /* of a GPU, whose measured figures are the whole's in proportion */
    const char *source; /* where the figures are from; borrowed from the catalogue */
} pace_device;

typedef struct pace_device_extra pace_device_extra;

typedef struct {
    pace_catalog *documents; /* that they are of; borrowed */
    const pace_yaml *yaml;   /* owns the text */
    pace_yaml *own;          /* the same of a file of the user's; NULL: the catalogue's */
    pace_device *devices;
    size_t count;
    bool borrows;                         /* devices and nodes are those that the catalogue keeps */
    pace_yaml_node const **nodes;         /* for matching */
    PACE_VEC(pace_device_extra *) extras; /* what pace_device_resolve() read or made */
} pace_device_catalog;

/* A device that is not in the catalogue: of a file, or one with changed figures. */
struct pace_device_extra {
    pace_device_catalog file; /* empty when `device` is meant */
    pace_device device;
};

/* Where one figure is from and how sure it is ("high", "medium", "low"); "" when the file does not say. */
typedef struct {
    const char *source, *confidence; /* borrowed from the catalogue */
} pace_figure_source;

/** The devices of the catalogue, which must outlive them. */
pace_status pace_device_catalog_load(pace_device_catalog *out, pace_catalog *catalog) PACE_MUST_CHECK;
/** The devices of a file of the user's, in the same format. */
pace_status pace_device_catalog_load_file(pace_device_catalog *out, const char *path) PACE_MUST_CHECK;
void pace_device_catalog_free(pace_device_catalog *catalog);

/** By catalogue name (case-insensitive) or that of a file resolved before, or by a trace's device name: the entry with
 * the longest `match` phrase whose words all occur in it, memory_bytes (0 = what the name says) breaking ties between
 * sizes. NULL when unknown. */
const pace_device *pace_device_find(const pace_device_catalog *catalog, const char *name, double memory_bytes);

/** Bytes/s between a device and its host: the raw rate of its bus, or the rate that doubts assume. */
double pace_device_host_rate(const pace_device *device, const pace_doubts *doubts);

/** Cycles a second of all its multiprocessors together, at their boost clock, else at the base; 0 = unknown. */
double pace_device_cycles(const pace_device *device);

/** The key of a precision in the catalogue ("bf16"). */
const char *pace_precision_key(pace_precision precision);

/** The source of a figure by its key in the catalogue: `key` "l2_bytes_per_s", or "achievable_flop_per_s" with
 * `precision` "bf16", else NULL. A figure without a source of its own has the device's. */
pace_figure_source pace_device_figure_source(const pace_device_catalog *catalog, const pace_device *device,
                                             const char *key, const char *precision);

/** Whether a device holds half precision without a rate for it, and multiplies it in single: NVIDIA's before Volta and
 * outside of data centres (cuBLAS: products of CUDA_R_16F in CUBLAS_COMPUTE_32F). */
bool pace_device_widens_half(const pace_device *device, pace_precision precision);

/** Refuses a precision that a device has no rate of its own for: PACE_E_USAGE, which lists those it has. */
pace_status pace_device_check_precision(const pace_device *device, pace_precision precision) PACE_MUST_CHECK;

/** The precision at which a device computes in another: the same where it has a rate for it, else the next wider. */
pace_precision pace_device_rated_as(const pace_device *device, pace_precision precision);
/** The device's dense peak rate for a precision, or that of the next wider one it has; 0 = unknown. */
double pace_device_rate(const pace_device *device, pace_precision precision);
/** The rate at which a device's matrix units could multiply: that of 8 bits, which is not held back, over as many times
 * as operands are wider. Boards for games sum in single precision at half of it (NVIDIA, GA102 whitepaper, table 3: 71
 * and 142 TFLOP/s of RTX 3090). At least pace_device_rate(). */
double pace_device_unit_rate(const pace_device *device, pace_precision precision);

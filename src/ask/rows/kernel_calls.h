/*
 * What tables hold besides a kernel where they timed a framework's operator, one call at a time on an idle device:
 * the host's way from the operator's start to its first launch (T2 of cost/host_costs.h), and the launch's to the
 * device.
 */
#pragma once

#include "cost/host_costs_measure.h"
#include "machine/device.h"

/* Of a vendor's devices, or of CPUs. */
typedef struct {
    char vendor[16];
    bool is_cpu;
    pace_host_costs costs;
    pace_launch_costs launch;
} pace_kernel_host;

typedef struct {
    PACE_VEC(pace_kernel_host) hosts; /* read when first asked for */
    pace_doubts doubts;
} pace_kernel_calls;

void pace_kernel_calls_free(pace_kernel_calls *calls);

/** Adds the call of `op`, an operator by its table's word, to what its kernel takes. The spread is that of both. */
pace_status pace_kernel_calls_add(pace_estimate *time_s, pace_kernel_calls *calls, pace_catalog *catalog,
                                  const pace_device *device, const char *op) PACE_MUST_CHECK;

/*
 * One entry of catalog/devices.yaml. A figure is a number, or a map {value, source, confidence} where `source` names
 * a line of the file's map `sources`. Figures that cannot be are refused with their place: not positive, beyond what
 * any device reaches, a measured rate above its peak, an L2 slower than the memory behind it.
 */
#pragma once

#include "machine/device.h"
#include "machine/machine.h"

/** Reads `entry` into `device`, which is zero. `sources` may be NULL. PACE_E_INPUT with line and column. */
pace_status pace_device_entry_read(pace_device *device, const pace_yaml *yaml, const pace_yaml_node *entry,
                                   const pace_yaml_node *sources) PACE_MUST_CHECK;

/* What any device reaches, in SI units. */
typedef struct {
    double least, most;
    pace_dimension dimension;
} pace_figure_limits;

/** A figure of a device by its key: "memory_bytes_per_s", or a precision ("bf16") for its peak rate. NULL when there is
 * none. */
double *pace_device_figure(pace_device *device, const char *key, pace_figure_limits *limits);

/** Whether the figures fit together. PACE_E_USAGE names two that do not. */
pace_status pace_device_check(const pace_device *device) PACE_MUST_CHECK;

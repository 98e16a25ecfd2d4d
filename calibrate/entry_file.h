/* A device entry in the format of catalog/devices.yaml, from measured rows. */
#pragma once

#include "machine/device.h"
#include "rows_file.h"

typedef struct {
    pace_device device;
    double spread; /* median over the rows that figures are from */
} pace_measured_device;

/** The figures that the rows give; those they do not stay 0. A figure is never above what bounds it: a measured peak is
 * that of the best batch, the achievable rate that of the median. `known` (may be NULL) is the catalogue's entry of the
 * same device: its peaks stay where nothing faster was measured. */
void pace_measured_device_make(pace_measured_device *out, const pace_rows_file *rows, const pace_device_facts *facts,
                               const char *name, const pace_device *known);

/** Whether the rows give rates of products, or else of memory, which an entry needs. */
bool pace_measured_has(const pace_measured_device *device, bool products);

/** Writes it: whole or not at all. `how` says what was measured, when and on what. PACE_E_MISSING when there is no rate
 * of products or none of memory, PACE_E_IO. */
pace_status pace_entry_file_write(const char *path, const pace_measured_device *device,
                                  const char *how) PACE_MUST_CHECK;

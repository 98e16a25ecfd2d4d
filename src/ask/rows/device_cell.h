/* The device of a row, as a cell of a table of kernels names it. */
#pragma once

#include "machine/device.h"

enum { PACE_DEVICE_CELL_REFUSED = 120 };

/** The device of a name as tables write it, or of one with figures ("h100 memory=4TB/s"), which is read as --on is.
 * NULL: none is meant; `refused` says which figure cannot be, "" = the name is unknown. */
const pace_device *pace_device_cell_read(char refused[PACE_DEVICE_CELL_REFUSED], pace_device_catalog *catalog,
                                         const char *name);

/** Whether a cell names no device: nothing, a number, or a place in a machine, as "cuda:0" and "gpu" are. */
bool pace_device_cell_is_place(const char *name);

/** The name of the catalogue closest to another. */
const char *pace_device_cell_closest(const pace_device_catalog *catalog, const char *name);

/* The device of a row, as a cell of a table of kernels names it. */
#pragma once

#include "machine/device.h"

/** The device of this name; NULL when none is known. */
const pace_device *pace_device_cell_find(const pace_device_catalog *catalog, const char *name);

/** Whether a cell names no device: nothing, a number, or a place in a machine, as "cuda:0" and "gpu" are. */
bool pace_device_cell_is_place(const char *name);

/** The name of the catalogue closest to another. */
const char *pace_device_cell_closest(const pace_device_catalog *catalog, const char *name);

/*
 * Which cell of a header is which column of a mapping. A mapping spells its columns as they stand in the file, or
 * loosely: then letters and digits count, in any case, and a unit may follow ("Duration (min)").
 */
#pragma once

#include "source/usage/usage_cells.h"
#include "source/usage/usage_mapping.h"

/** The cell that is called so; -1 = none is. */
int pace_usage_cell_named(const pace_usage_mapping *mapping, const pace_usage_cells *header, const char *name);

/** The cell of a field, the first of its names that is there, and what one of it is in the field's unit; -1 = none. */
int pace_usage_cell_of_field(double *unit, const pace_usage_mapping *mapping, const pace_usage_cells *header,
                             pace_usage_field field);

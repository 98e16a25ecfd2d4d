/* One size in a cell of a table of kernels. */
#pragma once

#include <stdbool.h>

/** "True", "no": 1 or 0. */
bool pace_size_cell_flag(double *out, const char *text);

/** A number, "4k", or the first of equal ones: "(3, 3)". An amount of bytes ("512 MiB") counts `each` a byte;
 * 0: that is no size here. */
bool pace_size_cell_read(double *out, const char *text, double each);

/** Whether a cell is a number with a fraction. */
bool pace_size_cell_is_part(const char *text);

/** Whether a cell of a column of shapes says something, and no amount of bytes, as any number is of what counts
 * `bytes`. */
bool pace_size_cell_is_shape(const char *text, bool bytes);

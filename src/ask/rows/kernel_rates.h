/* Rates of kernels as tables tell them: operations or bytes a second. */
#pragma once

#include "ask/rows/kernel_rows.h"

/** What a rate of this kind counts of a row: operations, or bytes read and written. Of a copy over a link, whose ends
 * are two memories, each byte counts once (bandwidthTest, nvbandwidth); of one within a device as read and as written. */
double pace_kernel_row_work(pace_measured_kind kind, const pace_kernel_row *row);

/** A time in the unit of a measured column, which may be a rate. */
double pace_kernel_row_in_unit(const pace_measured_column *measured, const pace_kernel_row *row, double time_s);

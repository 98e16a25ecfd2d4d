/* Rates of kernels as tables tell them: operations or bytes a second. */
#pragma once

#include "ask/rows/columns.h"

/** What a rate of this kind counts of an operation: FLOP, or bytes read and written. Of a copy over a link, whose ends
 * are two memories, each byte counts once (bandwidthTest, nvbandwidth); of one within a device as read and written. */
double pace_kernel_rate_work(pace_measured_kind kind, const pace_op *op);

/** A time in the unit of a measured column, which may be a rate. */
double pace_kernel_time_in_unit(const pace_measured_column *measured, const pace_op *op, double time_s);

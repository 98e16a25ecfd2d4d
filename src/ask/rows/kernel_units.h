/* In which unit the times of a table of kernels are, where the names of its columns do not say it. */
#pragma once

#include "ask/rows/kernel_rows.h"

/** Gives each measured column a unit to answer in. Times without a unit are in the one that fits the formulas best
 * (guessed_unit); where other rows say a unit they are refused. */
pace_status pace_kernel_units_settle(pace_kernel_rows *rows, pace_catalog *catalog) PACE_MUST_CHECK;

/*
 * A figure of an answer, as a case words it: values by path and cells of tables, added and multiplied.
 *
 *     step.median_s * 1e9
 *     scenarios[1].compute_ns + scenarios[1].memory_ns
 *     operators[name='aten::addmm'].time_ns
 *     sizes[*].busbw_GB_per_s
 *
 * Blanks stand around + - * and /, which bind as usual. A row of a table is its number from 0, from the end when
 * negative; the only one with such cells ("COLUMN=CELL,COLUMN='CELL'"); or "*", the mean of all.
 */
#pragma once

#include "paceline/paceline.h"

/** Errors: PACE_E_MISSING for what the answer does not have, PACE_E_INPUT for what is no expression. */
pace_status pace_case_value(double *out, const pace_answer *answer, const char *text);

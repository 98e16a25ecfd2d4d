/* What fits of several kinds say alike. */
#pragma once

#include "ask/findings.h"
#include "ask/rows/factor_fit.h"

/** The table "score": the error of a fit on rows that it did not see. */
void pace_found_held_out(pace_findings *findings, const pace_held_out *score);

/** Begins the table "factors" of {name, value}; the cells follow. */
void pace_found_factors(pace_findings *findings);

/** A table of {name, rows, factor}. */
void pace_found_groups(pace_findings *findings, const char *key, const char *title, const pace_fit_group *groups,
                       unsigned count);

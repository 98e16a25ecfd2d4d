/* What fits of several kinds say alike. */
#pragma once

#include "ask/findings.h"
#include "ask/held_out.h"

/** The table "score": the error of a fit on rows that it did not see. */
void pace_found_held_out(pace_findings *findings, const pace_held_out *score);

/** Begin the table "factors" of {name, value} and the table "groups" of {name, rows, factor}; the cells follow. */
void pace_found_factors(pace_findings *findings);
void pace_found_groups(pace_findings *findings);

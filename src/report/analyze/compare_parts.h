/* Parts of the compare report. Private to report/. */
#pragma once

#include "insight/analysis.h"
#include "insight/compare/step_change.h"
#include "report/report.h"

/** Says what makes the sides unlike each other: devices, ranks, samples, and what a recording lacks. `*alike` = both
 * recordings hold as much, so that a cause can be told. */
pace_status pace_put_unlike(pace_node *root, bool *alike, const pace_step_change *change, const pace_analysis *a,
                            const pace_analysis *b, pace_catalog *catalog) PACE_MUST_CHECK;

/** What both sides exchange, by collective, group and size. */
pace_status pace_put_exchange_pairs(pace_node *root, const pace_step_change *change,
                                    pace_catalog *catalog) PACE_MUST_CHECK;

/** Of an eager and a compiled step: which operators became which kernels, and what matches nothing. */
pace_status pace_put_fused_pairs(pace_node *root, const pace_step_change *change) PACE_MUST_CHECK;

/** Both sides' traces on one axis, on which their typical steps begin together. The report takes the analyses over if
 * that succeeds. */
pace_status pace_put_compared_timeline(pace_node *root, const pace_step_change *change, pace_analysis *a,
                                       pace_analysis *b) PACE_MUST_CHECK;

/** Modules and operators by call path. */
pace_status pace_put_call_tree(pace_node *root, const pace_step_change *change) PACE_MUST_CHECK;

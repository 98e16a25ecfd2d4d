/*
 * What-ifs that change what is computed: each edits the variants of all ranks. They combine in any order but for
 * fusion, which must come last: it puts together what the others have sized.
 */
#ifndef PACE_FORECAST_WHAT_IFS_H
#define PACE_FORECAST_WHAT_IFS_H

#include "forecast/variant.h"

#include <regex.h>

/** A step of `samples` on each rank becomes one of `wanted`. What is as large as the parameters stays: updates,
 * gradients' accumulation and exchange. Of the other operations the size that counts samples grows in proportion, and
 * so do transfers from the host and exchanges of activations. Where an operation's sizes are unknown its time is taken
 * to grow in proportion. */
pace_status pace_what_if_batch(pace_variant *variant, double samples, double wanted) PACE_MUST_CHECK;

/** Matrix operations in another precision (step/op_edit.h); casts that this adds or removes are not. */
pace_status pace_what_if_precision(pace_variant *variant, pace_precision precision) PACE_MUST_CHECK;

/** Element-wise kernels that follow each other on a stream, of equally many elements, issued by one thread within one
 * annotation, become one kernel when the names of each, or of its operator, match. *fused counts those that went. */
pace_status pace_what_if_fuse(size_t *fused, pace_variant *variant, const regex_t *names) PACE_MUST_CHECK;

/** The lookups of several tables become one kernel for each direction (of equal samples and width, on one stream,
 * within one annotation): Lin et al. 2022, the embedding co-design. *fused counts those that went. */
pace_status pace_what_if_fuse_tables(size_t *fused, pace_variant *variant) PACE_MUST_CHECK;

/** Tables move between ranks until their costs are even: largest first, each to the rank that has least (`cost_s` gives
 * each rank's launches' costs in seconds). All-to-all exchanges follow the widest rank. Returns PACE_E_INPUT where
 * fewer than two ranks have lookups. */
pace_status pace_what_if_balance_tables(pace_variant *variants, const double *const *cost_s,
                                        size_t count) PACE_MUST_CHECK;

#endif

/*
 * What the ladder misses between two devices, by operation family, learned from steps that were recorded on both: how
 * much longer the family's kernels took there than their times here, moved by the ladder.
 *
 * A family's correction carries over from one model to another about as badly as the ladder errs, so the ladder's own
 * answer counts as one pair of recordings more: of n pairs the mean logarithm is over n + 1. Families that no pair has
 * are left as they are.
 */
#ifndef PACE_INSIGHT_PAIR_CALIBRATION_H
#define PACE_INSIGHT_PAIR_CALIBRATION_H

#include "step/op.h"

typedef struct {
    char from[48], to[48];            /* device names; "" = no pair yet */
    double log_sum[PACE_OP_FAMILIES]; /* of there over moved, one term a pair */
    unsigned pairs[PACE_OP_FAMILIES]; /* that have the family */
} pace_pair_calibration;

/** Takes a pair in: per family the time of its kernels moved by the ladder and as recorded there, per step. */
pace_status pace_pair_calibration_add(pace_pair_calibration *calibration, const pace_device *from,
                                      const pace_device *to, const double moved_ns[PACE_OP_FAMILIES],
                                      const double there_ns[PACE_OP_FAMILIES]) PACE_MUST_CHECK;

/** Whether it is about moving from the one to the other; a NULL calibration is about nothing. */
bool pace_pair_calibration_applies(const pace_pair_calibration *calibration, const pace_device *from,
                                   const pace_device *to);

/** What to multiply a moved time with. */
double pace_pair_calibration_factor(const pace_pair_calibration *calibration, pace_op_family family);

/** What is left of the ladder's spread. */
double pace_pair_calibration_spread(const pace_pair_calibration *calibration, pace_op_family family, double spread);

#endif

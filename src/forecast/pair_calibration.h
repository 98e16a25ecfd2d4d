/*
 * What the ladder misses between two devices, learned from steps that were recorded on both: how much longer kernels
 * took there than their times here, moved by the ladder.
 *
 * Small kernels say how long a device takes to start one, large ones at which rate it works, and one says nothing of
 * the other. So the logarithm of a correction is s a + (1 - s) b, with s the share of a kernel's time that its start
 * takes by formula, and a and b of its family. They are found by least squares over pairs of recordings.
 *
 * A family's correction carries over from one model to another about as badly as the ladder errs, so the ladder's own
 * answer counts as one pair more: a^2 + b^2 is added to the squares (ridge regression; Hoerl and Kennard 1970). Of n
 * pairs of large kernels alone b is then the mean logarithm over n + 1. Families that no pair has are left as they are.
 */
#pragma once

#include "step/op.h"

/* Times of a family's kernels in a step. */
typedef struct {
    double ns, start_ns; /* in all, and what of it they take to start and end */
} pace_pair_times;

/* Sums over pairs, of start shares s and logarithms q of there over moved. */
typedef struct {
    double start_start, start_work, work_work; /* of s s, s (1 - s), (1 - s) (1 - s) */
    double start_q, work_q;
    unsigned pairs; /* that have the family */
} pace_pair_sums;

typedef struct {
    char from[48], to[48]; /* device names; "" = no pair yet */
    pace_pair_sums of[PACE_OP_FAMILIES];
} pace_pair_calibration;

/** Takes a pair in: the times of a step's kernels moved by the ladder and as recorded there, by family. */
pace_status pace_pair_calibration_add(pace_pair_calibration *calibration, const pace_device *from,
                                      const pace_device *to, const pace_pair_times moved[PACE_OP_FAMILIES],
                                      const pace_pair_times there[PACE_OP_FAMILIES]) PACE_MUST_CHECK;

/** Whether it is about moving from the one to the other; a NULL calibration is about nothing. */
bool pace_pair_calibration_applies(const pace_pair_calibration *calibration, const pace_device *from,
                                   const pace_device *to);

/** What to multiply a moved time of a family with, whose start takes a share of it. */
double pace_pair_factor(const pace_pair_sums *sums, double start_share);

/** What is left of the ladder's spread: its share by which the pairs shrink the variance of such a kernel's correction.
 */
double pace_pair_spread(const pace_pair_sums *sums, double start_share, double spread);

/* Errors of predictions against measurements, as the papers count them. */
#pragma once

#include "base/estimate.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t count, missed; /* missed: those that are not exactly right */
    double log_error, plain_log_error, error, signed_error, largest, within; /* sums, but for largest */
} pace_score;

/** Adds one: relative error (predicted - measured) / measured; `within`: the 90 % interval held it. */
void pace_score_add(pace_score *score, double predicted, double measured, bool within);

/** The same of an estimate, whose own 90 % interval it is. */
void pace_score_estimate(pace_score *score, pace_estimate predicted, double measured);

/** exp(mean ln(|error| + 4e-4)): the geometric mean with the floor of Lin et al. 2022. */
double pace_score_gmae(const pace_score *score);
/** The geometric mean as it is, of those that are not exactly right: summary tables of papers. */
double pace_score_geomean(const pace_score *score);
double pace_score_mape(const pace_score *score);
double pace_score_signed_mean(const pace_score *score);
double pace_score_coverage(const pace_score *score);

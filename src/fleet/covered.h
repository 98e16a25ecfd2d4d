/*
 * The time that values of a counter stand for: stretches in any order, of which each instant counts once. Two exports
 * may overlap, two exporters may read one GPU, and rows may come newest first.
 */
#pragma once

#include "base/memory.h"

typedef struct {
    double from_s, to_s;
} pace_stretch;

typedef PACE_VEC(pace_stretch) pace_covered; /* apart, ascending; zero-initialise */

/** Adds a stretch that is longer than nothing; `*fresh_s` is how much of it was not covered before. PACE_E_LIMIT where
 * stretches come in no order and are too many. */
pace_status pace_covered_add(double *fresh_s, pace_covered *covered, pace_stretch stretch) PACE_MUST_CHECK;

double pace_covered_length(const pace_covered *covered);

/* When the gradients of a model come, for a closed form: how much of backward is done, and how much is left to
 * exchange. */
#pragma once

#include "base/memory.h"

enum { PACE_HULL_POINTS = 24 };

/* When a bucket goes: shares of backward's time that is done, and of all bytes and all buckets that are left, its own
 * with them. */
typedef struct {
    double done, bytes_left, buckets_left;
} pace_hull_point;

/* Those of the points that can decide how long the exchange is exposed, by ascending `done`. */
typedef struct {
    pace_hull_point points[PACE_HULL_POINTS];
    unsigned count;
} pace_gradient_hull;

/** Keeps points of ascending `done` (changed on the way): all, or of too many their convex hull by bytes. */
void pace_gradient_hull_make(pace_gradient_hull *out, pace_hull_point *points, size_t count);

/** What of an exchange of `exchange_s`, of which every bucket's start takes an equal part of `starts_s`, is left when a
 * backward of `backward_s` ends, by one lane: the largest of left_s - (1 - done) x backward_s (docs/scaling.md). */
double pace_gradient_hull_behind_s(const pace_gradient_hull *hull, double exchange_s, double starts_s,
                                   double backward_s);

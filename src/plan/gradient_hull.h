/* When the gradients of a model come, for a closed form: how much of backward is done, and how much is left to
 * exchange. */
#pragma once

#include "base/memory.h"

enum { PACE_HULL_POINTS = 24 };

typedef struct {
    double done, left; /* shares of backward's time and of the gradients' bytes when a tensor is formed, with its own */
} pace_hull_point;

/* Those of the points that can decide how long the exchange is exposed, by ascending `done`. */
typedef struct {
    pace_hull_point points[PACE_HULL_POINTS];
    unsigned count;
} pace_gradient_hull;

/** Reduces points of ascending `done` (changed on the way) to their convex hull. */
void pace_gradient_hull_make(pace_gradient_hull *out, pace_hull_point *points, size_t count);

/** What of an exchange of `exchange_s` is left when a backward of `backward_s` ends, by one lane: the largest of
 * left x exchange_s - (1 - done) x backward_s (docs/scaling.md). */
double pace_gradient_hull_behind_s(const pace_gradient_hull *hull, double exchange_s, double backward_s);

/*
 * How much measurements of a curve err, of the logarithm: as those of one size differ from each other, else as sizes
 * leave the line through their neighbours.
 */
#pragma once

#include "machine/doubts.h"

enum { PACE_CURVE_KNOTS = 2048 };

typedef struct {
    double bytes, time_s;
} pace_curve_point;

/* How far measurements are apart, deviations of the logarithm. */
typedef struct {
    double repeats;    /* of one size; 0 = too few sizes were measured twice */
    double neighbours; /* of a size from the line through its neighbours */
    size_t near;       /* so many sizes tell it; 0 = too few */
} pace_curve_scatter;

/** What the points tell, as they were measured: sorted by size, equal sizes not yet made one. */
pace_curve_scatter pace_curve_scatter_of(const pace_curve_point *points, size_t count);

/** Beyond what measurements of exchanges usually err (PACE_DOUBT_SHAPE_NOISE); 0 = no more than that, or nothing
 * tells. */
double pace_curve_noise(const pace_curve_scatter *scatter, const pace_doubts *doubts);

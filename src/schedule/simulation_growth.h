/*
 * What an exchange takes on more nodes than are worth simulating, from what it takes on fewer: messages of the same
 * size over the same links, on 8 nodes, 16, 32 and so on. Some algorithms take a constant time more for every node, or
 * for every doubling of them (pace_exchange_growth); a line through the times of the smaller exchanges is continued.
 */
#pragma once

#include "exchange/algorithms.h"

enum { PACE_GROWTH_POINTS = 8, PACE_GROWTH_FEWEST = 3 };

typedef struct {
    size_t count;
    double x[PACE_GROWTH_POINTS], y[PACE_GROWTH_POINTS]; /* ascending x */
} pace_growth;

/** What time grows with: the nodes, or how often they double. */
double pace_growth_along(pace_exchange_growth growth, uint32_t nodes);

static inline void pace_growth_add(pace_growth *growth, double x, double y) {
    growth->x[growth->count] = x;
    growth->y[growth->count++] = y;
}

/** The line through the last four points at `x`: least squares. `spread` (may be NULL) receives the standard error of a
 * point there, in units of y; 0 where the points lie on the line or are fewer than three. */
double pace_growth_at(double *spread, const pace_growth *growth, double x);

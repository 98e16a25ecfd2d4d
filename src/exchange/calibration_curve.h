/*
 * What one measured curve says of a size. Inside the sizes that were measured: straight lines between them, and where
 * a model of the machine is at hand, the model moved to pass by them (curve_shapes.h): each counts as far as it tells
 * measured sizes from the others. Outside, and from few sizes, the latter alone, with a spread that grows with the
 * distance.
 */
#pragma once

#include "exchange/calibration.h"

enum { PACE_FEW_SIZES = 3 }; /* so many are too few for straight lines */

/** The time of `bytes` on these ranks, by the points of a curve; the median is NAN where the curve says nothing, as one
 * size without a model does of others. `steady`: without spikes, as curves of several numbers of ranks are combined. */
pace_estimate pace_curve_answer(const pace_exchange_curve *curve, const pace_curve_point *points,
                                const pace_fit_question *q, int ranks_per_node, int nodes, double bytes, bool steady);

/** Whether a curve's size was measured. */
bool pace_curve_holds(const pace_curve_point *points, size_t count, double bytes);

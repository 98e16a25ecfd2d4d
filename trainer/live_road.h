/* What each approach exchanges by on this machine, by networks of two sizes; and how much ranks of one host slow each
 * other. */
#pragma once

#include "live_state.h"

/** Trains the probes once. */
pace_status pace_live_road_probe(pace_live *live, pace_live_road *road) PACE_MUST_CHECK;

/** The cost of a buffer and the rate with which `predict` says of the probes what they took. */
pace_status pace_live_road_fit(pace_live *live, pace_live_road *road) PACE_MUST_CHECK;

/** The approach with what its buffers cost, as `predict` is told. */
void pace_live_road_approach(char out[PACE_LIVE_APPROACH], const pace_live_road *road);

/** The road of a step; NULL without exchange. */
pace_live_road *pace_live_road_of(pace_live *live, const pace_live_step *step);

/** The link of a bare road, faster than any host. */
extern const char pace_live_bare_link[];

/** The bare road of the same approach and ranks; NULL = none. */
const pace_live_road *pace_live_road_bare(const pace_live *live, const pace_live_road *road);

/** Rate of a link of a road: of what a byte takes on the road's own link, what it does not take on a bare one follows
 * the ratio of both links' rates. */
double pace_live_road_rate(const pace_live *live, const pace_live_road *road, const char *link);

/** How many times as long a rank computes beside the others as alone, at least once. */
double pace_live_road_slowed(pace_live_road *road);

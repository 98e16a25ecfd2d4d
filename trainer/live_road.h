/* What each approach exchanges by on this machine, by networks of two sizes; and how much ranks of one host slow each
 * other. */
#pragma once

#include "live_ask.h"

/** Trains the probes once. */
pace_status pace_live_road_probe(pace_live *live, pace_live_road *road) PACE_MUST_CHECK;

/** The cost of a buffer and the rate, or the time of an all-reduce by size, with which `predict` says of the probes
 * what they took. */
pace_status pace_live_road_fit(pace_live *live, pace_live_road *road) PACE_MUST_CHECK;

/** What `predict` is told of a road's exchanges on a link (NULL: this host's memory): ranks, machine, approach, and the
 * curve of its all-reduces. */
pace_status pace_live_road_tell(pace_live_asked *asked, pace_live *live, const pace_live_road *road,
                                const char *link) PACE_MUST_CHECK;

/** The road of a step; NULL without exchange. */
pace_live_road *pace_live_road_of(pace_live *live, const pace_live_step *step);

/** The link of a bare road, faster than any host. */
extern const char pace_live_bare_link[];

/** The bare road of the same approach and ranks; NULL = none. */
const pace_live_road *pace_live_road_bare(const pace_live *live, const pace_live_road *road);

/** How many times as long a rank computes beside the others as alone, at least once. */
double pace_live_road_slowed(pace_live_road *road);

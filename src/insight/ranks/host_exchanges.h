/* Which exchanges of hosts (step/exchange_ranges.h) are one, where there are devices beside them: they are no device's
 * work, so that collectives.h does not match them. Private to insight/. */
#pragma once

#include "insight/analysis.h"
#include "schedule/replay.h"

typedef struct {
    const char *name; /* borrowed from its rank's step */
    int64_t start_ns; /* on its rank's clock */
    size_t number;    /* so many of its name came before it on its rank */
    uint32_t rank, task;
    uint32_t segment; /* of no length, where it begins in the joint replay; PACE_NO_SEGMENT = outside of the window */
} pace_host_exchange;

typedef PACE_VEC(pace_host_exchange) pace_host_exchanges;

/** All of the ranks' hosts, by name, number and rank. `replay` holds the ranks' own segments, on lanes of
 * `lane_rank`. */
pace_status pace_host_exchanges_find(pace_host_exchanges *out, const pace_replay *replay, const uint32_t *lane_rank,
                                     const pace_analysis *analysis) PACE_MUST_CHECK;

/** Whether two are one exchange: of one name and one number. */
bool pace_host_exchanges_meet(const pace_host_exchange *one, const pace_host_exchange *other);

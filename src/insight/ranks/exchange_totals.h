/*
 * What a rank exchanged, by what its communication kernels or their launches say, and what the links that it is taken
 * to use would take. What a kernel takes beyond the most that they may take is waiting for late ranks, at least.
 */
#pragma once

#include "insight/ranks/link_machine.h"

typedef struct {
    const char *collective, *group, *dtype; /* as the trace writes them, borrowed from the step; where it says nothing
                                               the kernel's name, "" and "" */
    int64_t group_size, bytes;              /* bytes as nccl-tests count them; 0 and -1 = not said */
    int nodes;                              /* that the group fills of the machine; 0 = unknown */
    size_t calls;
    int64_t time_ns, least_ns;       /* of all calls; of the shortest */
    double algbw_per_s, busbw_per_s; /* of a mean call; NAN = unknown */
    int64_t expected_ns, most_ns;    /* a call over the machine's links, and 95 % of what it may take; -1 = unknown */
    int64_t exposed_ns, late_ns;     /* of all calls: not covered by compute; of that beyond the most expected */
    int64_t waiting_ns;              /* until the last rank came; -1 = the other ranks' traces are not here */
} pace_exchange_total;

typedef struct {
    PACE_VEC(pace_exchange_total) items; /* by time, longest first */
    pace_link_machine links;
    int64_t exposed_ns;   /* of those whose time over the links is known, but for waiting that is recorded */
    int64_t elsewhere_ns; /* beyond the links, of exchanges with ranks without a trace: these are so late at least */
    int64_t slow_ns;      /* the same of exchanges whose ranks are all here: no rank is late */
    int64_t unknown_ns;   /* exposed time of the others, but for waiting that is recorded */
} pace_exchange_totals;

/** Of the work that starts within the intervals (NULL = all), messages apart. `here` ranks have a trace. `asked` is the
 * machine that was named; NULL = none. */
pace_status pace_exchange_totals_find(pace_exchange_totals *out, const pace_rank *rank, size_t here,
                                      const pace_machine *asked, pace_catalog *catalog,
                                      const pace_intervals *within) PACE_MUST_CHECK;
void pace_exchange_totals_free(pace_exchange_totals *totals);

/*
 * What a rank exchanged, from the metadata its communication kernels carry, and what the links that the catalogue knows
 * for its device would take. What a kernel takes beyond that is waiting for late ranks, at least.
 */
#pragma once

#include "exchange/collective.h"
#include "insight/rank.h"

typedef struct {
    const char *collective, *dtype; /* as the trace writes them; borrowed from the step */
    int64_t group_size, bytes;      /* bytes as nccl-tests count them */
    size_t calls;
    int64_t time_ns, least_ns;       /* of all calls; of the shortest */
    double algbw_per_s, busbw_per_s; /* of a mean call */
    int64_t expected_ns;             /* a call over the catalogue's links; -1 = unknown */
    int64_t exposed_ns, late_ns;     /* of all calls: not covered by compute; of that beyond what is expected */
} pace_exchange_total;

typedef struct {
    PACE_VEC(pace_exchange_total) items; /* by time, longest first */
    char machine[64];                    /* whose links are expected; "" = the catalogue knows none for the device */
    int64_t exposed_ns, late_ns;         /* sums */
} pace_exchange_totals;

/** Of the work that starts in [start, end). Kernels without metadata are left out. */
pace_status pace_exchange_totals_find(pace_exchange_totals *out, const pace_rank *rank, pace_catalog *catalog,
                                      int64_t start_ns, int64_t end_ns) PACE_MUST_CHECK;
void pace_exchange_totals_free(pace_exchange_totals *totals);

/*
 * Why the device stood idle: what the work that ended each gap was waiting for.
 *
 * Until the host issued that work, the host was: because it fetched input, because it had first waited for the device
 * (a synchronising call was running when the device ran dry), or because it was late. Work that was queued already
 * waited for another stream, as far as the trace names it, or for its launch and for what the trace does not tell.
 */
#pragma once

#include "insight/rank.h"

typedef enum {
    PACE_IDLE_BY_INPUT,
    PACE_IDLE_BY_SYNCHRONISATION,
    PACE_IDLE_BY_HOST,
    PACE_IDLE_BY_STREAM,
    PACE_IDLE_BY_LAUNCH,
    PACE_IDLE_UNTOLD, /* what launched the work is not recorded */
    PACE_IDLE_CAUSES
} pace_idle_cause;

extern const char *const pace_idle_cause_names[PACE_IDLE_CAUSES];

typedef struct {
    size_t gaps[PACE_IDLE_CAUSES];
    int64_t time_ns[PACE_IDLE_CAUSES]; /* add up to the idle columns of the matrix (but idle_rank) of the window */
    uint32_t synchroniser; /* the synchronising call before the longest gap of that cause; PACE_NO_TASK = none */
} pace_idle_sums;

/** The gaps of [start, end) of a tiled rank. */
pace_idle_sums pace_idle_causes(const pace_rank *rank, int64_t start_ns, int64_t end_ns);

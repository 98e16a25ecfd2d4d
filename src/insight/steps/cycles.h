/*
 * Files of one process, recorded one after the other: cycles of its profiler, as torch.profiler.schedule() makes them.
 * Private to insight/ but for what a report shows of them.
 */
#pragma once

#include "insight/rank.h"

typedef struct {
    pace_rank *trace;
    size_t number, of; /* which cycle of the process, from 0, of how many */
    int64_t after_ns;  /* since its first cycle began */
    int64_t step_ns;   /* its typical step; the whole trace where it has no steps */
    size_t steps;      /* usual ones */
    bool chosen;       /* the one that is analysed */
} pace_cycle;

typedef PACE_VEC(pace_cycle) pace_cycles;

/** Appends the cycles of every process that has several among the traces that are not left out: process by process, in
 * order of time. Chosen is, of the first process, the cycle whose typical step is the median of its cycles', and of the
 * others the cycle of that number, for collectives of one cycle match none of another. */
pace_status pace_cycles_find(pace_cycles *out, pace_rank *const *traces, size_t count) PACE_MUST_CHECK;

/** Whether two files are of one rank, or of one process where no rank is named, and follow one another. */
bool pace_are_cycles(const pace_rank *a, const pace_rank *b);

/*
 * A step of many micro-batches, walked with fewer. Where the walk of these has become steady, two rounds of
 * micro-batches one after the other are the same tasks, to the nanosecond, on every lane of every rank. What is then to
 * come depends on no more than the lanes and on what is issued next, which is the same again: so every further round is
 * as long, and has the same matrix and path. Whoever folds a step adds them, or walks it whole where the rounds are not
 * alike.
 */
#pragma once

#include "insight/critical.h"
#include "schedule/walk.h"

/* Of a rank's graph: the launches of the round that would be repeated; and on stream 0, by number, how many it has, and
 * where launches of such rounds begin and end. */
typedef struct {
    uint32_t first, last; /* launches, the last not among them */
    uint32_t count, steady_begin, steady_end;
    uint32_t queue; /* as in pace_walk_rank */
} pace_fold_round;

/** The round of turns [first, first + count) among steady turns, of a graph that says where its turns end;
 * `queue` as in pace_walk_rank. */
pace_fold_round pace_fold_round_of(const pace_graph *graph, uint32_t queue, uint32_t first, uint32_t count,
                                   uint32_t steady_first, uint32_t steady_count);

/** Finds what a round adds to walked steps that leave so many out: sets pace_rank.fold of every rank, and which rank is
 * the slowest of the whole steps. *steady = false: the step is to be walked with more micro-batches. */
pace_status pace_fold_find(bool *steady, pace_analysis *analysis, const pace_fold_round *rounds, unsigned repeats,
                           uint32_t times) PACE_MUST_CHECK;

/** Puts the messages that were left out of steady steps into the analysis, each when the whole steps have it. *unfolded
 * = false: collectives were left out, too, and the step is to be walked whole. */
pace_status pace_fold_unfold_meetings(bool *unfolded, pace_analysis *analysis) PACE_MUST_CHECK;

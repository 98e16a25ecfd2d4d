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

enum { PACE_FOLD_STEPS = 8 };

/* What a round adds, and how often: 0 = the step is whole. */
typedef struct {
    uint32_t times;
    int64_t period_ns;
    int64_t from_ns[PACE_FOLD_STEPS]; /* of each walked step the first of two rounds that are alike */
    pace_matrix matrix;               /* of such a round, of the slowest rank in the last step */
} pace_fold_gap;

/** The round of turns [first, first + count) among steady turns, of a graph that says where its turns end;
 * `queue` as in pace_walk_rank. */
pace_fold_round pace_fold_round_of(const pace_graph *graph, uint32_t queue, uint32_t first, uint32_t count,
                                   uint32_t steady_first, uint32_t steady_count);

/** Finds the gap of a walked step, and which rank is the slowest of the whole step. *steady = false: the step is to be
 * walked with more micro-batches. */
pace_status pace_fold_find(pace_fold_gap *out, bool *steady, pace_analysis *analysis, const pace_fold_round *rounds,
                           unsigned repeats, uint32_t times) PACE_MUST_CHECK;

/** The matrix of the last step, with what was left out of it. */
pace_matrix pace_fold_matrix(const pace_fold_gap *gap, pace_matrix folded);

/** The path through the typical step of the slowest rank: its length and sums are those of the whole step, its pieces
 * not. */
pace_status pace_fold_path(pace_critical *out, bool *steady, const pace_fold_gap *gap,
                           const pace_analysis *analysis) PACE_MUST_CHECK;

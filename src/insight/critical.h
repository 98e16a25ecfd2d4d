/*
 * The critical path of a step, what each resource is worth on it, and what the step would be without it.
 *
 * A step is rebuilt as segments on lanes (host operators and calls by self time, device work) with the edges a trace
 * supports: launches, streams, blocking calls, hand-overs between threads and streams. Replaying it unchanged gives
 * back the measured starts to the nanosecond; the path is walked back through what decided each start.
 */
#pragma once

#include "insight/advice.h"
#include "insight/analysis.h"
#include "schedule/replay.h"

typedef struct {
    int64_t start_ns;
    uint32_t task;         /* what runs, or waits */
    uint32_t rank : 27;    /* index of the rank it is a task of */
    uint32_t resource : 4; /* pace_advice */
    uint32_t waiting : 1;  /* a delay or launch lag before the task, not the task itself */
} pace_path_piece;

/* Behind the last of a path that is not empty stands one more, not counted: where that ends. */
static inline int64_t pace_piece_end(const pace_path_piece *piece) { return piece[1].start_ns; }

typedef enum {
    PACE_PATH_OF_ONE_RANK,  /* there is but one, or it was asked for alone */
    PACE_PATH_OF_ALL_RANKS, /* one replay of all */
    PACE_PATH_TOO_LARGE,    /* too many segments to join: of one rank, what it waited for others is `balance` */
    PACE_PATH_KNOTTED       /* the ranks' waits contradict each other (clocks): of one rank, as above */
} pace_path_scope;

typedef struct {
    size_t mark; /* index of the step; SIZE_MAX = the whole trace */
    pace_path_scope scope;
    uint32_t home;                    /* index of the rank whose step it is; 0 when it was asked for alone */
    int64_t from_ns, to_ns;           /* on the rank's clock */
    PACE_VEC(pace_path_piece) pieces; /* tile [from, to) exactly, in order */
    int64_t by_resource_ns[PACE_ADVICES];
    PACE_VEC(int64_t) by_rank_ns; /* by index; of all ranks together */
    int64_t
        without_ns[PACE_ADVICES]; /* the step if the resource were free, on all ranks; balance: if none waited; never
                                         less than the busiest stream of the rank */
    int64_t worst_error_ns;       /* largest |replayed - measured| start of any segment; 0 */
    int64_t unexplained_ns;       /* delay on the path that no edge explains */
    /* rounds were left out of the step, and the two that stand for them are not alike: nothing else counts */
    bool uneven;
    /* starts that another lane decided by what it finished: all of the step, and those whose wait the trace names */
    size_t handovers, recorded_handovers;
} pace_critical;

/** Analyses the typical step (insight/steps/typical_step.h) of a rank, one of the analysis', with a path that goes on,
 * where the rank waited for another, on that rank: the one that was late. No work, no path: pieces stay empty.
 * Of a step of which rounds were left out (pace_step_fold) all is the whole step's, from the instant on at which it
 * begins in what was walked. */
pace_status pace_critical_find_across(pace_critical *out, const pace_analysis *analysis,
                                      const pace_rank *rank) PACE_MUST_CHECK;

/** Its path alone: without_ns and worst_error_ns stay 0, and of a step of which rounds were left out `pieces` are those
 * of what was walked. */
pace_status pace_critical_find_path(pace_critical *out, const pace_analysis *analysis,
                                    const pace_rank *rank) PACE_MUST_CHECK;

/** The same of another step of the rank. */
pace_status pace_critical_find_step(pace_critical *out, const pace_analysis *analysis, const pace_rank *rank,
                                    size_t mark) PACE_MUST_CHECK;

/** How long the step of a path, found for that rank of the analysis, would take if all of several resources took no
 * time, nor in the step before it where both can be replayed together: what a change to every step can save at most. A
 * bit (1 << pace_advice) each. `count` sets, one answer each. */
pace_status pace_critical_without(int64_t *without_ns, const pace_critical *critical, const pace_analysis *analysis,
                                  const pace_rank *rank, const unsigned *resources, size_t count) PACE_MUST_CHECK;
void pace_critical_free(pace_critical *critical);

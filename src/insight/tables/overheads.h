/*
 * Host overheads of operators, in the five types of Lin et al., "Building a Performance Model for Deep Learning
 * Recommendation Model Training on GPUs" (HiPC 2022), §overheads:
 *
 *   T1  between two consecutive top-level operators under the same annotation (2 us < gap < 200 us as recorded)
 *   T2  from the start of a top-level operator to its first runtime call
 *   T3  from the end of its last runtime call to its end
 *   T4  inside a runtime call that gives the device work (launch, asynchronous copy, memset), by the call's name;
 *       from where a full queue had room on (step/full_queues.h), which that paper's short steps never filled
 *   T5  between two consecutive runtime calls of one operator; the whole operator when it makes none
 *
 * An operator is top-level when no operator encloses it. Annotations and Python frames are none, nor are labels that
 * old traces record as operators (ProfilerStep#N, "## … ##", DistributedDataParallel.…). Synchronising with
 * a stream is a runtime call too, but no T4. A call within a call (driver under runtime) belongs to the outer one.
 * A trace without device work and without calls is of the host alone: its operators are the work, so T5 has none.
 */
#pragma once

#include "cost/host_costs.h"
#include "insight/rank.h"

/* mean, std (of the population, as numpy's) and median are of the samples inside Tukey's fence
 * [Q1 - 1.5 IQR, Q3 + 1.5 IQR]; the sum is of all. */
typedef struct {
    pace_overhead_type type;
    pace_name name;     /* operator, or call (T4), of the rank's step; 0 for T1 and in totals */
    size_t count, kept; /* samples; those inside the fence */
    double mean_ns, std_ns, median_ns, sum_ns;
    size_t first_sample;
} pace_overhead_row;

typedef struct {
    PACE_VEC(pace_overhead_row) rows;             /* by type, then largest sum first (ties by name) */
    PACE_VEC(int64_t) samples;                    /* ns, row after row; in a row as recorded */
    pace_overhead_row total[PACE_OVERHEAD_TYPES]; /* all samples of a type as one, fenced anew */
} pace_overheads;

/** Measures every host lane of the whole trace. `profiler_event_ns` is what the profiler costs the host per event it
 * records: it is taken off T1 and T4 once, off T2, T3, T5 per event recorded within, never below zero; 0 = as
 * recorded. Free with pace_overheads_free(). */
pace_status pace_overheads_measure(pace_overheads *out, const pace_rank *rank,
                                   double profiler_event_ns) PACE_MUST_CHECK;
void pace_overheads_free(pace_overheads *overheads);

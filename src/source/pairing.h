/*
 * One run recorded twice: the nodes of its execution trace and the tasks of its Kineto trace.
 *
 * Both list what each thread did in order, so each thread of the graph is laid beside the host lane whose names agree
 * best, and both are read on together. Record ids do not serve: they are one counter for all threads, and the two
 * recorders take their numbers at different moments. Each list may hold events the other lacks, and traces in whole
 * microseconds may swap neighbours.
 */
#ifndef PACE_SOURCE_PAIRING_H
#define PACE_SOURCE_PAIRING_H

#include "step/graph.h"

typedef struct {
    size_t nodes, tasks; /* of the graph; operators and annotations of the step */
    size_t matched;
} pace_pairing;

/** Sets `task` of every node that has a partner, PACE_NO_TASK of the others. `step` must be finished. */
pace_status pace_pair(pace_pairing *out, pace_graph *graph, const pace_step *step) PACE_MUST_CHECK;

#endif

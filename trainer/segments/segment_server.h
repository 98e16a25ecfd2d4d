/* Parameter servers of segments: each adds what workers of any replica changed to the weights that it keeps, and
 * answers with these. */
#pragma once

#include "segment_block.h"

#include <mpi.h>

/* Tags: a worker's last message to a server (else the layer's number); between workers whether to go on, and from
 * MERGE on what a layer's filters changed by. */
enum { PACE_SEGMENT_END = 1 << 14, PACE_SEGMENT_STOP, PACE_SEGMENT_MERGE };

/** Which of a layer's segments a worker has: all workers have the filters of a convolution. */
static inline int pace_segment_kept_as(const pace_segments_run *run, size_t layer, int worker) {
    return run->layers[layer].convolution ? 0 : worker;
}

/** Who keeps a worker's segment of a layer: a rank of all. */
static inline int pace_segment_server_of(const pace_segments_run *run, size_t layer, int worker) {
    size_t number = layer * (size_t)run->workers + (size_t)pace_segment_kept_as(run, layer, worker);
    return run->replicas * run->workers + (int)(number % (size_t)run->servers);
}

/** Serves until all workers have ended, or nobody has said anything for as long as the time-out. */
pace_exchanger_result pace_segment_serve(pace_segments_run *run, MPI_Comm all);

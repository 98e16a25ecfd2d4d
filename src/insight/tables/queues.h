/* How much work waits on each stream: launched (its call began), not begun. Counted at each change, as Holistic Trace
 * Analysis does. */
#pragma once

#include "insight/tables/operators.h"

typedef struct {
    uint32_t lane;
    size_t pieces;      /* of work whose launch was recorded */
    int64_t most;       /* queue length; a launch and a start at one instant count in this order */
    double median;      /* over all changes of the length */
    int64_t full_ns;    /* time with at least `full` in line */
    double empty_share; /* of the changes that left nothing in line: the stream had caught up with the host */
} pace_queue_row;

typedef PACE_VEC(pace_queue_row) pace_queue_rows;

/** A row for each stream that did chosen work with a recorded launch, by lane. `full`: catalog/launches.yaml. */
pace_status pace_queues_measure(pace_queue_rows *out, const pace_rank *rank, const pace_work_choice *choice,
                                int full) PACE_MUST_CHECK;

/* What messages between two ranks cost: pipeline bubbles, and who waits for whom. */
#pragma once

#include "insight/analysis.h"

/* A device that waits for a peer and has nothing else to do, in a mean step; without steps, in the whole trace. */
typedef struct {
    uint32_t device;
    int64_t rank;                                          /* INT64_MIN = not known */
    int64_t forward_ns, backward_ns, other_ns, waiting_ns; /* waiting_ns: their sum */
    int64_t exposed_ns;                                    /* transfer that nothing hides */
    double share;                                          /* of the steps' time that is waited */
} pace_bubble;

pace_bubble pace_bubble_of(const pace_rank *rank);

/* All messages from one rank to another in one group. Times are a step's, but for the mean transfer. Where no message
 * has both its sides here, waits and transfer are INT64_MIN and the cause NULL. */
typedef struct {
    int64_t source, destination; /* INT64_MIN = not known */
    const char *group, *cause;
    size_t messages;
    double bytes; /* mean; NAN = not known */
    int64_t kernel_ns, transfer_ns, destination_wait_ns, source_wait_ns;
} pace_message_pair;

typedef PACE_VEC(pace_message_pair) pace_message_pairs; /* free with PACE_VEC_FREE */

pace_status pace_message_pairs_of(pace_message_pairs *out, const pace_analysis *analysis) PACE_MUST_CHECK;

/* What parameter servers and their workers occupy, tensor by tensor (docs/scaling.md). */
#pragma once

#include "exchange/approaches.h"

/* What parameter servers occupy: in each phase (push, then pull) every lane does its share of one tensor after another.
 */
typedef struct {
    size_t lanes, tensors, servers; /* the first lanes are the servers */
    double *work_s;                 /* lanes x tensors, of one phase */
} pace_server_lanes;

/** Lanes of a server approach: the servers, then one worker's link, its staging copies, its control messages. Tensors
 * are in the order backward makes them; they were placed in the other order, each on the server with the fewest bytes.
 * Free with pace_server_lanes_free(). */
pace_status pace_server_lanes_make(pace_server_lanes *out, const pace_approach *approach, const pace_machine *machine,
                                   const pace_gradients *gradients, const pace_approach_setup *setup) PACE_MUST_CHECK;
void pace_server_lanes_free(pace_server_lanes *lanes);
/** What a lane is, for people; static. */
const char *pace_server_lane_name(const pace_server_lanes *lanes, size_t lane);

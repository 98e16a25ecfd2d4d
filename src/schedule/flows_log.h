/* Keeps what ran when (pace_flow_log). Inside of flows*.c. */
#pragma once

#include "schedule/flows_state.h"

/** Makes the question's log ready, if there is one. */
pace_status pace_flow_log_begin(pace_flow_state *state) PACE_MUST_CHECK;

/** Keeps when the operation at a lane's cursor ran; there must be a log. */
pace_status pace_flow_log_add(pace_flow_state *state, const pace_flow_lane *lane, double start_ns,
                              double end_ns) PACE_MUST_CHECK;

/** Of so many units, the first ones, a log is kept. */
static inline uint32_t pace_flow_logged_units(const pace_flow_state *state) {
    return state->question->log ? (uint32_t)state->question->log->ranks.count : 0;
}

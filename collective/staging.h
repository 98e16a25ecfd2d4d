/* Exchanges of buffers in device memory: staged through the host's, large sums piece by piece. */
#pragma once

#include "call.h"

typedef pace_status (*pace_carry_fn)(pace_comm *comm, const pace_call *call);

/** Carries a call out by `carry`, which sees host memory only. All ranks of a communicator with a device cut alike,
 * wherever their buffers lie. */
pace_status pace_staged_carry(pace_comm *comm, const pace_call *call, pace_carry_fn carry) PACE_MUST_CHECK;

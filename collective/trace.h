/* What a rank has exchanged, as events that `paceline analyze` reads: PACELINE_TRACE=FILE writes FILE with the rank
 * before its suffix. */
#pragma once

#include "call.h"

struct pace_comm_trace;

/** Opens this rank's trace where the environment asks for one; else *out is NULL. PACE_E_IO for a file that cannot be
 * written. Files of several communicators have their number too. */
pace_status pace_trace_open(struct pace_comm_trace **out, const pace_comm *comm) PACE_MUST_CHECK;
/** Writes what is held back and closes the file. NULL is allowed. */
void pace_trace_close(struct pace_comm_trace *trace);

void pace_trace_add(struct pace_comm_trace *trace, const pace_call *call, const char *way, int64_t start_ns);

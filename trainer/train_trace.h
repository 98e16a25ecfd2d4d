/* The trace of one rank: steps, parts, layers and exchanges as PyTorch's profiler names them, for paceline analyze. */
#pragma once

#include "step_record.h"

typedef struct {
    const pace_network *network;
    const pace_step_record *record;
    int rank, ranks;
    const char *approach; /* NULL = none */
} pace_train_trace;

/** Writes the trace whole or not at all; of several ranks "run.json" becomes "run.rank3.json". */
pace_status pace_train_trace_write(const char *path, const pace_train_trace *trace) PACE_MUST_CHECK;

/* Words of options about exchanges: sizes, collectives, stragglers, traffic of others. */
#pragma once

#include "exchange/algorithms.h"
#include "base/memory.h"
#include "schedule/flows.h"

typedef PACE_VEC(double) pace_sizes;

/** "8..1G": each size twice the last; "1M,25MB": those. PACE_E_USAGE. Free with PACE_VEC_FREE(). */
pace_status pace_read_sizes(pace_sizes *out, const char *text) PACE_MUST_CHECK;

/** In whole bytes, ascending, each once. */
void pace_sizes_in_order(pace_sizes *sizes);

/** NULL = allreduce. PACE_E_USAGE lists what there is. */
pace_status pace_read_collective(pace_collective *out, const char *text) PACE_MUST_CHECK;

/** "1%:0.5": one rank in a hundred, spread evenly, at half its rate; "7:0.5": rank 7. Into `slowness`, one per rank.
 * PACE_E_USAGE. */
pace_status pace_read_straggler(double *slowness, uint32_t ranks, const char *text) PACE_MUST_CHECK;

/** "30%": of every link between nodes, into `share`; "0-8:10GB/s": from rank 0 to rank 8, appended. PACE_E_USAGE. */
typedef PACE_VEC(pace_background) pace_backgrounds;
pace_status pace_read_background(pace_backgrounds *out, double *share, const char *text) PACE_MUST_CHECK;

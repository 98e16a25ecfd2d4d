/*
 * What one exchange of an approach takes: a fused buffer, a tensor of parameter servers, the rows of embeddings; with
 * the closed forms of BytePS and PEARL. docs/scaling.md has the equations.
 */
#pragma once

#include "exchange/approaches.h"

/** BytePS (Jiang et al., OSDI 2020): `hosts` with accelerators and `spare` ones without, all at `rate`: the optimal
 * split between them. spare = 0 is an all-reduce, spare = hosts moves every byte once each way. */
double pace_byteps_s(double bytes, int hosts, int spare, double rate);

/* What one exchange takes, by what takes it. */
typedef struct {
    double messages_s, adding_s, staging_s, queries_s;
    double control_s;      /* of servers: messages before the tensor moves */
    double coordinator_s;  /* what a framework's coordinator takes beside the exchange */
    const char *algorithm; /* borrowed; "" = nobody chooses one */
} pace_approach_parts;

/** The exchange alone, without a coordinator. */
static inline double pace_approach_exchange_s(const pace_approach_parts *parts) {
    return parts->messages_s + parts->adding_s + parts->staging_s + parts->queries_s + parts->control_s;
}

/** The textbook's algorithm that it takes at every size; PACE_ANY: its library chooses. */
int pace_approach_algorithm(const pace_approach *approach);

/** One exchange of `bytes`, all ranks ready, of every family: of servers one tensor, pushed and pulled. The rest is as
 * for pace_approach_buffer_s(). */
pace_status pace_approach_parts_find(pace_approach_parts *out, const pace_approach *approach,
                                     const pace_exchange *exchange, const pace_approach_setup *setup, double bytes,
                                     double tensors) PACE_MUST_CHECK;

/** Seconds for one buffer of `tensors` tensors, all ranks ready: of every family but servers. `exchange` must be open
 * with the library of the approach. PACE_E_USAGE when it is not, and for servers. */
pace_status pace_approach_buffer_s(double *out_s, const pace_approach *approach, const pace_exchange *exchange,
                                   const pace_approach_setup *setup, double bytes, double tensors) PACE_MUST_CHECK;

/** PEARL (Wang et al., IISWC 2019): tables of embeddings are split over the ranks. Seconds to gather the rows that the
 * ranks touch, `touched_bytes` of each, on all of them (PACE_ALLGATHER), or to give each the sum of the gradients of
 * the rows it keeps (PACE_REDUCESCATTER). */
pace_status pace_approach_rows_s(double *out_s, pace_collective collective, const pace_exchange *exchange,
                                 const pace_approach_setup *setup, double touched_bytes) PACE_MUST_CHECK;

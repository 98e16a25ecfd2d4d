/* How long one exchange takes by each of some approaches: the answer to `predict --kind exchange --approach A,B`, and
 * to rows that name an approach. */
#pragma once

#include "ask/predict/approach_words.h"
#include "ask/engine_options.h"
#include "ask/predict/exchange_words.h"
#include "exchange/approach_buffer.h"
#include "machine/device_resolve.h"

/* An approach on a machine, made ready. */
typedef struct {
    pace_approach approach;
    pace_exchange exchange;
    double copy_rate;
} pace_approach_opened;

/** `machine` has as many nodes as are asked about. Nothing to free. Errors: those of pace_approach_open(), and
 * PACE_E_MISSING for a device that the catalogue has not. */
pace_status pace_approach_make_ready(pace_approach_opened *out, pace_catalog *catalog, const pace_approach *approach,
                                     const pace_machine *machine) PACE_MUST_CHECK;

/** One exchange of `bytes`, without a coordinator, on `nodes` nodes (0 = all) of `ranks_per_node` (0 = all). */
pace_status pace_approach_exchange_time(pace_estimate *out, pace_approach_parts *parts, pace_doubts_used *used,
                                        const pace_approach_opened *opened, int ranks_per_node, int nodes,
                                        double bytes) PACE_MUST_CHECK;

typedef struct {
    size_t approach; /* into `approaches` */
    double bytes;
    pace_estimate time_s;
    pace_approach_parts parts;
    pace_doubts_used used;
    double times_first; /* its time over that of the first approach at this size */
} pace_approach_size;

/* From a size on an approach is faster, or slower, than the first. */
typedef struct {
    size_t approach;
    double from_bytes;
    bool slower;
} pace_approach_crossing;

typedef struct {
    const pace_exchange_options *options;
    pace_machine machine;
    pace_approaches table;
    pace_approach_list approaches;
    PACE_VEC(pace_approach_opened) opened;
    pace_sizes sizes;                    /* ascending, each once */
    PACE_VEC(pace_approach_size) points; /* by approach, then by size */
    PACE_VEC(pace_approach_crossing) crossings;
} pace_approach_exchange_asked;

/** Free `out`, which begins as zeros, after a failure too. Errors: PACE_E_USAGE for what an approach has no use for. */
pace_status pace_approach_exchange_ask(pace_approach_exchange_asked *out,
                                       const pace_exchange_options *options) PACE_MUST_CHECK;
void pace_approach_exchange_asked_free(pace_approach_exchange_asked *asked);

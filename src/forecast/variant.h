/*
 * A rank's graph as a scenario has it: edited, and for every launch what was measured of the work it now does.
 *
 * A launch is made of parts, the launches of the unedited graph: one, or several where what-ifs have put them into one
 * kernel. Its time is that of its parts times what its operation costs over what theirs do.
 */
#pragma once

#include "machine/doubts.h"
#include "step/graph.h"

typedef struct {
    uint32_t part;         /* the first of its parts; the others follow by `next_part` */
    double more;           /* times the arithmetic of its parts: samples, or tables, have come or gone */
    double slower;         /* times as long as it is priced, as `scale` says it */
    bool added;            /* none of the original's: it takes `more` times the measured time of its part */
    double assumed;        /* spread that what was assumed of it adds; 0 = nothing was */
    pace_doubt assumed_by; /* the last such assumption */
} pace_variant_launch;

typedef struct {
    const pace_graph *original; /* borrowed */
    const pace_doubts *doubts;  /* of what-ifs; borrowed */
    pace_graph graph;
    bool borrows;                  /* the graph is the original's own: nothing may edit it */
    pace_variant_launch *launches; /* per launch of graph */
    uint32_t *next_part;           /* per launch of the original, PACE_NO_LAUNCH = the last */
} pace_variant;

/** Nothing edited, in a graph that may be. The original and the doubts must outlive it. */
pace_status pace_variant_init(pace_variant *out, const pace_graph *original, const pace_doubts *doubts) PACE_MUST_CHECK;

/** The original as it is, which nothing may edit. */
pace_status pace_variant_borrow(pace_variant *out, const pace_graph *original,
                                const pace_doubts *doubts) PACE_MUST_CHECK;
void pace_variant_free(pace_variant *variant);

/** Gives a launch another operation. */
pace_status pace_variant_set_op(pace_variant *variant, uint32_t launch, const pace_op *op) PACE_MUST_CHECK;

/** Merges launches as pace_graph_merge_launches() does; parts go where their launch goes. `into` is the caller's. */
pace_status pace_variant_merge(pace_variant *variant, uint32_t *into) PACE_MUST_CHECK;
/** Merges the launches for which find() writes another one's number into `into`, where each has its own; *fused counts
 * them. */
pace_status pace_variant_fuse(size_t *fused, pace_variant *variant,
                              pace_status (*find)(uint32_t *into, size_t *fused, pace_variant *variant, void *context),
                              void *context) PACE_MUST_CHECK;

/** The launch's operation, or NULL. */
const pace_op *pace_variant_op(const pace_variant *variant, uint32_t launch);

/** An operation of the unedited launch, or NULL. */
const pace_op *pace_variant_part_op(const pace_variant *variant, uint32_t part);

/** Adds to what is assumed of a launch; assumptions are taken to be independent. */
void pace_variant_assume(pace_variant *variant, uint32_t launch, pace_doubt doubt, double spread);

/* Which operator, kernel, module and rank a resource's time on the critical path goes to. */
#pragma once

#include "insight/critical.h"

/* What most of a resource's time on the path goes to. All names are borrowed from a rank's step. */
typedef struct {
    const char *name;   /* a kernel, an operator or a call; NULL = nothing recorded */
    const char *around; /* the operator that launched the kernel or made the call; NULL = none, or the name itself */
    const char *within; /* the module, annotation or Python function that holds most of it; NULL = none */
    const char *inmost; /* host time: the library's function within `within` that holds most of it; NULL = none */
    bool before;        /* the time that passes before it; nothing was recorded then */
    bool no_launches;   /* of host time: what is done within launches no kernels of the step */
    double share, within_share; /* of the resource's time on the path */
    double dry_share;           /* of host time: its longest stretch in which nothing is launched */
    int64_t dry_ns;
    const char *dry_before; /* the operator or call that ends that stretch; NULL = none */
    double longest_share;   /* of its longest stretch under one name: 1 = it stands there once */
    uint32_t rank;          /* index of the rank that spends most of it */
    double rank_share;
} pace_culprit;

/** What takes most of `resource` on the path; all zero when it has no time there. */
pace_status pace_culprit_find(pace_culprit *out, const pace_critical *critical, const pace_analysis *analysis,
                              pace_advice resource) PACE_MUST_CHECK;

/** The innermost task of a host thread that covers an instant; PACE_NO_TASK = none. */
uint32_t pace_task_at(const pace_step *step, const pace_lane *lane, int64_t at_ns);

/** The innermost function of the user's, module or annotation at or around a host task; where the step holds none, the
 * outermost
    function of PyTorch's; NULL = none. */
const char *pace_host_place(const pace_step *step, uint32_t task);

/** The outermost operator around a host task, itself included; PACE_NO_TASK = none. */
uint32_t pace_outermost_operator(const pace_step *step, uint32_t task);

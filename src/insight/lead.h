/*
 * What a report leads with: the resource whose time costs the step most, by the replay without it, and what stands
 * behind it on the critical path.
 */
#pragma once

#include "insight/culprit.h"
#include "insight/evidence.h"
#include "insight/steps/first_use.h"
#include "insight/ranks/late_reason.h"
#include "insight/steps/unlike_passes.h"
#include "insight/meanwhile.h"
#include "insight/compare/step_series.h"

/* Why the host holds up the device. */
typedef enum {
    PACE_HOST_IS_BUSY,        /* with what is named */
    PACE_HOST_WAITS,          /* for the device: a synchronising call, then the device runs dry */
    PACE_HOST_LAUNCHES,       /* of many kernels, which take less time than the host takes for each */
    PACE_HOST_COPIES_BITS,    /* the same of copies */
    PACE_HOST_CALLS,          /* where it is the device: of many operators, none of which stands out */
    PACE_HOST_LAUNCHES_BLOCK, /* of kernels, each of which returns when its kernel has ended */
    PACE_HOST_REASONS
} pace_host_reason;

extern const char *const pace_host_reason_names[PACE_HOST_REASONS];

typedef struct {
    pace_advice resource; /* PACE_ADVICES = the step has no critical path */
    int64_t step_ns, saved_ns;
    int64_t unexplained_ns; /* of the path: waits whose cause is not known */
    pace_evidence evidence; /* unless it is whole, what would help is unknown */
    bool matters;           /* at least a tenth of the step is saved */
    bool at_least;          /* one rank alone: what links take was counted off, so the ranks wait that long or longer */
    pace_culprit culprit;
    pace_host_reason reason;  /* where the resource is the host */
    size_t times;             /* waits of the host in the step, launches, copies, or operators */
    int64_t mean_ns;          /* of a kernel, or a copy */
    int64_t host_mean_ns;     /* host time on the path for each */
    pace_meanwhile meanwhile; /* where the resource is input */
    const char *waits_in;     /* the operator or call most waits stand in; NULL = unknown */
    pace_long_steps series;   /* what the steps that take longer than usual cost */
    bool of_long_steps; /* they cost more than anything else: the lead is theirs, saved_ns is what exceeds usual steps
                                and step_ns the whole run */
    size_t spent_in;    /* mark in which the host spends what the longest has more of, where they lead; the device
                                 waits for it in the longest */
    pace_step_shift shift;     /* from one step on all take longer, or less */
    int64_t balance_ns;        /* saved if no rank waited for another; several ranks alone */
    pace_late_reason late;     /* why the late rank is late */
    pace_unlike_passes unlike; /* micro-batches of unlike length on `rank` */
    pace_first_use first_use;  /* that takes most of the step; name NULL = none */
} pace_lead;

/** What stands behind a resource's time on the path, as if the report led with it: resource, culprit, and of the host
 * the reason with its figures, and of input what happens meanwhile, are set. */
pace_status pace_lead_of(pace_lead *out, const pace_critical *critical, const pace_analysis *analysis,
                         const pace_rank *rank, pace_advice resource) PACE_MUST_CHECK;

/** The function, module or annotation that most of the host's time goes to and that launches no kernels: a graph of
 * launches does not take it away. NULL = none. */
const char *pace_lead_own_work(const pace_lead *of_host);

/** Whether the host's time is spread over many operators and launches: no stretch stands out, it does not wait, and no
 * function that launches nothing takes most of it. */
bool pace_lead_spreads(const pace_lead *of_host);

/** `rank` is the one the path was found for. */
pace_status pace_lead_find(pace_lead *out, const pace_critical *critical, const pace_analysis *analysis,
                           const pace_rank *rank) PACE_MUST_CHECK;

/* What is different about a step that is to be predicted. */
#pragma once

#include "base/memory.h"
#include "cost/host_costs.h"
#include "exchange/approaches.h"
#include "machine/device.h"

#include <regex.h>

typedef PACE_VEC(regex_t) pace_names_matched;

/* Initialised with pace_scenario_init() it is the step as it is. */
typedef struct {
    const char *label;
    const pace_device *device;                  /* where it runs; NULL = where it was measured */
    bool has_exchange;                          /* how its ranks are joined is known */
    pace_machine machine;                       /* when it is */
    pace_exchange exchange;                     /* the same, open for the approach */
    int ranks_per_node;                         /* 0 = as many as a node has devices */
    double slowness;                            /* exchanges take so many times as long */
    bool has_approach;                          /* how gradients are exchanged was said */
    pace_approach approach;                     /* when it was */
    double overhead_scale[PACE_OVERHEAD_TYPES]; /* 0 = dropped */
    bool one_launch;                            /* captured as a device graph */
    PACE_VEC(struct {
        regex_t name; /* of the kernel or of the operator that launches it */
        double factor;
    })
    scales;
    pace_names_matched fuse;      /* names of element-wise kernels or operators that are fused */
    double batch;                 /* samples on each rank; 0 = as many as now */
    double samples;               /* as many as now, where that was said; 0 = to be inferred */
    bool has_precision;           /* of matrix operations */
    pace_precision precision;     /* when it has */
    bool fuse_tables;             /* embedding lookups of several tables in one kernel */
    bool fuse_update;             /* the optimizer's update is one kernel */
    bool balance_tables;          /* tables spread evenly over the ranks */
    double loader;                /* worker processes that fetch input ahead; 0 = as it is */
    bool pinned;                  /* copies from pageable memory come from pinned memory */
    pace_names_matched drop_sync; /* names of calls, or of what is around them, that wait for nothing */
} pace_scenario;

void pace_scenario_init(pace_scenario *scenario, const char *label);
void pace_scenario_free(pace_scenario *scenario);

/** Kernels whose own or operator's name matches take `factor` times as long. PACE_E_USAGE for a bad expression. */
pace_status pace_scenario_scale(pace_scenario *scenario, const char *regex, double factor) PACE_MUST_CHECK;

/** Chains of element-wise kernels whose own or operators' names match become one. PACE_E_USAGE as above. */
pace_status pace_scenario_fuse(pace_scenario *scenario, const char *regex) PACE_MUST_CHECK;

/** Calls whose own name, or that of something around them, matches wait for nothing. PACE_E_USAGE as above. */
pace_status pace_scenario_drop_sync(pace_scenario *scenario, const char *regex) PACE_MUST_CHECK;

/** Whether launches that exchange gradients, or pull parameters, are priced together (forecast_gradients.h) and not one by one: with every
 * approach but those that fill buckets in the order in which gradients come, as DistributedDataParallel does. */
bool pace_scenario_has_lanes(const pace_scenario *scenario);

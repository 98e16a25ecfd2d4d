/* What is different about a step that is to be predicted. */
#pragma once

#include "base/memory.h"
#include "cost/host_costs.h"
#include "exchange/approaches.h"
#include "machine/device.h"

#include <regex.h>

/* A value that a what-if is asked with. */
typedef struct {
    const char *what_if; /* its name; static */
    double number;       /* a number or a factor; 1 of a flag */
    bool has_name;
    regex_t name; /* when it has: of what it is about */
} pace_scenario_value;

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
    bool explains;                              /* its critical path is asked for, with what each resource is worth */
    double batch;                               /* samples on each rank; 0 = as many as now */
    double samples;                             /* as many as now, where that was said; 0 = to be inferred */
    bool has_precision;                         /* of matrix operations */
    pace_precision precision;                   /* when it has */
    PACE_VEC(pace_scenario_value) values;       /* of what-ifs that have no field here */
} pace_scenario;

void pace_scenario_init(pace_scenario *scenario, const char *label);
void pace_scenario_free(pace_scenario *scenario);

/** Keeps a value of a what-if. */
pace_status pace_scenario_put(pace_scenario *scenario, const char *what_if, double number) PACE_MUST_CHECK;

/** The same of a what-if about what a regular expression matches. PACE_E_USAGE for a bad expression. */
pace_status pace_scenario_put_name(pace_scenario *scenario, const char *what_if, const char *regex,
                                   double number) PACE_MUST_CHECK;

/** The n-th value of a what-if; NULL = there is none. */
const pace_scenario_value *pace_scenario_value_at(const pace_scenario *scenario, const char *what_if, size_t n);

/** Whether launches that exchange gradients, or pull parameters, are priced together (forecast_gradients.h) and not one
 * by one: with every approach but those that fill buckets in the order in which gradients come, as
 * DistributedDataParallel does. */
bool pace_scenario_has_lanes(const pace_scenario *scenario);

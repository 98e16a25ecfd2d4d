/* A step to be predicted, and what comes of it: what the parts of a forecast hand to each other. */
#pragma once

#include "cost/host_costs_measure.h"
#include "cost/price_cache.h"
#include "exchange/device_store.h"
#include "forecast/batch_size.h"
#include "forecast/micro_batch_fold.h"
#include "forecast/pair_calibration.h"
#include "forecast/scenario.h"
#include "schedule/gradients.h"

typedef struct {
    const char *name; /* of the input, borrowed */
    pace_graph graph;
    double *measured_ns; /* per launch, -1 = none; an exchange: from the last rank's arrival */
    pace_host_costs costs;
    pace_launch_costs launch;
    pace_first_uses first_uses; /* left out of its costs: where the trace marks no steps */
    double call_ns;  /* of a host that is the device: what an operator takes that has next to nothing to do; else 0 */
    double start_ns; /* on a clock of all ranks */
    size_t steps;    /* measured ones that did work */
    double steps_ns; /* what they took together; the rank's span where there are none */
    pace_fold_round round; /* where the forecast is folded */
} pace_forecast_rank;

typedef PACE_VEC(pace_forecast_rank) pace_forecast_ranks_vec;

/* What a framework's kernels and streams make of prices: no more than is said. */
typedef struct {
    double slower_attention;             /* its kernels take so much longer, as a share */
    double hidden_exchange[PACE_GROUPS]; /* of activations, by group: shares that its own work hides */
} pace_price_shares;

typedef struct {
    pace_forecast_ranks_vec ranks;
    pace_forecast_ranks_vec offloaded; /* for scenarios with a device, where who does the work changes; else empty */
    pace_catalog *catalog;             /* borrowed */
    const pace_analysis *measured;     /* borrowed; NULL = made of graphs */
    const pace_device *device;         /* what the times were measured on; NULL = unknown */
    pace_cost *cost;
    pace_price_cache *prices;                 /* of it */
    const pace_pair_calibration *calibration; /* of moves between two devices; borrowed; NULL = none */
    pace_gradient_tables tables;              /* of embeddings, among the gradients; none = all are dense */
    pace_price_shares shares;
    pace_doubt host_doubt; /* of host costs that are not the inputs' own; PACE_DOUBTS = they are */
    unsigned repeats;      /* of the step; with several the last one's period is the step's time */
    double rounds;         /* micro-batches of a step, with those that are left out; 0 = not known */
    uint32_t folded;       /* rounds that are left out of every step; 0 = none */
} pace_forecast;

/* How the time of kernels was come by, by operation family and for what nothing is known of. */
typedef struct {
    double kernel_ns;                   /* summed over launches */
    double spread_ns;                   /* the same times their spread */
    size_t launches;                    /* of these */
    size_t unknown;                     /* launches whose operation is unknown; exchanges are not among them */
    double unknown_ns;                  /* their time, part of kernel_ns */
    size_t guessed, guessed_of_tensors; /* launches whose time is a guess, and those by the tensors they touch */
    double guessed_ns;
    size_t by_rung[PACE_RUNGS];
} pace_forecast_family;

/* Times of launches, each times its spread, by the doubt that it rests on. */
typedef struct {
    double kernels_ns[PACE_DOUBTS], exchanges_ns[PACE_DOUBTS];
} pace_launch_doubts;

/* Behind the families of operations stand exchanges. */
enum { PACE_FORECAST_EXCHANGES = PACE_OP_FAMILIES, PACE_FORECAST_FAMILIES };

/* What a scenario's edits came to. */
typedef struct {
    pace_batch_size present; /* samples so far, of the first rank; 0 = not asked */
    size_t scaled_kernels;   /* whose time is scaled */
    size_t fused_kernels;    /* that became part of another */
    size_t fused_tables;     /* lookups that did */
    size_t dropped_types;    /* of overheads that some rank has and now does without */
    size_t captured;         /* launches that a device graph makes now and did not before */
    size_t other_precision;  /* launches whose operation is in another precision */
    size_t moved_exchanges;  /* that take the links of another machine */
} pace_forecast_edits;

/* How gradients were exchanged, where an approach was named. */
typedef struct {
    int64_t ranks;                    /* that exchange; 0 = none do, or no approach was named */
    int64_t span;                     /* neighbouring ranks that they are among */
    double alone_s;                   /* the step without it; 0 = was not walked */
    double exchange_s;                /* with nothing to hide behind */
    double exposed_s;                 /* what of all communication nothing hid, the whole step's */
    double exposed_by_s[PACE_GROUPS]; /* that of each kind of group; pipelines' sends and receives without waiting */
    double skew_s;                    /* waiting for the slowest of the ranks: beside the walk, whose ranks are alike */
    double jitter;                    /* how much the ranks' steps differ */
    double measured_spread;           /* of lanes' exchanges where measured curves say it; 0 = they do not */
    const char *bottleneck;           /* of the lanes; static; NULL = buckets have none */
    pace_merge_buffers merging;       /* of a device store, beside what every rank holds */
} pace_forecast_exchange;

typedef struct {
    pace_analysis analysis; /* of the walked steps */
    pace_estimate step_s;   /* of the slowest rank: mean of its steps, or the period it settles in; and the skew */
    size_t first_step;      /* of those that step_s is of: the ones before had not settled */
    pace_forecast_exchange exchange;
    pace_forecast_family families[PACE_FORECAST_FAMILIES];
    pace_forecast_edits edits;
    pace_doubts_used used; /* what step_s rests on */
    pace_launch_doubts launch_doubts;
    size_t beyond;      /* measured kernels faster than their device's roofline allows */
    bool unsteady;      /* a folded forecast that is to be walked whole: nothing else here counts */
    pace_critical path; /* with what each resource is worth, where the scenario explains; else empty */
} pace_forecast_result;

/* Which configuration trains a model fastest on a machine: the answer to `paceline plan`. */
#pragma once

#include "ask/step_ask.h"
#include "base/texts.h"
#include "plan/plan_search.h"

/* A configuration that fits, and its time as `predict` gives it. */
typedef struct {
    pace_plan_candidate candidate;
    pace_estimate time_s;
    double need_bytes;
    bool close;                        /* memory is known to a quarter: it may need more than the device has */
    double chance;                     /* that the first choice is faster than this one; 0.5 of the first */
    double samples_per_s, days, price; /* days, price: of all tokens; NAN = not asked */
} pace_plan_choice;

/* One machine that is offered, or a part of it: so many of its nodes. */
typedef struct {
    pace_machine machine;
    pace_step_asked step;
    pace_plan_space space;
    pace_plan_found found;
    PACE_VEC(pace_plan_choice) choices; /* fastest first */
    double layers;                      /* that a pipeline may cut */
    double device_price;                /* of an hour; NAN = not said */
} pace_plan_place;

typedef struct {
    const pace_plan_options *options;
    pace_device_catalog devices;
    PACE_VEC(pace_plan_place *) places; /* as asked, parts of a machine from the smallest */
    double tokens, within_days;         /* NAN = not said */
    bool batch_assumed;
    const char *
        launcher; /* what the best configuration is told to, and how; borrowed from the catalogue; NULL = nothing fits */
    pace_texts launch;
    bool order_changed; /* the closed form put another configuration first on some machine */
} pace_plan_asked;

/** Searches and answers. Free `out`, which begins as zeros, after a failure too. Errors: PACE_E_USAGE for words that mean
 * nothing or contradict each other; those of machines and models. */
pace_status pace_plan_ask(pace_plan_asked *out, const char *name, const pace_plan_options *options) PACE_MUST_CHECK;
void pace_plan_asked_free(pace_plan_asked *asked);

/** The place whose best choice trains fastest, or with `cheapest` at the least price; NULL if nothing fits anywhere. */
const pace_plan_place *pace_plan_best(const pace_plan_asked *asked, bool cheapest);
/** The smallest place that trains all tokens within the days asked for; NULL = none. */
const pace_plan_place *pace_plan_smallest(const pace_plan_asked *asked);

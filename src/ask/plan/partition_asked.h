/* How a network of neurons is best trained on hosts: `paceline plan` with hosts as machines, and `predict` of one
 * way. */
#pragma once

#include "ask/engine_options.h"
#include "plan/partition_search.h"

typedef struct {
    pace_hosts hosts;
    double price_per_hour; /* of a machine; NAN = not said */
    pace_partition_case asked;
    pace_partition_found found;
    double alone_s;         /* a sample on one thread of one machine */
    PACE_VEC(size_t) front; /* choices by rising machines, each faster than all before */
} pace_partition_place;

typedef struct {
    const pace_plan_options *options;
    bool one; /* manual mode: one configuration */
    pace_model model;
    pace_neuron_layers chain;
    pace_host_doubts doubts;
    pace_partition_fixed fixed;
    double segments[PACE_PARTITION_LAYERS]; /* that `fixed` may point to */
    PACE_VEC(pace_partition_place) places;  /* as asked */
    double samples;                         /* of an epoch; NAN = not said */
    double within_days;                     /* NAN = not said */
    bool batch_assumed;
} pace_partition_asked;

/** Whether a machine that `--on` names is a host. */
pace_status pace_partition_is_of_hosts(bool *out, pace_catalog *catalog, const pace_words *on) PACE_MUST_CHECK;

/** Searches, or with `one` times a configuration. Free `out`, which begins as zeros, after a failure too. Errors:
 * PACE_E_USAGE for words that mean nothing or contradict each other, and models that are no chain of layers. */
pace_status pace_partition_ask(pace_partition_asked *out, const char *name, const pace_plan_options *options,
                               bool one) PACE_MUST_CHECK;
void pace_partition_asked_free(pace_partition_asked *asked);

/** Machines that a configuration uses. */
double pace_partition_machines(const pace_partition *p);
/** Days of an epoch, and what they cost; NAN where not said. */
double pace_partition_days(const pace_partition_asked *asked, const pace_partition_choice *choice);
double pace_partition_price(const pace_partition_asked *asked, const pace_partition_place *place,
                            const pace_partition_choice *choice);
/** Seconds of a sample of an epoch, with their doubt. */
pace_estimate pace_partition_estimate(const pace_partition_asked *asked, const pace_partition_choice *choice);
/** The place whose first choice is fastest. */
const pace_partition_place *pace_partition_best(const pace_partition_asked *asked);

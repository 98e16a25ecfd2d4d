/*
 * A pipeline of few micro-batches, turn by turn: formulas say what many come to, and neither what a late host makes of
 * a stage nor what is left to fill where few are. Three clocks a stage, of host, device and exchanges; no tasks.
 */
#pragma once

#include "plan/gather_lanes.h"

#include <math.h>

enum { PACE_TURN_PASSES = 4, PACE_TURN_ENDS = 2 };

/* Of a chunk of a stage, seconds: each pass over it on the device and on the host that issues it. What every step has
 * behind the last, and inputs, stand with a stage's first chunk. */
typedef struct {
    double device_s[PACE_TURN_PASSES], host_s[PACE_TURN_PASSES]; /* by pace_turn_pass */
    double idle_s[PACE_TURN_PASSES];   /* if the device has nothing to do when the host begins, until it has done all */
    double launches[PACE_TURN_PASSES]; /* of its kernels */
    /* of what the device waits for copies of activations: once a forward pass's result is sent, and for the first of a
     * backward pass, which comes while the stage waits for what the pass needs */
    double leaves_s[PACE_HOSTS], ahead_s[PACE_HOSTS];
    double waits_s, hides; /* of what a backward pass takes on the device: for copies, and the share of kernels of
                              gradients that come before it has waited for the last; they hide as much */
    double end_device_s, end_host_s;                        /* once a step, behind the exchange of gradients; */
    double update_device_s, update_host_s, update_launches; /* then the update */
    double add_device_s,
        add_host_s; /* of a pass that forms gradients of weights: added to those of the micro-batch before */
    double fill_device_s, fill_host_s; /* of the last micro-batch's pass that does so: gradients put into buckets, */
    double tensors;                    /* with gradients: a kernel each that adds, and one that fills */
    bool graphs;                       /* behind which kernels of gradients come */
    bool one_graph;                    /* all of a pass is, which the host launches at once */
    double put_off_device,
        put_off_host;                 /* share of what adds and fills that a turn for weights has, where one is apart */
    double exchange_s, bucket_s;      /* which are exchanged from the first full one on, each so long */
    double early_s;                   /* of exchange_s, buckets that are full when a turn for inputs has ended */
    double last_bucket_s;             /* the stage's last, which goes behind its last such pass */
    const pace_gathered_chunk *forms; /* blocks in whose order gradients come; NULL = evenly */
    const pace_gathered_chunk *blocks; /* that ZeRO gathers; NULL = none */
    bool gathers_each;                 /* ZeRO 3: in each pass; else once a step */
    double message_host_s;             /* of a stage's host, for each message that it sends or asks for */
    bool
        ends_together; /* behind its last turn the stage adds gradients of a table that others hold, which do so, too */
    /* before a forward pass over the model's first part its batch is copied, before one over its last its targets: on
     * the device, which the host waits for, and on the host */
    double input_device_s[PACE_TURN_ENDS], input_host_s[PACE_TURN_ENDS];
} pace_turn_times;

/** The share of a chunk's gradients of weights that a turn forms, of which `put_off` have a turn apart. */
double pace_turn_forms(const pace_turn *turn, double put_off);

/** How much longer kernels of gradients make a pass that waits so long for copies. */
static inline double pace_turn_longer_s(double kernels_s, const pace_turn_times *times, double waits_s) {
    return (1 - times->hides) * kernels_s + fmax(0, times->hides * kernels_s - waits_s);
}

/** How long a step takes that follows another: of the stage that takes longest. `times`: stage by stage each chunk's; a
 * message takes `message_s` once its receiver is ready; a host waits while its device has `queue` launches ahead of it,
 * 0 = it never does. */
pace_status pace_turns_period(double *out_s, const pace_pipeline *pipeline, const pace_turn_times *times,
                              double message_s, double queue) PACE_MUST_CHECK;

/* The closed loop's questions to the other verbs: calibrate, fit, predict, train. */
#pragma once

#include "live_state.h"

/** A round's part of a calibration: families of operations in turn, so that all are measured among the runs. */
pace_status pace_live_calibrate(pace_live *live, size_t round) PACE_MUST_CHECK;

/** What is learned of the rows, once all are there; where they are too few predictions rest on the entry alone. */
pace_status pace_live_learn(pace_live *live) PACE_MUST_CHECK;

/** Whether what was learned, or a fit that was given, tells products of packed weights, as the trainer's are. */
pace_status pace_live_find_packed(pace_live *live) PACE_MUST_CHECK;

/** The fit of a table of all-reduces on a machine. */
pace_status pace_live_learn_curve(pace_live *live, const char *rows, const char *on, const char *fit) PACE_MUST_CHECK;

/** What the trainer's host spends around layers, by a small network. */
pace_status pace_live_overhear(pace_live *live) PACE_MUST_CHECK;

/** Trains a step once and keeps what it took; a run of several ranks that fails leaves its reason in `status`. */
pace_status pace_live_train(pace_live *live, pace_live_run *run) PACE_MUST_CHECK;

/* What a prediction is of. */
typedef struct {
    const char *model;
    size_t batch;
    int ranks;
    char on[PACE_LIVE_PATH], approach[PACE_LIVE_APPROACH]; /* approach: "" on one rank */
    char curve[PACE_LIVE_PATH];                            /* the fit of its all-reduces; "" = none */
    double slowed; /* how many times as long kernels take as alone; 1 = as calibrated */
} pace_live_asked;

/** Predicts a step: times, and the shares of its four parts. */
pace_status pace_live_predict(pace_live_step *out, pace_live *live, const pace_live_asked *asked) PACE_MUST_CHECK;

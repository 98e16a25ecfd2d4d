/* The features of a job (docs/fleet.md) from a model of the catalogue or from a trace, so that a job of a fleet and a
 * step are one question. Work is counted alike on the model's lowered step and on a recorded one. */
#pragma once

#include "ask/context.h"
#include "base/warning.h"
#include "base/words.h"
#include "fleet/job_model.h"

/** Fills the columns of `values` that a model decides: of one cNode's step with `values[PACE_JOB_BATCH_SIZE]` samples.
 * `set` are settings of the model ("optimizer=adam"). FLOP are those of products, convolutions and attention; memory
 * accesses the bytes that all other kernels read and write; weights are trainables and the optimizer's slots (Wang et
 * al., 2019). Traffic is what a cNode sends and receives: by rings 4(n - 1)/n of its gradients, with servers both ways;
 * of embeddings the rows that a step looks up. Errors: those of models and settings. */
pace_status pace_job_features_of_model(double values[PACE_JOB_COLUMNS], pace_catalog *catalog, const char *model,
                                       const pace_words *set, pace_job_architecture architecture) PACE_MUST_CHECK;

/* A recorded step as the job model divides it. Seconds. */
typedef struct {
    double step_s;                            /* 0 = nothing was recorded */
    double components_s[PACE_JOB_COMPONENTS]; /* what nothing else hides */
    double idle_s;                            /* the device waits: the model has no part for it */
    char device[64];                          /* that ran it; "" = unknown */
    double known_share;                       /* of the kernels' time: those whose work the trace tells */
    pace_warnings warnings;                   /* of its reading; to be freed */
} pace_job_recorded;

/** The same from a trace (PyTorch, with shapes) of one worker; each figure is the mean of the trace's steps. A batch
 * size of 0 in `values` becomes the one that shapes tell. Weights are the trainables alone: a trace does not hold the
 * optimizer's slots. PACE_E_INPUT for several ranks, and where shapes do not say batch or gradients. */
pace_status pace_job_features_of_trace(double values[PACE_JOB_COLUMNS], pace_job_recorded *recorded,
                                       pace_context *context, const char *path,
                                       pace_job_architecture architecture) PACE_MUST_CHECK;

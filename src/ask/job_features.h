/* The features of a job (docs/fleet.md) from a model of the catalogue: so that a job of a fleet and the step of its model
 * are one question. Work is counted on the lowered step, as it would be on a recorded one. */
#pragma once

#include "base/words.h"
#include "fleet/job_model.h"

/** Fills the columns of `values` that a model decides: of one cNode's step with `values[PACE_JOB_BATCH_SIZE]` samples.
 * `set` are settings of the model ("optimizer=adam"). FLOP are those of products, convolutions and attention; memory
 * accesses the bytes that all other kernels read and write; weights are trainables and the optimizer's slots (Wang et
 * al., 2019). Traffic is what a cNode sends and receives: by rings 4(n - 1)/n of its gradients, with servers both ways;
 * of embeddings the rows that a step looks up. Errors: those of models and settings. */
pace_status pace_job_features_of_model(double values[PACE_JOB_COLUMNS], pace_catalog *catalog, const char *model,
                                       const pace_words *set, pace_job_architecture architecture) PACE_MUST_CHECK;

/* The loop of training on one rank: forward, backward with gradients handed to the exchanger, update. */
#pragma once

#include "exchangers.h"
#include "samples.h"
#include "shard_rows.h"
#include "step_record.h"
#include "table_rows.h"
#include "update.h"

typedef struct {
    pace_network network;
    pace_updater updater;
    pace_samples samples;
    pace_exchange exchange; /* of gradients; not opened with one rank */
    pace_table_rows rows;   /* of sparse tables that every rank has; not opened with one rank */
    pace_shard_rows shards; /* of sparse tables that ranks split; not opened but for pearl */
    pace_step_record *record;
    uint32_t number; /* of the step that runs */
} pace_training;

/** One step: a batch, forward, backward, exchange, update. `loss` and `right` are the batch's (pace_layer_engine).
 * Errors: PACE_E_IO when another rank or a server died. */
pace_status pace_training_step(pace_training *training, double *loss, double *right) PACE_MUST_CHECK;

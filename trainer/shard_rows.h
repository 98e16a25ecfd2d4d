/*
 * PEARL's tables: rank r of R has rows r, r + R, r + 2R, … of every table. Before forward each rank gets the rows that
 * its samples look up from those who have them; behind backward it sends their gradients there. Both are an exchange
 * from all to all.
 */
#pragma once

#include "paceline/paceline.h"
#include "step_record.h"

/* A row of a table of a layer, as the rank that has it counts. */
typedef struct {
    int32_t table, row;
} pace_row_asked;

/* What one rank asked another for, and the gradients that came back. */
typedef struct {
    pace_row_asked *asked;
    size_t count;
    float *numbers; /* rows, then gradients, one behind the other */
} pace_rows_wanted;

/* A layer of tables. */
typedef struct {
    size_t tensor; /* its first */
    pace_engine_rows of;
    pace_row_asked *asked;    /* of this rank's lookups, by the rank that has the row */
    size_t *place;            /* which lookup each is */
    size_t *first;            /* [ranks + 1]: where those of a rank begin */
    float *gradients;         /* of the rows, in the order of `asked` */
    pace_rows_wanted *wanted; /* by other ranks of this one */
} pace_shard_layer;

typedef struct {
    const pace_processes *processes;
    size_t layer_count;
    pace_shard_layer *layers;
    uint64_t sent_bytes; /* so far */
} pace_shard_rows;

/** For a network whose tables are split (pace_engine_network). */
pace_status pace_shard_rows_open(pace_shard_rows *out, const pace_network *network,
                                 const pace_processes *processes) PACE_MUST_CHECK;
void pace_shard_rows_close(pace_shard_rows *rows);

/** Gets what this step's samples look up. Collective, as the next. */
pace_status pace_shard_rows_fetch(pace_shard_rows *rows, const pace_network *network,
                                  pace_step_record *record) PACE_MUST_CHECK;
/** Sends the gradients to those who have the rows. */
pace_status pace_shard_rows_return(pace_shard_rows *rows, const pace_network *network,
                                   pace_step_record *record) PACE_MUST_CHECK;
/** Moves the rows of a table that this rank has against the mean gradient of all ranks. */
void pace_shard_rows_update(const pace_shard_rows *rows, const pace_network *network, size_t tensor, float rate);

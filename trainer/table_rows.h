/*
 * Sparse tables on several ranks: each has all tables, and every rank gets the lookups and gradients of all (an
 * all-gather, as Horovod makes of sparse gradients), so that all tables stay alike.
 */
#pragma once

#include "paceline/paceline.h"
#include "step_record.h"

/* The lookups of a layer of tables, of all ranks. */
typedef struct {
    uint32_t layer;
    size_t tensor;             /* its first */
    size_t indices, gradients; /* of one rank */
    char *all;                 /* one rank's behind the other's: indices, then gradients */
} pace_layer_rows;

typedef struct {
    const pace_processes *processes;
    size_t layer_count;
    pace_layer_rows *layers;
} pace_table_rows;

/** Nothing is opened with one process, or without sparse tables. */
pace_status pace_table_rows_open(pace_table_rows *out, const pace_network *network,
                                 const pace_processes *processes) PACE_MUST_CHECK;
void pace_table_rows_close(pace_table_rows *rows);

/** Gathers what all ranks looked up in this step. Collective. */
pace_status pace_table_rows_gather(pace_table_rows *rows, const pace_network *network,
                                   pace_step_record *record) PACE_MUST_CHECK;

/** Moves the rows of a table against the mean gradient of all ranks. */
void pace_table_rows_update(const pace_table_rows *rows, const pace_network *network, size_t tensor, float rate);

/** What a rank sends in a step. */
uint64_t pace_table_rows_sent_bytes(const pace_table_rows *rows);

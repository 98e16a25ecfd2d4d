/*
 * Timelines of whole training jobs, a row an operation of a worker: what job profilers write that record no kernels.
 *
 *     pipeline_table, pipeline_events    of StragglerAnalysis   ┐
 *     pipeline_log                       of Primus              ┴ rows, whose workers become a pace_step each:
 *         pipeline_peers, pipeline_steps, pipeline_waits
 */
#pragma once

#include "source/traces/kineto.h"

typedef enum {
    PACE_PIPELINE_COMPUTE,
    PACE_PIPELINE_HOST,
    PACE_PIPELINE_SEND,
    PACE_PIPELINE_RECEIVE,
    PACE_PIPELINE_REPLICAS, /* a collective of the replicas of a stage */
    PACE_PIPELINE_ENDS,     /* of the first and the last stage of a replica */
    PACE_PIPELINE_EVERYONE,
    PACE_PIPELINE_TENSOR /* of ranks of which the rows name one */
} pace_pipeline_work;

typedef struct {
    pace_pipeline_work work;
    pace_stage stage;
    const char *collective; /* of an exchange; NULL else */
    bool backward;          /* of a message */
    bool known;             /* else it is taken for compute */
} pace_pipeline_kind;

/* An operation of a worker in a step. */
typedef struct {
    int64_t rank;                   /* of the job */
    int64_t replica, stage, tensor; /* ranks in data, pipeline and tensor parallelism */
    int64_t step;
    int64_t start_ns, duration_ns;
    int64_t chunk;  /* model chunk within its stage, 0 without virtual stages; -1 = not said */
    pace_name kind; /* "forward-compute" */
} pace_pipeline_row;

/* A rank and its rows, which stand together once sorted. */
typedef struct {
    int64_t rank, replica, stage, tensor;
    size_t first, count;
} pace_pipeline_worker;

/* How long a step took where the file says so, also beyond its rows. */
typedef struct {
    int64_t step, duration_ns;
} pace_pipeline_step;

typedef struct {
    pace_names names;
    PACE_VEC(pace_pipeline_row) rows;
    PACE_VEC(pace_pipeline_step) steps;     /* ascending; empty = a step ends with its last row */
    PACE_VEC(pace_pipeline_worker) workers; /* by place (stage, replica, tensor); set by pace_pipeline_steps_make() */
    PACE_VEC(pace_pipeline_kind) kinds;     /* by name; set by pace_pipeline_steps_make() */
    int64_t stages, chunks;                 /* of the pipeline; chunks a stage */
    /* for viewers: an exchange begins when all who take part have come, so that a rank's wait for them lies before it,
     * and what lies between steps is of the picture */
    bool drawn;
    bool alone; /* the file is of one stage: the others have files of their own, and are the ranks of their numbers */
} pace_pipeline_rows;

pace_status pace_pipeline_rows_init(pace_pipeline_rows *rows) PACE_MUST_CHECK;
void pace_pipeline_rows_free(pace_pipeline_rows *rows);

/** Numbers the ranks where rows do not: by stage, replica and tensor rank. */
void pace_pipeline_rows_number(pace_pipeline_rows *rows);

typedef PACE_VEC(pace_step) pace_step_list;

void pace_step_list_free(pace_step_list *list);

/* --- readers ------------------------------------------------------------------------------------------------------ */

/** Whether a file begins as one of these does. */
bool pace_begins_pipeline_table(const char *path, const unsigned char *bytes, size_t length);
bool pace_begins_pipeline_events(const char *path, const unsigned char *bytes, size_t length);
bool pace_begins_pipeline_log(const char *path, const unsigned char *bytes, size_t length);
bool pace_begins_pipeline_log_settings(const char *path, const unsigned char *bytes, size_t length);

/** Read a file and make a finished step of each rank in it; notes->warning says what was assumed. PACE_E_INPUT with
 * file, place and what was expected. */
pace_status pace_pipeline_table_read(pace_step_list *out, const char *path, pace_read_notes *notes,
                                     pace_progress progress) PACE_MUST_CHECK;
pace_status pace_pipeline_events_read(pace_step_list *out, const char *path, pace_read_notes *notes,
                                      pace_progress progress) PACE_MUST_CHECK;
pace_status pace_pipeline_log_read(pace_step_list *out, const char *path, pace_read_notes *notes,
                                   pace_progress progress) PACE_MUST_CHECK;
/** The settings beside logs, which are read with them: no rank. */
pace_status pace_pipeline_log_settings_read(pace_step_list *out, const char *path, pace_read_notes *notes,
                                            pace_progress progress) PACE_MUST_CHECK;

/* --- from rows to steps ------------------------------------------------------------------------------------------- */

pace_pipeline_kind pace_pipeline_kind_of(const char *name);

enum { PACE_PIPELINE_NOBODY = -1, PACE_PIPELINE_UNKNOWN = -2 };

/** The rank that each message of a worker's step is exchanged with, by row; PACE_PIPELINE_NOBODY of one that was never
 * launched, as before the first stage and behind the last; PACE_PIPELINE_UNKNOWN where it cannot be told. `rows` has
 * the `count` of the worker's step in order of start. */
void pace_pipeline_peers_find(int64_t *out, const pace_pipeline_rows *all, const pace_pipeline_row *rows, size_t count);

/** Lets each device task of a finished step wait for the one before it in the order of its worker's program. */
pace_status pace_pipeline_waits_add(pace_step *step) PACE_MUST_CHECK;

/** Sorts rows and makes a finished step of each rank. `bytes` are those of the file, shared out among them. */
pace_status pace_pipeline_steps_make(pace_step_list *out, pace_pipeline_rows *rows, const char *path,
                                     pace_read_notes *notes) PACE_MUST_CHECK;

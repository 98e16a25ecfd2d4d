/*
 * A batch of training jobs in columns: what is known of a job before it is timed, one row per job, after Wang et al.
 * (IISWC 2019, arXiv 1910.05930). Readers fill it, the job model and the fleet read it; a batch is cleared and filled
 * again, so that memory does not grow with the number of jobs.
 */
#pragma once

#include "base/memory.h"

/* How a job is spread over devices, and so which links its weights travel on (catalog/architectures.yaml). */
typedef enum {
    PACE_JOB_1W1G,              /* one worker, one GPU */
    PACE_JOB_1WNG,              /* one worker, several GPUs of one server, weights in host memory */
    PACE_JOB_PS_WORKER,         /* workers and parameter servers on different servers */
    PACE_JOB_ALLREDUCE_LOCAL,   /* replicas of one NVLink server */
    PACE_JOB_ALLREDUCE_CLUSTER, /* replicas of several NVLink servers */
    PACE_JOB_PEARL,             /* embeddings partitioned, dense weights replicated, one NVLink server */
    PACE_JOB_ARCHITECTURES
} pace_job_architecture;

/* "1w1g", "1wng", "ps_worker", "allreduce_local", "allreduce_cluster", "pearl". */
extern const char *const pace_job_architecture_names[PACE_JOB_ARCHITECTURES];

/* The numbers of a job. Work and bytes are of one cNode (a GPU that holds a replica) and one step. */
typedef enum {
    PACE_JOB_CNODES,
    PACE_JOB_BATCH_SIZE,                 /* samples of one cNode and step */
    PACE_JOB_FLOP,                       /* of compute-bound operations (matrix products, convolutions) */
    PACE_JOB_MEMORY_ACCESS_BYTES,        /* of memory-bound operations (element-wise and the like) */
    PACE_JOB_INPUT_BYTES,                /* host to device */
    PACE_JOB_WEIGHT_TRAFFIC_BYTES,       /* weights and gradients, both directions */
    PACE_JOB_DENSE_WEIGHT_BYTES,         /* with optimizer state */
    PACE_JOB_EMBEDDING_WEIGHT_BYTES,     /* with optimizer state */
    PACE_JOB_REQUIRED,                   /* the columns above must be there; those below may be NAN = not known */
    PACE_JOB_STEP_S = PACE_JOB_REQUIRED, /* measured */
    PACE_JOB_GPU_HOURS,
    PACE_JOB_START_S,            /* since 1970-01-01 UTC; the column is "start" */
    PACE_JOB_COMPUTE_EFFICIENCY, /* shares of the peaks that this job reaches, 0 < e <= 1, in place of the model's */
    PACE_JOB_MEMORY_EFFICIENCY,
    PACE_JOB_PCIE_EFFICIENCY,
    PACE_JOB_NETWORK_EFFICIENCY, /* of Ethernet and NVLink */
    PACE_JOB_COLUMNS
} pace_job_column;

/* The names of the columns in a table: "cnodes", "batch_size", "flop", …, "step_s", "gpu_hours", "start", …. The text
 * columns are "job", "architecture" and "user". */
extern const char *const pace_job_column_names[PACE_JOB_COLUMNS];

/* What a column of a table holds: a number of pace_job_column, or one of these texts. */
enum { PACE_JOB_ID = PACE_JOB_COLUMNS, PACE_JOB_ARCHITECTURE, PACE_JOB_USER, PACE_JOB_ROLES, PACE_JOB_NO_ROLE = -1 };

/** The name of a role: "cnodes" …, "job", "architecture", "user". */
const char *pace_job_role_name(int role);
/** The role that a name of ours says; PACE_JOB_NO_ROLE for another. */
int pace_job_role_named(const char *name);

/* Zero-initialise. Columns have `capacity` elements, of which `count` hold. */
typedef struct {
    size_t count, capacity;
    double *values[PACE_JOB_COLUMNS];
    bool holds[PACE_JOB_COLUMNS]; /* false: no number was ever put into the column, all of which is NAN */
    uint8_t *architectures;       /* pace_job_architecture */
    size_t *ids, *users;          /* offsets into text; SIZE_MAX = none */
    uint64_t *lines;              /* of the file, from 1; 0 = not from a file */
    PACE_VEC(char) text;          /* NUL-terminated, back to back */
} pace_jobs;

/* A text that need not be terminated; data NULL = none. */
typedef struct {
    const char *data;
    size_t length;
} pace_job_text;

/** Appends a job. `values` has PACE_JOB_COLUMNS numbers; nothing is checked here. Errors: PACE_E_MEMORY. */
pace_status pace_jobs_add(pace_jobs *jobs, pace_job_text id, pace_job_text user, pace_job_architecture architecture,
                          const double *values, uint64_t line) PACE_MUST_CHECK;
/** Makes room for so many jobs more, their texts apart. */
pace_status pace_jobs_reserve(pace_jobs *jobs, size_t more) PACE_MUST_CHECK;
/** Takes the jobs out for which `dropped` holds; the others keep their order. */
void pace_jobs_drop(pace_jobs *jobs, const bool *dropped);
/** Forgets the jobs and keeps the memory. */
void pace_jobs_clear(pace_jobs *jobs);
void pace_jobs_free(pace_jobs *jobs);

/** The id or user of a job; "" = none. Borrowed until the next add. */
const char *pace_jobs_id(const pace_jobs *jobs, size_t job);
const char *pace_jobs_user(const pace_jobs *jobs, size_t job);

/** Sets every number to what it is when a table is silent: NAN, for optional columns and required ones alike. */
void pace_job_values_clear(double *values);

/** By name, case and "-_/ " between words ignored ("PS/Worker", "allreduce-local"). False when there is none. */
bool pace_job_architecture_find(pace_job_architecture *out, const char *name, size_t length);
bool pace_job_column_find(pace_job_column *out, const char *name, size_t length);

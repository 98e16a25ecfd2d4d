/*
 * What a row of a cluster's records can say: of jobs as schedulers write them down, and of GPUs as their counters do.
 * One list gives each field its name in mapping files (catalog/clusters) and what its cells are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    PACE_USAGE_TEXT,
    PACE_USAGE_NUMBER,   /* times the mapping's unit */
    PACE_USAGE_TIME,     /* seconds since 1970, or since the start of the trace */
    PACE_USAGE_DURATION, /* seconds */
} pace_usage_cell;

/* enumerator, name in mapping files, cell */
#define PACE_USAGE_FIELD_LIST(X)                                                                          \
    X(JOB, "job", TEXT)                                                                                   \
    X(PART, "part", TEXT)           /* of a job: a task, a role */                                        \
    X(LINK, "link", TEXT)           /* what another table calls the job */                                \
    X(CLUSTER, "cluster", TEXT)     /* that numbers its jobs by itself */                                 \
    X(NAMESPACE, "namespace", TEXT) /* that names its jobs by itself, on the cluster's nodes */           \
    X(USER, "user", TEXT)                                                                                 \
    X(ACCOUNT, "account", TEXT)                                                                           \
    X(QUEUE, "queue", TEXT)                                                                               \
    X(TYPE, "type", TEXT) /* of work: a workload, a purpose */                                            \
    X(GPU, "gpu", TEXT)   /* its model */                                                                 \
    X(NODE, "node", TEXT)                                                                                 \
    X(DEVICE, "device", TEXT) /* of counters: which GPU */                                                \
    X(SLICE, "slice", TEXT)   /* of it, where it is cut: "3g.20gb"; "part" tells them apart */            \
    X(STATE, "state", TEXT)                                                                               \
    X(METRIC, "metric", TEXT)   /* of counters in rows of their own: which */                             \
    X(GPUS, "gpus", NUMBER)     /* held */                                                                \
    X(ASKED, "asked", NUMBER)   /* GPUs that were asked for, where none are held */                       \
    X(TIMES, "times", NUMBER)   /* what the GPUs are multiplied by: instances of a task */                \
    X(TASKS, "tasks", NUMBER)   /* of an array that stands in one row: what "list: brackets" counts */    \
    X(SHARES, "shares", NUMBER) /* of GPUs that others hold too, of unknown size */                       \
    X(CLAIMS, "claims", NUMBER) /* on devices, of which another record says what and how many they are */ \
    X(SUBMIT, "submit", TIME)                                                                             \
    X(START, "start", TIME)                                                                               \
    X(END, "end", TIME)                                                                                   \
    X(ELAPSED, "elapsed", DURATION)                                                                       \
    X(AT, "at", TIME)                 /* of counters */                                                   \
    X(VALUE, "value", NUMBER)         /* of the metric */                                                 \
    X(BUSY_GPUS, "busy_gpus", NUMBER) /* that one of the job's workers kept busy, on average */           \
    X(ACTIVE, "active", NUMBER)       /* from here on counters; share of time in which the GPU worked */  \
    X(GPU_UTIL, "gpu_util", NUMBER)   /* share of time in which any kernel ran */                         \
    X(SM, "sm", NUMBER)               /* share of multiprocessors with work */                            \
    X(OCCUPANCY, "occupancy", NUMBER)                                                                     \
    X(TENSOR, "tensor", NUMBER)   /* share of cycles in which matrix units worked */                      \
    X(DRAM, "dram", NUMBER)       /* share of cycles in which memory moved data */                        \
    X(PCIE_TX, "pcie_tx", NUMBER) /* bytes/s */                                                           \
    X(PCIE_RX, "pcie_rx", NUMBER)                                                                         \
    X(NVLINK_TX, "nvlink_tx", NUMBER)                                                                     \
    X(NVLINK_RX, "nvlink_rx", NUMBER)                                                                     \
    X(POWER, "power", NUMBER) /* W */

typedef enum {
#define PACE_USAGE_ENUMERATOR(id, name, cell) PACE_USAGE_##id,
    PACE_USAGE_FIELD_LIST(PACE_USAGE_ENUMERATOR)
#undef PACE_USAGE_ENUMERATOR
        PACE_USAGE_FIELDS,
    PACE_USAGE_COUNTERS_FROM = PACE_USAGE_ACTIVE,
} pace_usage_field;

enum { PACE_USAGE_COUNTERS = PACE_USAGE_FIELDS - PACE_USAGE_COUNTERS_FROM };

typedef struct {
    const char *name;
    pace_usage_cell cell;
} pace_usage_field_kind;

extern const pace_usage_field_kind pace_usage_fields[PACE_USAGE_FIELDS];

/** The field of a name; PACE_USAGE_FIELDS for none. */
pace_usage_field pace_usage_field_named(const char *name);

/* How a run ended, or that it has not. */
typedef enum {
    PACE_STATE_COMPLETED,
    PACE_STATE_FAILED,
    PACE_STATE_TIMEOUT,
    PACE_STATE_NODE_FAILED,
    PACE_STATE_CANCELLED,
    PACE_STATE_PREEMPTED,
    PACE_STATE_RUNNING,
    PACE_STATE_PENDING,
    PACE_STATE_OTHER,
    PACE_STATES
} pace_usage_state;

extern const char *const pace_usage_state_names[PACE_STATES];

/* A text that need not be terminated. */
typedef struct {
    const char *data;
    size_t length;
} pace_usage_text;

enum { PACE_USAGE_KINDS_OF_GPU = 8 };

/* GPUs of one model, of those that a run holds. */
typedef struct {
    pace_usage_text model;
    double count;
} pace_usage_gpus;

/* A row as its mapping reads it. Texts are borrowed. */
typedef struct {
    pace_usage_text text[PACE_USAGE_FIELDS]; /* length 0 = not said */
    double number[PACE_USAGE_FIELDS];        /* NAN = not said */
    pace_usage_gpus gpus[PACE_USAGE_KINDS_OF_GPU];
    size_t gpu_kinds; /* where GPUs were told by model */
    pace_usage_state state;
    bool state_known;
    bool unitless;  /* it has a duration of which neither it nor the header says the unit */
    bool zoneless;  /* it has a time without a zone */
    bool zoned;     /* it has a time with one, or seconds since 1970 */
    bool year_last; /* it has a date that ends with its year: of such a date somebody may have to say the order */
    uint64_t line;  /* of the file, or the number of the record in a JSON document */
} pace_usage_row;

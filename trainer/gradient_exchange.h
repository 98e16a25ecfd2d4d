/*
 * How the ranks of `paceline train` share gradients: what an approach of catalog/approaches.yaml implements. An
 * approach is a module around other libraries (MPI, gRPC, UCX), loaded when it is asked for; it knows this header
 * alone.
 *
 * A step, on every rank: backward produces the gradients of one tensor after another, in the same order on all ranks,
 * and says ready() after each; then finish() returns when every weight may be updated, and the trainer updates them.
 * Then comes the next forward pass. The thread that calls open() calls all others too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PACE_EXCHANGER_VERSION = 1, PACE_EXCHANGER_MESSAGE = 512 };

typedef enum {
    PACE_EXCHANGER_OK,
    PACE_EXCHANGER_MISSING, /* a library or a program is not here; message names the package */
    PACE_EXCHANGER_USAGE,   /* these settings cannot be; message says which */
    PACE_EXCHANGER_FAILED   /* a rank or a server died or did not answer in time; message says which */
} pace_exchanger_result;

/* A tensor of parameters, in the order of the model's layers. Blocks are aligned to 64 bytes, belong to the trainer and
 * stay where they are between open() and close(). */
typedef struct {
    const char *name; /* "layer1.0.conv2.weight" */
    size_t elements;
    float *gradient; /* of the mean loss over this rank's samples; after finish() the mean over all ranks */
    float *weights;  /* equal on all ranks at open() (those of rank 0) */
} pace_train_tensor;

/* What the trainer draws: one event for each exchange and each wait, on the rank where it happened. */
typedef struct {
    const char *name;         /* "allreduce", "push", "pull", "wait"; copied */
    const char *collective;   /* "allreduce", "broadcast", …; NULL = none: a wait, or a copy */
    size_t elements;          /* of 4 bytes */
    unsigned lane;            /* 0 = the thread that trains; 1, 2, … = threads of the approach */
    int64_t start_ns, end_ns; /* of CLOCK_MONOTONIC */
} pace_exchange_event;

typedef void (*pace_exchange_record)(void *context, const pace_exchange_event *event);

typedef enum { PACE_TRAIN_SGD, PACE_TRAIN_MOMENTUM, PACE_TRAIN_ADAM } pace_train_rule;

/* How weights are updated, for approaches whose servers do it. */
typedef struct {
    pace_train_rule rule;
    float rate, momentum, beta1, beta2, epsilon;
} pace_train_update;

typedef struct {
    size_t size; /* sizeof(pace_exchanger_setup): later versions add members at the end */
    int rank, ranks;
    const pace_train_tensor *tensors;
    size_t tensor_count;
    pace_train_update update;
    const void *communicator;    /* an MPI_Comm *; NULL = MPI_COMM_WORLD, already initialised where ranks > 1 */
    bool overlap;                /* ready() may begin to exchange; else all exchange is in finish() */
    bool asynchronous;           /* parameter servers: no rank waits for another (HOGWILD) */
    unsigned servers;            /* parameter servers; 0 = as the approach has it */
    unsigned port;               /* the first that servers listen on; 0 = any that is free */
    double fusion_bytes;         /* most that one buffer holds; 0 = as the approach has it */
    double timeout_s;            /* after which a rank that does not answer is dead */
    pace_exchange_record record; /* NULL: nobody draws; may be called by any thread */
    void *record_context;
} pace_exchanger_setup;

/* Since open(). */
typedef struct {
    uint64_t exchanges; /* messages or collectives */
    uint64_t sent_bytes, received_bytes;
    int64_t waited_ns;  /* the training thread stood still in ready() and finish() */
    int64_t busy_ns;    /* some exchange was under way */
    char transport[64]; /* what really carried the bytes: "shared memory", "tcp" */
} pace_exchanger_counts;

typedef struct {
    int version;      /* PACE_EXCHANGER_VERSION */
    const char *name; /* as in catalog/approaches.yaml: "horovod-mpi" */
    bool does_update; /* after finish() fresh weights are in place: the trainer does not update */

    /** Collective. `message` has room for PACE_EXCHANGER_MESSAGE characters. */
    pace_exchanger_result (*open)(void **state, const pace_exchanger_setup *setup, char *message);
    /** The gradient of this tensor will not change any more in this step. */
    pace_exchanger_result (*ready)(void *state, size_t tensor, char *message);
    pace_exchanger_result (*finish)(void *state, char *message);
    void (*count)(const void *state, pace_exchanger_counts *out);
    /** After a failure too: ends servers and threads, leaves no process behind. */
    void (*close)(void *state);
} pace_exchanger;

/** What a module defines: its i-th approach; NULL behind the last. */
typedef const pace_exchanger *(*pace_exchanger_fn)(size_t i);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const pace_exchanger *
pace_train_exchanger(size_t i);

#ifdef __cplusplus
}
#endif

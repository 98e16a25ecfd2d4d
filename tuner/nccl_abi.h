/*
 * What a tuner plug-in of NCCL shows and is called with, versions 3 to 5 of the interface (NCCL 2.22 to 2.29; RCCL has
 * 3 and 4). Declared anew from the documentation of the interface, so that nothing of NCCL is needed to build;
 * check_headers.c holds it against NCCL's own headers where they are.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum { TUNER_SUCCESS = 0, TUNER_SYSTEM_ERROR = 2, TUNER_INTERNAL_ERROR = 3 } tuner_result;

/* The collectives that plug-ins are asked about. */
typedef enum {
    TUNER_BROADCAST = 0,
    TUNER_REDUCE = 1,
    TUNER_ALLGATHER = 2,
    TUNER_REDUCESCATTER = 3,
    TUNER_ALLREDUCE = 4
} tuner_collective;

/* Rows and columns of the table of costs, in this order; later versions add rows behind. */
typedef enum {
    TUNER_TREE = 0,
    TUNER_RING = 1,
    TUNER_COLLNET_DIRECT = 2,
    TUNER_COLLNET_CHAIN = 3,
    TUNER_NVLS = 4,
    TUNER_NVLS_TREE = 5,
    TUNER_PAT = 6
} tuner_algorithm;

typedef enum { TUNER_LL = 0, TUNER_LL128 = 1, TUNER_SIMPLE = 2 } tuner_protocol;

/* The cost of what is not possible; a plug-in leaves it. */
#define TUNER_IGNORED (-1.0F)

typedef enum { TUNER_LOG_WARN = 2, TUNER_LOG_INFO = 3 } tuner_log_level;
enum { TUNER_LOG_TUNING = 64 };

typedef void (*tuner_logger)(tuner_log_level level, unsigned long flags, const char *file, int line, const char *format,
                             ...);

typedef struct {
    const char *name;
    tuner_result (*init)(size_t ranks, size_t nodes, tuner_logger log, void **context);
    tuner_result (*get_choice)(void *context, tuner_collective collective, size_t bytes, int piped, float **costs,
                               int algorithms, int protocols, int *channels);
    tuner_result (*destroy)(void *context);
} tuner_v3;

typedef struct {
    const char *name;
    tuner_result (*init)(size_t ranks, size_t nodes, tuner_logger log, void **context);
    tuner_result (*get_choice)(void *context, tuner_collective collective, size_t bytes, int piped, float **costs,
                               int algorithms, int protocols, int registered, int *channels);
    tuner_result (*destroy)(void *context);
} tuner_v4;

/* Of NVLink domains and NCCL's constants nothing is read or changed. */
typedef struct {
    const char *name;
    tuner_result (*init)(void **context, uint64_t communicator, size_t ranks, size_t nodes, tuner_logger log,
                         void *domains, void *constants);
    tuner_result (*get_choice)(void *context, tuner_collective collective, size_t bytes, int piped, float **costs,
                               int algorithms, int protocols, int registered, int *channels);
    tuner_result (*finalize)(void *context);
} tuner_v5;

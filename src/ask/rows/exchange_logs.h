/* Logs of benchmarks: nccl-tests as text and JSON, OSU, Intel MPI and oneCCL, DeepSpeed's communication benchmark.
 * Private to exchange_rows. */
#pragma once

#include "ask/rows/exchange_rows.h"

/** What a file is, by its first lines. */
typedef enum {
    PACE_LOG_NONE,
    PACE_LOG_NCCL_TEXT,
    PACE_LOG_NCCL_JSON,
    PACE_LOG_OSU,
    PACE_LOG_DEEPSPEED,
    PACE_LOG_BENCHMARK, /* Intel MPI, oneCCL */
} pace_log_kind;
pace_log_kind pace_log_kind_of(const char *text);

/** Adds the log's rows; `text` ends with NUL and may be changed. */
pace_status pace_log_read(pace_exchange_rows *rows, pace_catalog *catalog, pace_log_kind kind, char *text,
                          size_t length, const pace_exchange_defaults *defaults) PACE_MUST_CHECK;

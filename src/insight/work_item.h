/* A piece of a device's work, or of its host's where the host is the device. */
#pragma once

#include "base/memory.h"

typedef enum {
    PACE_WORK_COMPUTE_BOUND,
    PACE_WORK_MEMORY_BOUND,
    PACE_WORK_COMMUNICATION,
    PACE_WORK_COPY,
    PACE_WORK_CALL /* where the host is the device: what it spends on calling, and works nothing (work.c) */
} pace_work_class;

typedef struct {
    int64_t start_ns, end_ns;
    uint32_t task;
    uint8_t class, stage;  /* pace_work_class, pace_stage */
    bool peer_copy;        /* a copy between devices: communication in the matrix, memory in the windows */
    bool message;          /* communication between two ranks: a send, a receive, or several at once */
    int64_t wait_until_ns; /* communication: when the last rank arrived; INT64_MIN = unknown (one rank) */
} pace_work_item;

typedef PACE_VEC(pace_work_item) pace_work_items;

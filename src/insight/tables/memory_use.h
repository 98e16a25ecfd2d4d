/*
 * What the allocator of the framework held, by device, from the "[memory]" instants of a recording
 * (profile_memory=True). Where these carry no totals (PyTorch before 1.12), the changes are summed from 0 at the start
 * of the recording.
 */
#pragma once

#include "insight/rank.h"

typedef struct {
    int16_t device_id;
    uint8_t device_type; /* PyTorch's number (step.h) */
    bool totals;         /* recorded; else sums of the recorded changes, above what was held at the start */
    size_t events;
    int64_t taken_bytes, given_back_bytes; /* all events */
    int64_t first_bytes, last_bytes;       /* held before the first event, after the last */
    int64_t peak_bytes, peak_at_ns;        /* the first instant of the most allocated */
    int64_t peak_reserved_bytes;           /* by the allocator from the device; -1 = not recorded */
    size_t peak_event;                     /* index into step->memory */
} pace_memory_device;

/* What one operator took, on one device. */
typedef struct {
    size_t device;    /* index into devices */
    pace_name name;   /* of the rank's step; 0 = outside all operators */
    pace_name module; /* of the largest allocation's module; 0 = none recorded */
    size_t count;     /* allocations */
    int64_t taken_bytes, largest_bytes;
    int64_t at_peak_bytes; /* of these, still held at the device's peak; -1 = addresses are not recorded */
} pace_memory_operator;

typedef struct {
    PACE_VEC(pace_memory_device) devices;     /* in order of appearance */
    PACE_VEC(pace_memory_operator) operators; /* most held at the peak first, then most taken */
} pace_memory_use;

pace_status pace_memory_use_find(pace_memory_use *out, const pace_rank *rank) PACE_MUST_CHECK;
void pace_memory_use_free(pace_memory_use *use);

/** What a device holds after an event: its recorded total, else the sum so far (`sum_bytes` includes the event). */
static inline int64_t pace_memory_held(const pace_memory_event *event, int64_t sum_bytes) {
    return event->allocated_bytes >= 0 ? event->allocated_bytes : sum_bytes;
}

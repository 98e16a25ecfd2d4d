/*
 * Launches that found the queue of their stream full: the call returns when the work that has waited the longest has
 * ended, so that the host is as slow as the device. What a call takes behind that instant is its own time.
 */
#pragma once

#include "step/step.h"

typedef struct {
    uint32_t call;
    int64_t room_ns; /* when it had room: work of its stream ended within the call */
} pace_room_wait;

typedef PACE_VEC(pace_room_wait) pace_room_waits;

/** Appends the calls that waited for room, by task; the caller's to free even on failure. A queue is full where as many
 * launches are in line as ever on its stream, or where many are and the call takes long. */
pace_status pace_room_waits_find(pace_room_waits *out, const pace_step *step) PACE_MUST_CHECK;

/** When a call had room; its start, if it did not wait. */
int64_t pace_room_ns(const pace_room_waits *waits, const pace_step *step, uint32_t call);

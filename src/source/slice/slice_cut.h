/*
 * Which events of a Kineto trace belong to a window of host time, with everything that the window's steps need: the
 * device work that the window launched, wherever it ran; the earlier work that ran beside it or ended last before it;
 * the calls that launched all of these, and the operators around them; both ends of their arrows.
 *
 * Found in three passes over the file: the first lists the launches of the window, the second says how long the devices
 * worked for it, the third finds the calls that launched what ran beside. Memory grows with what is in the window and
 * with the device work launched after it.
 */
#pragma once

#include "base/id_set.h"
#include "machine/kernel_class.h"
#include "source/traces/trace_events.h"

/* A device, and the time it worked for the window. */
typedef struct {
    int64_t id;
    int64_t from_ns;  /* when the last compute kernel launched before the window ended; INT64_MIN = there was none */
    int64_t until_ns; /* when the last work launched in the window ended; INT64_MIN = there was none */
} pace_slice_device;

/* The start of a call on a host thread. */
typedef struct {
    uint64_t thread;
    int64_t at_ns;
} pace_slice_call;

typedef struct {
    int64_t from_ns, until_ns; /* the host window: [from, until) */
    int64_t host_from_ns;      /* the host's events are kept from here on: what the device's first gap waited for */
    int64_t last_ns;           /* the end of all that is kept */
    uint64_t least, most;      /* correlations of the window's calls */
    bool has_calls;            /* the trace records runtime calls at all */
    pace_id_set calls;         /* correlations of the window's calls */
    pace_id_set operators;     /* external ids of the window's operators */
    pace_id_set arrows;        /* that begin in the window: pace_slice_arrow() */
    pace_id_set context;       /* correlations of kept device work that was launched outside of the window */
    PACE_VEC(pace_slice_call) context_calls; /* that launched it, sorted: what encloses them is kept too */
    PACE_VEC(pace_slice_device) devices;
} pace_slice_cut;

/** Finds what belongs to the host window [from_ns, until_ns) of the trace at `path`. */
pace_status pace_slice_cut_find(pace_slice_cut *out, const char *path, int64_t from_ns, int64_t until_ns,
                                const pace_kernel_classes *classes, pace_progress progress) PACE_MUST_CHECK;
void pace_slice_cut_free(pace_slice_cut *cut);

/** Whether an event belongs to the slice. Of events with a begin and an end apart ('B', 'E') each is judged by its own
 * time. */
bool pace_slice_keeps(const pace_slice_cut *cut, const pace_kineto_event *event);

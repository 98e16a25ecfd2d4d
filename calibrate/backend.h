/*
 * Who measures: the loops of this project, or an optional module around a library. A module is a shared object that
 * defines pace_calibrate_backend(); it knows nothing of Paceline's library but this header and point.h, so that a
 * machine without that library still has everything else.
 */
#pragma once

#include "point.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PACE_BACKEND_VERSION = 1, PACE_BACKEND_MESSAGE = 256 };

typedef enum {
    PACE_PROBE_OK,
    PACE_PROBE_OTHER, /* this backend does not do this operation */
    PACE_PROBE_FAILED /* it does, but could not now; message set */
} pace_probe_status;

/* What a backend can tell of its device; 0 and "" = not known. */
typedef struct {
    char name[96], vendor[16]; /* "NVIDIA H200" */
    char software[96];         /* "OpenBLAS 0.3.21, SkylakeX kernels" */
    double memory_bytes;       /* in all */
    double free_bytes;         /* now */
    double cache_bytes;        /* the last cache before memory */
    double sm_count, boost_hz;
    double launch_s;     /* per launch, back to back from one thread (CPU: an empty parallel region) */
    double launch_lag_s; /* from the call to the start of the work on an idle device */
    double event_lag_s;  /* from the end of work on one stream to the start of work on another that waits for it */
    double timer_s;      /* the clock's resolution */
    bool is_cpu;
} pace_device_facts;

typedef struct {
    int version;        /* PACE_BACKEND_VERSION */
    const char *source; /* the word in the column "source": "openblas" */
    const char *target; /* "cpu" or "cuda" */

    /** Chooses the number of threads before anything else (CPU). */
    void (*set_threads)(int threads);
    /** What is known and quickly measured of device number `device`. May be NULL. */
    pace_probe_status (*describe)(pace_device_facts *facts, int device, char *message);
    /** Makes tensors and plans for a point; *state is released with `release`. */
    pace_probe_status (*prepare)(void **state, const pace_point *point, int device, char *message);
    /** Does it `runs` times back to back and says how many seconds that took. */
    pace_probe_status (*time_runs)(double *seconds, void *state, unsigned runs, char *message);
    void (*release)(void *state);
} pace_backend;

typedef const pace_backend *(*pace_backend_fn)(void);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const pace_backend *
pace_calibrate_backend(void);

#ifdef __cplusplus
}
#endif

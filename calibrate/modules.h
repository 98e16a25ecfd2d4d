/* The optional modules: found beside the program, loaded when a measurement is asked for. */
#pragma once

#include "backend.h"

enum { PACE_BACKENDS_MOST = 8 };

typedef struct {
    const pace_backend *items[PACE_BACKENDS_MOST];
    size_t count;
    char missing[PACE_BACKENDS_MOST][320]; /* sentences: which module is not here, and what brings it */
    const char *missing_source[PACE_BACKENDS_MOST];
    size_t missing_count;
} pace_backends;

/** The backends of a target ("cpu", "cuda"): our own loops and the modules that can be loaded. `folder` NULL: that of
 * PACELINE_MODULES, else "modules" or "../lib/paceline" beside the program. */
void pace_backends_load(pace_backends *out, const char *target, const char *folder);

const pace_backend *pace_host_backend(void);

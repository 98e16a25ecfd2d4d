/* A call or an operator that takes most of a step, and many times as long as any other of its name: as the first use of
 * a library, a kernel or a buffer does. Repeated steps do not have it. */
#pragma once

#include "insight/critical.h"

typedef struct {
    const char *name;
    int64_t took_ns, next_ns; /* itself; the longest other of the name */
} pace_first_use;

/** False = the step has none. */
bool pace_first_use_find(pace_first_use *out, const pace_critical *critical, const pace_analysis *analysis);

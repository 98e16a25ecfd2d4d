/* What another thread of the process does while a resource's time passes on the critical path. */
#pragma once

#include "insight/critical.h"

typedef struct {
    const char *name; /* the outermost operator that one other thread spends most of it in; NULL = none; borrowed */
    double share;     /* of the resource's time on the path */
} pace_meanwhile;

/** Looks at one rank, by index; all zero where its other threads run no operators then. */
pace_status pace_meanwhile_find(pace_meanwhile *out, const pace_critical *critical, const pace_analysis *analysis,
                                pace_advice resource, uint32_t rank) PACE_MUST_CHECK;

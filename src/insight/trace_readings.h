/* The traces of several ranks, read on all cores and by all processes. */
#pragma once

#include "insight/analyze_options.h"
#include "source/inputs.h"
#include "source/traces/trace_formats.h"

/** What became of one file. */
typedef struct {
    pace_status status;
    char *message; /* of a failure, as pace_message_marked() */
    pace_read_notes notes;
    pace_step_list steps; /* a rank each; owned, when status is PACE_OK */
} pace_reading;

typedef struct {
    pace_reading *items; /* one a path */
    size_t count;
    bool elsewhere; /* process 0 has them */
} pace_readings;

/** Reads all paths, if `so_far` is PACE_OK. Where processes share the work, each reads some, and process 0 has all of
 * them in the end: all of them must call this, also who has failed before. Failures of single files are theirs; what is
 * returned is that of the whole: `so_far`, PACE_E_MEMORY, PACE_E_IO. */
pace_status pace_readings_read(pace_readings *out, const pace_texts *paths, pace_status so_far,
                               const pace_analyze_options *options) PACE_MUST_CHECK;
void pace_readings_free(pace_readings *readings);

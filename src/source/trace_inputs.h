/* Files that hold a measured step, whatever their format. */
#ifndef PACE_SOURCE_TRACE_INPUTS_H
#define PACE_SOURCE_TRACE_INPUTS_H

#include "source/kineto.h"

/** Reads a profiler's trace: an SQLite database as nsys.h, all else ("-" too) as kineto.h. Free with
 * pace_step_free(). */
pace_status pace_trace_read(pace_step *out, const char *path, pace_read_notes *notes, pace_progress_fn progress,
                            void *progress_context) PACE_MUST_CHECK;

#endif

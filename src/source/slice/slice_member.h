/* The member by which a slice says for which steps it was cut: their annotations may be of another name, and what
 * surrounds them is not whole. Times are in microseconds, as those of events. */
#pragma once

#include "base/json_writer.h"
#include "source/traces/kineto_event.h"

#define PACE_SLICE_MEMBER "pacelineSlice"

/* step->cut_ns of a slice that was cut from a file that breaks off: what the file lacks, the slice lacks too. */
#define PACE_SLICE_OF_BROKEN_NS (INT64_MAX - 1)

/** Reads the member behind its '{' into step->kept_steps, kept_since_ns, kept_until_ns and cut_ns. */
pace_json_token pace_slice_member_read(pace_step *step, pace_json *json, pace_status *status);

/** Writes these of a step, key and value; without `names` a step that the user named is "step 3". */
void pace_slice_member_write(pace_sink *sink, const pace_step *step, bool names);

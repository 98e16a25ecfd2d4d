/* Where Python spends its time, by function and line: frames of the Python tracer. */
#pragma once

#include "insight/tables/operators.h"

typedef struct {
    pace_name name; /* of `names`: "model.py(218): forward", addresses of objects cut off */
    size_t calls;
    int64_t self_ns;      /* in the frame itself: not in what it calls */
    int64_t operators_ns; /* in operators and runtime calls that it makes itself */
    int64_t all_ns;       /* from its begin to its end; a frame inside one of the same name is not counted again */
    int64_t device_ns;    /* work on the device launched below it and below no other frame */
} pace_python_row;

typedef struct {
    pace_names names;
    PACE_VEC(pace_python_row) rows; /* most self time first */
} pace_python_frames;

enum { PACE_FRAME_NAME = 512 };

/** A frame's name as rows have it: without the addresses of objects, and without the number of a module
 * ("Linear_12"). */
void pace_python_frame_name(char out[PACE_FRAME_NAME], const char *name);

/** Of frames that begin in [from_ns, to_ns) on the host. No rows where the trace has no frames. Those that head modules
 * are named by their class: "nn.Module: Linear". */
pace_status pace_python_frames_sum(pace_python_frames *out, const pace_rank *rank, const pace_work_choice *choice,
                                   int64_t from_ns, int64_t to_ns) PACE_MUST_CHECK;
void pace_python_frames_free(pace_python_frames *frames);

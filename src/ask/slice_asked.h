/* Cutting traces down: which files, which of their steps, and where each slice goes. */
#pragma once

#include "ask/engine_options.h"
#include "source/slice/slice_write.h"

typedef struct {
    char *path, *output;
    int64_t rank; /* -1 = the trace does not say */
    size_t steps; /* 0 = everything was kept */
    char first_step[64], last_step[64];
    char broken_step[64]; /* the first that was left out, for the file breaks off in it; "" = none */
    pace_slice_counts counts;
} pace_slice_done;

typedef struct {
    PACE_VEC(pace_slice_done) files;
    size_t other_ranks;      /* inputs that are of ranks nobody asked for */
    PACE_VEC(int64_t) ranks; /* which these are; -1 = not said */
    size_t without_steps;    /* inputs that have none of the steps */
    pace_warnings warnings;
    char *absent; /* ranks asked for that no input is of, "5, 99"; NULL = none */
} pace_slices;

/** Writes the slices. PACE_E_USAGE for an output that is no .json or .json.gz or is an input, for steps or ranks that
 * no input has; those of reading and writing. */
pace_status pace_slices_write(pace_slices *out, const char *const *inputs, size_t count,
                              const pace_slice_options *options) PACE_MUST_CHECK;
void pace_slices_free(pace_slices *slices);

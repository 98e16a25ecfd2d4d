/* A part of a Kineto trace as a trace of its own: the kept events as the file has them, byte for byte, unless they are
 * to be anonymous. What is no JSON is mended or left out (mend.h), and counted. */
#pragma once

#include "base/progress.h"
#include "source/slice/anonymize.h"
#include "source/slice/slice_cut.h"

typedef struct {
    const char *path;
    const pace_slice_cut *cut; /* what is kept; NULL = everything */
    const pace_step *steps;    /* its kept_steps say what the slice was cut for; without any it says nothing */
    bool (*is_other)(void *context, const char *name, int64_t start_ns); /* the mark of a step that is not kept */
    void *context;
    const pace_anonymizer *anonymizer; /* NULL = names stay */
    pace_progress progress;
} pace_slice_job;

typedef struct {
    uint64_t events, kept_events; /* of the trace and of the slice */
    uint64_t bytes, kept_bytes;   /* the same, decompressed */
    uint64_t strays;              /* elements of the list of events that are none: left out */
    uint64_t mended, broken;      /* events and members that are no JSON: mended, left out */
    char first[128];              /* the first of these */
    char warning[1024];           /* the trace broke off; "" = it did not */
} pace_slice_counts;

/** Writes the slice to `output`, compressed where the name ends with ".gz"; the file takes its name when it is whole.
 * PACE_E_IO, and those of reading the trace. */
pace_status pace_slice_write(pace_slice_counts *out, const char *output, const pace_slice_job *job) PACE_MUST_CHECK;

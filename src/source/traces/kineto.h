/*
 * Reads a Kineto / PyTorch-profiler trace (Chrome trace-event JSON), 2021 to today, CUDA and ROCm, as a stream
 * into a pace_step. docs/formats.md lists what is understood.
 */
#pragma once

#include "base/progress.h"
#include "base/input.h"
#include "base/warning.h"
#include "step/step.h"

/** What the reader had to say about an input it could use. */
typedef struct {
    char warning[1024]; /* "" = none */
    pace_warning_code code;
    uint64_t bytes;    /* decompressed bytes read */
    uint64_t strays;   /* elements of the list of events that are none; those who copy a trace count them */
    bool events_whole; /* of a file that breaks off: behind its list of events; set for those who copy a trace */
} pace_read_notes;

/* The member of documents that hold the traces of several ranks for viewers: they are no trace of one. */
#define PACE_RANKS_MEMBER "pacelineRanks"

/** Reads one trace to its end and finishes the step. A trace that breaks off or turns malformed after its first
 * event is kept as far as it goes, with a warning; otherwise PACE_E_INPUT with file and byte offset. */
pace_status pace_kineto_read(pace_step *out, pace_input *input, pace_read_notes *notes,
                             pace_progress progress) PACE_MUST_CHECK;

/* The perfetto format of analyze over traces that can be read again: their own events, and tracks of Paceline's. */
#pragma once

#include "insight/analysis.h"
#include "report/report.h"

/** The traces that are written: the one of the rank that was asked for, else all. */
typedef struct {
    const pace_analysis *analysis;
    const pace_rank *only; /* NULL = all */
} pace_traces_shown;

/** Whether all of them were read from files of Kineto's. */
bool pace_traces_can_be_copied(const pace_traces_shown *shown);

/** Writes the events as the files have them, then arrows of recorded waits, and as tracks: stages, resources, and the
 * critical path. Of several traces processes, arrows and times are told apart: each process is of "rank N", all are on
 * the clock of the first. */
pace_status pace_write_original_trace(const pace_traces_shown *shown, const pace_report *report,
                                      pace_sink *sink) PACE_MUST_CHECK;

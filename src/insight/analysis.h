/* All ranks of a question, loaded and understood. */
#pragma once

#include "base/warning.h"
#include "insight/analyze_options.h"
#include "insight/steps/cycles.h"
#include "insight/ranks/latest_rank.h"
#include "insight/ranks/messages.h"
#include "machine/machine.h"

typedef struct {
    pace_device_catalog devices;
    pace_kernel_classes *classes;
    pace_stage_words *words;
    PACE_VEC(pace_rank *) traces; /* one per file that is analysed, by rank number */
    PACE_VEC(pace_rank *) others; /* the files that are not: cycles, and ranks that were left out */
    PACE_VEC(pace_rank *)
    ranks;              /* what is analysed: the traces; where one has several devices, each of these instead */
    pace_cycles cycles; /* of processes with several files; one of each is analysed */
    pace_collectives collectives;
    pace_messages messages;
    const pace_rank *reported; /* the rank that was asked for, else the latest; NULL = neither */
    bool asked;                /* it was asked for */
    bool ranks_missing;        /* the traces name more ranks than there are traces */
    bool cut;                  /* steps were chosen */
    bool made;                 /* the steps were made instead of read: their paths only name them */
    pace_latest_rank latest;   /* who makes the others wait */
    pace_machine machine;      /* that was named for the device; devices = 0: none */
    pace_warnings warnings;
    bool elsewhere; /* process 0 has it all */
} pace_analysis;

/** The machine that was named; NULL = none. */
static inline const pace_machine *pace_asked_machine(const pace_analysis *analysis) {
    return analysis->machine.devices ? &analysis->machine : NULL;
}

/** Reads every trace the inputs name. Files without a usable trace fail the whole when they are the only one, and
 * are warnings when others could be read. */
pace_status pace_analysis_load(pace_analysis *out, pace_catalog *catalog, const char *const *inputs, size_t count,
                               const pace_analyze_options *options) PACE_MUST_CHECK;

/** What the ranks exchange, one clock for all of them, and with both their tiles. Part of pace_analysis_load(), for
 * ranks that come from elsewhere: each must have been understood (insight/rank.h). */
pace_status pace_analysis_join(pace_analysis *analysis) PACE_MUST_CHECK;

/** The same of steps that were made instead of read (takes them, whatever comes of it), on one device (may be NULL;
 * borrowed, as long as *out). */
pace_status pace_analysis_of_steps(pace_analysis *out, pace_catalog *catalog, pace_step *steps, size_t count,
                                   const char *const *names, const pace_device *device) PACE_MUST_CHECK;
/** Its two halves: each step by itself, which tells how long it is, and what ranks exchange. */
pace_status pace_analysis_of_each(pace_analysis *out, pace_catalog *catalog, pace_step *steps, size_t count,
                                  const char *const *names, const pace_device *device) PACE_MUST_CHECK;
pace_status pace_analysis_join_made(pace_analysis *analysis) PACE_MUST_CHECK;
void pace_analysis_free(pace_analysis *analysis);

/** Whether it is known of several ranks who exchanges with whom: the traces say so, or it shows by when exchanges end.
 * Else waiting for a rank counts as exchanging. */
bool pace_analysis_knows_groups(const pace_analysis *analysis);

/** Whether a trace has several devices that worked. */
bool pace_analysis_has_devices(const pace_analysis *analysis);

/** The rank of a number; of several devices the one whose steps took longest. PACE_E_USAGE for one that is not there:
 * the message names `field` and lists those that are. */
pace_status pace_analysis_rank(const pace_rank **out, const pace_analysis *analysis, const char *field,
                               int64_t number) PACE_MUST_CHECK;

/** The rank that was asked for, else the one that makes the others wait, else the one whose devices were busy or
 * waiting longest (the span of its trace); of several devices the one whose steps
 * took longest, for their spans differ by chance where they exchange. Ties go to the first. */
const pace_rank *pace_analysis_slowest(const pace_analysis *analysis);

/** Makes the stage of a pipeline that waits least for its peers the slowest: all stages take as long, and this one sets
 * the pace. */
void pace_analysis_report_busiest(pace_analysis *analysis);

/*
 * What must be known beside an answer: damage and doubt, each with a stable code. The list of codes below is the only
 * one; docs/warnings.md shows it. To add a code: a row here and one in docs/warnings.md.
 */
#pragma once

#include "base/memory.h"

/* PACE_WARN_enumerator, code, whether --strict counts it (the others are the answer itself, or mere hints), meaning */
#define PACE_WARNING_LIST(X)                                                                                           \
    X(FILE_CUT_OFF, "file_cut_off", true, "A file breaks off. What stands behind the break is missing.")               \
    X(EVENTS_LEFT_OUT, "events_left_out", true,                                                                        \
      "Events, records or dependencies of a trace could not be used, or stand there twice.")                           \
    X(TRACE_MENDED, "trace_mended", true, "A slice mends or leaves out what is no JSON in its trace.")                 \
    X(RANK_LEFT_OUT, "rank_left_out", true,                                                                            \
      "A file could not be read as a trace, or its steps match no other rank's.")                                      \
    X(RANK_TWICE, "rank_twice", true, "Two files say that they are the same rank.")                                    \
    X(RANKS_MISSING, "ranks_missing", true, "The job had more ranks than there are traces.")                           \
    X(STEPS_UNMATCHED, "steps_unmatched", true, "Ranks recorded different steps, or steps of unknown number.")         \
    X(KERNELS_MISSING, "kernels_missing", true, "The device's work is not recorded, or a part of it.")                 \
    X(TIMELINE_ASSUMED, "timeline_assumed", false,                                                                     \
      "A timeline of operations says less than a trace: what was assumed of it.")                                      \
    X(WAITS_UNEXPLAINED, "waits_unexplained", true, "The trace does not say what most of the time waited for.")        \
    X(CLOCKS_DIFFER, "clocks_differ", true, "Device work begins before the call that launched it.")                    \
    X(NESTING_CUT, "nesting_cut", true, "Tasks are nested deeper than a step keeps.")                                  \
    X(INPUT_REPEATED, "input_repeated", false, "A file was given twice and read once.")                                \
    X(CYCLES, "cycles", false, "Files are cycles of one process: one of them is analysed.")                            \
    X(INPUT_LEFT_OUT, "input_left_out", false, "A file adds nothing to the others and was left out.")                  \
    X(DOES_NOT_FIT, "does_not_fit", false, "A configuration does not fit into the device's memory: the answer is no.") \
    X(MAY_NOT_FIT, "may_not_fit", true, "Memory is known to a quarter: the configuration may not fit.")                \
    X(NO_CONFIGURATION, "no_configuration", false, "No configuration of a plan can be: the answer is no.")             \
    X(MEMORY_UNKNOWN, "memory_unknown", true, "Nothing says how much memory the configuration needs.")                 \
    X(FILE_DIFFERS, "file_differs", true,                                                                              \
      "A user's configuration has settings that are not counted, or is of another model or number of devices.")        \
    X(BATCH_ASSUMED, "batch_assumed", true, "The batch was not given.")                                                \
    X(LAYERS_LEFT_OUT, "layers_left_out", true, "Operations of a recording have no place in the model found in it.")   \
    X(DEVICE_ASSUMED, "device_assumed", true, "The device of recorded times is not named.")                            \
    X(KIND_ASSUMED, "kind_assumed", true, "What the rows of a table ask about was told by their columns.")             \
    X(UNIT_ASSUMED, "unit_assumed", true, "The unit of a column was told by its figures, or taken for the usual one.") \
    X(UNIT_DOUBTED, "unit_doubted", true,                                                                              \
      "Times are far shorter or longer than they can be, or contradict each other.")                                   \
    X(COLUMN_ASSUMED, "column_assumed", true, "A column was recognised by another name, or is not used.")              \
    X(COLUMN_UNREAD, "column_unread", false, "A column of a table is not read.")                                       \
    X(CELL_IDLE, "cell_idle", true, "Cells of a table change nothing in the answers of their rows.")                   \
    X(SIZES_UNKNOWN, "sizes_unknown", true, "Kernels of unknown size take a large part of the time.")                  \
    X(WORK_OVERSTATED, "work_overstated", true, "Kernels were measured faster than the device can be.")                \
    X(FIRST_USES, "first_uses", true, "Calls that took far longer the first time were left out.")                      \
    X(REPLAY_OFF, "replay_off", true,                                                                                  \
      "The replay of a recording takes much longer or shorter than what was recorded.")                                \
    X(SAVING_BOUNDED, "saving_bounded", false, "A what-if saves no more than the recorded step allows.")               \
    X(WHAT_IF_IDLE, "what_if_idle", true, "A what-if found nothing to change.")                                        \
    X(FIGURE_IDLE, "figure_idle", true, "A changed figure of a device or machine moves no number of the answer.")      \
    X(WHAT_IF_JOINED, "what_if_joined", false, "What-ifs are answered together, not each alone.")                      \
    X(WIDE_INTERVAL, "wide_interval", true, "The 90 % interval reaches beyond twice the median.")                      \
    X(EXTRAPOLATED, "extrapolated", true,                                                                              \
      "The answer lies beyond what its fit, curve or overheads have seen: other sizes, ranks, devices, operators.")    \
    X(EXCHANGE_IDLE, "exchange_idle", true, "There is nothing to exchange: one rank, one device, or nothing trained.") \
    X(ROWS_UNANSWERED, "rows_unanswered", true, "Rows of a table have no answer.")                                     \
    X(ROWS_LEFT_OUT, "rows_left_out", true, "Rows of a table were not used.")                                          \
    X(TOO_FEW_ROWS, "too_few_rows", true, "There are too few rows to learn from.")                                     \
    X(CURVES_NOISY, "curves_noisy", true, "Measured times of a curve differ much from run to run or size to size.")    \
    X(JOBS_LEFT_OUT, "jobs_left_out", true, "Jobs of a table cannot be modelled or were not checked.")                 \
    X(STOPPED_EARLY, "stopped_early", true,                                                                            \
      "A training or search was stopped: its figures are of what was done by then.")                                   \
    X(OVERSUBSCRIBED, "oversubscribed", true, "A training had more ranks and threads than there are processors.")      \
    X(RUN_FAILED, "run_failed", true, "A run of a study could not be made; its status says why.")                      \
    X(CASE_SKIPPED, "case_skipped", true, "The data of a case is not there.")                                          \
    X(CASE_FAILED, "case_failed", false, "A case could not be computed: the answer is no.")                            \
    X(BARS_UNREAD, "bars_unread", true, "The file of bars changed during a training and cannot be read: no verdicts.")

typedef enum {
#define PACE_WARNING_ENUMERATOR(id, code, strict, means) PACE_WARN_##id,
    PACE_WARNING_LIST(PACE_WARNING_ENUMERATOR)
#undef PACE_WARNING_ENUMERATOR
        PACE_WARNING_CODES
} pace_warning_code;

extern const pace_warning_kind pace_warning_kinds[PACE_WARNING_CODES];

typedef struct {
    pace_warning_code code;
    char *text;
    char *place; /* the file, row, case or what-if that it is about; NULL = the answer */
} pace_held_warning;

typedef PACE_VEC(pace_held_warning) pace_warnings;

/** Appends a warning; `place` is copied and may be NULL. */
pace_status pace_warn(pace_warnings *to, pace_warning_code code, const char *place, const char *format,
                      ...) PACE_MUST_CHECK PACE_PRINTF(4, 5);

/** The same, taking over `text`, whatever comes of it. PACE_E_MEMORY for NULL, a text that there was no memory for. */
pace_status pace_warn_take(pace_warnings *to, pace_warning_code code, const char *place, char *text) PACE_MUST_CHECK;

/** Whether a list holds a warning word for word. */
bool pace_warnings_hold(const pace_warnings *list, const pace_held_warning *one);

/** Appends copies of those of another list that this one does not hold word for word. */
pace_status pace_warnings_add(pace_warnings *to, const pace_warnings *from) PACE_MUST_CHECK;

void pace_warnings_free(pace_warnings *warnings);

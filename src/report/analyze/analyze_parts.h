/* The parts of the analyze report, one file each. Private to report/. */
#pragma once

#include "ask/question.h"
#include "forecast/remedies.h"
#include "insight/analysis.h"
#include "insight/analyze_options.h"
#include "insight/critical.h"
#include "insight/matrix.h"
#include "insight/steps/mean_step.h"
#include "insight/steps/typical_step.h"
#include "insight/tables/operators.h"
#include "report/report.h"
#include "report/table.h"

typedef struct {
    pace_work_choice work;
    int64_t host_from_ns, host_to_ns; /* the same of the host: annotations of the chosen steps, or all */
    int64_t total_ns;                 /* of all of it, whether rows of its names are shown or not */
    bool steps;                       /* the work of chosen steps alone */
    char name[96];
} pace_work_shown;

pace_status pace_new_report(pace_report **out, const char *verb, const char *title,
                            const pace_analysis *const *analyses, size_t count) PACE_MUST_CHECK;

/** Loads an analysis of its own memory, which a report takes over or pace_free_analysis() frees. */
pace_status pace_load_analysis(pace_analysis **out, const char *const *paths, size_t count,
                               const pace_analyze_options *options) PACE_MUST_CHECK;

/** PACE_NO_INT where the trace does not say it. */
static inline int64_t pace_rank_number(const pace_rank *rank) {
    return rank->step.rank >= 0 ? rank->step.rank : PACE_NO_INT;
}

void pace_put_matrix(pace_node *node, const char *key, const char *title, pace_audience audience,
                     const pace_matrix *matrix);

/** A column of the matrix in words that stand in a sentence: "waiting for the host". */
const char *pace_resource_words(pace_resource resource);

/** The typical step's label, or "whole trace". */
const char *pace_typical_label(const pace_rank *rank, const pace_typical_step *typical);

/** A step ends on the device; what its host does afterwards is the next step's, which a trace of one step does not
 * have: says how long that is. `side`: "It" and "A'" go before "s annotation". */
void pace_put_tail(pace_node *root, const char *side, const pace_rank *rank, const pace_typical_step *typical);

/** The sentences that lead the report. */
void pace_put_headline(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                       const pace_typical_step *typical, const pace_analyze_options *options);
/** The matrix of the typical step, of every step (JSON) and of the whole window. */
void pace_put_step_matrix(pace_node *root, const pace_rank *rank, const pace_typical_step *typical);
/** The same of one device of several, JSON only. */
pace_status pace_put_json_matrices(pace_node *item, const pace_rank *rank) PACE_MUST_CHECK;
/** Overheads, critical path, collectives, operators, advice. */
pace_status pace_put_insights(pace_node *root, pace_analysis *analysis, const pace_rank *rank,
                              const pace_typical_step *typical, const pace_analyze_options *options) PACE_MUST_CHECK;

/** From which step on all take longer, or less; nothing where none is. `side`: what the sentence begins with. */
void pace_put_step_shift(pace_node *root, const char *side, const pace_step_shift *shift, const pace_rank *rank);

/** What saves most, what stands behind it, and what to do next: the sentences that lead. `remedies` NULL = none was
 * tried. */
pace_status pace_put_lead(pace_node *root, const pace_critical *critical, const pace_analysis *analysis,
                          const pace_rank *rank, const pace_remedies *remedies) PACE_MUST_CHECK;

/** What to do next: the best remedy, or why none is named. */
void pace_put_next(pace_node *root, const pace_remedies *remedies, const pace_lead *lead,
                   const pace_analysis *analysis);
/** All that save enough. */
void pace_put_remedies(pace_node *root, const pace_remedies *remedies, const pace_analysis *analysis);

/** Critical path, advice, collectives; with `tries` also remedies. */
pace_status pace_put_path(pace_node *root, const pace_critical *critical, const pace_analysis *analysis,
                          const pace_rank *rank, bool tries) PACE_MUST_CHECK;
/** The same of the rank's typical step, with remedies and timeline. */
pace_status pace_put_critical(pace_node *root, const pace_analysis *analysis, const pace_rank *rank) PACE_MUST_CHECK;

/** The timeline of all traces, at first of the step that the critical path is of, if there is one. The analysis' ranks
 * must outlive the report. */
pace_status pace_put_timeline(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                              const pace_critical *critical) PACE_MUST_CHECK;

/** Draws the same at once. */
pace_status pace_draw_timeline(pace_timeline *out, const pace_analysis *analysis, const pace_rank *rank,
                               const pace_critical *critical) PACE_MUST_CHECK;

/** Pictures: each step of a rank by resource, and of several ranks each one's own time in each step. */
pace_status pace_put_step_bars(pace_node *root, const pace_rank *rank) PACE_MUST_CHECK;
pace_status pace_put_rank_heat(pace_node *root, const pace_analysis *analysis, const pace_rank *rank) PACE_MUST_CHECK;

/** What the rank exchanged by its kernels' metadata, and how much of it is waiting for late ranks at least. */
/** What exchanges cost the kernels that run beside them. */
pace_status pace_put_beside_exchanges(pace_node *root, const pace_rank *rank) PACE_MUST_CHECK;
pace_status pace_put_exchange_totals(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                                     pace_catalog *catalog) PACE_MUST_CHECK;

/** Pipeline bubbles, and who waits for whom in sends and receives. */
pace_status pace_put_messages(pace_node *root, const pace_analysis *analysis) PACE_MUST_CHECK;

/** Kernels by name, with their spread and their launches; of several ranks, how they differ. Adds the rows to
 * `*found`. */
pace_status pace_put_kernels(size_t *found, pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                             const pace_work_shown *shown) PACE_MUST_CHECK;

/** Launch calls, queues of streams, copies. */
pace_status pace_put_launches(pace_node *root, const pace_rank *rank, const pace_work_shown *shown,
                              pace_catalog *catalog) PACE_MUST_CHECK;

/** Modules as a tree and by class; functions of Python. */
pace_status pace_put_modules(pace_node *root, const pace_rank *rank, const pace_work_shown *shown) PACE_MUST_CHECK;

/** Flame graphs: device time by module; host and device time by call stack, which the folded formats write, too. The
 * rank must outlive the report. */
pace_status pace_put_module_flame(pace_node *root, const pace_rank *rank, const pace_work_shown *shown) PACE_MUST_CHECK;
pace_status pace_put_stacks(pace_node *root, const pace_rank *rank, const pace_work_shown *shown) PACE_MUST_CHECK;

/** Device time by what is computed. */
pace_status pace_put_categories(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                                const pace_work_shown *shown) PACE_MUST_CHECK;

/** Hardware counters of kernels. */
pace_status pace_put_counters(pace_node *root, const pace_rank *rank) PACE_MUST_CHECK;

/** What the framework's allocator held. */
pace_status pace_put_memory(pace_node *root, const pace_rank *rank) PACE_MUST_CHECK;

/** Chains of simple kernels that a compiler could fuse. */
pace_status pace_put_chains(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                            const pace_work_shown *shown) PACE_MUST_CHECK;

/** Kernels by how long they take. */
void pace_put_durations(pace_node *root, const pace_rank *rank, const pace_work_shown *shown);

/** Why the device stood idle, by what the work behind each gap waited for. */
void pace_put_idle_causes(pace_node *root, const pace_rank *rank);

/** The five host overheads of a trace. */
pace_status pace_put_overheads(pace_node *root, const pace_rank *rank, double profiler_event_us) PACE_MUST_CHECK;
/** Those of every trace with their raw samples as JSON, whole or not at all. */
pace_status pace_write_overheads(const char *path, const pace_analysis *analysis,
                                 double profiler_event_us) PACE_MUST_CHECK;

/** The perfetto format: the slowest rank's trace with stages and critical path as tracks. */
pace_status pace_write_analysis_trace(void *analysis, const pace_report *report, pace_sink *sink) PACE_MUST_CHECK;
void pace_free_analysis(void *analysis);

/** PACE_E_USAGE for a stage that there is not. */
pace_status pace_work_shown_of(pace_work_shown *out, const pace_rank *rank,
                               const pace_analyze_options *options) PACE_MUST_CHECK;

/** Opens a declared table whose title names the work, too. */
pace_node *pace_work_table(pace_node *root, const pace_table *declared, unsigned flags, const pace_work_shown *shown);

extern const pace_class pace_resource_colors[PACE_RESOURCES];

pace_node *pace_open_checks(pace_node *root);
void pace_put_check(pace_node *checks, const char *name, bool holds, const char *found);

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

typedef pace_status (*pace_idle_ask)(pace_report **out, size_t *missed, const pace_question *question);

/** Warns in `report`, the answer to `question`, of every KEY=VALUE of `on` and every option that only assumes something
 * without which `ask` finds the same numbers. What-ifs that are answered jointly are tried each. Not asked again are
 * plans and what reads more than 16 MiB or a pipe. */
pace_status pace_report_idle_figures(pace_report *report, const pace_question *question,
                                     pace_idle_ask ask) PACE_MUST_CHECK;

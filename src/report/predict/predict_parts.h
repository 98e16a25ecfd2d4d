/* The parts of reports about predicted steps and exchanges. Private to report/. */
#pragma once

#include "ask/predict/exchange_curves.h"
#include "ask/predict/predict_fits.h"
#include "ask/predict/prediction_data.h"
#include "ask/predict/step_ask.h"
#include "insight/analysis.h"
#include "machine/doubts.h"
#include "model/model.h"
#include "plan/step_rate.h"
#include "report/report.h"
#include "report/report_node.h"
#include "schedule/flows.h"

/** A table with a row for each scenario, and sentences on those that assume something. */
void pace_put_edits(pace_report *report, const pace_graph *graph, const pace_scenario *scenarios,
                    const pace_forecast_result *results, size_t count);

/** A sentence, and for programs an object, where ranks exchange gradients by an approach that was named; where one was
 * named and nothing is exchanged, a warning. */
void pace_put_gradients(pace_report *report, const pace_scenario *scenario, const pace_forecast_result *result);

/** Leads with the first that does not fit, which makes the answer no; warns where that is not known. */
pace_status pace_put_what_if_fit(pace_report *report, pace_prediction *prediction,
                                 pace_context *context) PACE_MUST_CHECK;

/** Adds them, of the walk whose ranks are the stages; nothing for a step of one stage. */
pace_status pace_put_stages(pace_report *report, const pace_analysis *walked,
                            const pace_step_asked *step) PACE_MUST_CHECK;

/** What stages hold as the step goes on: a curve each, and the instants for JSON. Nothing where there is one stage. */
void pace_put_stage_memory(pace_report *report, const pace_memory_series *memory, double device_bytes);

/** Where its figures are from, and what it was taken for (pace_machine_asked()). */
void pace_put_machine_note(pace_node *root, const pace_machine *machine);

/** The second alone; nothing of a machine that was called by its own name. */
void pace_put_called_note(pace_node *root, const pace_machine *machine);

/** Says below an answer that pieces were taken as equal, of a collective whose pieces may differ in size: "alltoallv",
 * "all-to-all-v". Nothing of others, and of NULL. */
void pace_put_pieces_note(pace_node *root, const char *text);

/** Whose measured curves say what exchanges of a step take. Nothing without a fit of exchanges. */
void pace_put_curves_note(pace_node *root, const pace_predict_fits *fits);

/** Of a network of images and words that its decoder alone is counted; nothing of others. */
void pace_put_decoder_alone(pace_node *root, const pace_model *model);
/** "bert_large: 335.1 million parameters.", and in how many layers windows of attention are shorter than the sequence,
 * with what that assumes. Nothing of a model found in a recording, which is told at length. */
void pace_put_model_note(pace_node *root, const pace_model *model, const pace_config *config);

typedef struct {
    char text[96];
} pace_shown_rate;

/** "412 tokens/s per device (MFU 41.2 % of the bf16 peak)" */
pace_shown_rate pace_show_step_rate(pace_step_rate rate);

/** The headline of a model's step: its time and interval, on what, and its rate, which is returned. */
pace_step_rate pace_put_step_takes(pace_node *root, const pace_step_asked *step, pace_estimate time_s);

/** Adds them: the last step of each rank, by what it did. What is shown is copied. */
pace_status pace_put_stage_lanes(pace_node *root, const char *title, const pace_analysis *drawn) PACE_MUST_CHECK;

/** Says by how much all turns were drawn longer or shorter, so that the step takes as long as it is answered to; from 1
 * % on. */
void pace_note_stretch(pace_node *root, double stretch);

/** Both charts, for a page; nothing of fewer than two sizes. */
void pace_put_exchange_charts(pace_node *root, const pace_exchange_curves *curves);

/** Draws what ran when; takes the log over, whatever comes of it. Ranks are named as pace_simulation_run() numbers
 * them. */
pace_status pace_put_exchange_timeline(pace_node *root, pace_flow_log *log, uint32_t ranks_of_job,
                                       uint32_t numbered_of_job) PACE_MUST_CHECK;

/** A table of the doubts that an answer used, those that add most to its spread first; and a warning where the interval
 * of the answer reaches beyond twice its median. */
pace_status pace_put_assumptions(pace_node *parent, pace_catalog *catalog, const pace_doubts_used *used,
                                 pace_estimate answer) PACE_MUST_CHECK;

/** The report of a case that is not walked. Errors: PACE_E_USAGE for options that belong to a walk; those of fits, and
 * those of pace_step_solve(). */
pace_status pace_predict_step(pace_report **out, pace_step_asked *step, const pace_predict_fits *fits,
                              const pace_predict_options *options) PACE_MUST_CHECK;

/** Puts first that a step does not fit into the device's memory, by how much, and what would make it fit; the answer is
 * no then. Nothing for one that fits. */
pace_status pace_put_fit(pace_report *report, pace_step_asked *step) PACE_MUST_CHECK;

/** Says what a configuration has that its framework has not; nothing where it has all. */
void pace_put_lacks(pace_node *root, const pace_framework *framework, const pace_config *config);

/** Puts the assumptions that move the answer most: a precision that the device is slow in, and recomputation. */
void pace_put_unsaid(pace_node *root, const pace_step_asked *step);

/** Puts a step's median and interval, seconds in full precision. */
void pace_put_step_values(pace_report *report, pace_estimate step_s);

/** Puts beside a model's walk of `walked_s` what it rests on, and the closed form's time and memory as a check. */
void pace_put_closed_form(pace_report *report, pace_step_asked *step, const char *on, double walked_s);

/** The table of what the fullest rank holds; `merging_bytes`: beside what the plan counts, of a device store. */
void pace_put_step_memory(pace_node *root, const pace_step_plan *plan, double merging_bytes);

typedef struct {
    double bytes, time_s;
    char how[64]; /* the algorithm, with its protocol */
} pace_size_time;

typedef PACE_VEC(pace_size_time) pace_size_times;

/** Adds a size; `protocol` may be NULL or empty. */
pace_status pace_size_times_add(pace_size_times *times, double bytes, double time_s, const char *algorithm,
                                const char *protocol) PACE_MUST_CHECK;

/** Says how many take less time than a smaller one, which of them least for it, and why that is. */
void pace_say_reversals(pace_node *root, const pace_size_times *times);

/** Says it; nothing of a model that was not found in a recording. */
void pace_say_found(pace_report *report, const pace_model *model, const pace_config *config);

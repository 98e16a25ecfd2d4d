/* A model's distributed step in closed form: what `paceline predict MODEL --on dgx-h100*4 --set pp=2 ...` answers. */
#ifndef PACE_REPORT_REPORT_STEP_H
#define PACE_REPORT_REPORT_STEP_H

#include "ask/engine_options.h"
#include "report/report.h"

/** Whether a model is asked about with settings that no step is lowered for: pipelines, ZeRO, context or expert
 * parallelism, or a framework other than PyTorch. Nothing fails here: what is wrong is said by who answers. */
bool pace_is_closed_form_step(const char *const *inputs, size_t count, const pace_predict_options *options);

/** The report. Errors: PACE_E_USAGE for options that belong to a walk, more ranks than the machine has, or a
 * configuration that makes no sense; those of models, machines and fits. */
pace_status pace_predict_step(pace_report **out, const char *name, const pace_predict_options *options) PACE_MUST_CHECK;

/** Puts beside a model's walk of `walked_s` what it rests on, and the closed form's time and memory as a check; warns
 * of a step that does not fit into the first device's memory. Nothing is put where there is no closed form: on fewer
 * devices than ranks, or for too many kinds of layers. Errors: PACE_E_MEMORY. */
pace_status pace_put_closed_form(pace_report *report, const char *name, const pace_predict_options *options,
                                 double walked_s) PACE_MUST_CHECK;

#endif

/* A model's distributed step in closed form: what `paceline predict MODEL --on dgx-h100*4 --set pp=2 ...` answers. */
#pragma once

#include "ask/predict/step_ask.h"
#include "report/report.h"

/** The report of a case that is not walked. Errors: PACE_E_USAGE for options that belong to a walk; those of fits, and
 * those of pace_step_solve(). */
pace_status pace_predict_step(pace_report **out, pace_step_asked *step, const pace_predict_fits *fits,
                              const pace_predict_options *options) PACE_MUST_CHECK;

/** Puts first that a step does not fit into the device's memory, by how much, and what would make it fit; the answer is
 * no then. Nothing for one that fits. */
pace_status pace_put_fit(pace_report *report, pace_step_asked *step) PACE_MUST_CHECK;

/** Puts what nobody said and moves the answer most: a precision that the device is slow in, and recomputation. */
void pace_put_unsaid(pace_node *root, const pace_step_asked *step);

/** Puts a step's median and interval, seconds in full precision. */
void pace_put_step_values(pace_report *report, pace_estimate step_s);

/** Puts beside a model's walk of `walked_s` what it rests on, and the closed form's time and memory as a check. */
void pace_put_closed_form(pace_report *report, pace_step_asked *step, const char *on, double walked_s);

/** The table of what the fullest rank holds. */
void pace_put_step_memory(pace_node *root, const pace_step_plan *plan);

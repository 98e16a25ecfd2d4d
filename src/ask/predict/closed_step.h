/* A model's step that is answered in closed form: its time with its parts, what would help, what it rests on, and the
 * schedule that it stands for. */
#pragma once

#include "ask/predict/step_ask.h"
#include "ask/step_rows/step_fit.h"
#include "plan/step_picture.h"

typedef struct {
    pace_step_asked *step;
    const pace_predict_fits *fits;
    pace_step_answer answer;
    double savings[PACE_STEP_FACTORS]; /* pace_step_savings() */
    pace_doubts_used used;             /* what the answer rests on */
    pace_analysis *picture;            /* of the schedule; the caller's; NULL = none can be drawn */
    double drawn_s, stretch;           /* what the step takes there; so many times the closed form's */
    pace_memory_series memory;         /* what its stages hold */
} pace_closed_step;

/** Errors: PACE_E_USAGE for options that belong to a walk; those of pace_step_solve_settled(). */
pace_status pace_closed_step_ask(pace_closed_step *out, pace_step_asked *step, const pace_predict_fits *fits,
                                 const pace_predict_options *options) PACE_MUST_CHECK;

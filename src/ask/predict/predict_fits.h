/* Files of `paceline fit` that a prediction uses: fits of kernels, and one of whole steps. Their first bytes tell them
 * apart. */
#pragma once

#include "ask/engine_options.h"
#include "ask/step_rows/step_fit.h"

typedef struct {
    PACE_VEC(const char *) kernels; /* files; borrowed from the options */
    pace_step_fit step;
    const char *step_path; /* NULL = none */
} pace_predict_fits;

/** Sorts files, and reads that of steps. Errors: PACE_E_USAGE for a second fit of steps, and for a fit that belongs to
 * another question, which is named; those of reading. Free with pace_predict_fits_free(), also after a failure. */
pace_status pace_predict_fits_open(pace_predict_fits *out, const pace_words *files) PACE_MUST_CHECK;
void pace_predict_fits_free(pace_predict_fits *fits);

/** Whether a file is a fit of a kind of rows. PACE_E_USAGE naming both kinds where it is of another, PACE_E_INPUT for
 * JSON that is no fit. */
pace_status pace_predict_fit_of_kind(const char *path, const char *kind) PACE_MUST_CHECK;

/** Puts the fits of kernels on top of a ladder; the last that knows a family answers. `fits` may be NULL. */
pace_status pace_predict_fits_kernels(const pace_predict_fits *fits, pace_cost *cost) PACE_MUST_CHECK;

/** Warns where the fit of steps has no rows like a case. */
pace_status pace_predict_fits_warn(pace_warnings *to, const pace_predict_fits *fits,
                                   const pace_step_case *asked) PACE_MUST_CHECK;

/** A solution under the fit of steps; as it is without one. */
pace_estimate pace_predict_fits_step(const pace_predict_fits *fits, const pace_step_solution *solution,
                                     const pace_step_case *asked);

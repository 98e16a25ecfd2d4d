/* Files of `paceline fit` that a prediction uses: of kernels, one of exchanges, one of whole steps. Their first bytes
 * tell them apart. */
#pragma once

#include "ask/engine_options.h"
#include "ask/step_rows/step_fit.h"
#include "exchange/own_curves.h"

typedef struct {
    PACE_VEC(const char *) kernels; /* files; borrowed from the options */
    bool kernels_told;              /* they have answered */
    pace_step_fit step;
    const char *step_path;               /* NULL = none */
    pace_exchange_fit exchanges, chosen; /* chosen: those of what the library chose */
    const char *exchanges_path;          /* NULL = none */
    PACE_VEC(pace_own_curves *) curves;  /* of the machines that were joined */
} pace_predict_fits;

/** Sorts files, and reads those of steps and of exchanges. Errors: PACE_E_USAGE for a second fit of steps or of
 * exchanges, and for a fit that belongs to another question, which is named; those of reading. Free with
 * pace_predict_fits_free(), also after a failure. */
pace_status pace_predict_fits_open(pace_predict_fits *out, const pace_words *files) PACE_MUST_CHECK;
void pace_predict_fits_free(pace_predict_fits *fits);

/** Whether a file is a fit of a kind of rows. PACE_E_USAGE naming both kinds where it is of another, PACE_E_INPUT for
 * JSON that is no fit. */
pace_status pace_predict_fit_of_kind(const char *path, const char *kind) PACE_MUST_CHECK;

/** Puts the fits of kernels on top of a ladder; the last that knows a family answers. `fits` may be NULL. */
pace_status pace_predict_fits_kernels(const pace_predict_fits *fits, pace_cost *cost) PACE_MUST_CHECK;

/** Lets the fit of exchanges answer for a machine that was opened, as long as `fits` is open. Nothing without one;
 * PACE_E_USAGE where its curves are of other machines. `fits` may be NULL. */
pace_status pace_predict_fits_join(pace_predict_fits *fits, pace_catalog *catalog,
                                   pace_exchange *exchange) PACE_MUST_CHECK;

/** Notes whether fits of kernels answered on a ladder; `fits` may be NULL. */
void pace_predict_fits_note(pace_predict_fits *fits, const pace_cost *cost);

/** Once all is predicted and noted: PACE_E_USAGE where fits of kernels told nothing. */
pace_status pace_predict_fits_check(const pace_predict_fits *fits) PACE_MUST_CHECK;

/* What measured curves told of the exchanges that an answer rests on. */
typedef struct {
    size_t told, untold;
    const char *why; /* of what they did not tell; borrowed from `fits` */
} pace_curves_told;

/** Adds what the curves of one machine told; NULL, of an exchange without curves, adds nothing. */
void pace_curves_told_add(pace_curves_told *told, const pace_own_curves *curves);

/** Once all is predicted: PACE_E_USAGE where the fit of exchanges told nothing; a warning of what it did not tell. */
pace_status pace_predict_fits_told(pace_warnings *to, const pace_predict_fits *fits,
                                   const pace_curves_told *told) PACE_MUST_CHECK;

/** Warns where the fit of steps has no rows like a case. */
pace_status pace_predict_fits_warn(pace_warnings *to, const pace_predict_fits *fits,
                                   const pace_step_case *asked) PACE_MUST_CHECK;

/** A solution under the fit of steps; as it is without one. */
pace_estimate pace_predict_fits_step(const pace_predict_fits *fits, const pace_step_solution *solution,
                                     const pace_step_case *asked);

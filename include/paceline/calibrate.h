/*
 * Paceline measures the machine it runs on: rows that "fit" learns from, and a device entry that "on" takes.
 */
#ifndef PACELINE_CALIBRATE_H
#define PACELINE_CALIBRATE_H

#include "paceline/paceline.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Measures: answers a question of the verb "calibrate". Its one input is what is measured, "cpu" (when it has none) or
 * "cuda". The optional modules are looked for beside the program, or in the folder that the environment variable
 * PACELINE_MODULES names. Errors: PACE_E_USAGE for an unknown target or family and fields that are at odds;
 * PACE_E_MISSING when nothing here can measure what was asked (the message names the package); PACE_E_IO and
 * PACE_E_INPUT for a table that cannot be written or continued. */
PACE_API pace_status pace_calibrate(pace_answer **out, pace_context *context, const pace_question *question);

/** One family of a calibration, for its report. */
typedef struct {
    const char *family, *source; /**< what, and by which library */
    size_t points;               /**< planned */
    size_t measured, kept;       /**< now; found in the table */
    size_t skipped;              /**< that nobody here can measure */
    double best_flop_per_s;      /**< of products; 0 = none */
    double best_bytes_per_s;     /**< of streaming operations; 0 = none */
    double median_spread;        /**< of ln(time) between batches */
    double seconds;              /**< spent, or to be spent */
} pace_calibrated_family;

/** One figure of the device entry. */
typedef struct {
    const char *key; /**< as in catalog/devices.yaml; a precision stands behind a dot: "flop_per_s.fp32" */
    double value;    /**< SI */
} pace_calibrated_figure;

/** A calibration to report. Borrowed by pace_calibration_answer(). */
typedef struct {
    size_t size; /**< sizeof(pace_calibration): later versions add members at the end */
    const char *const *command;
    size_t command_count;
    const char *device, *processor, *software, *rows_path, *entry_path;
    bool list;
    int threads;
    double seconds;
    const pace_calibrated_family *families;
    size_t family_count;
    const pace_calibrated_figure *figures;
    size_t figure_count;
    const char *const *notes; /**< sentences: what was left out and why */
    size_t note_count;
    /** A sentence, of one that was stopped before its end; NULL = it was not. Without its entry the answer is no. */
    const char *stopped;
} pace_calibration;

/** Makes an answer of a calibration; for whoever measures with tools of their own. */
PACE_API pace_status pace_calibration_answer(pace_answer **out, const pace_calibration *calibration);

#ifdef __cplusplus
}
#endif

#endif

/*
 * Paceline measures the machine it runs on: rows that pace_fit() learns from, and a device entry that `--on FILE`
 * takes.
 */
#ifndef PACELINE_CALIBRATE_H
#define PACELINE_CALIBRATE_H

#include "paceline/paceline.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How much is measured: under a minute, minutes, hours. */
typedef enum { PACE_EFFORT_QUICK, PACE_EFFORT_DEFAULT, PACE_EFFORT_FULL } pace_effort;

/** Options of pace_calibrate(). Zero-initialise for defaults, then choose the effort. */
typedef struct {
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
    const char *target;        /**< "cpu" (default) or "cuda" */
    int device;                /**< which CUDA device */
    pace_effort effort;        /**< how much */
    const char *families;      /**< "gemm,embedding": these alone; NULL = all */
    const char *rows_path;     /**< table of rows (CSV): rows that are there are kept and skipped; NULL = no table */
    const char *entry_path;    /**< device entry (YAML), written at the end, whole or not at all; NULL = none */
    const char *name;          /**< of the device in rows and entry; NULL = made from the processor's name */
    const char *module_path;   /**< folder of the optional modules; NULL = beside the program, or $PACELINE_MODULES */
    double memory_bytes;       /**< tensors of one point at most; 0 = half of the memory that is free */
    int threads;               /**< CPU; 0 = one per core this process may use */
    bool list;                 /**< only say what would be measured */
    pace_progress_fn progress; /**< called with points done and to do; may be NULL */
    void *progress_context;
    bool (*stop)(void *context); /**< asked between points; true ends the sweep, what was measured stays; may be NULL */
} pace_calibrate_options;

/** Measures. Errors: PACE_E_USAGE for an unknown target or family, PACE_E_MISSING when nothing here can measure what
 * was asked (the message names the package), PACE_E_IO and PACE_E_INPUT for a table that cannot be written or
 * continued. */
PACE_API pace_status pace_calibrate(pace_report **out, const pace_calibrate_options *options);

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

/** A calibration to report. Borrowed by pace_calibration_report(). */
typedef struct {
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
} pace_calibration;

PACE_API pace_status pace_calibration_report(pace_report **out, const pace_calibration *calibration);

#ifdef __cplusplus
}
#endif

#endif

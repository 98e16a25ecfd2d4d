/*
 * A fit: what was learned of some families (learn.h), and what it needs to answer alone: the unit of the measurements
 * and the device they were made on. Stored as one compact file.
 *
 * The file (fit_file.c): "PACEFIT" and a version byte, then little-endian fields and counted arrays. A reader survives
 * any bytes: every count is held against what is left, every index and value is checked before use.
 */
#pragma once

#include "cost/learn.h"

enum { PACE_FIT_VERSION = 4 }; /* raised where the formulas of a fit change, too */

typedef struct {
    char unit[8];     /* of the measured column: "us" */
    double unit_s;    /* in seconds */
    char device[48];  /* the one device of the rows, "" when there were several */
    uint64_t figures; /* of the formulas it is learned on top of: pace_cost_figures_mark() */
    PACE_VEC(pace_learned) families;
} pace_fit_model;

void pace_fit_free(pace_fit_model *fit);

/** Bytes of the file; free with pace_free(). */
pace_status pace_fit_write(unsigned char **out, size_t *length, const pace_fit_model *fit) PACE_MUST_CHECK;

/** Reads them back. Errors: PACE_E_INPUT for what is no fit, a fit of another version, a damaged one. `name` is for
 * messages. */
pace_status pace_fit_parse(pace_fit_model *out, const char *name, const unsigned char *bytes,
                           size_t length) PACE_MUST_CHECK;

/** Whether a row of the operation's family, pass and kind was fitted, on any device and in any precision. */
bool pace_fit_knows_kind(const pace_fit_model *fit, const pace_op *op);

/** What of an operation lies outside the fit's rows: pace_learned_beyond(). False when no family knows it. */
bool pace_fit_beyond(const char **out, const pace_fit_model *fit, const pace_op *op, const pace_device *device,
                     const char *source);

/** The time of an operation, false when no family knows it: pace_learned_time(). */
bool pace_fit_time(pace_estimate *out_s, const pace_fit_model *fit, const pace_op *op, const pace_device *device,
                   const char *source, double formula_s, const pace_doubts *doubts);

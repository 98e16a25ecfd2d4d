/* From tables of measurements to a fit, and from a fit file to a ladder of costs. */
#pragma once

#include "ask/rows/kernel_rows.h"
#include "ask/rows/left_out.h"

/* What became of the rows of one family. */
typedef struct {
    pace_op_family family;
    size_t rows;
    pace_learned_score score;
    bool learned; /* false: too few rows, or rows that were held out are told better by formula */
} pace_fit_family;

typedef struct {
    PACE_VEC(pace_fit_family) families;
    size_t measured; /* rows */
    pace_left_out left_out;
} pace_fit_outcome;

typedef struct {
    const char *split; /* what rows are held out together: NULL or "shape", "device", or columns "n,k" */
    uint64_t seed;
    const pace_cost *formula; /* what a fit must be better than */
} pace_fit_rows_options;

/** Whether a family has rows enough, but its fit tells those held out worse than the formula does: by the mean of
 * |ln(predicted / measured)|, of which no row counts for more than a factor of 2. */
bool pace_fit_family_worse(const pace_fit_family *family);

/** Learns from the questions of `tables` for which keep(context, table, question) is true (NULL = all). Errors:
 * PACE_E_INPUT when nothing was measured or no family has enough rows or gains, PACE_E_USAGE for a split that names no
 * column. */
pace_status pace_fit_rows(pace_fit_model *out, pace_fit_outcome *outcome, const pace_kernel_rows *tables,
                          size_t table_count, const pace_fit_rows_options *options,
                          bool (*keep)(void *context, size_t table, size_t question), void *context) PACE_MUST_CHECK;
void pace_fit_outcome_free(pace_fit_outcome *outcome);

/** The group of a question under a split; see pace_fit_rows_options. */
pace_status pace_split_group(uint64_t *out, const pace_kernel_rows *table, const pace_kernel_row *row,
                             const char *split) PACE_MUST_CHECK;

/** Reads a fit from a file. */
pace_status pace_fit_load(pace_fit_model *out, const char *path) PACE_MUST_CHECK;
/** Writes it: whole or not at all. */
pace_status pace_fit_save(const pace_fit_model *fit, const char *path) PACE_MUST_CHECK;

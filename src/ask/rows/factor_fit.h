/*
 * Fits of a few factors on what a formula answers. A kind of rows says what its factors do to a row's time; this is how
 * they are learned and chosen, whatever the kind:
 *
 *   - the factors make the sum of a robust loss least, and are held to 1 by how far each is expected to be from it;
 *   - groups of rows (a device, a model, a task) get a factor of their own: the median of what is left of them, drawn
 *     towards none where rows are few;
 *   - candidates, from the formula alone to the richest set, are told apart by rows that a fit did not see.
 */
#pragma once

#include "ask/rows/held_out.h"
#include "base/json_writer.h"
#include "base/yaml.h"

#include <stdbool.h>

enum { PACE_FIT_GROUPS_MOST = 64, PACE_FIT_GROUP_NAME = 96 };

typedef struct {
    char name[PACE_FIT_GROUP_NAME];
    double log_offset; /* added to the logarithm of the time */
    double rows;
} pace_fit_group;

/** What the group of this name adds to the logarithm of a time; 0 where there is none. */
double pace_fit_group_offset(const pace_fit_group *groups, unsigned count, const char *name);

/** Whether a fit has groups of this kind, the first word of their names ("" = any), but none of this name. */
bool pace_fit_group_missing(const pace_fit_group *groups, unsigned count, const char *kind, const char *name);

/** A member of a fit's document, `key`: a list of {"name", `offset`, "rows"}. */
void pace_fit_groups_write(pace_jsonw *json, const char *key, const pace_fit_group *groups, unsigned count,
                           const char *offset);
/** Errors: PACE_E_INPUT with the place. */
pace_status pace_fit_groups_read(pace_fit_group *groups, unsigned *count, const pace_yaml *yaml, const char *key,
                                 const char *offset) PACE_MUST_CHECK;

/** ln(predicted / measured) of a sample. */
typedef double (*pace_log_error_fn)(const void *context, size_t sample);

/* The samples of a fit. */
typedef struct {
    size_t count;
    unsigned folds;       /* at most PACE_HELD_OUT_UNITS; the number of no fold */
    const unsigned *fold; /* by sample: held out together */
    const unsigned *unit; /* by sample: whose errors count as one when candidates are compared */
} pace_factor_samples;

/* Factors that are tried: set(context, x) makes log_error() answer with them. */
typedef struct {
    unsigned count;
    const double *expected; /* of each x: how far from 0 its logarithm is expected, a standard deviation */
    double prior;           /* how firmly they are held to that */
    double knee;            /* errors beyond it count by their logarithm */
    size_t stride;          /* every so many-th sample is looked at */
    void (*set)(void *context, const double *x);
    pace_log_error_fn log_error;
    void *context;
} pace_factors;

/** Improves `x` on all samples but those of the fold `held_out`, from steps of `step`, in so many evaluations. */
void pace_factors_learn(double *x, const pace_factors *factors, const pace_factor_samples *samples, unsigned held_out,
                        double step, unsigned evaluations);

/** Adds the groups of all samples but those of the fold `held_out`: group_of() writes a sample's group, false = none.
 * log_error() sees the groups that are there so far. Errors: PACE_E_MEMORY. */
pace_status pace_fit_groups_learn(pace_fit_group *groups, unsigned *count, const pace_factor_samples *samples,
                                  unsigned held_out,
                                  bool (*group_of)(char out[PACE_FIT_GROUP_NAME], const void *context, size_t sample),
                                  pace_log_error_fn log_error, const void *context) PACE_MUST_CHECK;

/* Candidates, the formula alone first. learn() fits one on all samples but those of a fold; then log_error() answers
 * with it. `stepwise`: learn() is called with 0, 1, 2, … in turn, and each starts from the one before. `surely`: one
 * takes the place of the formula only where chance would not have it better once in twenty times. */
typedef struct {
    unsigned count;
    bool stepwise, surely;
    pace_status (*learn)(void *context, unsigned held_out, unsigned candidate);
    pace_log_error_fn log_error;
    void *context;
} pace_candidates;

/** Chooses the candidate: the formula stays unless one beats it on rows held out by more than chance, and what beats it
 * stays unless a richer one does again. In the end the chosen one has been learned from all samples. `units` of them
 * widen the spread where few. Errors: PACE_E_MEMORY and those of learn(). */
pace_status pace_candidates_choose(unsigned *best, pace_held_out *error, double *spread,
                                   const pace_candidates *candidates, const pace_factor_samples *samples,
                                   size_t units) PACE_MUST_CHECK;

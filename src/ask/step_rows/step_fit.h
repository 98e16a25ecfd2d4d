/*
 * A fit of steps: a few factors on what the closed form's parts take (plan/step_time.h), and what is left over for each
 * group of rows (device, precision, framework, task). A JSON file that a person can read.
 */
#pragma once

#include "ask/rows/factor_fit.h"
#include "ask/rows/fit_range.h"
#include "ask/rows/left_out.h"
#include "ask/step_rows/step_rows.h"

enum { PACE_STEP_FACTORS = sizeof(pace_step_factors) / sizeof(double) };

/* What rows of steps differ in, and a fit was learned from a range of. */
enum {
    PACE_STEP_SEEN_DEVICES,
    PACE_STEP_SEEN_MICRO_BATCH,
    PACE_STEP_SEEN_SEQUENCE,
    PACE_STEP_SEEN_PARAMETERS,
    PACE_STEP_SEEN
};

extern const char *const pace_step_factor_names[PACE_STEP_FACTORS];

/** By factor the share of a step that is saved if what it scales takes no time. */
void pace_step_savings(double out[PACE_STEP_FACTORS], const pace_step_plan *plan, pace_step_factors factors);

typedef struct {
    pace_step_factors factors;
    pace_fit_group groups[PACE_FIT_GROUPS_MOST];
    pace_fit_group models[PACE_FIT_GROUPS_MOST]; /* what is left of each model's own rows; none where that is chance */
    unsigned group_count, model_count;
    double spread;       /* of ln(measured / predicted) on rows that were held out */
    double model_spread; /* the same of a model with rows of its own, held out by how they share the work */
    pace_fit_range seen[PACE_STEP_SEEN];
    char on[96]; /* the machine of rows that named none; "" = they all did */
    char unit[32];
    double unit_s; /* 0 = tokens/s of a device */
} pace_step_fit;

/* How well held-out rows were predicted. */
typedef struct {
    pace_held_out error, of_models; /* the second: of rows whose model had others in the fit; 0 rows = not used */
    size_t folds, models;
    pace_left_out left_out; /* no time, or can't be asked */
    double prior;           /* how firmly factors are held to 1; chosen on held-out rows */
} pace_step_fit_score;

/* A row's answer. */
typedef struct {
    pace_estimate time_s;
    pace_step_time parts;
    double memory_bytes, last_rank_bytes;
    double process_bytes; /* memory_bytes and what lies outside the framework; NAN = unknown */
    pace_step_fitting fitting;
    pace_step_room room;
    bool closely;    /* it fits, by less than memory is known to */
    bool recomputed; /* taken for granted, so that it fits into memory */
} pace_step_answer;

/** Factors with what is known of the row alone. */
pace_step_factors pace_step_row_factors(const pace_step_row *row, const pace_step_factors *factors);

/** The case that a row words. */
pace_step_case pace_step_row_case(const pace_step_row *row);

/** The row's step before any factor. Errors: those of pace_step_solve(). */
pace_status pace_step_row_solve(pace_step_solution *out, pace_step_pricer *pricer,
                                const pace_step_row *row) PACE_MUST_CHECK;

/** Answers a settled case; what was assumed of its recomputation then stays. Errors: those of pace_step_solve(). */
pace_status pace_step_solve_settled(pace_step_solution *settled, pace_step_pricer *pricer,
                                    const pace_step_case *asked) PACE_MUST_CHECK;

/** A solution of the case under factors of the closed form, its own or a fit's (NULL = by formula): a walked step moves
 * by the ratio of the closed form with them to that without. */
void pace_step_answer_of(pace_step_answer *out, const pace_step_solution *solution, const pace_step_factors *factors,
                         const pace_step_fit *fit, const pace_step_case *asked);

extern const char *const pace_step_seen_names[PACE_STEP_SEEN];
void pace_step_seen_of(double out[PACE_STEP_SEEN], const pace_model *model, const pace_config *config);

/** What of a case lies outside the rows of a fit, in words; NULL: nothing, or the file does not say what they had. */
const char *pace_step_fit_beyond(const pace_step_fit *fit, const pace_step_case *asked);

/** What a fit may tell apart: device, precision and task. */
void pace_step_group_name(char out[PACE_FIT_GROUP_NAME], const pace_step_case *asked);

/** What it knows a model by: its parameters and sequence, and the group. */
void pace_step_model_name(char out[PACE_FIT_GROUP_NAME], const pace_step_case *asked);

/** Answers a row that has a model; `fit` NULL = by formula. Errors: those of pace_step_solve(). */
pace_status pace_step_row_answer(pace_step_answer *out, pace_step_pricer *pricer, const pace_step_row *row,
                                 const pace_step_fit *fit) PACE_MUST_CHECK;

/** Fits the rows of tables for which keep(context, table, row) is true (NULL = all). PACE_E_INPUT when fewer than 3
 * have a time. */
pace_status pace_step_rows_fit(pace_step_fit *out, pace_step_fit_score *score, const pace_step_rows *tables,
                               size_t count, pace_step_pricer *pricer,
                               bool (*keep)(void *context, size_t table, size_t row), void *context) PACE_MUST_CHECK;

/** Whole or not at all. */
pace_status pace_step_fit_save(const pace_step_fit *fit, const char *path) PACE_MUST_CHECK;
/** Errors: PACE_E_INPUT with the place, PACE_E_IO. */
pace_status pace_step_fit_read(void *out, const pace_yaml *yaml) PACE_MUST_CHECK;
pace_status pace_step_fit_load(pace_step_fit *out, const char *path) PACE_MUST_CHECK;

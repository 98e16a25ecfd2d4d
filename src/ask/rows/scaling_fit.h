/*
 * A fit of scaling rows: a few factors on one worker's time, on exchanges inside a node and between nodes, the jitter
 * of workers, a time that every step takes besides, and factors of devices and models. A JSON file that a person can
 * read.
 */
#pragma once

#include "base/memory.h"
#include "ask/rows/factor_fit.h"
#include "ask/rows/fit_range.h"
#include "schedule/gradients.h"

enum { PACE_SCALING_RATIOS = 49 };

/* What rows of scaling differ in. */
enum { PACE_SCALING_SEEN_WORKERS, PACE_SCALING_SEEN_BATCH, PACE_SCALING_SEEN };
extern const char *const pace_scaling_seen_names[PACE_SCALING_SEEN];

typedef struct {
    double compute;         /* factor on one worker's time */
    double inside, between; /* factors on exchanges of one node, of several */
    double jitter;          /* share of the step; < 0 = the approach's own */
    double fixed_s;         /* of every step, whatever the batch */
    /* What is left for a device ("device v100") or a model ("model resnet50"): on one worker's own time. */
    pace_fit_group groups[PACE_FIT_GROUPS_MOST];
    unsigned group_count;
    /* The models and devices it saw, named likewise, with ln(measured / formula) of their rows. */
    pace_fit_group known[PACE_FIT_GROUPS_MOST];
    unsigned known_count;
    double unseen_share;  /* of a model that it did not see: so much of `compute` and `fixed_s` is kept */
    double unseen_spread; /* of models or devices that it did not see */
    double spread;        /* of ln(measured / predicted) on rows that were held out */
    pace_fit_range seen[PACE_SCALING_SEEN];
} pace_scaling_fit;

pace_scaling_fit pace_scaling_fit_none(void);

/** What of a row lies outside the rows of a fit, in words; NULL: nothing. `own_known`: one worker's step was measured,
 * and no factor is on it. */
const char *pace_scaling_fit_beyond(const pace_scaling_fit *fit, const char *device, const char *model, bool own_known,
                                    double workers, double batch);

/** How far off answers of a model on a device are, of the logarithm. */
double pace_scaling_fit_spread(const pace_scaling_fit *fit, const char *device, const char *model);

/** The factor on one worker's own time of a row, and what every step of the model takes besides. */
double pace_scaling_fit_compute(const pace_scaling_fit *fit, const char *device, const char *model);
double pace_scaling_fit_fixed_s(const pace_scaling_fit *fit, const char *model);

/* A measured row. When all times of a step are c times as long and its exchanges s times, the exposed time is c times
 * that of exchanges s/c times as long: so its curve over that ratio says all that a fit asks. */
typedef struct {
    double own_s;                          /* one worker's step */
    double exposed_s[PACE_SCALING_RATIOS]; /* exchanges pace_scaling_ratio(i) times as long */
    double skew, most;                     /* the approach's jitter; the largest of the workers' normal draws */
    bool between;                          /* over several nodes */
    bool own_known;                        /* one worker's step was measured: no factor on it */
    double measured_s, batch, workers;
    const char *device, *model; /* borrowed */
} pace_scaling_sample;

typedef PACE_VEC(pace_scaling_sample) pace_scaling_samples;

double pace_scaling_ratio(int i);

/** The sample's step by a fit, in seconds. */
double pace_scaling_fit_step_s(const pace_scaling_fit *fit, const pace_scaling_sample *sample);

typedef struct {
    pace_held_out error, of_models; /* the second: of models that the fit did not see; 0 rows = there is one model */
    size_t units;
    const char *held_out; /* what is held out together: "model", "device" or "row" */
    const char *chosen;   /* the richest set of factors that held-out rows gain from */
} pace_scaling_score;

/** Fits samples. `unlike`, above 0: how far apart models, or devices, are as long as few are known. `split`, by which
 * factors are chosen: "row" (NULL: row, else model, else device), "model" or "device". Errors: PACE_E_INPUT for fewer
 * than 8 samples or nothing to hold out, PACE_E_USAGE for another split, PACE_E_MEMORY. */
pace_status pace_scaling_fit_learn(pace_scaling_fit *out, pace_scaling_score *score,
                                   const pace_scaling_samples *samples, const char *split,
                                   double unlike) PACE_MUST_CHECK;

/** Whole or not at all. */
pace_status pace_scaling_fit_save(const pace_scaling_fit *fit, const char *path) PACE_MUST_CHECK;
/** Errors: PACE_E_INPUT with the place, PACE_E_IO. */
pace_status pace_scaling_fit_read(void *out, const pace_yaml *yaml) PACE_MUST_CHECK;
pace_status pace_scaling_fit_load(pace_scaling_fit *out, const char *path) PACE_MUST_CHECK;

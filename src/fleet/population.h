/*
 * Jobs that are made up: a population with the marginals that are published of Alibaba's PAI
 * (catalog/job_population.yaml). Each job is drawn from its number and the seed alone, so a population is the same
 * however it is split, and the first million of a longer one.
 */
#pragma once

#include "base/progress.h"
#include "base/json_writer.h"
#include "fleet/job_model.h"

enum { PACE_QUANTILES = 8 };

/* Quantiles: value[i] at share at[i], straight lines between them. */
typedef struct {
    size_t count;
    bool is_log; /* values are logarithms */
    double at[PACE_QUANTILES], value[PACE_QUANTILES];
    double follows_size;
} pace_drawn;

typedef struct {
    pace_job_architecture architecture;
    double until; /* jobs of this class and of those before it, as a share */
    pace_drawn cnodes, weights_share, input_share, weight_bytes, embedding_share;
    /* seconds of one FLOP, of one byte: of input, computation, memory access, weights */
    double per_unit_s[PACE_JOB_COMPONENTS];
} pace_population_class;

typedef struct {
    size_t count;
    pace_population_class classes[PACE_JOB_ARCHITECTURES];
    pace_drawn memory_bound_share, step_s, batch_size, hours;
} pace_population;

/** Errors: PACE_E_INPUT with file:line:column for what is missing or no distribution. */
pace_status pace_population_load(pace_population *out, pace_catalog *catalog) PACE_MUST_CHECK;

/** The `i`-th job: all columns that must be there, and gpu_hours; the others NAN. */
void pace_population_job(double values[PACE_JOB_COLUMNS], pace_job_architecture *architecture,
                         const pace_population *population, uint64_t seed, uint64_t i);

/** Writes jobs [0, count) as CSV, after a comment line that says they are synthetic. */
pace_status pace_population_write(pace_sink *sink, const pace_population *population, uint64_t seed, uint64_t count,
                                  pace_progress progress) PACE_MUST_CHECK;

/*
 * Efficiencies of the job model from jobs whose step time was measured: the shares of the peaks that make predicted
 * and measured step times agree best, in the mean square of the logarithm. What the measurements say little of stays
 * near the catalogue's figure, because being off that by the doubt job_prior costs as much as one step time that is off
 * by the doubt job_sample.
 */
#pragma once

#include "fleet/job_model.h"

/* A measurement: the parts of the step if every peak were reached, those whose efficiency the job itself states at
 * that, and its time. */
typedef struct {
    double part_s[PACE_JOB_PARTS], stated_s[PACE_JOB_PARTS];
    double step_s;
    uint32_t machine; /* the same number: the same machine */
} pace_job_sample;

typedef struct {
    double efficiency[PACE_JOB_RESOURCES];
    double spread; /* of the logarithm of a step time; with several machines, on machines held out of the fit */
    size_t samples, machines;
    char machine[96]; /* the machine of rows that name none; "" = unknown */
} pace_job_fit;

/** Step time of a sample under efficiencies. */
double pace_job_sample_time(const pace_job_sample *sample, const double efficiency[PACE_JOB_RESOURCES], double overlap);

/** Fits the samples whose machine is not `left_out` (UINT32_MAX = all). `prior` are the efficiencies to stay near;
 * `spread` stays as it is. Errors: PACE_E_INPUT when no sample is left. */
pace_status pace_job_fit_samples(pace_job_fit *out, const pace_job_sample *samples, size_t count, uint32_t left_out,
                                 const double prior[PACE_JOB_RESOURCES], double overlap,
                                 const pace_doubts *doubts) PACE_MUST_CHECK;

/** A fit as a JSON file, and back. */
pace_status pace_job_fit_save(const pace_job_fit *fit, const char *path) PACE_MUST_CHECK;
pace_status pace_job_fit_read(void *out, const pace_yaml *yaml) PACE_MUST_CHECK;
pace_status pace_job_fit_load(pace_job_fit *out, const char *path) PACE_MUST_CHECK;

/** Puts the fit's efficiencies and spread into a setting. */
void pace_job_fit_apply(pace_job_setting *setting, const pace_job_fit *fit);

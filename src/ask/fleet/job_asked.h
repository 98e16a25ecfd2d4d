/* A step of one job: its parts, what it would be as another architecture, and what would help. */
#pragma once

#include "ask/engine_options.h"
#include "ask/fleet/job_features.h"

/* A part of the step that takes time; `if_free_s` is the step without it. */
typedef struct {
    const char *part, *resource;
    double time_s, share, if_free_s;
} pace_job_part_time;

typedef struct {
    const char *architecture, *verdict;
    int64_t cnodes;
    double step_s, low_s, high_s, single_speedup, throughput_speedup;
} pace_job_move;

/* One change of hardware or software; the speed-up is of samples per second. */
typedef struct {
    char change[96];
    const char *confidence;
    double step_s, low_s, high_s, speedup;
} pace_job_gain;

typedef struct {
    pace_job_catalog catalog;
    pace_job_setting setting;
    pace_jobs jobs;  /* one */
    char model[96];  /* whose features it has; "" = none */
    char trace[512]; /* the same of a trace */
    pace_job_recorded recorded;
    double measured_s; /* the step as measured: said, or the trace's; 0 = not known */
    double values[PACE_JOB_COLUMNS];
    pace_job_parts parts;
    pace_estimate step_s;
    double
        moved_from_s; /* the step that moves are compared with: its replicas share what those of the moved job share */
    double samples_per_s, components_s[PACE_JOB_COMPONENTS];
    pace_job_component bottleneck;
    PACE_VEC(pace_job_part_time) times;
    PACE_VEC(pace_job_move) moves;
    PACE_VEC(pace_job_gain) gains; /* hardware, then software */
    size_t hardware_count, best;   /* best: of the hardware; SIZE_MAX = none helps */
} pace_job_asked;

/** `options->job` is KEY=VALUE,... or a file. Free `out`, which begins as zeros, after a failure too. */
pace_status pace_job_ask(pace_job_asked *out, const pace_job_options *options) PACE_MUST_CHECK;
void pace_job_asked_free(pace_job_asked *asked);

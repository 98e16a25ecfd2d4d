/*
 * How long a training step of a job takes, and what it is made of, in closed form (Wang et al., IISWC 2019, equation
 * 1):
 *
 *     T = T_input + T_compute + T_memory + T_weights
 *     T_input   = k * input_bytes / (e * B_pcie)          k replicas share the host link
 *     T_compute = flop / (e * peak)
 *     T_memory  = memory_access_bytes / (e * B_memory)
 *     T_weights = sum over the links of the architecture of weight_traffic_bytes / (e * B_link)
 *
 * One implementation for one job and for millions: jobs are columns, a block of them at a time, and a step is six
 * parts. Everything that could be different (a faster link, fused operations, another efficiency) is a factor on some
 * parts, so a block's parts are computed once and each question is one pass over them.
 */
#pragma once

#include "base/estimate.h"
#include "fleet/job_catalog.h"

/* What a step consists of. */
typedef enum {
    PACE_PART_INPUT,
    PACE_PART_COMPUTE,
    PACE_PART_MEMORY,
    PACE_PART_WEIGHT_NETWORK,
    PACE_PART_WEIGHT_PCIE,
    PACE_PART_WEIGHT_NVLINK,
    PACE_JOB_PARTS
} pace_job_part;

extern const pace_job_resource pace_job_part_resources[PACE_JOB_PARTS];

/* The paper's four components: the parts, weights together. A job's bottleneck is the largest. */
typedef enum {
    PACE_COMPONENT_INPUT,
    PACE_COMPONENT_COMPUTE,
    PACE_COMPONENT_MEMORY,
    PACE_COMPONENT_WEIGHTS,
    PACE_JOB_COMPONENTS
} pace_job_component;

extern const char *const pace_job_component_names[PACE_JOB_COMPONENTS];

/* Which jobs share the host link for input: none; those moved to another architecture, as in the paper; all. */
/* The words of assumptions, by number. */
extern const char *const pace_job_overlaps[2], *const pace_job_contentions[3], *const pace_job_nvlinks[2];

typedef enum { PACE_CONTENTION_NONE, PACE_CONTENTION_PROJECTED, PACE_CONTENTION_ALL } pace_job_contention;

/* The assumptions of the model. */
typedef struct {
    const pace_job_catalog *catalog;
    pace_job_machine machine;
    double overlap; /* 0 = parts follow each other, 1 = input, computation and weights overlap fully */
    pace_job_contention contention;
    bool nvlink_aggregate; /* all NVLinks of a device, else the rate of one */
    double spread;         /* of the logarithm of a step time */
    pace_rung rung;
} pace_job_setting;

/* Settings from the command line; NULL = the default of the catalogue. */
typedef struct {
    const char *on;         /* "pai-2018" (NULL), "pai-v100 network=100Gb/s" */
    const char *overlap;    /* "none" (NULL), "ideal", or a number from 0 to 1 */
    const char *contention; /* "none", "projected" (NULL), "all" */
    const char *nvlink;     /* "link" (NULL), "aggregate" */
    const char *efficiency; /* "0.5", "compute=0.5,memory=0.03" */
} pace_job_setting_words;

/** Errors: PACE_E_USAGE, PACE_E_MISSING. `catalog` is borrowed. */
pace_status pace_job_setting_parse(pace_job_setting *out, const pace_job_catalog *catalog,
                                   const pace_job_setting_words *words) PACE_MUST_CHECK;

/* Jobs processed together: their parts fit into the first-level cache. */
enum { PACE_JOB_BLOCK = 256 };

typedef struct {
    double part[PACE_JOB_PARTS][PACE_JOB_BLOCK]; /* seconds */
    double rows[PACE_JOB_BLOCK];                 /* of weights' traffic, the share that is rows of embeddings */
} pace_job_parts;

/** The parts of jobs [first, first + count) as they are. */
void pace_job_parts_of(pace_job_parts *out, const pace_jobs *jobs, size_t first, size_t count,
                       const pace_job_setting *setting);

/** The parts of jobs under one architecture, without `rows`; `contention`: whether input shares the host link. Columns
 * of efficiencies may be NULL: none is known. */
void pace_job_parts_as(pace_job_parts *out, const pace_jobs *jobs, size_t first, size_t count,
                       const pace_job_setting *setting, pace_job_architecture architecture, bool contention);

/** The rows of embeddings, which depend on the jobs alone. */
void pace_job_rows_of(pace_job_parts *out, const pace_jobs *jobs, size_t first, size_t count,
                      const pace_job_setting *setting);

/* One question to a block: factors on the time of each part. */
typedef struct {
    double factor[PACE_JOB_PARTS];
    double overlap;
    double rows; /* factor on the rows of embeddings in weights' traffic, which grow with the batch */
} pace_job_change;

/** The share of a part's peak that the job's own row states; NAN = none. */
double pace_job_own_efficiency(const pace_jobs *jobs, size_t job, pace_job_part part);

/** No change. */
pace_job_change pace_job_unchanged(const pace_job_setting *setting);

/** Step time of three parts: their sum at overlap 0, the longest at overlap 1, linear between. */
static inline double pace_job_overlapped(double input, double work, double weights, double overlap) {
    double sum = input + work + weights, longest = input > work ? input : work;
    if (overlap == 0) return sum;
    return sum + overlap * ((longest > weights ? longest : weights) - sum);
}

/** Step times in seconds: without overlap the sum of the parts, with full overlap the longest of input, computation
 * and weights, and interpolated linearly between them. */
void pace_job_steps(double *step_s, const pace_job_parts *parts, size_t count, const pace_job_change *change);

/** The paper's components of a job of a block, in seconds. */
static inline void pace_job_components(double out_s[PACE_JOB_COMPONENTS], const pace_job_parts *parts, size_t job) {
    out_s[PACE_COMPONENT_INPUT] = parts->part[PACE_PART_INPUT][job];
    out_s[PACE_COMPONENT_COMPUTE] = parts->part[PACE_PART_COMPUTE][job];
    out_s[PACE_COMPONENT_MEMORY] = parts->part[PACE_PART_MEMORY][job];
    out_s[PACE_COMPONENT_WEIGHTS] = parts->part[PACE_PART_WEIGHT_NETWORK][job] +
                                    parts->part[PACE_PART_WEIGHT_PCIE][job] + parts->part[PACE_PART_WEIGHT_NVLINK][job];
}

/** The largest; the first of equals. */
static inline pace_job_component pace_job_bottleneck(const double components_s[PACE_JOB_COMPONENTS]) {
    int best = 0;
    double most = components_s[0];
    for (int c = 1; c < PACE_JOB_COMPONENTS; c++) {
        best = components_s[c] > most ? c : best;
        most = components_s[c] > most ? components_s[c] : most;
    }
    return (pace_job_component)best;
}

/** A step time with its interval. */
static inline pace_estimate pace_job_estimate(double step_s, const pace_job_setting *setting) {
    return (pace_estimate){step_s, setting->spread, setting->rung, 0};
}

/** Writes why the model cannot answer for a job ("cnodes: expected a whole number from 1, found 0"); false if it
 * can. Numbers must be finite and not negative, efficiencies between 0 and 1, cNodes whole (1 for a single-GPU
 * architecture), and some work must be left. */
bool pace_job_fault(char *why, size_t size, const pace_jobs *jobs, size_t job, const pace_job_catalog *catalog);

/** Writes what must be known beside an answer: traffic of weights that moves nowhere, more cNodes in a server than it
 * has devices. "" = nothing. */
void pace_job_remark(char *out, size_t size, const pace_jobs *jobs, size_t job, const pace_job_setting *setting);

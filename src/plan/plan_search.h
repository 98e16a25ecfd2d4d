/*
 * The search behind `paceline plan`: of every configuration of a space it is known whether it fits into memory; those
 * that do are ordered by their time in closed form. Where only the fastest are wanted, a configuration whose kernels
 * alone take longer than these gets no time (branch and bound; pace_step_least_s() is the bound): the fastest are the
 * same. The closed form only screens: whoever prints a time asks pace_step_solve().
 */
#pragma once

#include "plan/plan_space.h"
#include "plan/step_engine.h"

typedef struct {
    pace_config config;
    double closed_s; /* median, the slowest rank's wait included */
    double need_bytes;
    pace_step_time parts;
    double alike_s; /* of those that it stands for, the fastest; 0 = none is faster */
    pace_config alike;
} pace_plan_candidate;

/* Why configurations are no candidates: the first words of the message, up to a figure, and how many. */
typedef struct {
    char reason[96], first[240]; /* the message of the first */
    size_t count;
} pace_plan_refusal;

typedef struct {
    PACE_VEC(pace_plan_candidate) fitting; /* fastest first; of those that take as long the simplest alone */
    PACE_VEC(pace_plan_refusal) refusals;  /* in order of first appearance */
    size_t tried, refused;
    size_t fit, too_large, may_fit; /* of memory; what does not fit is no candidate */
    size_t pruned;                  /* that fit, and surely take longer than those asked for: they have no time */
    pace_plan_candidate nearest;    /* of those that do not fit: the one that needs least */
    double device_bytes;            /* 0 = not known: then everything fits */
    const pace_doubts *doubts;      /* borrowed from the pricer */
    bool stopped;                   /* before all were tried */
} pace_plan_found;

/* When to stop, and what counts as the same. */
typedef struct {
    size_t wanted;               /* so many of the fastest are needed, of ways to share a step that differ; 0 = all */
    double tie;                  /* times within this share of each other are as long (catalog/steps.yaml, plan_tie) */
    bool (*stop)(void *context); /* asked now and then; NULL = never */
    void *stop_context;
} pace_plan_rules;

/** Searches. `base` has everything but what the space fills. Errors: PACE_E_MEMORY, and what visits of the engine
 * cannot get over; a configuration that the model or the engine refuses is counted. Free with pace_plan_found_free(),
 * also after a failure. */
pace_status pace_plan_search(pace_plan_found *out, pace_step_pricer *pricer, const pace_step_case *base,
                             const pace_plan_space *space, const pace_plan_rules *rules) PACE_MUST_CHECK;
/** Counts a configuration that cannot be, with the message of whoever refused it. */
pace_status pace_plan_refuse(pace_plan_found *found, const char *message) PACE_MUST_CHECK;
/** The fastest that surely fits; NULL = none does. It is found however few are wanted. */
const pace_plan_candidate *pace_plan_sure(const pace_plan_found *found);
void pace_plan_found_free(pace_plan_found *found);

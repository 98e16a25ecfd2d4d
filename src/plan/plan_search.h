/*
 * The search behind `paceline plan`: every configuration of a space is settled in closed form (step_engine.h); those that
 * fit into memory are ordered by their time. The closed form only screens: whoever prints a time asks pace_step_solve().
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
    PACE_VEC(pace_plan_candidate) fitting; /* fastest first */
    PACE_VEC(pace_plan_refusal) refusals;  /* in order of first appearance */
    size_t tried, refused;
    size_t too_large, may_fit;   /* of memory; such are no candidates */
    size_t alike;                /* that fit, but differ in nothing that changes their time: one of each is kept */
    pace_plan_candidate nearest; /* of those that do not fit: the one that needs least */
    double device_bytes;         /* 0 = not known: then everything fits */
    double memory_doubt;         /* a need times this surely fits */
    bool stopped;                /* before all were tried */
} pace_plan_found;

/* When to stop, and what counts as the same. */
typedef struct {
    double tie;                  /* times within this share of each other are as long (catalog/steps.yaml, plan_tie) */
    bool (*stop)(void *context); /* asked now and then; NULL = never */
    void *stop_context;
} pace_plan_rules;

/** Searches. `base` has everything but what the space fills. Errors: PACE_E_MEMORY, and what visits of the engine cannot
 * get over; a configuration that the model or the engine refuses is counted. Free with pace_plan_found_free(), also after a
 * failure. */
pace_status pace_plan_search(pace_plan_found *out, pace_step_pricer *pricer, const pace_step_case *base,
                             const pace_plan_space *space, const pace_plan_rules *rules) PACE_MUST_CHECK;
/** Counts a configuration that cannot be, with the message of whoever refused it. */
pace_status pace_plan_refuse(pace_plan_found *found, const char *message) PACE_MUST_CHECK;
void pace_plan_found_free(pace_plan_found *found);

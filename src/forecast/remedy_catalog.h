/* The remedies that are tried on a trace: rows of catalog/remedies.yaml. */
#pragma once

#include "forecast/what_ifs.h"

/* Where a remedy's value comes from. */
typedef enum {
    PACE_REMEDY_FLAG,    /* it has none */
    PACE_REMEDY_LISTED,  /* the catalogue's, in turn */
    PACE_REMEDY_WORKERS, /* as many as keep up with the step */
    PACE_REMEDY_DOUBLE   /* twice the samples of the step */
} pace_remedy_value;

/* Texts are borrowed from the document. */
typedef struct {
    const char *id, *says, *how, *rests_on;
    const char *how_to_infer, *infers_on; /* the same two of inference; NULL = the same words */
    const pace_what_if *what_if;
    unsigned resources; /* 1 << pace_advice of each */
    pace_remedy_value value;
    const pace_yaml_node *values; /* of those that are listed */
    const char *only_if;          /* names that the recording needs to have; NULL = none */
    const char *or_repeated;      /* names of which two in the step will do instead; NULL = none do */
    const char *done_if;          /* names that show that it is carried out already; NULL = none do */
    bool all_values;              /* of those that are listed the best is shown; else the first that is not refused */
    const char *unless;           /* id of a row before: not tried where that one could be; NULL = none */
    bool spread_host;             /* only where the host's time is spread over many operators (pace_lead_spreads()) */
    double spread;                /* of what it saves */
} pace_remedy_row;

/* What to do where names show the cause and nothing replays it. Texts are borrowed from the document. */
typedef struct {
    const char *id, *names, *says;
    const char *unless;                 /* id of a remedy that is said instead, where it saves enough; NULL = none */
    const char *rules_out;              /* id of the remedy that would not help then; NULL = none */
    pace_advice resource;               /* that leads; PACE_ADVICES = any */
    bool of_long_steps;                 /* only where steps that take longer than usual lead */
    bool last;                          /* whatever the names, where no remedy saves enough; names NULL */
    bool without_shapes;                /* only where operators have no shapes: no replay could try it */
    double least_stretch, most_stretch; /* what share of the resource's time its longest stretch takes */
} pace_remedy_hint;

typedef struct {
    double threshold, most_error, headroom;
    int most_tasks, most_alone, most_workers;
    PACE_VEC(pace_remedy_row) rows;
    PACE_VEC(pace_remedy_hint) hints;
} pace_remedy_catalog;

/** PACE_E_INPUT for a member that is missing or out of range, and a what-if or resource that does not exist. */
pace_status pace_remedy_catalog_load(pace_remedy_catalog *out, pace_catalog *catalog) PACE_MUST_CHECK;
void pace_remedy_catalog_free(pace_remedy_catalog *catalog);

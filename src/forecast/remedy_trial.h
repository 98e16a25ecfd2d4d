/*
 * One remedy of the catalogue tried: whether it applies to the recording, the walk of its what-if, and what it saves.
 */
#pragma once

#include "forecast/remedy.h"

/* What came of a row of the catalogue. */
typedef struct {
    bool tried, refused;         /* refused: the device or the recording has no use for it */
    bool answered;               /* the recording has what it acts on */
    PACE_VEC(pace_remedy) items; /* that save enough: one a value */
} pace_remedy_trial;

/* What rows are tried on; several threads read it at once. */
typedef struct {
    const pace_analysis *analysis;
    const pace_critical *critical;
    const pace_rank *rank; /* that is reported */
    pace_remedy_catalog catalog;
    pace_forecast forecast;
    double replayed_s;               /* the step as it is, walked */
    uint32_t *named, *named_in_step; /* per name of the rank's: its tasks, and those that begin in the step */
    bool of_host;                    /* the host is the device */
    bool late_ranks;                 /* most communication may be waiting for ranks: faster links need not help */
    pace_lead behind[PACE_ADVICES];  /* each resource that matters; else PACE_ADVICES is its resource */
} pace_remedy_ground;

/** Fills `named` and `named_in_step`, which the caller frees. */
pace_status pace_remedy_count_names(pace_remedy_ground *ground) PACE_MUST_CHECK;

/** Tries a row of the catalogue on the ground; `prices` are the caller's. Errors: of the catalogue and of memory. */
pace_status pace_remedy_try(pace_remedy_trial *out, const pace_remedy_ground *ground, const pace_remedy_row *row,
                            pace_price_cache *prices) PACE_MUST_CHECK;

/** Whether a failure says that what was asked for is of no use here, and not that something broke. */
bool pace_remedy_is_refused(pace_status status);

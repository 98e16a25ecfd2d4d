/* The rows of the table of options. Private to options.c. */
#pragma once

#include "paceline/paceline.h"

/* In the order in which help lists them. */
enum {
    PACE_VERB_ANALYZE,
    PACE_VERB_PREDICT,
    PACE_VERB_PLAN,
    PACE_VERB_TUNE,
    PACE_VERB_COMPARE,
    PACE_VERB_CONVERT,
    PACE_VERB_SLICE,
    PACE_VERB_HISTORY,
    PACE_VERB_FLEET,
    PACE_VERB_FIT,
    PACE_VERB_CALIBRATE,
    PACE_VERB_TRAIN,
    PACE_VERB_VALIDATE,
    PACE_VERB_MACHINES,
    PACE_VERB_MODELS,
    PACE_VERBS
};

typedef struct {
    unsigned verbs;     /* bits */
    pace_option option; /* without a name: those of all what-ifs (forecast/what_ifs.h) */
} pace_option_row;

extern const pace_verb pace_verb_table[PACE_VERBS];
extern const pace_option_row pace_option_table[];
extern const size_t pace_option_table_count;

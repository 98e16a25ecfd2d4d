/* Figures of the closed loop against their bars (`live` of accuracy/cases.yaml), and as lines of the ledger. */
#pragma once

#include "ask/validate/cases.h"
#include "paceline/train.h"

/* A figure that has a case; texts are borrowed from the cases. */
typedef struct {
    const char *name, *metric, *bar, *means, *holds;
    double value;
    int64_t count;
} pace_live_judged;

typedef struct {
    PACE_VEC(pace_live_judged) all;
    pace_cases cases;
} pace_live_verdict;

/** Judges the figures that have a value; `path` as of pace_cases_load(). Errors: those of pace_cases_load(). */
pace_status pace_live_judge(pace_live_verdict *out, const pace_live_done *done, const char *path) PACE_MUST_CHECK;
void pace_live_verdict_free(pace_live_verdict *verdict);

/** Puts them into a ledger, with the machine and the day as their note. Errors: those of pace_ledger_update(). */
pace_status pace_live_keep(const pace_live_verdict *verdict, const pace_live_done *done,
                           const char *ledger) PACE_MUST_CHECK;

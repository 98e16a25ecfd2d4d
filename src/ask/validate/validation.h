/* What `paceline validate` computes: the cases that are asked for, their figures against their bars and the ledger. */
#pragma once

#include "ask/validate/ledger.h"
#include "ask/validate/validate.h"

/* A case that is asked for, and what became of it. */
typedef struct {
    const pace_case *one;
    const char *missing; /* a file that it needs and that is not there; NULL = it ran */
    bool for_pool;       /* nobody asked for it, but for a case that pools it */
    pace_case_score score;
    pace_status status;
    char message[500];
} pace_validation_run;

typedef struct {
    const char *name, *metric, *bar, *holds, *verdict, *note;
    int64_t rows;
    double value, before; /* before: the ledger's, NAN = none */
} pace_validation_figure;

typedef struct {
    const pace_validate_options *options; /* borrowed */
    pace_cases cases;
    PACE_VEC(pace_validation_run) runs;
    pace_ledger fresh, kept;
    PACE_VEC(pace_validation_figure) figures;
    PACE_VEC(const char *) worse; /* names of cases, once for each figure */
    size_t missed, failed, done;
} pace_validation;

/** Runs all cases that are asked for and whose files are there, and writes the ledger if that is asked for. A case that
 * fails does not stop the others. Errors: PACE_E_USAGE for a name that no case has, those of cases when none gives a
 * figure. */
pace_status pace_validation_run_all(pace_validation *out, const pace_validate_options *options) PACE_MUST_CHECK;
void pace_validation_free(pace_validation *validation);

/** Lines of the ledger of this split that are asked for and that nothing here recomputes. */
size_t pace_validation_kept(const pace_validation *validation, const char *split);

#include "ask/rows/unit_doubt.h"
#include "base/sort.h"

#include <math.h>

enum { LOOKED_AT = 20, LEAST = 3 }; /* rows of each table; answers of all of them */

static const double usual_ratio = 8; /* units differ by a thousand, formulas and what frameworks do by a few times */

typedef PACE_VEC(double) ratios;

static pace_status add_table(ratios *out, const pace_row_kind *kind, void *state, size_t table) {
    size_t count = kind->table(state, table).questions, step = count / LOOKED_AT + 1;
    for (size_t i = 0; i < count; i += step) {
        pace_row_question question;
        pace_row_answer answer = {0};
        kind->question(&question, state, table, i);
        if (!(question.measured_s > 0)) continue;
        kind->answer(&answer, state, table, i);
        double ratio = question.measured_s / answer.time_s.median;
        if (answer.known && isfinite(ratio) && ratio > 0) PACE_TRY(PACE_PUSH(out, log(ratio)));
    }
    return PACE_OK;
}

pace_status pace_unit_doubt_of(double *out, const pace_row_kind *kind, void *state, size_t tables) {
    ratios all = {0};
    pace_status status = PACE_OK;
    *out = 1;
    for (size_t t = 0; status == PACE_OK && kind->answer && kind->question && t < tables; t++)
        status = add_table(&all, kind, state, t);
    double middle = status == PACE_OK && all.count >= LEAST ? pace_median(all.items, all.count) : 0;
    if (fabs(middle) > log(usual_ratio)) *out = exp(middle);
    PACE_VEC_FREE(&all);
    return status;
}

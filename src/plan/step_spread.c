#include "plan/step_spread.h"

#include <math.h>
#include <stddef.h>

/* d ln(time) / d ln(factor), times the factor's spread, squared. */
static double variance(const pace_step_plan *plan, size_t factor, double spread, double total_s) {
    static const double more = 0.01;
    pace_step_factors changed = pace_step_factors_none();
    *(double *)(void *)((char *)&changed + factor) += more;
    double elasticity = (pace_step_compose(plan, &changed).total_s / total_s - 1) / more;
    return elasticity * elasticity * spread * spread;
}

double pace_step_spread(const pace_step_plan *plan, const pace_step_spreads *spreads) {
    const struct {
        size_t factor;
        double spread;
    } parts[] = {{offsetof(pace_step_factors, matrix), spreads->matrix},
                 {offsetof(pace_step_factors, attention), spreads->attention},
                 {offsetof(pace_step_factors, stream), spreads->stream},
                 {offsetof(pace_step_factors, inside), spreads->inside},
                 {offsetof(pace_step_factors, between), spreads->between},
                 {offsetof(pace_step_factors, launch), spreads->launch},
                 {offsetof(pace_step_factors, step), spreads->step}};
    pace_step_factors none = pace_step_factors_none();
    double total_s = pace_step_compose(plan, &none).total_s, sum = spreads->rest * spreads->rest;
    if (!(total_s > 0) || !(sum > 0)) return 0;
    for (size_t i = 0; i < PACE_COUNT(parts); i++) sum += variance(plan, parts[i].factor, parts[i].spread, total_s);
    return sqrt(sum);
}

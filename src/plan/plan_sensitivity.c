#include "plan/plan_sensitivity.h"

const char *const pace_plan_otherwise_names[PACE_PLAN_OTHERWISE] = {
    "products and attention",  "other kernels", "exchanges within a node",
    "exchanges between nodes", "the host",      "the update"};

double pace_plan_otherwise_factor(void) { return 1.5; }

void pace_plan_otherwise(double out[PACE_PLAN_OTHERWISE], const pace_step_plan *plan) {
    const double longer = pace_plan_otherwise_factor();
    pace_step_factors none = pace_step_factors_none();
    double as_is_s = pace_step_compose(plan, &none).total_s;
    for (int i = 0; i < PACE_PLAN_OTHERWISE; i++) {
        pace_step_factors f = none;
        double *const first[] = {&f.matrix, &f.stream, &f.inside, &f.between, &f.launch, &f.update};
        *first[i] = longer;
        if (i == 0) f.attention = longer;
        out[i] = pace_step_compose(plan, &f).total_s / as_is_s;
    }
}

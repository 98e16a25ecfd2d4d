#include "cost/base_time.h"

#include "cost/simplex.h"

#include <math.h>

double pace_base_time_s(const pace_base_time *base, const pace_sample *s) {
    const double *c = base->constant;
    double p = 1 + exp(c[4]);
    double compute = exp(c[0]) * s->compute_s * s->waste, memory = exp(c[1]) * s->memory_s;
    double more = compute > memory ? compute : memory, less = compute > memory ? memory : compute;
    double both = more > 0 ? more * pow(1 + pow(less / more, p), 1 / p) : 0;
    return both + (1e-6 * exp(c[2]) + 1e-9 * exp(c[3]) * s->steps) / s->clock;
}

typedef struct {
    const pace_sample *samples;
    const double *times;
    const uint32_t *picked;
    size_t count, stride;
} measured;

/* Constants stay within what kernels can be: e^-3 to e^5 times the roofline, and so on. */
static double error(const double *x, void *context) {
    const measured *m = context;
    static const double low[] = {-3, -3, -3, -6, -3}, high[] = {5, 5, 8, 5, 3};
    pace_base_time base;
    double sum = 0, outside = 0;
    for (int i = 0; i < PACE_BASE_CONSTANTS; i++) {
        base.constant[i] = x[i];
        if (x[i] < low[i]) outside += low[i] - x[i];
        if (x[i] > high[i]) outside += x[i] - high[i];
    }
    if (outside > 0) return 1e3 * (1 + outside);
    for (size_t i = 0; i < m->count; i += m->stride) {
        uint32_t at = m->picked[i];
        sum += fabs(log(m->times[at] / pace_base_time_s(&base, &m->samples[at])));
    }
    return sum / ((double)((m->count - 1) / m->stride) + 1);
}

pace_base_time pace_base_time_fit(const pace_sample *samples, const double *times, const uint32_t *picked,
                                  size_t count) {
    enum { ENOUGH = 2000, EVALUATIONS = 600 };
    measured m = {samples, times, picked, count, count / ENOUGH + 1};
    pace_base_time base = {{0.2, 0.3, 1, -1, 0.5}};
    if (count == 0) return base;
    pace_simplex(base.constant, PACE_BASE_CONSTANTS, 0.5, EVALUATIONS, error, &m);
    pace_simplex(base.constant, PACE_BASE_CONSTANTS, 0.3, EVALUATIONS, error,
                 &m); /* anew from there: simplices flatten */
    return base;
}

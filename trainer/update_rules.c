#include "update_rules.h"

#include "base/each_cpu.h"

#include <math.h>

int pace_rule_states(pace_train_rule rule) { return rule == PACE_TRAIN_ADAM ? 2 : rule == PACE_TRAIN_MOMENTUM ? 1 : 0; }

PACE_FOR_EACH_CPU static void plain_rule(float *restrict w, const float *restrict g, size_t count, float rate) {
    for (size_t i = 0; i < count; i++) w[i] -= rate * g[i];
}

/* v = momentum v + g; w -= rate v: PyTorch's. */
PACE_FOR_EACH_CPU static void momentum_rule(float *restrict w, const float *restrict g, float *restrict v, size_t count,
                                            float rate, float momentum) {
    for (size_t i = 0; i < count; i++) {
        v[i] = momentum * v[i] + g[i];
        w[i] -= rate * v[i];
    }
}

/* Kingma and Ba 2015, algorithm 1. */
PACE_FOR_EACH_CPU static void adam_rule(float *restrict w, const float *restrict g, float *restrict m,
                                        float *restrict v, size_t count, const pace_train_update *rule, double step) {
    float b1 = rule->beta1, b2 = rule->beta2, epsilon = rule->epsilon;
    float rate = (float)(rule->rate / (1 - pow(b1, step))), by = (float)(1 / sqrt(1 - pow(b2, step)));
    for (size_t i = 0; i < count; i++) {
        m[i] = b1 * m[i] + (1 - b1) * g[i];
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
        w[i] -= rate * m[i] / (sqrtf(v[i]) * by + epsilon);
    }
}

static void apply_part(const pace_train_update *rule, float *weights, const float *gradient, float *const states[2],
                       size_t from, size_t count, uint64_t step) {
    float *w = weights + from, *v = states[0] ? states[0] + from : NULL;
    const float *g = gradient + from;
    switch (rule->rule) {
    case PACE_TRAIN_SGD: plain_rule(w, g, count, rule->rate); break;
    case PACE_TRAIN_MOMENTUM: momentum_rule(w, g, v, count, rule->rate, rule->momentum); break;
    default: adam_rule(w, g, v, states[1] + from, count, rule, (double)step);
    }
}

void pace_rule_apply(const pace_train_update *rule, float *weights, const float *gradient, float *const states[2],
                     size_t count, uint64_t step) {
    enum { PART = 1 << 14 };
#pragma omp parallel for schedule(static) if (count > PART)
    for (size_t from = 0; from < count; from += PART)
        apply_part(rule, weights, gradient, states, from, count - from < PART ? count - from : PART, step);
}

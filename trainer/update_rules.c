#include "update_rules.h"

#include <math.h>

int pace_rule_states(pace_train_rule rule) { return rule == PACE_TRAIN_ADAM ? 2 : rule == PACE_TRAIN_MOMENTUM ? 1 : 0; }

static void plain_rule(float *restrict w, const float *restrict g, size_t count, float rate) {
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < count; i++) w[i] -= rate * g[i];
}

/* v = momentum v + g; w -= rate v: PyTorch's. */
static void momentum_rule(float *restrict w, const float *restrict g, float *restrict v, size_t count, float rate,
                          float momentum) {
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < count; i++) {
        v[i] = momentum * v[i] + g[i];
        w[i] -= rate * v[i];
    }
}

/* Kingma and Ba 2015, algorithm 1. */
static void adam_rule(float *restrict w, const float *restrict g, float *restrict m, float *restrict v, size_t count,
                      const pace_train_update *rule, double step) {
    float b1 = rule->beta1, b2 = rule->beta2, epsilon = rule->epsilon;
    float rate = (float)(rule->rate / (1 - pow(b1, step))), by = (float)(1 / sqrt(1 - pow(b2, step)));
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < count; i++) {
        m[i] = b1 * m[i] + (1 - b1) * g[i];
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
        w[i] -= rate * m[i] / (sqrtf(v[i]) * by + epsilon);
    }
}

void pace_rule_apply(const pace_train_update *rule, float *weights, const float *gradient, float *const states[2],
                     size_t count, uint64_t step) {
    switch (rule->rule) {
    case PACE_TRAIN_SGD: plain_rule(weights, gradient, count, rule->rate); break;
    case PACE_TRAIN_MOMENTUM: momentum_rule(weights, gradient, states[0], count, rule->rate, rule->momentum); break;
    default: adam_rule(weights, gradient, states[0], states[1], count, rule, (double)step);
    }
}

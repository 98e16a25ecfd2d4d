#include "server_store.h"

#include "../update_rules.h"

#include <stdlib.h>
#include <string.h>

bool pace_store_open(pace_store *out, const pace_train_update *rule, int workers, bool asynchronous, size_t count) {
    *out = (pace_store){*rule, asynchronous, workers, calloc(count + 1, sizeof *out->variables), count};
    return out->variables != NULL;
}

float *pace_store_hold(pace_store *store, size_t variable, size_t elements) {
    pace_variable *v = &store->variables[variable];
    int states = pace_rule_states(store->rule.rule);
    *v = (pace_variable){.held = true, .elements = elements};
    v->weights = calloc(elements + 1, sizeof *v->weights);
    v->sum = calloc(elements + 1, sizeof *v->sum);
    for (int k = 0; k < states; k++) v->states[k] = calloc(elements + 1, sizeof *v->states[k]);
    bool good = v->weights && v->sum && (states < 1 || v->states[0]) && (states < 2 || v->states[1]);
    return good ? v->weights : NULL;
}

static void update(pace_store *store, pace_variable *v, const float *gradient) {
    pace_rule_apply(&store->rule, v->weights, gradient, v->states, v->elements, ++v->updates);
}

bool pace_store_push(pace_store *store, size_t variable, const float *gradient) {
    pace_variable *v = &store->variables[variable];
    if (store->asynchronous) return update(store, v, gradient), true;
    if (v->arrived == 0) memcpy(v->sum, gradient, v->elements * sizeof *v->sum);
    else
        for (size_t i = 0; i < v->elements; i++) v->sum[i] += gradient[i];
    if (++v->arrived < store->workers) return false;
    float share = 1.0F / (float)store->workers;
    for (size_t i = 0; i < v->elements; i++) v->sum[i] *= share;
    v->arrived = 0;
    update(store, v, v->sum);
    return true;
}

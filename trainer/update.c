#include "update.h"

#include "update_rules.h"

static pace_train_rule rule_of(const pace_config *config) {
    return config->optimizer == PACE_SGD                                       ? PACE_TRAIN_SGD
           : config->optimizer == PACE_ADAM || config->optimizer == PACE_ADAMW ? PACE_TRAIN_ADAM
                                                                               : PACE_TRAIN_MOMENTUM;
}

static pace_status make_states(pace_updater *u, const pace_network *n) {
    int kinds = pace_rule_states(u->rule.rule);
    for (int k = 0; k < kinds; k++) {
        u->states[k] = pace_alloc(u->count + 1, sizeof *u->states[k]);
        if (!u->states[k]) return PACE_E_MEMORY;
        for (size_t i = 0; i < u->count; i++) {
            if (n->tensors[i].sparse) continue;
            u->states[k][i] = pace_alloc(n->tensors[i].elements, sizeof(float));
            if (!u->states[k][i]) return PACE_E_MEMORY;
        }
    }
    return PACE_OK;
}

pace_status pace_updater_open(pace_updater *out, const pace_network *network, double rate) {
    static const float usual[] = {[PACE_TRAIN_SGD] = 0.01F, [PACE_TRAIN_MOMENTUM] = 0.01F, [PACE_TRAIN_ADAM] = 0.001F};
    pace_train_rule rule = rule_of(&network->config);
    pace_updater u = {.count = network->tensor_count};
    u.rule = (pace_train_update){rule, rate > 0 ? (float)rate : usual[rule], 0.9F, 0.9F, 0.999F, 1e-8F};
    pace_status status = make_states(&u, network);
    return PACE_GIVE(out, u, status, pace_updater_close(&u));
}

void pace_updater_close(pace_updater *u) {
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; u->states[k] && i < u->count; i++) pace_free(u->states[k][i]);
        pace_free(u->states[k]);
        u->states[k] = NULL;
    }
}

void pace_updater_next(pace_updater *u) { u->steps++; }

void pace_updater_tensor(pace_updater *u, const pace_network *n, size_t tensor) {
    const pace_engine_tensor *t = &n->tensors[tensor];
    if (t->sparse) n->engine->update_rows(n->net, tensor, u->rule.rate, NULL);
    else {
        float *states[2] = {u->states[0] ? u->states[0][tensor] : NULL, u->states[1] ? u->states[1][tensor] : NULL};
        pace_rule_apply(&u->rule, t->weights, t->gradient, states, t->elements, u->steps);
    }
}

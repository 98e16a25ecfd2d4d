/* What a parameter server holds: variables, the gradients that have come of them, and the rule by which they are
 * updated. */
#pragma once

#include "../gradient_exchange.h"

typedef struct {
    bool held; /* here, not on another server */
    size_t elements;
    float *weights, *sum, *states[2];
    int arrived;      /* gradients of this step */
    uint64_t updates; /* so far */
} pace_variable;

typedef struct {
    pace_train_update rule;
    bool asynchronous; /* each gradient is applied when it comes */
    int workers;
    pace_variable *variables;
    size_t count;
} pace_store;

/** Variables that are held nowhere yet; they live as long as the server's process. False: out of memory. */
bool pace_store_open(pace_store *out, const pace_train_update *rule, int workers, bool asynchronous, size_t count);

/** Makes room for a variable on this server; its weights are the caller's to fill. NULL: out of memory. */
float *pace_store_hold(pace_store *store, size_t variable, size_t elements);

/** A worker's gradient has come: true when the variable was updated, which takes those of all workers unless it is
 * asynchronous. */
bool pace_store_push(pace_store *store, size_t variable, const float *gradient);

/** Whether a worker that has pushed `step` gradients may have the weights. */
static inline bool pace_store_is_fresh(const pace_store *store, size_t variable, uint64_t step) {
    return store->asynchronous || store->variables[variable].updates >= step;
}

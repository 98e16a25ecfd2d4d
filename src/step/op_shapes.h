/* From the shapes a trace recorded to what an operator computes and moves. */
#pragma once

#include "step/op_work.h"
#include "step/step.h"

typedef struct {
    double flop, bytes;
    int element_bytes; /* of the first tensor */
    pace_op_family family;
} pace_op_amount;

/** What the operator task computes and moves; false when its shapes are unknown or its kind is not modelled. */
bool pace_op_amount_of(pace_op_amount *out, const pace_step *step, uint32_t op);

/** Remembers amounts by (name, shapes): traces repeat some thousands of operators millions of times. Direct-mapped,
 * with no more slots than the step has tasks; an allocation that fails only makes it slow. */
typedef struct {
    struct {
        uint64_t key;
        bool known;
        pace_op_amount amount;
    } * slots;
    size_t count; /* of slots: a power of two */
} pace_op_cache;

void pace_op_cache_init(pace_op_cache *cache, const pace_step *step);
void pace_op_cache_free(pace_op_cache *cache);

/** pace_op_amount_of() through the cache. */
bool pace_op_cache_amount(pace_op_amount *out, pace_op_cache *cache, const pace_step *step, uint32_t op);

/** Parses the shape text of a task ("[[2,3],[3]]\n[\"float\",\"float\"]\n[…]"). False when it is not one. */
bool pace_op_shapes_parse(pace_op_shapes *out, const char *text);

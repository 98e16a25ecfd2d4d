/*
 * What memory is held for, by device: activations, gradients, optimizer state, … The allocator's events do not say it;
 * it is inferred from the stage of the operator that took the memory and of the one that gave it back.
 */
#pragma once

#include "insight/tables/memory_use.h"

typedef enum {
    PACE_HELD_BEFORE,      /* taken before the recording began */
    PACE_HELD_PARAMETERS,  /* taken before the first step and kept; or as much of the memory before as the gradients */
    PACE_HELD_OPTIMIZER,   /* taken by the update and kept beyond the next step */
    PACE_HELD_GRADIENTS,   /* taken by the backward pass and kept beyond it */
    PACE_HELD_ACTIVATIONS, /* taken by the forward pass, kept beyond the operator */
    PACE_HELD_INPUT,       /* taken while input was fetched */
    PACE_HELD_TEMPORARY,   /* given back within the operator, or by the stage that took it */
    PACE_HELD_OTHER,       /* nothing tells */
    PACE_HELD_KINDS
} pace_memory_kind;

extern const char *const pace_memory_kind_names[PACE_HELD_KINDS];

/* What is held at an instant. */
typedef struct {
    int64_t at_ns, total_bytes;
    int64_t bytes[PACE_HELD_KINDS];
} pace_memory_state;

typedef struct {
    bool known; /* addresses and totals are recorded; else nothing below is set */
    pace_memory_state peak;
    int64_t most_bytes[PACE_HELD_KINDS];
    size_t count[PACE_HELD_KINDS];      /* allocations */
    PACE_VEC(pace_memory_state) states; /* by time; of each stretch the one that holds most */
} pace_memory_kinds;

/** One for each device of `use`, in an array to be freed with pace_memory_kinds_free(). */
pace_status pace_memory_kinds_find(pace_memory_kinds **out, const pace_rank *rank,
                                   const pace_memory_use *use) PACE_MUST_CHECK;
void pace_memory_kinds_free(pace_memory_kinds *kinds, size_t devices);

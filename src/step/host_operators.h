/*
 * A trace without a device: the host is the device, and operators that would launch kernels elsewhere work themselves.
 * Views, allocations, wrappers and the engine of autograd do not: what they take is the host's.
 *
 * Calling an operator takes time whatever it does, by the catalogue (kernels.yaml, host_call_us): a figure of the trace
 * would change with the steps that a slice keeps. All that operators on a few numbers take (PACE_TINY_*) is a call.
 */
#pragma once

#include "step/op_shapes.h"

enum { PACE_TINY_FLOP = 4096, PACE_TINY_BYTES = 4096 };

typedef struct {
    const pace_step *step;
    pace_op_cache cache;
    uint8_t *family;  /* name -> pace_op_family + 1 as the table of operators has it; 0 = not looked up */
    uint32_t *below;  /* task -> families that operators below it work as, a bit each */
    int64_t *self_ns; /* task -> what it took less the operators within it */
    int64_t call_ns;  /* what a call takes */
} pace_host_operators;

/** Looks at every operator of the step, which must outlive it. */
pace_status pace_host_operators_find(pace_host_operators *out, const pace_step *step, int64_t call_ns) PACE_MUST_CHECK;
void pace_host_operators_free(pace_host_operators *operators);

/** The family as which a task works itself; PACE_OP_UNKNOWN = it does not work. An operator of PyTorch's works that the
 * table of operators (step/op_work.c) knows and no operator below does the work of. One that takes longer than several
 * calls works as well, known or not, unless one of its own kind works below it. */
pace_op_family pace_host_operator_works(pace_host_operators *operators, uint32_t task);

/** Whether an operator works on a few numbers: all it takes is a call. */
bool pace_host_operator_is_tiny(pace_host_operators *operators, uint32_t task);

/** Whether something takes longer than calling it could. */
static inline bool pace_longer_than_calls(double ns, double call_ns) {
    enum { CALLS = 10 };
    return ns > CALLS * call_ns;
}

/* Takes a piece of an operator's self time. */
typedef pace_status (*pace_self_time_fn)(void *context, uint32_t task, int64_t start_ns, int64_t end_ns);
/* Whether a host task counts, besides operators. */
typedef bool (*pace_counts_fn)(const void *context, uint32_t task);

/** Gives the self times of all host threads' operators, and of what else counts (`counts` may be NULL), in pieces. */
pace_status pace_self_times(const pace_step *step, pace_counts_fn counts, pace_self_time_fn take,
                            void *context) PACE_MUST_CHECK;

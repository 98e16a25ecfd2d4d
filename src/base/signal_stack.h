/* Compiled kernels may put the stack pointer into a buffer of the heap, as oneDNN's matrix products without AVX-512
 * do: the frame of a signal that comes then is written over what is below that buffer. */
#pragma once

#include <signal.h>

typedef struct {
    stack_t room, before;
} pace_signal_stack;

/** Gives the calling thread a stack for handlers that are set with SA_ONSTACK, where it has none. */
pace_signal_stack pace_signal_stack_open(void);

/** By the same thread. */
void pace_signal_stack_close(pace_signal_stack *stack);

#include "base/signal_stack.h"

#include "base/memory.h"

enum { ROOM = 1 << 16 }; /* the registers of a processor with AMX take 11 KiB of it */

pace_signal_stack pace_signal_stack_open(void) {
    pace_signal_stack stack = {.room.ss_size = ROOM};
    if (sigaltstack(NULL, &stack.before) != 0 || !(stack.before.ss_flags & SS_DISABLE)) return stack;
    stack.room.ss_sp = pace_alloc(1, ROOM);
    if (!stack.room.ss_sp) return stack; /* only worse protected */
    if (sigaltstack(&stack.room, NULL) == 0) return stack;
    pace_free(stack.room.ss_sp);
    stack.room.ss_sp = NULL;
    return stack;
}

void pace_signal_stack_close(pace_signal_stack *stack) {
    if (!stack->room.ss_sp) return;
    if (sigaltstack(&stack->before, NULL) == 0) pace_free(stack->room.ss_sp);
    stack->room.ss_sp = NULL;
}

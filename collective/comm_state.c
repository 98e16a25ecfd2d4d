#include "comm_state.h"

void *pace_comm_scratch(pace_comm *c, size_t bytes) {
    size_t aligned = bytes + 64;
    if (aligned > c->scratch_bytes) {
        char *grown = pace_resize(c->scratch, aligned, 1);
        if (!grown) return NULL;
        c->scratch = grown;
        c->scratch_bytes = aligned;
    }
    return c->scratch + (-(uintptr_t)c->scratch & 63);
}

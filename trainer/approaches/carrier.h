/*
 * What carries gradients and weights between workers and parameter servers when gRPC's messages do not: MPI, UCX. Both
 * sides have one; gRPC's calls say what moves, and when.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PACE_HELLO_MOST = 1 << 22 };

typedef struct {
    void *context;
    bool serial; /* a worker moves one tensor after another */
    /** What the other side needs to know of this one, and what it said: once, before anything moves. `other`: a server,
     * or on a server a worker. -1 and false are failures. */
    long (*hello)(void *context, int other, void *out, size_t most);
    bool (*meet)(void *context, int other, const void *hello, size_t bytes);
    /** Begins to move a tensor to the other side, or from it. NULL is a failure. */
    void *(*begin)(void *context, int other, size_t tensor, float *data, size_t elements, bool sends);
    /** 1: it has moved, and the handle is gone; 0: not yet; -1: failed. NULL: whatever else is under way gets on. */
    int (*poll)(void *context, void *move);
} pace_carrier;

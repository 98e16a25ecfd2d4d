/* What the name of a host operator or runtime call says of it beyond itself: under which other names it is known, and
 * which kind it is of. For host costs of operators that were never measured under their own name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PACE_HOST_NAME_LENGTH = 256 };

typedef enum {
    PACE_HOST_FORWARD,
    PACE_HOST_BACKWARD, /* autograd's functions and its gradient accumulation */
    PACE_HOST_OPTIMIZER,
    PACE_HOST_LAUNCH, /* runtime calls: a kernel, a copy, a memset, another */
    PACE_HOST_COPY,
    PACE_HOST_MEMSET,
    PACE_HOST_CALL,
    PACE_HOST_GRAPH, /* a device graph is replayed, or launched */
    PACE_HOST_KINDS
} pace_host_kind;

/** `name` without what frameworks and versions add to it: autograd's "evaluate_function: " prefix, namespaces, the
 * number behind "Backward", the back end ("cudnn_", "Native", "_cuda"), the underscore of in-place operators; of a
 * runtime call "cuda", "cu" or "hip". Returns the length, at most PACE_HOST_NAME_LENGTH - 1; `out` is terminated. */
size_t pace_host_name_plain(char out[PACE_HOST_NAME_LENGTH], const char *name);

pace_host_kind pace_host_name_kind(const char *name);

/** Whether a call or operator so named is like others: neither a graph that is replayed, nor the call of a CPU's
 * operator, which costs nothing where a device is launched on. */
bool pace_host_name_is_typical(const char *name);

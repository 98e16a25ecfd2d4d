/* What the names of runtime calls say, of CUDA, HIP, Level Zero, Unified Runtime and others that name calls alike. */
#pragma once

#include <stdbool.h>
#include <string.h>

/** Whether a call returns when work of the device is done: cudaStreamSynchronize, zeEventHostSynchronize,
 * urQueueFinish, urEventWait. */
static inline bool pace_call_synchronises(const char *name) {
    if (strstr(name, "Query")) return false;
    return strstr(name, "Synchronize") || strstr(name, "QueueFinish") || strstr(name, "EventWait");
}

/** Whether a call that copies returns once it is enqueued, unless memory is pageable: cudaMemcpyAsync,
 * urEnqueueUSMMemcpy. */
static inline bool pace_copy_is_enqueued(const char *name) { return strstr(name, "Async") || strstr(name, "Enqueue"); }

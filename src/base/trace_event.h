/* Events of traces in trace-event JSON, as PyTorch's profiler writes them: what every writer of traces writes with. */
#pragma once

#include "base/json_writer.h"

/** A duration: opens the event's object, which the caller closes behind what else it has, as "args". */
void pace_trace_event_open(pace_jsonw *json, const char *name, const char *category, int64_t pid, int64_t tid,
                           int64_t start_ns, int64_t duration_ns);

/** What a process or thread is called: `what` is "process_name" or "thread_name". */
void pace_trace_event_name(pace_jsonw *json, const char *what, int64_t pid, int64_t tid, const char *name);

#include "base/trace_event.h"

void pace_trace_event_open(pace_jsonw *json, const char *name, const char *category, int64_t pid, int64_t tid,
                           int64_t start_ns, int64_t duration_ns) {
    pace_jsonw_compact(json);
    pace_jsonw_object(json);
    pace_jsonw_key_text(json, "ph", "X");
    pace_jsonw_key_text(json, "cat", category);
    pace_jsonw_key_text(json, "name", name);
    pace_jsonw_key_int(json, "pid", pid);
    pace_jsonw_key_int(json, "tid", tid);
    pace_jsonw_key(json, "ts");
    pace_jsonw_ns_as_us(json, start_ns);
    pace_jsonw_key(json, "dur");
    pace_jsonw_ns_as_us(json, duration_ns);
}

void pace_trace_event_name(pace_jsonw *json, const char *what, int64_t pid, int64_t tid, const char *name) {
    pace_jsonw_compact(json);
    pace_jsonw_object(json);
    pace_jsonw_key_text(json, "ph", "M");
    pace_jsonw_key_text(json, "name", what);
    pace_jsonw_key_int(json, "pid", pid);
    pace_jsonw_key_int(json, "tid", tid);
    pace_jsonw_key(json, "args");
    pace_jsonw_compact(json);
    pace_jsonw_object(json);
    pace_jsonw_key_text(json, "name", name);
    pace_jsonw_object_end(json);
    pace_jsonw_object_end(json);
}

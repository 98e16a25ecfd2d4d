#include "source/graph_inputs.h"

#include "base/json_reader.h"
#include "source/chakra.h"
#include "source/execution_trace.h"
#include "source/nsys.h"

#include <string.h>

enum { MOST_MEMBERS = 16 }; /* both formats say what they are before their long member */

static pace_input_kind kind_of(pace_json *json, const char *path) {
    if (pace_json_next(json) != PACE_JSON_OBJECT) return strstr(path, ".et") ? PACE_INPUT_CHAKRA : PACE_INPUT_TRACE;
    for (int i = 0; i < MOST_MEMBERS && pace_json_next(json) == PACE_JSON_KEY; i++) {
        if (pace_json_is(json, "traceEvents")) return PACE_INPUT_TRACE;
        if (pace_json_is(json, "workload_graph")) return PACE_INPUT_CHAKRA_JSON;
        if (pace_json_is(json, "schema") || pace_json_is(json, "nodes")) return PACE_INPUT_EXECUTION_TRACE;
        pace_json_token token = pace_json_skip(json);
        if (token == PACE_JSON_ERROR || token == PACE_JSON_TRUNCATED) break;
    }
    return PACE_INPUT_TRACE;
}

pace_status pace_input_kind_of(pace_input_kind *out, const char *path) {
    *out = PACE_INPUT_TRACE;
    if (strcmp(path, "-") == 0 || pace_is_database(path)) return PACE_OK;
    pace_input *input;
    pace_json *json;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_json_open(&json, input);
    if (status == PACE_OK) {
        *out = kind_of(json, path);
        pace_json_free(json);
    }
    pace_input_free(input);
    return status;
}

pace_status pace_graph_read(pace_graph *out, pace_read_notes *notes, pace_input_kind kind, const char *path) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status;
    switch (kind) {
    case PACE_INPUT_EXECUTION_TRACE: status = pace_execution_trace_read(out, NULL, input); break;
    case PACE_INPUT_CHAKRA: status = pace_chakra_read(out, notes, input); break;
    case PACE_INPUT_CHAKRA_JSON: status = pace_chakra_read_json(out, notes, input); break;
    default: status = pace_fail(PACE_E_INPUT, "%s: expected a step without times, found a trace", path); break;
    }
    pace_input_free(input);
    return status;
}

#include "source/graph_inputs.h"

#include "base/json_reader.h"
#include "base/text.h"
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

/* Chakra's first message is its metadata, behind its length: the version (field 1), a short text such as "0.0.4", or,
 * where it is left out, attributes (field 2) that begin with their name. */
static bool begins_chakra(const unsigned char *bytes, size_t length) {
    enum { VERSION = 0x0a, ATTRIBUTE = 0x12, NAME = 0x0a, LONGEST = 64 };
    size_t at = 0;
    while (at < length && at < 9 && bytes[at] & 0x80) at++;
    if (at + 3 >= length) return false;
    if (bytes[at + 1] == ATTRIBUTE) return bytes[at + 3] == NAME;
    if (bytes[at + 1] != VERSION) return false;
    size_t size = bytes[at + 2], from = at + 3;
    if (size == 0 || size > LONGEST || from + size > length) return false;
    for (size_t i = from; i < from + size; i++)
        if (!pace_is_alnum((char)bytes[i]) && bytes[i] != '.' && bytes[i] != '-') return false;
    return true;
}

/* A description is a map: a line of text with a colon before anything that JSON begins with. */
static bool begins_model(const unsigned char *bytes, size_t length) {
    size_t at = 0;
    while (at < length && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r')) at++;
    if (at < length && (bytes[at] == '#' || bytes[at] == '-')) return true;
    size_t from = at;
    while (at < length && pace_is_name((char)bytes[at])) at++;
    return at > from && at < length && bytes[at] == ':';
}

static pace_status first_bytes(unsigned char *bytes, size_t capacity, size_t *length, const char *path) {
    pace_input *input;
    pace_status status = PACE_OK;
    PACE_TRY(pace_input_peek(&input, path));
    *length = 0;
    for (size_t got = 1; status == PACE_OK && got > 0 && *length < capacity; *length += got)
        status = pace_input_read(input, bytes + *length, capacity - *length, &got);
    pace_input_free(input);
    return status == PACE_E_INPUT ? PACE_OK : status; /* whoever reads it says so */
}

static pace_status kind_of_json(pace_input_kind *out, const char *path) {
    pace_input *input;
    pace_json *json;
    PACE_TRY(pace_input_peek(&input, path));
    pace_status status = pace_json_open(&json, input);
    if (status == PACE_OK) {
        *out = kind_of(json, path);
        pace_json_free(json);
    }
    pace_input_free(input);
    return status;
}

pace_status pace_input_kind_of(pace_input_kind *out, const char *path) {
    unsigned char bytes[256];
    size_t length = 0;
    pace_input_kind kind = PACE_INPUT_TRACE;
    if (!pace_is_database(path)) {
        PACE_TRY(first_bytes(bytes, sizeof bytes, &length, path));
        if (begins_chakra(bytes, length)) kind = PACE_INPUT_CHAKRA;
        else if (begins_model(bytes, length)) kind = PACE_INPUT_MODEL;
        else PACE_TRY(kind_of_json(&kind, path));
    }
    *out = kind;
    return PACE_OK;
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

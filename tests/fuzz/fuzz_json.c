/*
 * Fuzz target of the input and the JSON reader: any bytes, read plainly and with skips and leaves in between, must
 * end in END, ERROR or TRUNCATED, with every accessor safe after every token. The first byte picks the mode.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/json_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(pace_json *json) {
    size_t length;
    int64_t integer;
    double real;
    const char *text = pace_json_text(json, &length);
    volatile char sum = 0;
    for (size_t i = 0; i < length; i++) sum = (char)(sum ^ text[i]);
    if (pace_json_decoded(json, &length) && length > 0 && !text) abort();
    (void)pace_json_int(json, &integer);
    (void)pace_json_us_to_ns(json, &integer);
    (void)pace_json_double(json, &real);
    if (pace_json_offset(json) > pace_json_bytes(json) || pace_json_depth(json) > PACE_JSON_DEPTH) abort();
}

static pace_json_token step(pace_json *json, unsigned mode, unsigned turn) {
    if (mode && turn % (mode + 2) == mode) return pace_json_skip(json);
    if (mode && turn % (mode + 5) == mode && pace_json_depth(json) > 0) return pace_json_leave(json);
    return pace_json_next(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    pace_input *input;
    pace_json *json;
    if (pace_input_open_memory(&input, "fuzz", data + 1, size - 1) != PACE_OK) return 0;
    if (pace_json_open(&json, input) == PACE_OK) {
        pace_json_token token;
        unsigned turn = 0;
        do {
            token = step(json, data[0] % 8, turn++);
            look(json);
        } while (token > PACE_JSON_TRUNCATED);
        if (pace_json_next(json) != token) abort();
        pace_json_free(json);
    }
    pace_input_free(input);
    return 0;
}

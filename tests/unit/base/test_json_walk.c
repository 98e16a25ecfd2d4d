/* Members and objects in order; what nobody asked for is passed over; a document cut anywhere is an error. */
#include <string.h>

#include "cmocka_of_tests.h"

#include "base/input.h"
#include "base/json_walk.h"
#include "base/memory.h"

typedef struct {
    pace_json *json;
    char keys[256];
    int objects;
} reader;

static pace_json_token pass(void *context, const char *key) {
    reader *r = context;
    strcat(strcat(r->keys, key), ",");
    return pace_json_pass(r->json, pace_json_next(r->json));
}

static pace_json_token read_object(void *context) {
    reader *r = context;
    r->objects++;
    return pace_json_each_member(r->json, pass, r);
}

static pace_json_token read_top(void *context, const char *key) {
    reader *r = context;
    if (strcmp(key, "list") != 0) return pass(context, key);
    if (pace_json_next(r->json) != PACE_JSON_ARRAY) return PACE_JSON_ERROR;
    return pace_json_each_object(r->json, read_object, r);
}

static pace_json_token walk(reader *r, const char *text, size_t length) {
    pace_input *input;
    assert_int_equal(pace_input_open_memory(&input, "test", text, length), PACE_OK);
    assert_int_equal(pace_json_open(&r->json, input), PACE_OK);
    pace_json_token token = pace_json_next(r->json);
    if (token == PACE_JSON_OBJECT) token = pace_json_each_member(r->json, read_top, r);
    pace_json_free(r->json);
    pace_input_free(input);
    return token;
}

static const char document[] =
    "{\"a\": 1, \"an_unusually_long_key_of_over_31_bytes\": [2], "
    "\"list\": [{\"x\": {\"deep\": [1]}}, [{\"no\": 1}], 3, {\"y\": \"z\", \"w\": null}], \"b\": {\"c\": 1}}";

TEST(test_in_order) {
    reader r = {0};
    assert_int_equal(walk(&r, document, sizeof document - 1), PACE_JSON_OBJECT_END);
    assert_string_equal(r.keys, "a,,x,y,w,b,");
    assert_int_equal(r.objects, 2);
}

TEST(test_cut_anywhere) {
    for (size_t length = 0; length < sizeof document - 1; length++) {
        reader r = {0};
        assert_true(pace_json_failed(walk(&r, document, length)));
        assert_int_equal(pace_memory_live(), 0);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

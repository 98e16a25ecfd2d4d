/* Pinned bytes are the document's own, wherever the window ends and however long the value is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "base/json_reader.h"
#include "base/memory.h"

/* A list of objects of `size` bytes of text each, some longer than the reader's window. */
static char *write_document(size_t *length, size_t objects, size_t size) {
    char *text = malloc(objects * (size + 64) + 16), *at = text;
    assert_non_null(text);
    *at++ = '[';
    for (size_t i = 0; i < objects; i++) {
        at += sprintf(at, "%s{\"n\": %zu, \"in\": {\"deep\": [1, \"]\\\"\"]}, \"text\": \"", i ? ",\n " : "", i);
        memset(at, 'a' + (int)(i % 26), size);
        at += size;
        at += sprintf(at, "\"}");
    }
    *at++ = ']';
    *length = (size_t)(at - text);
    return text;
}

static void read_objects(const char *text, size_t length, size_t objects) {
    pace_input *input;
    pace_json *json;
    const char *at = text + 1;
    assert_int_equal(pace_input_open_memory(&input, "doc", text, length), PACE_OK);
    assert_int_equal(pace_json_open(&json, input), PACE_OK);
    assert_int_equal(pace_json_next(json), PACE_JSON_ARRAY);
    for (size_t i = 0; i < objects; i++) {
        size_t pinned_length;
        assert_int_equal(pace_json_next(json), PACE_JSON_OBJECT);
        pace_json_pin(json);
        assert_int_equal(pace_json_next(json), PACE_JSON_KEY);
        assert_int_equal(pace_json_next(json), PACE_JSON_NUMBER);
        if (i % 2) assert_int_equal(pace_json_leave(json), PACE_JSON_OBJECT_END);
        else
            while (pace_json_next(json) != PACE_JSON_OBJECT_END || pace_json_depth(json) != 1) {}
        const char *pinned = pace_json_unpin(json, &pinned_length);
        at = memchr(at, '{', length);
        assert_memory_equal(pinned, at, pinned_length);
        assert_int_equal(at[pinned_length], i + 1 < objects ? ',' : ']');
        at += pinned_length;
    }
    assert_int_equal(pace_json_next(json), PACE_JSON_ARRAY_END);
    assert_int_equal(pace_json_next(json), PACE_JSON_END);
    pace_json_free(json);
    pace_input_free(input);
    assert_int_equal(pace_memory_live(), 0);
}

TEST(test_sizes) {
    static const size_t sizes[] = {0, 40, 1000, 70000, 131072, 300000};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t length, objects = sizes[i] < 2000 ? 2000 : 9;
        char *text = write_document(&length, objects, sizes[i]);
        read_objects(text, length, objects);
        free(text);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

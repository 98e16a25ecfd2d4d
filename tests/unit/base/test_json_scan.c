/* The fast ways of reading JSON find what the slow ones find: vectors as byte by byte, members as token by token. */
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "base/memory.h"
#include "json_twins_of_tests.h"

static uint64_t seed = 7;

static unsigned draw(unsigned below) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % below;
}

TEST(test_every_byte) {
    uint8_t bytes[256 * 3];
    for (int i = 0; i < 256; i++) memset(bytes + 3 * i, i, 3);
    assert_true(scans_agree(bytes, sizeof bytes));
}

TEST(test_random_bytes) {
    static const char often[] = "\"\\{}[]:, \n\t\r0123456789.-eabc\x1f\x20\x21\x7f\x80\xff";
    for (int round = 0; round < 300; round++) {
        uint8_t bytes[500];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = round % 3 == 0 ? (uint8_t)draw(256) : (uint8_t)often[draw(sizeof often - 1)];
        assert_true(scans_agree(bytes, draw(sizeof bytes)));
    }
}

typedef struct {
    char *text;
    size_t length, most;
} document;

static void put(document *d, const char *text) {
    size_t length = strlen(text);
    if (d->length + length > d->most) return;
    memcpy(d->text + d->length, text, length);
    d->length += length;
}

static bool regular; /* white space as one writer has it */

static void put_space(document *d) {
    static const char *const spaces[] = {"", "", "", " ", "\n    ", "\t", " \r\n", "                    \n"};
    put(d, regular ? " " : spaces[draw(8)]);
}

static void put_scalar(document *d) {
    static const char *const scalars[] = {"0",
                                          "-17",
                                          "4458676522850.468",
                                          "1e9",
                                          "true",
                                          "null",
                                          "\"text\"",
                                          "\"\"",
                                          "\"with \\\" and \\u00e9\"",
                                          "NaN",
                                          "12345678",
                                          "123456789",
                                          "\"a longer text than sixteen bytes are\"",
                                          "\"C:\\Users\"",
                                          "-0.5E-3",
                                          "1234567890123456",
                                          "123456789012345678901",
                                          "9999999999999999.125",
                                          "7.99951",
                                          "0.9995"};
    put(d, scalars[draw(20)]);
}

static void put_value(document *d, unsigned depth);

static void put_array(document *d, unsigned depth) {
    put(d, "[");
    for (unsigned i = 0, count = draw(5); i < count; i++) {
        put_space(d);
        if (i) put(d, ",");
        put_space(d);
        put_value(d, depth + 1);
    }
    put_space(d);
    put(d, "]");
}

static void put_object(document *d, unsigned depth) {
    static const char *const keys[] = {
        "\"ph\"", "\"Input Dims\"", "\"\"", "\"odd \\n key\"",
        "\"a key of more than sixty-four bytes, so that it does not fit where keys are kept\""};
    put(d, "{");
    for (unsigned i = 0, count = draw(6); i < count; i++) {
        put_space(d);
        if (i) put(d, ",");
        put_space(d);
        put(d, keys[draw(5)]);
        put_space(d);
        put(d, ":");
        put_space(d);
        put_value(d, depth + 1);
    }
    put_space(d);
    put(d, "}");
}

static void put_value(document *d, unsigned depth) {
    unsigned kind = draw(depth > 4 ? 1 : 4);
    if (kind == 1) put_array(d, depth);
    else if (kind == 2) put_object(d, depth);
    else put_scalar(d);
}

/* Documents longer than several windows, whole, cut off and with a byte changed. */
TEST(test_members) {
    document d = {.text = malloc(600000), .most = 600000};
    for (int round = 0; round < 24; round++) {
        d.length = 0;
        regular = round % 3 == 1;
        put(&d, "[");
        for (size_t wanted = round < 4 ? 500000 : 2000; d.length < wanted;) {
            if (d.length > 1) put(&d, ",\n");
            put_object(&d, 0);
        }
        put(&d, "]");
        assert_true(readers_agree(d.text, d.length, false, true));
        assert_true(readers_agree(d.text, d.length, round % 2, false));
        for (int i = 0; i < (round < 4 ? 4 : 200); i++) {
            assert_true(readers_agree(d.text, draw((unsigned)d.length), i % 2, i % 3));
            size_t at = draw((unsigned)d.length);
            char was = d.text[at];
            d.text[at] = "\"\\{}[],: x0\x01"[draw(12)];
            assert_true(readers_agree(d.text, d.length, i % 2, i % 3));
            d.text[at] = was;
        }
    }
    free(d.text);
    assert_int_equal(pace_memory_live(), 0);
}

static uint8_t meaning_of_a_and_c(const char *key, size_t length) {
    return length == 1 && *key != 'b' ? (uint8_t)*key : 0;
}

/* A run gives what means something, and stops before what is no number and no string. */
TEST(test_run) {
    static const char text[] = "[{\"a\": 1, \"b\": 2, \"c\": \"x\", \"b\": 3, \"d\": [4]}, "
                               "{\"a\": 10, \"b\": 20, \"c\": \"y\", \"b\": 30, \"d\": [40]}]";
    pace_json_habit habit = {0};
    pace_json_value run[PACE_JSON_RUN];
    pace_input *input;
    pace_json *json;
    uint8_t meaning;
    assert_int_equal(pace_input_open_memory(&input, "run", text, sizeof text - 1), PACE_OK);
    assert_int_equal(pace_json_open(&json, input), PACE_OK);
    assert_int_equal(pace_json_next(json), PACE_JSON_ARRAY);
    assert_int_equal(pace_json_next(json), PACE_JSON_OBJECT);
    assert_int_equal(pace_json_habit_run(json, &habit, run), 0); /* nothing is known yet */
    for (pace_json_token token = PACE_JSON_NULL; token != PACE_JSON_OBJECT_END;) {
        token = pace_json_habit_member(json, &habit, meaning_of_a_and_c, &meaning);
        if (token == PACE_JSON_ARRAY) assert_int_equal(pace_json_leave(json), PACE_JSON_ARRAY_END);
    }
    assert_int_equal(pace_json_next(json), PACE_JSON_OBJECT);
    assert_int_equal(pace_json_habit_run(json, &habit, run), 2);
    assert_int_equal(run[0].meaning, 'a');
    assert_memory_equal(run[0].text, "10", run[0].length);
    assert_int_equal(run[1].meaning, 'c');
    assert_memory_equal(run[1].text, "y", run[1].length);
    assert_int_equal(pace_json_habit_run(json, &habit, run), 0);
    assert_int_equal(pace_json_habit_member(json, &habit, meaning_of_a_and_c, &meaning), PACE_JSON_ARRAY);
    assert_int_equal(meaning, 'd');
    pace_json_free(json);
    pace_input_free(input);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/* The JSON reader: grammar, faults and their places, oddities, window borders, skipping, decoding, numbers. */
#include <stdio.h>
#include <string.h>

#include "cmocka_of_tests.h"
#include <zlib.h>

#include "base/json_reader.h"
#include "base/memory.h"

typedef struct {
    pace_input *input;
    pace_json *json;
} reader;

static reader open_bytes(const void *bytes, size_t length) {
    reader r;
    assert_int_equal(pace_input_open_memory(&r.input, "doc", bytes, length), PACE_OK);
    assert_int_equal(pace_json_open(&r.json, r.input), PACE_OK);
    return r;
}

static reader open_text(const char *text) { return open_bytes(text, strlen(text)); }

static void close_reader(reader *r) {
    pace_json_free(r->json);
    pace_input_free(r->input);
    assert_int_equal(pace_memory_live(), 0);
}

static const char token_letters[] = "$!~{}[]ksntf0";

/* The tokens of a document as letters: "{k n}" is written "{kn}$". */
static void assert_tokens(const char *text, const char *expected) {
    reader r = open_text(text);
    char got[256];
    size_t count = 0;
    pace_json_token token;
    do {
        token = pace_json_next(r.json);
        got[count++] = token_letters[token];
    } while (token > PACE_JSON_TRUNCATED && count < sizeof got - 1);
    got[count] = '\0';
    assert_string_equal(got, expected);
    assert_int_equal(pace_json_next(r.json), token); /* for ever */
    close_reader(&r);
}

static void assert_fault(const char *text, pace_json_token kind, uint64_t offset, const char *message) {
    reader r = open_text(text);
    pace_json_token token;
    while ((token = pace_json_next(r.json)) > PACE_JSON_TRUNCATED) {}
    assert_int_equal(token, kind);
    assert_string_equal(pace_message(), message);
    assert_int_equal(pace_json_offset(r.json), offset);
    assert_int_equal(pace_json_status(r.json), PACE_E_INPUT);
    close_reader(&r);
}

static void assert_text(const reader *r, const char *expected) {
    size_t length;
    const char *text = pace_json_text(r->json, &length);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(text, expected, length);
}

TEST(test_documents) {
    assert_tokens("{}", "{}$");
    assert_tokens(" [ ] \n", "[]$");
    assert_tokens("{\"a\": 1, \"b\" : [true,false , null,\"x\"]}", "{knk[tf0s]}$");
    assert_tokens("[[],{},[{}]]", "[[]{}[{}]]$");
    assert_tokens("1", "n$");
    assert_tokens("  430", "n$");
    assert_tokens("\"x\"", "s$");
    assert_tokens("true ", "t$");
    assert_tokens("[-0,0.5,1e3,1E+3,-1.25e-3,10]", "[nnnnnn]$");
}

TEST(test_faults) {
    assert_fault("[1 2]", PACE_JSON_ERROR, 3, "doc: byte 3: expected ',' or ']', found '2'");
    assert_fault("{\"a\" 1}", PACE_JSON_ERROR, 5, "doc: byte 5: expected ':', found '1'");
    assert_fault("{\"a\":1,}", PACE_JSON_ERROR, 7, "doc: byte 7: expected a key in double quotes, found '}'");
    assert_fault("[1,]", PACE_JSON_ERROR, 3, "doc: byte 3: expected a JSON value, found ']'");
    assert_fault("[1}", PACE_JSON_ERROR, 2, "doc: byte 2: expected ',' or ']', found '}'");
    assert_fault("{\"a\":1]", PACE_JSON_ERROR, 6, "doc: byte 6: expected ',' or '}', found ']'");
    assert_fault("[] x", PACE_JSON_ERROR, 3, "doc: byte 3: expected the end of the document, found 'x'");
    assert_fault("[truth]", PACE_JSON_ERROR, 4, "doc: byte 4: expected a JSON value, found 't'");
    assert_fault("[01]", PACE_JSON_ERROR, 2, "doc: byte 2: expected a number, found '1'");
    assert_fault("[1.]", PACE_JSON_ERROR, 3, "doc: byte 3: expected a number, found ']'");
    assert_fault("[-x]", PACE_JSON_ERROR, 2, "doc: byte 2: expected a number, found 'x'");
    assert_fault("[1e]", PACE_JSON_ERROR, 3, "doc: byte 3: expected a number, found ']'");
    assert_fault("['a']", PACE_JSON_ERROR, 1, "doc: byte 1: expected a JSON value, found a single quote");
    assert_fault("[\x01]", PACE_JSON_ERROR, 1, "doc: byte 1: expected a JSON value, found byte 0x01");
}

TEST(test_truncation) {
    assert_fault("", PACE_JSON_TRUNCATED, 0, "doc: byte 0: expected a JSON value, found the end of the input");
    assert_fault("[1", PACE_JSON_TRUNCATED, 1, "doc: byte 1: expected the end of a number, found the end of the input");
    assert_fault("[1,", PACE_JSON_TRUNCATED, 3, "doc: byte 3: expected a JSON value, found the end of the input");
    assert_fault("{\"a", PACE_JSON_TRUNCATED, 1,
                 "doc: byte 1: expected the end of a string, found the end of the input");
    assert_fault("[tru", PACE_JSON_TRUNCATED, 1, "doc: byte 1: expected a JSON value, found the end of the input");
    assert_fault("-", PACE_JSON_TRUNCATED, 0, "doc: byte 0: expected the end of a number, found the end of the input");
}

/* Every prefix of a document is truncated, never an error and never complete. */
TEST(test_every_prefix) {
    const char *text = "{\"a\\n\": [1.5e3, -2, \"x\\u00e9\\\"\", true, null, {\"b\": NaN}], \"c\": -Infinity}";
    for (size_t length = 0; length < strlen(text); length++) {
        reader r = open_bytes(text, length);
        pace_json_token token;
        while ((token = pace_json_next(r.json)) > PACE_JSON_TRUNCATED) {}
        assert_int_equal(token, PACE_JSON_TRUNCATED);
        assert_int_equal(pace_json_status(r.json), PACE_E_INPUT);
        close_reader(&r);
    }
}

static uint64_t oddities(const char *text, const char *tokens) {
    assert_tokens(text, tokens);
    reader r = open_text(text);
    while (pace_json_next(r.json) > PACE_JSON_TRUNCATED) {}
    uint64_t count = pace_json_oddities(r.json);
    close_reader(&r);
    return count;
}

TEST(test_oddities) {
    assert_int_equal(oddities("[\"a\\nb\\u00e9\"]", "[s]$"), 0);
    assert_int_equal(oddities("[\"a\nb\tc\"]", "[s]$"), 2);
    assert_int_equal(oddities("[\"C:\\Users\\x\"]", "[s]$"), 2);
    assert_int_equal(oddities("[\"\\u12\"]", "[s]$"), 1);
    assert_int_equal(oddities("[NaN, Infinity, -Infinity]", "[nnn]$"), 3);
    assert_int_equal(oddities("\xef\xbb\xbf[]", "[]$"), 1);
}

TEST(test_depth) {
    char text[PACE_JSON_DEPTH + 2];
    memset(text, '[', sizeof text);
    reader r = open_bytes(text, PACE_JSON_DEPTH);
    for (unsigned i = 0; i < PACE_JSON_DEPTH; i++) {
        assert_int_equal(pace_json_next(r.json), PACE_JSON_ARRAY);
        assert_int_equal(pace_json_depth(r.json), i);
    }
    assert_int_equal(pace_json_next(r.json), PACE_JSON_TRUNCATED);
    close_reader(&r);
    for (int leave = 0; leave < 2; leave++) {
        r = open_bytes(text, PACE_JSON_DEPTH + 1);
        pace_json_token token = pace_json_next(r.json);
        if (leave) token = pace_json_leave(r.json);
        while (token > PACE_JSON_TRUNCATED) token = pace_json_next(r.json);
        assert_int_equal(token, PACE_JSON_ERROR);
        assert_int_equal(pace_json_status(r.json), PACE_E_LIMIT);
        assert_int_equal(pace_json_offset(r.json), PACE_JSON_DEPTH);
        close_reader(&r);
    }
}

TEST(test_places) {
    reader r = open_text("{ \"key\": [12] }");
    assert_int_equal(pace_json_next(r.json), PACE_JSON_OBJECT);
    assert_int_equal(pace_json_offset(r.json), 0);
    assert_int_equal(pace_json_next(r.json), PACE_JSON_KEY);
    assert_int_equal(pace_json_offset(r.json), 2);
    assert_text(&r, "key");
    assert_int_equal(pace_json_depth(r.json), 1);
    assert_int_equal(pace_json_next(r.json), PACE_JSON_ARRAY);
    assert_int_equal(pace_json_next(r.json), PACE_JSON_NUMBER);
    assert_int_equal(pace_json_offset(r.json), 10);
    assert_int_equal(pace_json_depth(r.json), 2);
    assert_text(&r, "12");
    assert_int_equal(pace_json_next(r.json), PACE_JSON_ARRAY_END);
    assert_int_equal(pace_json_depth(r.json), 1);
    assert_int_equal(pace_json_bytes(r.json), 15);
    close_reader(&r);
}

TEST(test_skip_and_leave) {
    reader r = open_text("{\"a\": {\"x\": \"}]\\\"\"}, \"b\": [1, [2, \"\\\\\"], 3], \"c\": 4}");
    assert_int_equal(pace_json_next(r.json), PACE_JSON_OBJECT);
    assert_int_equal(pace_json_next(r.json), PACE_JSON_KEY);
    assert_int_equal(pace_json_skip(r.json), PACE_JSON_OBJECT);
    assert_int_equal(pace_json_next(r.json), PACE_JSON_KEY);
    assert_text(&r, "b");
    assert_int_equal(pace_json_next(r.json), PACE_JSON_ARRAY);
    assert_int_equal(pace_json_skip(r.json), PACE_JSON_NUMBER);
    assert_int_equal(pace_json_skip(r.json), PACE_JSON_ARRAY);
    assert_int_equal(pace_json_skip(r.json), PACE_JSON_NUMBER);
    assert_text(&r, "3");
    assert_int_equal(pace_json_skip(r.json), PACE_JSON_ARRAY_END);
    assert_int_equal(pace_json_next(r.json), PACE_JSON_KEY);
    assert_int_equal(pace_json_leave(r.json), PACE_JSON_OBJECT_END);
    assert_int_equal(pace_json_depth(r.json), 0);
    assert_int_equal(pace_json_next(r.json), PACE_JSON_END);
    close_reader(&r);
}

TEST(test_leave_faults) {
    reader r = open_text("[1, {\"a\": 2]]");
    pace_json_next(r.json);
    assert_int_equal(pace_json_leave(r.json), PACE_JSON_ERROR);
    assert_string_equal(pace_message(), "doc: byte 11: expected '}', found ']'");
    close_reader(&r);
    r = open_text("[1, {\"a\": \"]");
    pace_json_next(r.json);
    assert_int_equal(pace_json_leave(r.json), PACE_JSON_TRUNCATED);
    close_reader(&r);
    r = open_text("1");
    assert_int_equal(pace_json_leave(r.json), PACE_JSON_ERROR);
    assert_int_equal(pace_json_status(r.json), PACE_E_INTERNAL);
    close_reader(&r);
}

/* Backslashes, quotes and brackets at every place of leave's 64-byte blocks. */
TEST(test_leave_blocks) {
    for (int pad = 0; pad < 140; pad++) {
        for (int slashes = 0; slashes < 70; slashes++) {
            char text[512];
            int n = snprintf(text, sizeof text, "[[\"%*s", pad, "");
            for (int i = 0; i < slashes; i++) {
                text[n++] = '\\';
                text[n++] = '\\';
            }
            n += snprintf(text + n, sizeof text - (size_t)n, "\\\"]\", {}], 7]");
            reader r = open_bytes(text, (size_t)n);
            assert_int_equal(pace_json_next(r.json), PACE_JSON_ARRAY);
            assert_int_equal(pace_json_skip(r.json), PACE_JSON_ARRAY);
            assert_int_equal(pace_json_next(r.json), PACE_JSON_NUMBER);
            assert_text(&r, "7");
            close_reader(&r);
        }
    }
}

/* A small document moved over the window's end byte by byte gives the same tokens and texts. */
TEST(test_window_border) {
    const char *tail = "{\"key\\n\" : [-12.5e+3, \"v\\u00e9\\\\\", true, NaN, -Infinity, {\"z\":\"]\"}]}";
    enum { WINDOW = 1 << 20 };
    size_t tail_length = strlen(tail);
    char *text = pace_alloc(WINDOW + 1024, 1);
    for (size_t from = WINDOW - tail_length - 4; from < WINDOW + 70; from++) {
        memset(text, ' ', from);
        memcpy(text + from, tail, tail_length);
        for (int leave = 0; leave < 2; leave++) {
            pace_input *input;
            pace_json *json;
            assert_int_equal(pace_input_open_memory(&input, "doc", text, from + tail_length), PACE_OK);
            assert_int_equal(pace_json_open(&json, input), PACE_OK);
            reader r = {input, json};
            assert_int_equal(pace_json_next(json), PACE_JSON_OBJECT);
            assert_int_equal(pace_json_offset(json), from);
            if (leave) {
                assert_int_equal(pace_json_leave(json), PACE_JSON_OBJECT_END);
            } else {
                assert_int_equal(pace_json_next(json), PACE_JSON_KEY);
                assert_text(&r, "key\\n");
                assert_int_equal(pace_json_next(json), PACE_JSON_ARRAY);
                assert_int_equal(pace_json_next(json), PACE_JSON_NUMBER);
                assert_text(&r, "-12.5e+3");
                assert_int_equal(pace_json_next(json), PACE_JSON_STRING);
                assert_text(&r, "v\\u00e9\\\\");
                assert_true(pace_json_escaped(json));
                assert_int_equal(pace_json_next(json), PACE_JSON_TRUE);
                assert_int_equal(pace_json_next(json), PACE_JSON_NUMBER);
                assert_int_equal(pace_json_next(json), PACE_JSON_NUMBER);
                assert_text(&r, "-Infinity");
                assert_int_equal(pace_json_skip(json), PACE_JSON_OBJECT);
                assert_int_equal(pace_json_next(json), PACE_JSON_ARRAY_END);
                assert_int_equal(pace_json_next(json), PACE_JSON_OBJECT_END);
                assert_int_equal(pace_json_oddities(json), 2);
            }
            assert_int_equal(pace_json_next(json), PACE_JSON_END);
            assert_int_equal(pace_json_bytes(json), from + tail_length);
            pace_json_free(json);
            pace_input_free(input);
        }
    }
    pace_free(text);
    assert_int_equal(pace_memory_live(), 0);
}

TEST(test_long_token) {
    size_t length = (size_t)5 << 20;
    char *text = pace_alloc(length + 4, 1);
    memset(text, 'x', length + 4);
    memcpy(text, "[\"", 2);
    memcpy(text + length + 2, "\"]", 2);
    pace_input *input;
    pace_json *json;
    assert_int_equal(pace_input_open_memory(&input, "doc", text, length + 4), PACE_OK);
    assert_int_equal(pace_json_open(&json, input), PACE_OK);
    assert_int_equal(pace_json_next(json), PACE_JSON_ARRAY);
    assert_int_equal(pace_json_next(json), PACE_JSON_STRING);
    size_t got;
    pace_json_text(json, &got);
    assert_int_equal(got, length);
    assert_int_equal(pace_json_next(json), PACE_JSON_ARRAY_END);
    assert_int_equal(pace_json_next(json), PACE_JSON_END);
    pace_json_free(json);
    pace_input_free(input);
    pace_free(text);
}

static void assert_decoded(const char *written, const char *expected) {
    char text[256];
    snprintf(text, sizeof text, "\"%s\"", written);
    reader r = open_text(text);
    assert_int_equal(pace_json_next(r.json), PACE_JSON_STRING);
    size_t length;
    const char *decoded = pace_json_decoded(r.json, &length);
    assert_string_equal(decoded, expected);
    assert_int_equal(length, strlen(expected));
    close_reader(&r);
}

TEST(test_decoding) {
    assert_decoded("", "");
    assert_decoded("plain", "plain");
    assert_decoded("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
    assert_decoded("\\u0041\\u00e9\\u20ac\\ud83d\\ude00", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_decoded("\\ud83dx\\ude00", "\xef\xbf\xbdx\xef\xbf\xbd");
    assert_decoded("\\ud83d\\u0041", "\xef\xbf\xbd"
                                     "A");
    assert_decoded("a\\u0000b", "a\\u0000b");
    assert_decoded("C:\\Users\\x\\u12", "C:\\Users\\x\\u12");
}

static void assert_ns(const char *text, bool good, int64_t expected) {
    for (int quoted = 0; quoted < 2; quoted++) {
        char document[128];
        snprintf(document, sizeof document, quoted ? "[\"%s\"]" : "[%s]", text);
        reader r = open_text(document);
        pace_json_next(r.json);
        pace_json_next(r.json);
        int64_t ns = 99;
        assert_int_equal(pace_json_us_to_ns(r.json, &ns), good);
        if (good) assert_true(ns == expected);
        close_reader(&r);
    }
}

TEST(test_microseconds) {
    assert_ns("0", true, 0);
    assert_ns("-0", true, 0);
    assert_ns("1", true, 1000);
    assert_ns("1.5", true, 1500);
    assert_ns("12345678", true, 12345678000);
    assert_ns("1682725898237042.123", true, 1682725898237042123);
    assert_ns("9223372036854775.807", true, INT64_MAX);
    assert_ns("9223372036854775.808", false, 0);
    assert_ns("-9223372036854775.808", true, INT64_MIN);
    assert_ns("0.0005", true, 1);
    assert_ns("0.0004999", true, 0);
    assert_ns("-0.0005", true, -1);
    assert_ns("2.9996", true, 3000);
    assert_ns("1.5e3", true, 1500000);
    assert_ns("1682725898237042123e-3", true, 1682725898237042123);
    assert_ns("5e-4", true, 1);
    assert_ns("5e-5", true, 0);
    assert_ns("9e-99999999999999999999", true, 0);
    assert_ns("0e99999999999999999999", true, 0);
    assert_ns("1e30", false, 0);
    assert_ns("99999999999999999", false, 0);
    assert_ns("NaN", false, 0);
    assert_ns("-Infinity", false, 0);
}

static void assert_int(const char *text, bool good, int64_t expected) {
    reader r = open_text(text);
    pace_json_next(r.json);
    int64_t value = 99;
    assert_int_equal(pace_json_int(r.json, &value), good);
    assert_true(value == (good ? expected : 99));
    close_reader(&r);
}

TEST(test_integers) {
    assert_int("0", true, 0);
    assert_int("-17", true, -17);
    assert_int("\"1234\"", true, 1234);
    assert_int("7.000", true, 7);
    assert_int("7.1", false, 0);
    assert_int("12e2", true, 1200);
    assert_int("120e-1", true, 12);
    assert_int("125e-1", false, 0);
    assert_int("9223372036854775807", true, INT64_MAX);
    assert_int("9223372036854775808", false, 0);
    assert_int("-9223372036854775808", true, INT64_MIN);
    assert_int("18446744073709551616", false, 0);
    assert_int("\"0x10\"", false, 0);
    assert_int("\"\"", false, 0);
    assert_int("\"-\"", false, 0);
    assert_int("\"1 \"", false, 0);
    assert_int("true", false, 0);
}

TEST(test_doubles) {
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"0.1", 0.1},       {"-2.5e-3", -2.5e-3},
                 {"1e22", 1e22},     {"123456789012345678", 123456789012345678.0},
                 {"5e-324", 5e-324}, {"1.7976931348623157e308", 1.7976931348623157e308},
                 {"\"3.25\"", 3.25}};
    double value;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reader r = open_text(cases[i].text);
        pace_json_next(r.json);
        assert_true(pace_json_double(r.json, &value));
        assert_true(value == cases[i].value);
        close_reader(&r);
    }
    static const char *const none[] = {"NaN", "Infinity", "1e999", "\"inf\"", "\"0x1p3\"", "null", "\"1,5\""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        reader r = open_text(none[i]);
        pace_json_next(r.json);
        assert_false(pace_json_double(r.json, &value));
        close_reader(&r);
    }
}

/* A gzip file that breaks off: all that was stored is read, then the input's message tells where. */
TEST(test_truncated_gzip) {
    char text[4000];
    size_t n = 0;
    text[n++] = '[';
    for (int i = 0; n < sizeof text - 32; i++) n += (size_t)snprintf(text + n, 32, "%d, ", i * 7919 % 100003);
    memcpy(text + n, "0]", 2);
    n += 2;
    unsigned char packed[4096];
    z_stream stream = {.next_in = (Bytef *)text, .avail_in = (uInt)n, .next_out = packed, .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t length = stream.total_out;
    deflateEnd(&stream);
    reader r = open_bytes(packed, length / 2);
    int numbers = 0;
    pace_json_token token;
    while ((token = pace_json_next(r.json)) > PACE_JSON_TRUNCATED) numbers += token == PACE_JSON_NUMBER;
    assert_int_equal(token, PACE_JSON_TRUNCATED);
    assert_true(numbers > 50);
    assert_non_null(strstr(pace_message(), "the gzip stream breaks off"));
    close_reader(&r);
}

/* The same, where the break is met with bytes of a token left in the window: what stood behind them is gone. */
TEST(test_broken_tail) {
    const char *text = "[1,2,{\"a\":3},[1234567";
    unsigned char packed[256];
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)text,
                       .avail_in = (uInt)strlen(text),
                       .next_out = packed,
                       .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_SYNC_FLUSH), Z_OK);
    size_t length = stream.total_out;
    deflateEnd(&stream);
    for (int leave = 0; leave < 2; leave++) {
        reader r = open_bytes(packed, length);
        pace_json_token token = pace_json_next(r.json);
        if (leave) token = pace_json_leave(r.json);
        while (token > PACE_JSON_TRUNCATED) token = pace_json_next(r.json);
        assert_int_equal(token, PACE_JSON_TRUNCATED);
        assert_true(pace_json_offset(r.json) <= pace_json_bytes(r.json));
        assert_int_equal(pace_json_bytes(r.json), strlen(text));
        assert_non_null(strstr(pace_message(), "the gzip stream breaks off"));
        close_reader(&r);
    }
}

TEST(test_memory_failures) {
    pace_input *input;
    assert_int_equal(pace_input_open_memory(&input, "doc", "[\"\\n\"]", 6), PACE_OK);
    for (uint64_t n = 1; n <= 2; n++) {
        pace_json *json = NULL;
        pace_memory_fail_at(n);
        assert_int_equal(pace_json_open(&json, input), PACE_E_MEMORY);
        pace_memory_fail_at(0);
        assert_null(json);
    }
    pace_input_free(input);
    assert_int_equal(pace_memory_live(), 0);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

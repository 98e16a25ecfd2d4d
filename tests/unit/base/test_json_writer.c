/* The sink and the JSON writer: layout, escapes, numbers, errors that stick. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "base/json_writer.h"

static char written[300000];
static size_t written_length;

static int keep(void *context, const void *bytes, size_t length) {
    (void)context;
    if (written_length + length >= sizeof written) return ENOSPC;
    memcpy(written + written_length, bytes, length);
    written_length += length;
    written[written_length] = '\0';
    return 0;
}

static int refuse(void *context, const void *bytes, size_t length) {
    (void)bytes;
    (void)length;
    ++*(int *)context;
    return ENOSPC;
}

static pace_sink sink;
static pace_jsonw json;

static void begin(int indent) {
    written_length = 0;
    written[0] = '\0';
    assert_int_equal(pace_sink_open(&sink, keep, NULL), PACE_OK);
    pace_jsonw_init(&json, &sink, indent);
}

static void assert_written(const char *expected) {
    assert_int_equal(pace_sink_close(&sink), PACE_OK);
    assert_string_equal(written, expected);
    assert_int_equal(sink.written, strlen(expected));
    assert_int_equal(pace_memory_live(), 0);
}

static void write_sample(void) {
    pace_jsonw_object(&json);
    pace_jsonw_key(&json, "a");
    pace_jsonw_int(&json, -1);
    pace_jsonw_key(&json, "b");
    pace_jsonw_array(&json);
    pace_jsonw_bool(&json, true);
    pace_jsonw_null(&json);
    pace_jsonw_array_end(&json);
    pace_jsonw_key(&json, "c");
    pace_jsonw_compact(&json);
    pace_jsonw_object(&json);
    pace_jsonw_key(&json, "d");
    pace_jsonw_array(&json);
    pace_jsonw_int(&json, 1);
    pace_jsonw_int(&json, 2);
    pace_jsonw_array_end(&json);
    pace_jsonw_key(&json, "e");
    pace_jsonw_text(&json, "x");
    pace_jsonw_object_end(&json);
    pace_jsonw_key(&json, "f");
    pace_jsonw_array(&json);
    pace_jsonw_array_end(&json);
    pace_jsonw_key(&json, "g");
    pace_jsonw_object(&json);
    pace_jsonw_key(&json, "h");
    pace_jsonw_bool(&json, false);
    pace_jsonw_object_end(&json);
    pace_jsonw_object_end(&json);
}

TEST(test_one_line) {
    begin(0);
    write_sample();
    assert_written("{\"a\":-1,\"b\":[true,null],\"c\":{\"d\":[1,2],\"e\":\"x\"},\"f\":[],\"g\":{\"h\":false}}");
}

TEST(test_pretty) {
    begin(2);
    write_sample();
    assert_written("{\n  \"a\": -1,\n  \"b\": [\n    true,\n    null\n  ],\n"
                   "  \"c\": {\"d\": [1, 2], \"e\": \"x\"},\n  \"f\": [],\n  \"g\": {\n    \"h\": false\n  }\n}");
}

TEST(test_text) {
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
        {"\b\f\n\r\t\v\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u000b\\u0001\\u001f\x7f\""},
        {"</script><b><!--<", "\"<\\/script><b>\\u003c!--<\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa", "\"\\u2028\\u2029\xe2\x80\xaa\""},
        {"\x80 \xc3", "\"\xef\xbf\xbd \xef\xbf\xbd\""},
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf5", "\"\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(0);
        pace_jsonw_text(&json, cases[i].text);
        assert_written(cases[i].expected);
    }
    begin(0);
    pace_jsonw_text_n(&json, "a\0b", 3);
    assert_written("\"a\\u0000b\"");
}

static void assert_real(double value, const char *expected) {
    begin(0);
    pace_jsonw_real(&json, value);
    assert_written(expected);
}

TEST(test_reals) {
    assert_real(0, "0");
    assert_real(0.1, "0.1");
    assert_real(1.0 / 3, "0.3333333333333333");
    assert_real(0.1 + 0.2, "0.30000000000000004");
    assert_real(123456, "123456");
    assert_real(-2.5, "-2.5");
    assert_real(1e300, "1e+300");
    assert_real(5e-324, "5e-324");
    assert_real(DBL_MAX, "1.7976931348623157e+308");
    assert_real((double)NAN, "null");
    assert_real((double)-INFINITY, "null");
}

TEST(test_reals_round_trip) {
    uint64_t seed = 12345;
    for (int i = 0; i < 20000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double value;
        memcpy(&value, &seed, sizeof value);
        if (!isfinite(value)) continue;
        begin(0);
        pace_jsonw_real(&json, value);
        assert_int_equal(pace_sink_close(&sink), PACE_OK);
        assert_true(strtod(written, NULL) == value);
    }
}

static void assert_us(int64_t ns, const char *expected) {
    begin(0);
    pace_jsonw_ns_as_us(&json, ns);
    assert_written(expected);
}

TEST(test_microseconds) {
    assert_us(0, "0.000");
    assert_us(1, "0.001");
    assert_us(-1, "-0.001");
    assert_us(1682725898237042123, "1682725898237042.123");
    assert_us(INT64_MIN, "-9223372036854775.808");
}

TEST(test_deep) {
    begin(1);
    for (int i = 0; i < 100; i++) pace_jsonw_array(&json);
    for (int i = 0; i < 100; i++) pace_jsonw_array_end(&json);
    pace_jsonw_array(&json); /* balanced, so that this one is at the root again */
    pace_jsonw_array_end(&json);
    assert_int_equal(json.depth, 0);
    assert_int_equal(pace_sink_close(&sink), PACE_OK);
}

TEST(test_sink) {
    begin(0);
    for (int i = 0; i < 2000; i++) pace_sink_format(&sink, "%0100d", i);
    assert_int_equal(pace_sink_close(&sink), PACE_OK);
    assert_int_equal(written_length, 200000);
    assert_memory_equal(written + written_length - 4, "1999", 4);
    begin(0);
    pace_sink_text(&sink, "x");
    pace_sink_format(&sink, "%*d", 100000, 7);
    assert_int_equal(pace_sink_close(&sink), PACE_OK);
    assert_int_equal(written_length, 100001);
    assert_int_equal(written[100000], '7');
}

TEST(test_sink_errors) {
    int calls = 0;
    assert_int_equal(pace_sink_open(&sink, refuse, &calls), PACE_OK);
    for (int i = 0; i < 5000; i++) pace_sink_format(&sink, "%0100d", i);
    assert_int_equal(pace_sink_close(&sink), PACE_E_IO);
    assert_int_equal(calls, 1); /* the first failure is the last call */
    assert_non_null(strstr(pace_message(), strerror(ENOSPC)));
    pace_memory_fail_at(1);
    assert_int_equal(pace_sink_open(&sink, refuse, &calls), PACE_E_MEMORY);
    pace_memory_fail_at(0);
    assert_int_equal(pace_memory_live(), 0);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

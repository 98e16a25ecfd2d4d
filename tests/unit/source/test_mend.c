/* What is no JSON by RFC 8259: what is mended, and how; what is broken; what stays as it stands. */

#include "cmocka_of_tests.h"
#include <string.h>

#include "source/slice/mend.h"

static const struct {
    const char *value, *mended; /* NULL = sound */
} mends[] = {
    {"{}", NULL},
    {" [ ] ", NULL},
    {"{\"a\": [1, -0.5e+3, \"\\u00e9\\\\\\n\", true, false, null, {\"b\": {}}]}", NULL},
    {"\"\xc3\xa9\xf0\x9f\x98\x80\"", NULL},
    {"\"a\tb\"", "\"a\\u0009b\""},
    {"\"C:\\Users\\x\"", "\"C:\\\\Users\\\\x\""},
    {"\"\\u12\"", "\"\\\\u12\""},
    {"[NaN,-Infinity, Infinity]", "[null,null, null]"},
    {"\"\xff\xc3\"", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
    {"\"\xed\xa0\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
    {"{\"a\tb\":1}", "{\"a\\u0009b\":1}"},
};

static const char *const broken[] = {"",          "{\"a\" 1}", "{\"a\":}",   "[1 2]", "[1,]", "{,}", "[}",
                                     "{\"a\":1]", "\"open",    "\"cut\\",    "01",    "1.",   "-",   "1e",
                                     "nul",       "{1:2}",     "{\"a\":1,}", "[] []", "+1",   "'a'", "]"};

static pace_mend_verdict judge(pace_text *out, const char *value) {
    pace_mend_verdict verdict;
    assert_int_equal(pace_mend(&verdict, out, value, strlen(value)), PACE_OK);
    return verdict;
}

TEST(test_mended) {
    pace_text out = {0}, again = {0};
    for (size_t i = 0; i < PACE_COUNT(mends); i++) {
        assert_int_equal(judge(&out, mends[i].value), mends[i].mended ? PACE_MEND_MENDED : PACE_MEND_SOUND);
        if (!mends[i].mended) continue;
        assert_string_equal(out.items, mends[i].mended);
        assert_int_equal(judge(&again, out.items), PACE_MEND_SOUND);
    }
    PACE_VEC_FREE(&out, &again);
}

TEST(test_broken) {
    pace_text out = {0};
    for (size_t i = 0; i < PACE_COUNT(broken); i++) assert_int_equal(judge(&out, broken[i]), PACE_MEND_BROKEN);
    char deep[2 * PACE_JSON_DEPTH + 1] = {0};
    memset(deep, '[', PACE_JSON_DEPTH);
    memset(deep + PACE_JSON_DEPTH, ']', PACE_JSON_DEPTH);
    assert_int_equal(judge(&out, deep), PACE_MEND_BROKEN);
    PACE_VEC_FREE(&out);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/* Which regular expressions are taken: those that people write; not those that take the C library hours or
 * gigabytes. */
#include <string.h>

#include "cmocka_of_tests.h"

#include "base/pattern.h"

TEST(match_as_posix_says) {
    static const struct {
        const char *expression, *text;
        bool fits;
    } cases[] = {
        {"^ProfilerStep#[0-9]+$", "ProfilerStep#12", true},
        {"^ProfilerStep#[0-9]+$", "ProfilerStep#", false},
        {"(gemm|conv)_[a-z]{2,4}", "volta_gemm_nt", true},
        {"a{3}", "aa", false},
        {"[]{(]x", "{x", true},
        {"[^]]x", "]x", false},
        {"[[:digit:]]{2}", "a42", true},
        {"\\(\\{", "f({", true},
        {"a{1,2000}", "b", false},
        {"((((a+)+)+)+)+", "aaa", true},
        {"step|", "none", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        regex_t pattern;
        assert_int_equal(pace_pattern_compile(&pattern, "test", cases[i].expression), PACE_OK);
        assert_int_equal(pace_pattern_fits(&pattern, cases[i].text), cases[i].fits);
        regfree(&pattern);
    }
}

TEST(refuse_what_costs_too_much) {
    static const char *const expressions[] = {
        "(a{1,255}){1,255}",
        "((a{1,20}){1,20}){1,20}",
        "a{2001}",
        "",
        "(a|b{100,}){30}",
        "(.*)(.*)\\1\\2",
        "([[:alpha:]]{100}x){1,100}",
        "[]a]{50}([^]]){2,1999}",
        "(((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+",
        "((((((((((((((((((((((((((((((((((a))))))))))))))))))))))))))))))))))",
    };
    (void)state;
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        regex_t pattern;
        assert_int_equal(pace_pattern_compile(&pattern, "test", expressions[i]), PACE_E_USAGE);
        assert_non_null(strstr(pace_message(), "expected "));
    }
    char longest[1002];
    regex_t pattern;
    memset(longest, 'a', sizeof longest - 1);
    longest[1001] = '\0';
    assert_int_equal(pace_pattern_compile(&pattern, "test", longest), PACE_E_USAGE);
    longest[1000] = '\0';
    assert_int_equal(pace_pattern_compile(&pattern, "test", longest), PACE_OK);
    regfree(&pattern);
}

TEST(say_why_one_is_none) {
    static const char *const expressions[] = {"(", "[a", "[", "[^", "a{1", "*)", "a{2,1}", "\\"};
    (void)state;
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        regex_t pattern;
        pace_status status = pace_pattern_compile(&pattern, "test", expressions[i]);
        if (status == PACE_OK) regfree(&pattern); /* some of these are literal text here */
        else assert_non_null(strstr(pace_message(), "test '"));
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/* Members are taken as written, or refused with the place of what is wrong. */
#include <string.h>

#include "cmocka_of_tests.h"

#include "base/yaml_member.h"

static pace_yaml *document;
static const pace_yaml_node *map;

static int parse(void **state) {
    (void)state;
    static const char text[] = "schema: a/1\nword: four\nsize: 2.5\ncount: 3\nzero: 0\nempty: []\nlist: [1]\n"
                               "yes: true\nno: false\n";
    if (pace_yaml_parse(&document, "m.yaml", text, strlen(text)) != PACE_OK) return 1;
    map = pace_yaml_root(document);
    return 0;
}

static int drop(void **state) {
    (void)state;
    pace_yaml_free(document);
    return 0;
}

static void expect_fault(pace_status status, const char *message) {
    assert_int_equal(status, PACE_E_INPUT);
    assert_string_equal(pace_message(), message);
}

TEST(test_numbers) {
    double real = -1;
    int whole = -1;
    expect_fault(pace_yaml_real(&real, document, map, "size", 0, 2),
                 "m.yaml:3:7: expected \"size\" of 0 to 2, found 2.5");
    expect_fault(pace_yaml_positive(&real, document, map, "zero", 1),
                 "m.yaml:5:7: expected \"zero\" above 0 and at most 1, found 0");
    expect_fault(pace_yaml_whole(&whole, document, map, "size", 1, 9),
                 "m.yaml:3:7: expected \"size\", a whole number of 1 to 9, found 2.5");
    expect_fault(pace_yaml_real(&real, document, map, "other", 0, 2), "m.yaml:1:1: expected \"other\"");
    expect_fault(pace_yaml_real(&real, document, map, "word", 0, 2), "m.yaml:2:7: expected a number, found \"four\"");
    assert_true(real == -1 && whole == -1);
    assert_int_equal(pace_yaml_real(&real, document, map, "size", 2.5, 2.5), PACE_OK);
    assert_true(real == 2.5);
    assert_int_equal(pace_yaml_positive(&real, document, map, "count", 3), PACE_OK);
    assert_true(real == 3);
    assert_int_equal(pace_yaml_whole(&whole, document, map, "zero", 0, 3), PACE_OK);
    assert_int_equal(whole, 0);
}

TEST(test_texts_and_lists) {
    char four[5] = "-", three[4] = "-";
    const pace_yaml_node *list = NULL;
    assert_int_equal(pace_yaml_copy(four, sizeof four, document, map, "word"), PACE_OK);
    assert_string_equal(four, "four");
    expect_fault(pace_yaml_copy(three, sizeof three, document, map, "word"),
                 "m.yaml:2:7: expected \"word\", a text of less than 4 bytes");
    assert_string_equal(three, "-");
    expect_fault(pace_yaml_list(&list, document, map, "empty"), "m.yaml:6:8: expected a list \"empty\"");
    expect_fault(pace_yaml_list(&list, document, map, "word"), "m.yaml:2:7: expected a list \"word\"");
    assert_null(list);
    assert_int_equal(pace_yaml_list(&list, document, map, "list"), PACE_OK);
    assert_int_equal(pace_yaml_count(list), 1);
}

TEST(test_words_and_flags) {
    const char *word = NULL;
    bool flag = false;
    expect_fault(pace_yaml_word(&word, document, map, "list"), "m.yaml:7:7: list: expected a text");
    expect_fault(pace_yaml_word(&word, document, map, "other"), "m.yaml:1:1: expected \"other\"");
    expect_fault(pace_yaml_flag(&flag, document, map, "word"), "m.yaml:2:7: word: expected true or false");
    assert_true(word == NULL && !flag);
    assert_int_equal(pace_yaml_word(&word, document, map, "word"), PACE_OK);
    assert_string_equal(word, "four");
    assert_int_equal(pace_yaml_flag(&flag, document, map, "yes"), PACE_OK);
    assert_true(flag);
    assert_int_equal(pace_yaml_flag(&flag, document, map, "no"), PACE_OK);
    assert_false(flag);
    assert_int_equal(pace_yaml_flag(&flag, document, map, "other"), PACE_OK);
    assert_false(flag);
}

TEST(test_schema) {
    assert_int_equal(pace_yaml_check_schema(document, "a/1", "a table"), PACE_OK);
    expect_fault(pace_yaml_check_schema(document, "a/2", "a table"),
                 "m.yaml:1:1: expected a table (\"schema\": \"a/2\"), found \"a/1\"");
}

int main(void) { return run_tests_of_file(parse, drop); }

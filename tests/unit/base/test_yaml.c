/* The YAML tree: structure, places, refusals, numbers, and every allocation failing once. */
#include <stdio.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "base/yaml.h"

static pace_status parse(pace_yaml **out, const char *text) {
    return pace_yaml_parse(out, "t.yaml", text, strlen(text));
}

static void expect_failure(const char *text, pace_status expected, const char *message) {
    pace_yaml *yaml = NULL;
    int64_t before = pace_memory_live();
    assert_int_equal(parse(&yaml, text), expected);
    assert_null(yaml);
    if (!strstr(pace_message(), message)) fail_msg("\"%s\" lacks \"%s\"", pace_message(), message);
    assert_int_equal(pace_memory_live(), before);
}

TEST(test_tree) {
    pace_yaml *yaml = NULL;
    assert_int_equal(parse(&yaml, "a: 1\nb: [x, \"y z\", {c: d}]\ne:\n  f: g\n"), PACE_OK);
    const pace_yaml_node *root = pace_yaml_root(yaml), *list = pace_yaml_get(root, "b");
    assert_true(pace_yaml_is_map(root));
    assert_int_equal(pace_yaml_count(root), 3);
    assert_string_equal(pace_yaml_key(root, 2), "e");
    assert_string_equal(pace_yaml_text(pace_yaml_get(root, "a")), "1");
    assert_true(pace_yaml_is_list(list));
    assert_string_equal(pace_yaml_text(pace_yaml_item(list, 1)), "y z");
    assert_string_equal(pace_yaml_text(pace_yaml_get(pace_yaml_item(list, 2), "c")), "d");
    assert_string_equal(pace_yaml_place(yaml, pace_yaml_item(list, 1)), "t.yaml:2:8");
    assert_null(pace_yaml_get(root, "missing"));
    assert_null(pace_yaml_item(list, 3));
    assert_null(pace_yaml_text(list));
    assert_int_equal(pace_yaml_count(NULL), 0);
    pace_yaml_free(yaml);
}

/* A tree lies where it was copied to, without addresses. */
TEST(test_moved_tree) {
    pace_yaml *yaml = NULL, *moved = NULL;
    size_t length;
    assert_int_equal(parse(&yaml, "a: 1\nb: [x, [], {c: d, 'e': \"2\"}]\n"), PACE_OK);
    const void *tree = pace_yaml_tree(&length, yaml);
    char *copy = pace_alloc(length, 1);
    assert_non_null(copy);
    memcpy(copy, tree, length);
    pace_yaml_free(yaml);
    assert_int_equal(pace_yaml_of_tree(&moved, "m.yaml", copy), PACE_OK);
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(moved), "b"), *last = pace_yaml_item(list, 2);
    double number;
    assert_int_equal(pace_yaml_number(&number, moved, pace_yaml_get(pace_yaml_root(moved), "a")), PACE_OK);
    assert_true(number == 1);
    assert_int_equal(pace_yaml_count(list), 3);
    assert_true(pace_yaml_is_list(pace_yaml_item(list, 1)));
    assert_int_equal(pace_yaml_count(pace_yaml_item(list, 1)), 0);
    assert_string_equal(pace_yaml_key(last, 1), "e");
    assert_int_equal(pace_yaml_number(&number, moved, pace_yaml_get(last, "e")), PACE_E_INPUT);
    assert_string_equal(pace_message(), "m.yaml:2:24: expected a number, found \"2\"");
    pace_yaml_free(moved);
    pace_free(copy);
}

TEST(test_byte_order_mark) {
    pace_yaml *yaml = NULL;
    assert_int_equal(parse(&yaml, "\xef\xbb\xbf"
                                  "a: 1\r\nb: 2\r\n"),
                     PACE_OK);
    assert_string_equal(pace_yaml_text(pace_yaml_get(pace_yaml_root(yaml), "a")), "1");
    pace_yaml_free(yaml);
}

TEST(test_json_is_yaml) {
    pace_yaml *yaml = NULL;
    assert_int_equal(parse(&yaml, "{\"a\": [1, 2], \"b\": {\"c\": null}}"), PACE_OK);
    assert_int_equal(pace_yaml_count(pace_yaml_get(pace_yaml_root(yaml), "a")), 2);
    pace_yaml_free(yaml);
}

TEST(test_empty) {
    pace_yaml *yaml = NULL;
    assert_int_equal(pace_yaml_parse(&yaml, "t", NULL, 0), PACE_OK);
    assert_null(pace_yaml_root(yaml));
    pace_yaml_free(yaml);
    assert_int_equal(pace_yaml_of_tree(&yaml, "t", NULL), PACE_OK);
    assert_null(pace_yaml_root(yaml));
    pace_yaml_free(yaml);
}

TEST(test_refusals) {
    expect_failure("a: &x 1\n", PACE_E_INPUT, "t.yaml:1:4: anchors");
    expect_failure("a: *x\n", PACE_E_INPUT, "t.yaml:1:4: aliases");
    expect_failure("&k a: 1\n", PACE_E_INPUT, "t.yaml:1:1: anchors");
    expect_failure("a: 1\nb: 2\na: 3\n", PACE_E_INPUT, "t.yaml:3:4: the key \"a\" occurs twice");
    expect_failure("[a]: 1\n", PACE_E_INPUT, "a key must be");
    expect_failure("a: [1, 2\n", PACE_E_INPUT, "t.yaml:2:1: not valid YAML");
    expect_failure("a: \xff\n", PACE_E_INPUT, "not valid YAML");
    expect_failure("a: \"x\\0y\"\n", PACE_E_INPUT, "NUL");
    expect_failure("a: 1\n---\nb: 2\n", PACE_E_INPUT, "t.yaml:2:1: more than one document");
    char deep[201];
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    deep[200] = '\0';
    expect_failure(deep, PACE_E_LIMIT, "nested");
}

static void check_number(const char *text, double expected) {
    pace_yaml *yaml = NULL;
    double value = -1;
    assert_int_equal(parse(&yaml, text), PACE_OK);
    assert_int_equal(pace_yaml_number(&value, yaml, pace_yaml_root(yaml)), PACE_OK);
    assert_true(value == expected);
    pace_yaml_free(yaml);
}

static void check_no_number(const char *text) {
    pace_yaml *yaml = NULL;
    double value = -1;
    assert_int_equal(parse(&yaml, text), PACE_OK);
    assert_int_equal(pace_yaml_number(&value, yaml, pace_yaml_root(yaml)), PACE_E_INPUT);
    assert_non_null(strstr(pace_message(), "t.yaml:1:1"));
    assert_true(value == -1);
    pace_yaml_free(yaml);
}

TEST(test_numbers) {
    check_number("312e12", 312e12);
    check_number("-1.5", -1.5);
    check_number(".5", 0.5);
    check_number("+2.E-3", 2e-3);
    const char *const wrong[] = {"0x10", "inf", ".nan", "1e999", "\"1\"", "1 2", "-", "1e", "[1]", "1_000", "'1'"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) check_no_number(wrong[i]);
}

/* The keys and texts of a document's members in its order, "-" where there is none. */
static void check_order(const char *text, const char *expected) {
    pace_yaml *yaml = NULL;
    char said[64] = "";
    assert_int_equal(parse(&yaml, text), PACE_OK);
    PACE_YAML_EACH (one, pace_yaml_root(yaml)) {
        const char *key = pace_yaml_key_of(one), *value = pace_yaml_text(one);
        size_t used = strlen(said);
        snprintf(said + used, sizeof said - used, "%s=%s ", key ? key : "-", value ? value : "-");
    }
    assert_string_equal(said, expected);
    pace_yaml_free(yaml);
}

TEST(test_each) {
    check_order("b: 1\na: [2, 3]\nc: 4\n", "b=1 a=- c=4 ");
    check_order("[x, {y: z}, w]\n", "-=x -=- -=w ");
    check_order("{}\n", "");
    check_order("[]\n", "");
    check_order("word\n", "");
    PACE_YAML_EACH (one, NULL) fail_msg("%s", pace_yaml_text(one));
}

TEST(test_every_allocation_fails) {
    int64_t before = pace_memory_live();
    pace_status status = PACE_E_MEMORY;
    uint64_t n = 1;
    for (; status != PACE_OK; n++) {
        pace_yaml *yaml = NULL;
        pace_memory_fail_at(n);
        status = parse(&yaml, "a: [1, {b: c, d: e}]\nf: g\n");
        pace_memory_fail_at(0);
        if (status == PACE_OK) pace_yaml_free(yaml);
        else assert_int_equal(status, PACE_E_MEMORY);
        assert_int_equal(pace_memory_live(), before);
    }
    assert_true(n > 10);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/* Words: starts, ends, and edits against the recursive definition of the distance and published examples. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "base/text.h"

TEST(test_starts_and_ends) {
    assert_true(pace_starts("aten::add", "aten::"));
    assert_false(pace_starts("aten", "aten::"));
    assert_true(pace_starts("x", ""));
    assert_true(pace_ends("a.json.gz", ".gz"));
    assert_true(pace_ends(".gz", ".gz"));
    assert_false(pace_ends("gz", ".gz"));
    assert_false(pace_ends("a.gz.json", ".gz"));
    assert_true(pace_ends("", ""));
}

/* A span neither reads past its end nor needs a zero: it is a piece of exactly that size. */
TEST(test_spans) {
    char *piece = malloc(4);
    memcpy(piece, "type", 4);
    assert_true(pace_span_is(piece, 4, "type"));
    assert_false(pace_span_is(piece, 3, "type"));
    assert_false(pace_span_is(piece, 4, "types"));
    assert_true(pace_span_starts(piece, 4, "ty"));
    assert_false(pace_span_starts(piece, 4, "types"));
    assert_true(pace_span_ends(piece, 4, "pe"));
    assert_false(pace_span_ends(piece, 4, "atype"));
    assert_true(pace_span_is(piece, 0, ""));
    free(piece);
}

/* Words of a list are whole words; one with a star stands for all that begin so. */
TEST(test_listed) {
    static const char list[] = "view view_as clamp* to";
    assert_string_equal(pace_span_listed("to", 2, list), "to");
    assert_ptr_equal(pace_span_listed("view", 4, list), list);
    assert_ptr_equal(pace_span_listed("view_as", 7, list), list + 5);
    assert_ptr_equal(pace_span_listed("clamp", 5, list), list + 13);
    assert_ptr_equal(pace_span_listed("clamp_min", 9, list), list + 13);
    assert_null(pace_span_listed("vi", 2, list));
    assert_null(pace_span_listed("view_", 5, list));
    assert_null(pace_span_listed("o", 1, list));
    assert_null(pace_span_listed("tos", 3, list));
    assert_null(pace_span_listed("to", 2, ""));
}

TEST(test_nearer) {
    assert_string_equal(pace_word_nearer("hidden", "heads", "hidde"), "hidde");
    assert_string_equal(pace_word_nearer("hidden", "hidde", "heads"), "hidde");
    assert_string_equal(pace_word_nearer("abc", "abd", "abe"), "abd"); /* the first of those that are as near */
    assert_string_equal(pace_word_nearer("abc", "", "xyz"), "xyz");
    assert_string_equal(pace_word_nearer("abc", NULL, "xyz"), "xyz");
}

TEST(test_letters) {
    static const char digits[] = "0123456789";
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (int c = 1; c < 256; c++) {
        bool digit = strchr(digits, c) != NULL, letter = strchr(letters, c) != NULL;
        assert_int_equal(pace_is_digit((char)c), digit);
        assert_int_equal(pace_is_alnum((char)c), digit || letter);
        assert_int_equal(pace_is_name((char)c), digit || letter || c == '_');
    }
    assert_false(pace_is_name('\0'));
}

/* Levenshtein's definition, word by word. */
static size_t edits(const char *a, const char *b) {
    if (!*a || !*b) return strlen(a) + strlen(b);
    if (*a == *b) return edits(a + 1, b + 1);
    size_t change = edits(a + 1, b + 1), drop = edits(a + 1, b), add = edits(a, b + 1);
    size_t least = change < drop ? change : drop;
    return 1 + (add < least ? add : least);
}

TEST(test_edits) {
    assert_int_equal(pace_word_edits("kitten", "sitting"), 3);
    assert_int_equal(pace_word_edits("saturday", "sunday"), 3);
    assert_int_equal(pace_word_edits("", "abc"), 3);
    assert_int_equal(pace_word_edits("A100-SXM", "a100-sxm"), 0);
    uint32_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        char words[2][7];
        for (int w = 0; w < 2; w++) {
            size_t length = (seed = seed * 1664525u + 1013904223u, seed >> 8) % 7;
            for (size_t i = 0; i < length; i++)
                words[w][i] = (char)('a' + (seed = seed * 1664525u + 1013904223u, seed >> 8) % 3);
            words[w][length] = '\0';
        }
        assert_int_equal(pace_word_edits(words[0], words[1]), edits(words[0], words[1]));
    }
}

/* Every beginning at once is what each costs alone. */
TEST(test_edits_of_beginnings) {
    static const char text[] = "v100-sxm2-16", other[] = "gv100";
    size_t of[PACE_EDITED_LETTERS + 1];
    assert_int_equal(pace_beginnings_edits(of, text, other), strlen(text));
    for (size_t length = 0; length <= strlen(text); length++) {
        char part[sizeof text];
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        assert_int_equal(of[length], edits(part, other));
    }
}

TEST(test_letters_behind) {
    static const char text[] = "No. of GPUs (total)";
    const char *end = text + strlen("No. of GPUs ");
    const char *rest = pace_behind_letters(text, end, "noof");
    assert_non_null(rest);
    assert_string_equal(pace_first_letter(rest, end), "GPUs (total)");
    assert_null(pace_behind_letters(text, end, "nooff"));
    assert_null(pace_behind_letters(text, end, "noofgpust"));
    assert_ptr_equal(pace_first_letter(text + 11, end), end);
    assert_true(pace_same_letters_of("Batch size", 9, "batch_size", 9));
    assert_true(pace_same_letters_of("Batch size", 10, "BATCHSIZEX", 9));
    assert_false(pace_same_letters_of("Batch size", 10, "batch_siz", 9));
    assert_true(pace_same_word("--", "")); /* no letters at all */
    assert_true(pace_same_word("_GPU", "gpu"));
    assert_false(pace_same_word("gpu", "gpus"));
}

/* Words of any length are taken; past 63 letters they are cut. */
TEST(test_long_words) {
    char a[200], b[200];
    memset(a, 'x', sizeof a), memset(b, 'x', sizeof b);
    a[199] = b[150] = '\0';
    assert_int_equal(pace_word_edits(a, b), 0);
    assert_int_equal(pace_word_edits(a, ""), 63);
}

static int sign(int n) { return (n > 0) - (n < 0); }

/* Listed in order: each comes before all behind it. */
TEST(test_natural_order) {
    static const char *const order[] = {
        "", "1", "01", "2", "10", "a", "rank2", "rank10", "rank10b", "rank10b03", "rank18446744073709551617", "rankx"};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
            bool swapped = (i == 1 && k == 2) || (i == 2 && k == 1); /* of one value: by their bytes */
            int expected = swapped ? sign(strcmp(order[i], order[k])) : (i > k) - (i < k);
            assert_int_equal(sign(pace_natural_order(order[i], order[k])), expected);
        }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

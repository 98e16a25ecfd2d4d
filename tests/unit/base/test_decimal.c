/* Numbers against the C library's, which rounds correctly. */

#include "cmocka_of_tests.h"

#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state_word = 1;

static uint64_t next_word(void) { /* splitmix64 */
    uint64_t z = state_word += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void agrees(const char *text) {
    double got = -1;
    char *end;
    double truth = strtod(text, &end);
    const char *stop = pace_decimal_read(&got, text, text + strlen(text));
    if (!isfinite(truth)) {
        assert_null(stop);
        return;
    }
    assert_ptr_equal(stop, end);
    assert_memory_equal(&got, &truth, sizeof got);
    char before[1041] = "", *padded = before + 17;
    int length = snprintf(padded, 1024 - 16, "%.*s,123456789012345", (int)(end - text), text);
    assert_in_range(length, 1, 1024 - 17);
    got = -1;
    assert_ptr_equal(pace_decimal_read_padded(&got, padded, padded + (end - text)), padded + (end - text));
    assert_memory_equal(&got, &truth, sizeof got);
    got = -1;
    if (pace_decimal_cell(&got, padded + (end - text), (size_t)(end - text)))
        assert_memory_equal(&got, &truth, sizeof got);
    got = -1;
    stop = pace_decimal_read_short(&got, padded);
    if (!stop || stop != padded + (end - text)) return; /* one for the others */
    assert_memory_equal(&got, &truth, sizeof got);
}

#ifdef __SSE2__
/* Every cell of digits with one point or none is read, and nothing else is taken for a number. */
TEST(test_cells) {
    static const char any[] = "0123456789999999....,x -+eE";
    char before[64] = "9999999999999999,", *cell = before + 17;
    int read = 0;
    for (int round = 0; round < 200000; round++) {
        size_t length = 1 + next_word() % 18, digits = 0, points = 0;
        for (size_t i = 0; i < length; i++) {
            cell[i] = any[next_word() % (round % 2 ? sizeof any - 1 : 18)];
            digits += cell[i] >= '0' && cell[i] <= '9';
            points += cell[i] == '.';
        }
        cell[length] = '\0';
        double got = -1, truth = strtod(cell, NULL);
        bool inside = points == 0 || (cell[0] != '.' && cell[length - 1] != '.');
        bool plain = digits + points == length && points < 2 && inside && length < 16;
        assert_int_equal(pace_decimal_cell(&got, cell + length, length), plain);
        if (plain) assert_memory_equal(&got, &truth, sizeof got);
        read += plain;
    }
    assert_true(read > 50000);
    double none;
    assert_false(pace_decimal_cell(&none, cell, 0));
}
#endif

TEST(test_written_numbers) {
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+7",
                                        "1.",
                                        ".5",
                                        "-.5e3",
                                        "1e5x",
                                        "1,2",
                                        "9007199254740993",
                                        "9007199254740992",
                                        "12345678",
                                        "1234567890123456789",
                                        "12345678901234567890",
                                        "184467440737095516160",
                                        "0.1",
                                        "1e22",
                                        "1e23",
                                        "8.5e-5",
                                        "0.30000000000000004",
                                        "2.2250738585072011e-308",
                                        "4.9e-324",
                                        "1e-400",
                                        "1.7976931348623157e308",
                                        "1e309",
                                        "0.000000000000000000000000000000000000000001",
                                        "100000000000000000000000000000",
                                        "5e-1 ",
                                        "00012",
                                        "0.5e+2",
                                        "1e999999999999999999999",
                                        "9007199254740991.5",
                                        "4503599627370497.5",
                                        "1.00000000000000011102230246251565"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) agrees(texts[i]);
    static const char *const none[] = {"", "-", ".", "e5", "1e", "1e+", "nan", "inf", "-inf", "x1", " 1", "+-1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        double value = 3;
        assert_null(pace_decimal_read(&value, none[i], none[i] + strlen(none[i])));
        assert_true(value == 3);
    }
    static const char digits[] = "12345678";
    double value = 0;
    assert_ptr_equal(pace_decimal_read(&value, digits, digits + 3), digits + 3);
    assert_true(value == 123);
}

TEST(test_any_double) {
    static const char *const forms[] = {"%.17g", "%.16g", "%.15g", "%.6g", "%.9e", "%.3f", "%.19g", "%.25g"};
    char text[512];
    for (int i = 0; i < 200000; i++) {
        double value;
        uint64_t bits = next_word();
        memcpy(&value, &bits, sizeof value);
        if (i % 2) value = ldexp((double)(next_word() >> 11), (int)(next_word() % 120) - 110); /* everyday sizes */
        if (!isfinite(value)) continue;
        const char *form = forms[next_word() % (sizeof forms / sizeof *forms)];
        snprintf(text, sizeof text, form, value);
        agrees(text);
    }
    for (int i = 0; i < 200000; i++) { /* any digits, which are nobody's shortest form */
        snprintf(text, sizeof text, "%s%llu.%llue%d", i % 3 ? "" : "-",
                 (unsigned long long)(next_word() >> (next_word() % 60)),
                 (unsigned long long)(next_word() >> (30 + next_word() % 34)), (int)(next_word() % 60) - 30);
        agrees(text);
    }
}

/* What is read, and where reading stopped; -1 = no number. */
TEST(test_texts) {
    static const struct {
        const char *text;
        double value;
        int used;
        bool whole;
    } cases[] = {
        {"0.1", 0.1, 3, true},       {" 12.5 ", 12.5, 5, true},   {"2.5TB/s", 2.5, 3, false}, {"-3e2", -300, 4, true},
        {"5em", 5, 1, false},        {"1e+", 1, 1, false},        {"1..8", 1, 1, false},      {"7.", 7, 2, true},
        {".5x", 0.5, 2, false},      {"0x10", 0, 1, false},       {"1,5", 1, 1, false},       {"8 9", 8, 1, false},
        {"\t+4e-1\n", 0.4, 6, true}, {"1.5e3.2", 1500, 5, false},
    };
    static const char *const none[] = {"", " ", "nan", "inf", "-", ".", "e5", "-.e1", "x1", "1e999", "..5"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double read = -7, whole = -7;
        assert_ptr_equal(pace_number_read(&read, cases[i].text), cases[i].text + cases[i].used);
        assert_true(read == cases[i].value);
        assert_int_equal(pace_number_parse(&whole, cases[i].text), cases[i].whole);
        assert_true(whole == (cases[i].whole ? cases[i].value : -7));
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        double value = -7;
        assert_null(pace_number_read(&value, none[i]));
        assert_false(pace_number_parse(&value, none[i]));
        assert_true(value == -7);
    }
}

/* More digits than any buffer holds. */
TEST(test_long_numbers) {
    static char text[5000];
    double value;
    memset(text, '0', sizeof text - 1);
    memcpy(text, "1.5", 3);
    text[4500] = '1';
    assert_true(pace_number_parse(&value, text) && value == 1.5);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

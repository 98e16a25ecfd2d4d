/* Numbers as YAML 1.1 wants them: its type repository's float has a point before any exponent. */

#include "cmocka_of_tests.h"

#include "base/print.h"

TEST(a_point_stands_before_an_exponent) {
    static const struct {
        double value;
        int digits;
        const char *text;
    } cases[] = {{5e-10, 4, "5.0e-10"},
                 {1.25e-9, 4, "1.25e-09"},
                 {1e300, 6, "1.0e+300"},
                 {-2e-7, 6, "-2.0e-07"},
                 {0.5, 6, "0.5"},
                 {123456, 6, "123456"},
                 {0, 6, "0"},
                 {2, 6, "2"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        pace_print_figure(text, cases[i].value, cases[i].digits);
        assert_string_equal(text, cases[i].text);
    }
}

/* What does not fit is seen to be cut, and what comes after it is left out. */
TEST(items_are_put_behind_one_another) {
    char text[12] = "";
    pace_list(text, sizeof text, ", ", "%d", 1);
    pace_list(text, sizeof text, ", ", "%s=%g", "b", 0.5);
    assert_string_equal(text, "1, b=0.5");
    pace_append(text, sizeof text, ";%s", "long words");
    assert_string_equal(text, "1, b=0.5...");
    pace_list(text, sizeof text, ", ", "%d", 2);
    assert_string_equal(text, "1, b=0.5...");
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/* Which layers of a list have experts: against lists that are written out here. */

#include "cmocka_of_tests.h"
#include <stdio.h>
#include <string.h>

#include "ask/plan/layer_pattern.h"

/* DeepSeek-V3's and GLM-4.5's lists, as recipes of Megatron-LM have them; and each so many-th. */
TEST(test_lists) {
    static const struct {
        const char *text;
        int dense, every;
    } lists[] = {{"([0]*3+[1]*58)", 3, 1}, {"[0]*1+[1]*60", 1, 1}, {"([0]*1+[1]*26)*1", 1, 1},
                 {"[1]*48", 0, 1},         {"[0,1]*12", 0, 2},     {"[0, 0, 1] * 4", 0, 3},
                 {"[0,1]*30+[0]", 0, 2},   {"[1]", 0, 1},          {"(([0])*2+[1,1]*2)", 2, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        pace_layer_pattern found;
        assert_true(pace_layer_pattern_read(&found, lists[i].text));
        assert_int_equal(found.dense, lists[i].dense);
        assert_int_equal(found.every, lists[i].every);
    }
}

TEST(test_others) {
    static const char *const texts[] = {"",
                                        "[",
                                        "[1",
                                        "[2]",
                                        "[0]*3",
                                        "[0]*3+",
                                        "[1,0]*4",
                                        "[0]*3+[0,1]*4",
                                        "1",
                                        "[1]*0",
                                        "[1]*2000",
                                        "[1]*99999999999",
                                        "[0]*3+[1]*58)",
                                        "((((((((((([1])))))))))))",
                                        "$X",
                                        "[1]*-1",
                                        "[0,1]*12 and more"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pace_layer_pattern found = {7, 7};
        assert_false(pace_layer_pattern_read(&found, texts[i]) && found.dense != 7);
    }
}

/* All lists of up to twelve layers: what is read tells each layer as the list has it, and every order that the two
 * numbers can tell is read. */
TEST(test_all_short_lists) {
    (void)state;
    for (int count = 1; count <= 12; count++)
        for (unsigned bits = 0; bits < 1U << count; bits++) {
            char text[40] = "[";
            bool told = false;
            for (int i = 0; i < count; i++) snprintf(text + strlen(text), 3, "%s%u", i > 0 ? "," : "", bits >> i & 1);
            strcat(text, "]");
            for (int dense = 0; dense < count && !told; dense++)
                for (int every = 1; every <= count && !told; every++) {
                    unsigned made = 0;
                    for (int i = dense; i < count; i++) made |= (unsigned)((i + 1) % every == 0) << i;
                    told = made && made == bits && (every == 1 || dense == 0);
                }
            pace_layer_pattern found;
            bool read = pace_layer_pattern_read(&found, text);
            assert_int_equal(read, told);
            for (int i = 0; read && i < count; i++)
                assert_int_equal(bits >> i & 1, i >= found.dense && (i + 1) % found.every == 0);
        }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

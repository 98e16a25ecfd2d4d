/* Figures of the closed loop, by hand. */
#include "live_score.h"

#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

static pace_live_step step(int ranks, const char *approach, const char *link, double predicted_s, double measured_s) {
    pace_live_step s = {.model = "m", .batch = 8, .runs = 3, .ranks = ranks, .approach = approach, .link = link};
    s.predicted_s = predicted_s, s.measured_s = measured_s, s.least_s = 0.99 * measured_s, s.most_s = 1.01 * measured_s;
    return s;
}

static pace_live_figure figure(const char *name, const pace_live_step *steps, size_t count) {
    pace_live_figure all[PACE_LIVE_FIGURES];
    pace_live_figures(all, steps, count);
    for (int i = 0; i < PACE_LIVE_FIGURES; i++)
        if (strcmp(all[i].name, name) == 0) return all[i];
    fail();
    return all[0];
}

/* A link is there or not. In memory `a` is chosen and `b` 10 % faster; over the link `a` is chosen and the best: that
 * it is predicted to be faster than in memory is nobody's choice. One rank is a choice on either, and never taken. */
TEST(choice_within_a_link) {
    const pace_live_step steps[] = {step(1, NULL, NULL, 1.0, 1.0), step(2, "a", NULL, 1.0, 1.1),
                                    step(2, "b", NULL, 1.1, 1.0), step(2, "a", "10Gb/s", 0.9, 1.5),
                                    step(2, "b", "10Gb/s", 1.6, 1.6)};
    pace_live_figure choice = figure("most_regret", steps, PACE_COUNT(steps));
    assert_true(fabs(choice.value - 0.1) < 1e-12 && choice.count == 6);
}

/* Where one rank alone is the best on a link, its choice costs nothing. Steps of one rank alone say nothing of what
 * ranks choose and cover: the figures of these stay as they were. */
TEST(choice_of_one_rank) {
    pace_live_step steps[] = {step(1, NULL, NULL, 1.0, 1.0), step(2, "a", "1Gb/s", 3.0, 2.5)};
    assert_true(fabs(figure("most_regret", steps, 2).value) < 1e-12 && figure("coverage", steps, 2).count == 2);
    assert_true(isnan(figure("most_regret", steps, 1).value) && isnan(figure("coverage", steps, 1).value));
    assert_true(figure("one_rank_coverage", steps, 1).count == 1);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/* What the abstract of Wang et al. (IISWC 2019) says of PAI's jobs, asked of the synthetic population. It has the
 * published marginals, not the published results: that these follow is a test of both the population and the model. */
#include "fleet/fleet.h"
#include "base/words.h"
#include "fleet/population.h"
#include "catalog_of_tests.h"

#include <string.h>

#include "cmocka_of_tests.h"

enum { JOBS = 50000 };

static double mean_speedup(const pace_fleet *fleet, size_t question, int class) {
    return pace_sum_value(&fleet->answers[question].speedup[class]) / (double)fleet->groups[class].jobs;
}

/* The resource that speeds a class up most, of those asked about. */
static int most_sensitive(const pace_fleet *fleet, int class) {
    int resource = -1;
    double best = 0;
    for (size_t q = 0; q < fleet->questions->items.count; q++) {
        const pace_fleet_question *question = &fleet->questions->items.items[q];
        if (question->kind != PACE_ASKED_HARDWARE || mean_speedup(fleet, q, class) <= best) continue;
        best = mean_speedup(fleet, q, class);
        resource = question->resource[0];
    }
    return resource;
}

static void expect_published(const pace_fleet *fleet) {
    const pace_fleet_group *ps = &fleet->groups[PACE_JOB_PS_WORKER];
    double weights = 0, cnodes = 0, fast_network = 0;
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) {
        weights += pace_sum_value(&fleet->groups[a].share[PACE_LEVEL_CNODE][PACE_COMPONENT_WEIGHTS]);
        cnodes += (double)fleet->groups[a].cnodes;
    }
    for (size_t q = 0; q < fleet->questions->items.count; q++)
        if (strcmp(fleet->questions->items.items[q].text, "network 100 Gb/s") == 0)
            fast_network = mean_speedup(fleet, q, PACE_JOB_PS_WORKER);
    double gains = (double)fleet->projections[0].verdicts[PACE_LEVEL_JOB][PACE_PROJECTED_GAINS] / (double)ps->jobs;
    assert_true(weights / cnodes > 0.60 && weights / cnodes < 0.64); /* 62 % of the time, by cNode */
    assert_true(gains > 0.57 && gains < 0.63);                       /* 60 % of PS/Worker gain as AllReduce-Local */
    assert_true(fast_network > 1.6 && fast_network < 1.8);           /* 1.7 times from 25 to 100 Gb/s */
    assert_int_equal(most_sensitive(fleet, PACE_JOB_PS_WORKER), PACE_JOB_NETWORK);
    assert_int_equal(most_sensitive(fleet, PACE_JOB_1W1G), PACE_JOB_MEMORY);
    assert_int_equal(most_sensitive(fleet, PACE_JOB_1WNG), PACE_JOB_PCIE);
    assert_int_equal(most_sensitive(fleet, PACE_CLASS_PROJECTED), PACE_JOB_MEMORY);
}

TEST(test_published) {
    const pace_job_setting_words words = {0};
    const pace_words none = {0};
    pace_job_catalog catalog;
    pace_job_setting setting;
    pace_fleet_questions questions;
    pace_population population;
    pace_fleet fleet;
    pace_jobs jobs = {0};
    (void)state;
    assert_int_equal(pace_job_catalog_load(&catalog, test_catalog()), PACE_OK);
    assert_int_equal(pace_job_setting_parse(&setting, &catalog, &words), PACE_OK);
    assert_int_equal(pace_fleet_questions_make(&questions, &setting, &none, &none), PACE_OK);
    assert_int_equal(pace_population_load(&population, test_catalog()), PACE_OK);
    assert_int_equal(pace_fleet_init(&fleet, &setting, &questions, false), PACE_OK);
    for (uint64_t i = 0; i < JOBS; i++) {
        double values[PACE_JOB_COLUMNS];
        pace_job_architecture architecture;
        pace_population_job(values, &architecture, &population, 2, i);
        assert_int_equal(pace_jobs_add(&jobs, (pace_job_text){0}, (pace_job_text){0}, architecture, values, i + 1),
                         PACE_OK);
    }
    assert_int_equal(pace_fleet_add(&fleet, &jobs), PACE_OK);
    assert_int_equal(fleet.unusable, 0);
    expect_published(&fleet);
    pace_jobs_free(&jobs);
    pace_fleet_free(&fleet);
    pace_fleet_questions_free(&questions);
    pace_job_catalog_free(&catalog);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

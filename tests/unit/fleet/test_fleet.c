/* A fleet is the same whatever the order, the split and the way it travels; broken bytes are refused. */
#include "fleet/fleet.h"
#include "base/words.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_of_tests.h"

enum { JOBS = 1500, PARTS = 3 };

typedef struct {
    pace_job_catalog catalog;
    pace_job_setting setting;
    pace_fleet_questions questions;
} asked;

static void open_asked(asked *a) {
    const pace_job_setting_words words = {0};
    const pace_words none = {0};
    assert_int_equal(pace_job_catalog_load(&a->catalog, test_catalog()), PACE_OK);
    assert_int_equal(pace_job_setting_parse(&a->setting, &a->catalog, &words), PACE_OK);
    assert_int_equal(pace_fleet_questions_make(&a->questions, &a->setting, &none, &none), PACE_OK);
}

static void close_asked(asked *a) {
    pace_fleet_questions_free(&a->questions);
    pace_job_catalog_free(&a->catalog);
}

static uint64_t next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static double between(uint64_t *state, double low, double high) {
    return low * exp(log(high / low) * (double)(next(state) >> 11) * 0x1p-53);
}

/* The same job for the same number, whatever batch it is in. */
static void add_job(pace_jobs *jobs, unsigned number) {
    uint64_t state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    double values[PACE_JOB_COLUMNS];
    char id[32];
    pace_job_architecture architecture = (pace_job_architecture)(next(&state) % PACE_JOB_ARCHITECTURES);
    pace_job_values_clear(values);
    values[PACE_JOB_CNODES] = architecture == PACE_JOB_1W1G ? 1 : floor(between(&state, 1, 200));
    values[PACE_JOB_BATCH_SIZE] = 64;
    values[PACE_JOB_FLOP] = between(&state, 1e9, 1e13);
    values[PACE_JOB_MEMORY_ACCESS_BYTES] = between(&state, 1e8, 1e12);
    values[PACE_JOB_INPUT_BYTES] = between(&state, 1e4, 1e10);
    values[PACE_JOB_WEIGHT_TRAFFIC_BYTES] = between(&state, 1e5, 1e11);
    values[PACE_JOB_DENSE_WEIGHT_BYTES] = between(&state, 1e6, 1e10);
    values[PACE_JOB_EMBEDDING_WEIGHT_BYTES] = between(&state, 1e6, 1e12);
    if (number % 3) values[PACE_JOB_GPU_HOURS] = between(&state, 0.1, 1e4);
    if (number % 97 == 5) values[PACE_JOB_CNODES] = 2.5; /* cannot be asked */
    int length = snprintf(id, sizeof id, "job-%u", number);
    assert_int_equal(pace_jobs_add(jobs, (pace_job_text){id, (size_t)length}, (pace_job_text){0}, architecture, values,
                                   number + 2),
                     PACE_OK);
}

static void fill(pace_fleet *fleet, const asked *a, unsigned first, unsigned step, bool backwards, bool exact) {
    pace_jobs jobs = {0};
    for (unsigned i = first; i < JOBS; i += step) add_job(&jobs, backwards ? JOBS - 1 - i : i);
    assert_int_equal(pace_fleet_init(fleet, &a->setting, &a->questions, exact), PACE_OK);
    assert_int_equal(pace_fleet_add(fleet, &jobs), PACE_OK);
    pace_jobs_free(&jobs);
}

static void same_bytes(pace_fleet *left, pace_fleet *right) {
    pace_bytes a = {0}, b = {0};
    assert_int_equal(pace_fleet_pack(&a, left), PACE_OK);
    assert_int_equal(pace_fleet_pack(&b, right), PACE_OK);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.items, b.items, a.count);
    PACE_VEC_FREE(&a);
    PACE_VEC_FREE(&b);
}

static void check_splits(bool exact) {
    asked a;
    pace_fleet whole, backwards, merged, carried;
    open_asked(&a);
    fill(&whole, &a, 0, 1, false, exact);
    fill(&backwards, &a, 0, 1, true, exact);
    same_bytes(&whole, &backwards);
    assert_int_equal(whole.unusable, (JOBS + 96 - 5) / 97);
    assert_int_equal(whole.first_line, 5 + 2);
    assert_non_null(strstr(whole.first_fault, "cnodes"));
    assert_int_equal(pace_fleet_init(&merged, &a.setting, &a.questions, exact), PACE_OK);
    assert_int_equal(pace_fleet_init(&carried, &a.setting, &a.questions, exact), PACE_OK);
    for (unsigned p = PARTS; p-- > 0;) {
        pace_fleet part;
        pace_bytes bytes = {0};
        fill(&part, &a, p, PARTS, p == 1, exact);
        assert_int_equal(pace_fleet_pack(&bytes, &part), PACE_OK);
        pace_unpack from = {bytes.items, bytes.count};
        assert_int_equal(pace_fleet_merge_packed(&carried, &from), PACE_OK);
        assert_int_equal(from.left, 0);
        assert_int_equal(pace_fleet_merge(&merged, &part), PACE_OK);
        PACE_VEC_FREE(&bytes);
        pace_fleet_free(&part);
    }
    same_bytes(&whole, &merged);
    same_bytes(&whole, &carried);
    pace_fleet_free(&whole);
    pace_fleet_free(&backwards);
    pace_fleet_free(&merged);
    pace_fleet_free(&carried);
    close_asked(&a);
    test_catalog_close();
    assert_int_equal(pace_memory_live(), 0);
}

TEST(test_splits) { check_splits(false); }

TEST(test_splits_of_exact_quantiles) { check_splits(true); }

/* Every job is in one class; its shares are one; its hours go somewhere. */
TEST(test_sums) {
    asked a;
    pace_fleet fleet;
    uint64_t jobs = 0;
    (void)state;
    open_asked(&a);
    fill(&fleet, &a, 0, 1, false, false);
    for (int c = 0; c < PACE_JOB_ARCHITECTURES; c++) {
        const pace_fleet_group *g = &fleet.groups[c];
        double shares = 0, lost = 0, bottleneck_hours = 0;
        uint64_t bottlenecks = 0;
        for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
            shares += pace_sum_value(&g->share[PACE_LEVEL_CNODE][k]);
            lost += pace_sum_value(&g->lost_hours[k]);
            bottleneck_hours += pace_sum_value(&g->bottleneck_hours[k]);
            bottlenecks += g->bottleneck[PACE_LEVEL_JOB][k];
        }
        jobs += g->jobs;
        assert_int_equal(bottlenecks, g->jobs);
        assert_true(fabs(shares - (double)g->cnodes) < 1e-6);
        assert_true(fabs(lost / pace_sum_value(&g->hours) - 1) < 1e-9);
        assert_true(fabs(bottleneck_hours / pace_sum_value(&g->hours) - 1) < 1e-9);
    }
    assert_int_equal(jobs + fleet.unusable, JOBS);
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        uint64_t verdicts = 0;
        for (int v = 0; v < PACE_PROJECTED_VERDICTS; v++) verdicts += fleet.projections[t].verdicts[PACE_LEVEL_JOB][v];
        assert_int_equal(verdicts, fleet.groups[PACE_JOB_PS_WORKER].jobs);
    }
    pace_fleet_free(&fleet);
    close_asked(&a);
}

TEST(test_broken_bytes) {
    asked a;
    pace_fleet fleet;
    pace_bytes bytes = {0};
    (void)state;
    open_asked(&a);
    fill(&fleet, &a, 0, 10, false, false);
    assert_int_equal(pace_fleet_pack(&bytes, &fleet), PACE_OK);
    for (size_t length = 0; length < bytes.count; length += 1 + bytes.count / 200) {
        pace_fleet into;
        pace_unpack from = {bytes.items, length};
        assert_int_equal(pace_fleet_init(&into, &a.setting, &a.questions, false), PACE_OK);
        assert_int_equal(pace_fleet_merge_packed(&into, &from), PACE_E_INPUT);
        pace_fleet_free(&into);
    }
    PACE_VEC_FREE(&bytes);
    pace_fleet_free(&fleet);
    close_asked(&a);
}

TEST(test_memory_that_runs_out) {
    asked a;
    pace_jobs jobs = {0};
    (void)state;
    open_asked(&a);
    for (unsigned i = 0; i < 40; i++) add_job(&jobs, i);
    int64_t live = pace_memory_live();
    for (uint64_t n = 1;; n++) {
        pace_fleet fleet = {0};
        pace_memory_fail_at(n);
        pace_status status = pace_fleet_init(&fleet, &a.setting, &a.questions, false);
        if (status == PACE_OK) status = pace_fleet_add(&fleet, &jobs);
        pace_memory_fail_at(0);
        pace_fleet_free(&fleet);
        assert_int_equal(pace_memory_live(), live);
        if (status == PACE_OK) break;
        assert_int_equal(status, PACE_E_MEMORY);
    }
    pace_jobs_free(&jobs);
    close_asked(&a);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

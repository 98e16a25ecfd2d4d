/* Jobs in columns: what is added comes back, at any size, and nothing is kept that was cleared. */
#include "source/jobs/job_table.h"

#include <math.h>
#include <stdio.h>

#include "cmocka_of_tests.h"

static void add(pace_jobs *jobs, unsigned number) {
    double values[PACE_JOB_COLUMNS];
    char id[32];
    pace_job_values_clear(values);
    for (int i = 0; i < PACE_JOB_REQUIRED; i++) values[i] = 100.0 * number + i;
    int length = snprintf(id, sizeof id, "job-%u", number);
    pace_job_text user = number % 2 ? (pace_job_text){"someone else", 7} : (pace_job_text){0};
    assert_int_equal(pace_jobs_add(jobs, (pace_job_text){id, (size_t)length}, user,
                                   (pace_job_architecture)(number % PACE_JOB_ARCHITECTURES), values, number + 2),
                     PACE_OK);
}

static void holds(const pace_jobs *jobs, size_t row, unsigned number) {
    char id[32];
    snprintf(id, sizeof id, "job-%u", number);
    assert_string_equal(pace_jobs_id(jobs, row), id);
    assert_string_equal(pace_jobs_user(jobs, row), number % 2 ? "someone" : "");
    assert_int_equal(jobs->architectures[row], number % PACE_JOB_ARCHITECTURES);
    assert_int_equal(jobs->lines[row], number + 2);
    for (int i = 0; i < PACE_JOB_REQUIRED; i++) assert_true(jobs->values[i][row] == 100.0 * number + i);
    for (int i = PACE_JOB_REQUIRED; i < PACE_JOB_COLUMNS; i++) assert_true(isnan(jobs->values[i][row]));
}

TEST(test_rows_come_back) {
    pace_jobs jobs = {0};
    (void)state;
    for (unsigned i = 0; i < 1000; i++) add(&jobs, i);
    assert_int_equal(jobs.count, 1000);
    for (unsigned i = 0; i < 1000; i++) holds(&jobs, i, i);
    pace_jobs_clear(&jobs);
    assert_int_equal(jobs.count, 0);
    add(&jobs, 7);
    holds(&jobs, 0, 7);
    pace_jobs_free(&jobs);
    assert_int_equal(pace_memory_live(), 0);
}

TEST(test_memory_that_runs_out) {
    for (uint64_t n = 1;; n++) {
        pace_jobs jobs = {0};
        double values[PACE_JOB_COLUMNS];
        pace_status status = PACE_OK;
        size_t added = 0;
        pace_job_values_clear(values);
        pace_memory_fail_at(n);
        for (; added < 100 && status == PACE_OK; added += status == PACE_OK)
            status = pace_jobs_add(&jobs, (pace_job_text){"a", 1}, (pace_job_text){0}, PACE_JOB_1W1G, values, 0);
        pace_memory_fail_at(0);
        assert_int_equal(jobs.count, added);
        pace_jobs_free(&jobs);
        assert_int_equal(pace_memory_live(), 0);
        if (status == PACE_OK) break;
        assert_int_equal(status, PACE_E_MEMORY);
    }
}

TEST(test_names) {
    pace_job_architecture architecture;
    pace_job_column column;
    (void)state;
    assert_true(pace_job_architecture_find(&architecture, "PS/Worker", 9));
    assert_int_equal(architecture, PACE_JOB_PS_WORKER);
    assert_true(pace_job_architecture_find(&architecture, "AllReduce-Local", 15));
    assert_int_equal(architecture, PACE_JOB_ALLREDUCE_LOCAL);
    assert_true(pace_job_architecture_find(&architecture, "1wng,", 4));
    assert_int_equal(architecture, PACE_JOB_1WNG);
    assert_true(pace_job_architecture_find(&architecture, "PS", 2));
    assert_int_equal(architecture, PACE_JOB_PS_WORKER);
    assert_false(pace_job_architecture_find(&architecture, "p", 1));
    assert_false(pace_job_architecture_find(&architecture, "", 0));
    assert_false(pace_job_architecture_find(&architecture, "1w1g\0", 5));
    assert_true(pace_job_column_find(&column, "Memory Access Bytes", 19));
    assert_int_equal(column, PACE_JOB_MEMORY_ACCESS_BYTES);
    assert_true(pace_job_column_find(&column, "cnodes", 6));
    assert_int_equal(column, PACE_JOB_CNODES);
    assert_false(pace_job_column_find(&column, "flops", 5));
}

int main(void) { return run_tests_of_file(NULL, NULL); }

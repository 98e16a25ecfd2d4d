/* Projections of jobs a second, one core: the parts of a step from a job's features and its time, and each further
 * question to the same parts. Usage: bench_jobs. The budget is 50 M/s on one core that nothing else uses. */
#include "bench_clock.h"
#include "fleet/projection.h"
#include "catalog_of_tests.h"

#include <stdio.h>

enum { JOBS = 1 << 20, ROUNDS = 8, QUESTIONS = 32 };

static void print(const char *what, double begun_s, double projections, double sum) {
    double rate = projections / (cpu_s() - begun_s) / 1e6;
    printf("%-60s %8.1f M/s, %5.2f of the budget (sum %g)\n", what, rate, rate / 50, sum);
}

static void make_jobs(pace_jobs *jobs) {
    for (unsigned i = 0; i < JOBS; i++) {
        double values[PACE_JOB_COLUMNS];
        pace_job_values_clear(values);
        for (int c = 0; c < PACE_JOB_REQUIRED; c++) values[c] = 1e9 * (1 + (i * 2654435761U + (unsigned)c) % 1000);
        values[PACE_JOB_CNODES] = 1 + i % 64;
        check(pace_jobs_add(jobs, (pace_job_text){0}, (pace_job_text){0},
                            (pace_job_architecture)(i % PACE_JOB_ARCHITECTURES), values, i));
    }
}

static double from_features(const pace_jobs *jobs, const pace_job_setting *setting) {
    static pace_job_parts parts;
    static double step_s[PACE_JOB_BLOCK];
    pace_job_change change = pace_job_unchanged(setting);
    double sum = 0;
    for (size_t first = 0; first < JOBS; first += PACE_JOB_BLOCK) {
        pace_job_parts_of(&parts, jobs, first, PACE_JOB_BLOCK, setting);
        pace_job_steps(step_s, &parts, PACE_JOB_BLOCK, &change);
        sum += step_s[first % PACE_JOB_BLOCK];
    }
    return sum;
}

static double of_parts(const pace_jobs *jobs, const pace_job_setting *setting) {
    static pace_job_parts parts;
    static double step_s[PACE_JOB_BLOCK];
    pace_job_change change = pace_job_unchanged(setting);
    double sum = 0;
    for (size_t first = 0; first < JOBS; first += PACE_JOB_BLOCK) {
        pace_job_parts_of(&parts, jobs, first, PACE_JOB_BLOCK, setting);
        for (int q = 0; q < QUESTIONS; q++) {
            change.factor[q % PACE_JOB_PARTS] *= 0.9;
            pace_job_steps(step_s, &parts, PACE_JOB_BLOCK, &change);
            sum += step_s[(size_t)q];
        }
    }
    return sum;
}

static double moved(const pace_jobs *jobs, const pace_job_setting *setting) {
    static pace_projection projection;
    static double step_s[PACE_JOB_BLOCK];
    double sum = 0;
    for (int i = 0; i < PACE_JOB_BLOCK; i++) step_s[i] = 1;
    for (size_t first = 0; first < JOBS; first += PACE_JOB_BLOCK) {
        pace_project(&projection, jobs, first, PACE_JOB_BLOCK, step_s, setting, PACE_JOB_PS_WORKER,
                     PACE_JOB_ALLREDUCE_LOCAL);
        sum += projection.throughput_speedup[first % PACE_JOB_BLOCK];
    }
    return sum;
}

int main(void) {
    const pace_job_setting_words words = {0};
    pace_job_catalog catalog;
    pace_job_setting setting;
    pace_jobs jobs = {0};
    double sum = 0, begun;
    check(pace_job_catalog_load(&catalog, test_catalog()));
    check(pace_job_setting_parse(&setting, &catalog, &words));
    make_jobs(&jobs);
    begun = cpu_s();
    for (int r = 0; r < ROUNDS; r++) sum += from_features(&jobs, &setting);
    print("jobs, from their features in memory", begun, (double)ROUNDS * JOBS, sum);
    begun = cpu_s();
    sum = of_parts(&jobs, &setting);
    print("32 questions to each job, features included", begun, (double)QUESTIONS * JOBS, sum);
    begun = cpu_s();
    for (int r = 0; r < ROUNDS; r++) sum += moved(&jobs, &setting);
    print("jobs moved to another architecture, with and without sharing", begun, (double)ROUNDS * JOBS, sum);
    pace_jobs_free(&jobs);
    pace_job_catalog_free(&catalog);
    return 0;
}

/* Made-up jobs have the marginals that are published, are what the reader takes, and do not depend on how they are
 * made. */

#include "cmocka_of_tests.h"

#include "fleet/population.h"
#include "source/jobs/job_reader.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { JOBS = 200000 };

static void near(double value, double wanted, double within) {
    if (!(fabs(value - wanted) <= within)) fail_msg("%g is not %g to %g", value, wanted, within);
}

/* Counted with the paper's equations and its base machine, written out here. */
TEST(test_marginals) {
    pace_population population;
    assert_int_equal(pace_population_load(&population, test_catalog()), PACE_OK);
    double jobs[PACE_JOB_ARCHITECTURES] = {0}, cnodes[PACE_JOB_ARCHITECTURES] = {0}, all = 0;
    double ps_weights = 0, ps_high = 0, ps_large = 0, huge = 0, huge_cnodes = 0, small_models = 0, weights_cnode = 0;
    double input_alone = 0, input_half = 0, memory = 0, compute = 0, large_elsewhere = 0;
    for (uint64_t i = 0; i < JOBS; i++) {
        double v[PACE_JOB_COLUMNS];
        pace_job_architecture a;
        pace_population_job(v, &a, &population, 1, i);
        double n = v[PACE_JOB_CNODES], traffic = v[PACE_JOB_WEIGHT_TRAFFIC_BYTES];
        double d = v[PACE_JOB_INPUT_BYTES] / 7e9, c = v[PACE_JOB_FLOP] / 7.7e12,
               m = v[PACE_JOB_MEMORY_ACCESS_BYTES] / 7e11;
        double w = a == PACE_JOB_1W1G ? 0 : traffic / 7e9 + (a == PACE_JOB_PS_WORKER ? traffic / 2.1875e9 : 0);
        double t = d + c + m + w, model = v[PACE_JOB_DENSE_WEIGHT_BYTES] + v[PACE_JOB_EMBEDDING_WEIGHT_BYTES];
        jobs[a]++, cnodes[a] += n, all += n;
        weights_cnode += n * w / t, memory += n * m / t, compute += n * c / t;
        if (a == PACE_JOB_PS_WORKER) ps_weights += w / t, ps_high += w / t > 0.8, ps_large += n > 8;
        if (a == PACE_JOB_1W1G) input_alone += d / t, input_half += d / t > 0.5;
        if (n > 128) huge++, huge_cnodes += n;
        small_models += model < 1e10;
        large_elsewhere += model > 1e10 && a != PACE_JOB_PS_WORKER;
    }
    near(jobs[PACE_JOB_PS_WORKER] / JOBS, 0.29, 0.005); /* 29 % of jobs, 81 % of cNodes */
    near(cnodes[PACE_JOB_PS_WORKER] / all, 0.81, 0.02);
    near(ps_weights / jobs[PACE_JOB_PS_WORKER], 0.62, 0.02); /* mean share of weights */
    near(weights_cnode / all, 0.62, 0.02);
    assert_true(ps_high / jobs[PACE_JOB_PS_WORKER] > 0.4); /* over 40 % above 80 % */
    near(ps_large / jobs[PACE_JOB_PS_WORKER], 0.5, 0.02);
    near(huge / JOBS, 0.007, 0.001); /* 0.7 % of jobs above 128, over 16 % of cNodes */
    assert_true(huge_cnodes / all > 0.16);
    near(small_models / JOBS, 0.9, 0.01);
    assert_true(large_elsewhere == 0);
    near(input_alone / jobs[PACE_JOB_1W1G], 0.10, 0.02);
    near(input_half / jobs[PACE_JOB_1W1G], 0.05, 0.005);
    near(memory / all, 0.22, 0.02);
    near(compute / all, 0.13, 0.02);
}

typedef struct {
    char *bytes;
    size_t length, room;
} collected;

static int collect(void *context, const void *bytes, size_t length) {
    collected *c = context;
    if (c->length + length > c->room) {
        c->room = 2 * (c->length + length);
        c->bytes = realloc(c->bytes, c->room);
    }
    memcpy(c->bytes + c->length, bytes, length);
    c->length += length;
    return 0;
}

static collected make(uint64_t seed, uint64_t count) {
    collected made = {0};
    pace_sink sink;
    pace_population population;
    assert_int_equal(pace_population_load(&population, test_catalog()), PACE_OK);
    assert_int_equal(pace_sink_open(&sink, collect, &made), PACE_OK);
    assert_int_equal(pace_population_write(&sink, &population, seed, count, (pace_progress){0}), PACE_OK);
    assert_int_equal(pace_sink_close(&sink), PACE_OK);
    return made;
}

static pace_status check_jobs(void *context, size_t worker, size_t file, const pace_jobs *jobs) {
    (void)worker, (void)file;
    const pace_population *population = context;
    for (size_t k = 0; k < jobs->count; k++) {
        double values[PACE_JOB_COLUMNS];
        pace_job_architecture architecture;
        uint64_t i = jobs->lines[k] - 3; /* behind two lines of header */
        pace_population_job(values, &architecture, population, 7, i);
        for (int c = 0; c < PACE_JOB_REQUIRED; c++)
            if (values[c] != jobs->values[c][k]) return pace_fail(PACE_E_INTERNAL, "job %llu", (unsigned long long)i);
        if (values[PACE_JOB_GPU_HOURS] != jobs->values[PACE_JOB_GPU_HOURS][k] || architecture != jobs->architectures[k])
            return pace_fail(PACE_E_INTERNAL, "job %llu", (unsigned long long)i);
    }
    return PACE_OK;
}

TEST(test_written) {
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    collected one = make(7, 150000);
#ifdef _OPENMP
    omp_set_num_threads(4);
#endif
    collected four = make(7, 150000), other = make(8, 100);
    assert_int_equal(one.length, four.length);
    assert_memory_equal(one.bytes, four.bytes, one.length);
    assert_memory_equal(one.bytes, "# synthetic: 150000 made-up jobs, seed 7", 40);
    assert_true(memcmp(one.bytes + 200, other.bytes + 200, 2000) != 0);
    pace_input *input;
    pace_job_reading reading;
    pace_population population;
    assert_int_equal(pace_population_load(&population, test_catalog()), PACE_OK);
    assert_int_equal(pace_input_open_memory(&input, "made.csv", one.bytes, one.length), PACE_OK);
    assert_int_equal(pace_jobs_read_input(&reading, input, &(pace_job_reader_options){.catalog = test_catalog()},
                                          check_jobs, &population),
                     PACE_OK);
    assert_int_equal(reading.jobs, 150000);
    assert_int_equal(reading.rejected, 0);
    assert_int_equal(reading.remarks.count, 0);
    pace_job_reading_free(&reading);
    pace_input_free(input);
    free(one.bytes), free(four.bytes), free(other.bytes);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

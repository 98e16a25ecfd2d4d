/* How far off steps and speed-ups may be, against differences of the steps themselves: a resource a little slower, all
 * else as it is. */
#include "fleet/job_doubt.h"

#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

enum { JOBS = 64 };
static const double overlaps[] = {0, 0.3, 0.5, 1}, sigma = 0.18, nudge = 1e-7;

static double next(void) {
    static uint64_t state = 7;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) / 0x1p53;
}

/* Some parts are nothing, and any of input, work and weights may be the longest. */
static void draw(pace_job_parts *parts) {
    memset(parts, 0, sizeof *parts);
    for (int p = 0; p < PACE_JOB_PARTS; p++)
        for (size_t i = 0; i < JOBS; i++)
            parts->part[p][i] = p == PACE_PART_COMPUTE || next() > 0.3 ? exp(4 * next() - 2) : 0;
    for (size_t i = 0; i < JOBS; i++) parts->rows[i] = next() > 0.5 ? next() : 0;
}

static void slow_down(pace_job_parts *out, const pace_job_parts *parts, int resource) {
    *out = *parts;
    for (int p = 0; p < PACE_JOB_PARTS; p++)
        for (size_t i = 0; i < JOBS && (int)pace_job_part_resources[p] == resource; i++) out->part[p][i] *= 1 + nudge;
}

/* By how much the logarithm of a step grows with that of the time on each resource. */
static void differences(double out[PACE_JOB_RESOURCES][JOBS], const pace_job_parts *parts,
                        const pace_job_change *change) {
    double step_s[PACE_JOB_BLOCK], slower_s[PACE_JOB_BLOCK];
    pace_job_steps(step_s, parts, JOBS, change);
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) {
        pace_job_parts slower;
        slow_down(&slower, parts, r);
        pace_job_steps(slower_s, &slower, JOBS, change);
        for (size_t i = 0; i < JOBS; i++) out[r][i] = (slower_s[i] / step_s[i] - 1) / nudge;
    }
}

static void near(double value, double known, double error) {
    if (!(fabs(value - known) <= error)) fail_msg("%.9g, known %.9g", value, known);
}

static pace_job_change plain(double overlap) {
    return (pace_job_change){.factor = {1, 1, 1, 1, 1, 1}, .overlap = overlap, .rows = 1};
}

TEST(test_elasticities) {
    pace_job_parts parts;
    draw(&parts);
    for (size_t o = 0; o < sizeof overlaps / sizeof *overlaps; o++) {
        pace_job_elasticities found;
        pace_job_change change = plain(overlaps[o]);
        double known[PACE_JOB_RESOURCES][JOBS];
        pace_job_elasticities_of(&found, &parts, JOBS, overlaps[o]);
        differences(known, &parts, &change);
        for (int r = 0; r < PACE_JOB_RESOURCES; r++)
            for (size_t i = 0; i < JOBS; i++) near(found.of[r][i], known[r][i], 1e-6);
    }
}

/* A change whose own factor is off, too: on the parts that it changes, and on rows of embeddings. */
static void check_changed_steps(const double factors[PACE_JOB_PARTS], double rows) {
    const double own = 0.4;
    pace_job_parts parts;
    draw(&parts);
    for (size_t o = 0; o < sizeof overlaps / sizeof *overlaps; o++) {
        pace_job_change before = plain(overlaps[o]), after = before, further;
        pace_job_elasticities elasticities;
        double was[PACE_JOB_RESOURCES][JOBS], is[PACE_JOB_RESOURCES][JOBS];
        double step_s[PACE_JOB_BLOCK], spread[PACE_JOB_BLOCK], known_s[PACE_JOB_BLOCK], off_s[PACE_JOB_BLOCK];
        memcpy(after.factor, factors, sizeof after.factor);
        after.rows = rows;
        further = after;
        further.rows *= rows == 1 ? 1 : 1 + nudge;
        for (int p = 0; p < PACE_JOB_PARTS; p++) further.factor[p] *= factors[p] == 1 ? 1 : 1 + nudge;
        pace_job_elasticities_of(&elasticities, &parts, JOBS, overlaps[o]);
        pace_job_changed_steps(step_s, spread, &parts, &elasticities, JOBS, &after, sigma, own);
        pace_job_steps(known_s, &parts, JOBS, &after);
        pace_job_steps(off_s, &parts, JOBS, &further);
        differences(was, &parts, &before);
        differences(is, &parts, &after);
        for (size_t i = 0; i < JOBS; i++) {
            double variance = pow(own * (off_s[i] / known_s[i] - 1) / nudge, 2);
            for (int r = 0; r < PACE_JOB_RESOURCES; r++) variance += pow(sigma * (was[r][i] - is[r][i]), 2);
            near(step_s[i], known_s[i], 1e-12 * known_s[i]);
            near(spread[i], sqrt(variance), 1e-6);
        }
    }
}

TEST(test_changed_steps) {
    check_changed_steps((double[]){1, 0.4, 0.3, 1, 2, 1}, 1);
    check_changed_steps((double[]){2, 2, 2, 1, 1, 1}, 2);
}

/* Faster resources, alone and in pairs: the same as factors on their parts. */
TEST(test_faster_steps) {
    pace_job_parts parts;
    pace_job_elasticities elasticities;
    pace_job_change before = plain(0);
    double was_s[PACE_JOB_BLOCK], step_s[PACE_JOB_BLOCK], known[PACE_JOB_BLOCK];
    draw(&parts);
    pace_job_elasticities_of(&elasticities, &parts, JOBS, 0);
    pace_job_steps(was_s, &parts, JOBS, &before);
    for (int a = 0; a < PACE_JOB_RESOURCES; a++)
        for (int b = 0; b < PACE_JOB_RESOURCES; b++) {
            if (a == b) continue;
            pace_job_faster faster = {{(pace_job_resource)a, (pace_job_resource)b}, {0.25, b % 2 ? 1 : 1.5}};
            pace_job_change after = before;
            for (int k = 0; k < 2; k++)
                for (int p = 0; p < PACE_JOB_PARTS; p++)
                    if (pace_job_part_resources[p] == faster.resource[k]) after.factor[p] = faster.factor[k];
            pace_job_changed_steps(step_s, known, &parts, &elasticities, JOBS, &after, sigma, 0);
            for (size_t i = 0; i < JOBS; i++) {
                pace_job_gain gain = pace_job_faster_step(&elasticities, i, &faster, sigma);
                near(gain.speedup, was_s[i] / step_s[i], 1e-12 * gain.speedup);
                near(gain.longer, step_s[i] / was_s[i], 1e-12 * gain.longer);
                near(gain.spread, known[i], 1e-9);
            }
        }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/* What a fleet would be with faster resources and other software, and under other assumptions. */
#include "fleet/fleet_block.h"

#include "base/each_cpu.h"

#include <string.h>

/* --- questions ---------------------------------------------------------------------------------------------------- */

/* What a question gives each job: its speed-up, the inverse of that, and the standard deviation of its logarithm. */
typedef struct {
    double speedup[PACE_JOB_BLOCK], longer[PACE_JOB_BLOCK], spread[PACE_JOB_BLOCK];
} answered;

PACE_FOR_EACH_CPU
static void find_speedups(answered *restrict out, const pace_fleet_cohort *restrict cohort,
                          const double *restrict changed_s, double samples) {
    for (size_t i = 0; i < cohort->count; i++) {
        out->speedup[i] = cohort->step_s[i] / changed_s[i] * samples;
        out->longer[i] = 1 / out->speedup[i];
    }
}

/* What a block adds to the answer of a question, and to those of all questions that are the same one for its jobs. */
typedef struct {
    pace_sum speedup, speedup_error, cnode_speedup, cnode_error, hours, hours_error;
    pace_sum tenth_speedup[PACE_SHARE_TENTHS], tenth_error[PACE_SHARE_TENTHS];
} addition;

/* The tenth that a job's share of a resource falls into, and how many jobs each has. */
typedef struct {
    uint8_t of[PACE_JOB_RESOURCES][PACE_JOB_BLOCK];
    uint64_t jobs[PACE_JOB_RESOURCES][PACE_SHARE_TENTHS];
} share_tenths;

/* A share of 1 belongs to the last tenth. */
PACE_FOR_EACH_CPU
static void find_tenths_of(uint8_t *restrict tenth, const double *restrict part, const double *restrict more,
                           const double *restrict sum, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int found = (int)((more ? part[i] + more[i] : part[i]) / sum[i] * PACE_SHARE_TENTHS);
        tenth[i] = (uint8_t)(found < PACE_SHARE_TENTHS ? found : PACE_SHARE_TENTHS - 1);
    }
}

PACE_FOR_EACH_CPU
static void add_parts(double *restrict sum, const pace_job_parts *restrict parts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double all = 0;
        for (int p = 0; p < PACE_JOB_PARTS; p++) all += parts->part[p][i];
        sum[i] = all;
    }
}

static void find_tenths(share_tenths *out, const pace_fleet_cohort *cohort) {
    double sum[PACE_JOB_BLOCK];
    add_parts(sum, &cohort->parts, cohort->count);
    memset(out->jobs, 0, sizeof out->jobs);
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) {
        const double *on[2] = {NULL, NULL}; /* a resource has one part or two */
        for (int p = PACE_JOB_PARTS; p-- > 0;)
            if ((int)pace_job_part_resources[p] == r) on[1] = on[0], on[0] = cohort->parts.part[p];
        find_tenths_of(out->of[r], on[0], on[1], sum, cohort->count);
        for (size_t i = 0; i < cohort->count; i++) out->jobs[r][out->of[r][i]]++;
    }
}

/* Speed-ups and their errors in units of a sum. */
typedef struct {
    int64_t speedup[PACE_JOB_BLOCK], error[PACE_JOB_BLOCK];
} answer_units;

/* Adds speed-ups and their errors, by job and by cNode, in one pass; false where one is too large for it. */
PACE_FOR_EACH_CPU
static bool add_speedups(addition *restrict out, answer_units *restrict units, const answered *restrict a,
                         const uint64_t *restrict cnodes, size_t count) {
    uint64_t speedups = 0, errors = 0, low = 0, high = 0, error_low = 0, error_high = 0, beyond = 0;
    for (size_t i = 0; i < count; i++) {
        double speedup = a->speedup[i], error = speedup * a->spread[i];
        uint64_t unit = (uint64_t)pace_sum_nearest(speedup * PACE_SUM_UNITS), times = cnodes[i] & UINT32_MAX;
        uint64_t error_unit = (uint64_t)pace_sum_nearest(error * PACE_SUM_UNITS);
        beyond |= (uint64_t) !(speedup < PACE_SUM_MOST_TIMED) | (uint64_t) !(error < PACE_SUM_MOST_TIMED) |
                  (uint64_t)(cnodes[i] >= PACE_SUM_MOST_TIMES);
        units->speedup[i] = (int64_t)unit;
        units->error[i] = (int64_t)error_unit;
        speedups += unit;
        errors += error_unit;
        low += (unit & UINT32_MAX) * times;
        high += (unit >> 32) * times;
        error_low += (error_unit & UINT32_MAX) * times;
        error_high += (error_unit >> 32) * times;
    }
    out->speedup.units = (pace_int128)speedups;
    out->speedup_error.units = (pace_int128)errors;
    out->cnode_speedup.units = (pace_int128)high * ((pace_int128)1 << 32) + low;
    out->cnode_error.units = (pace_int128)error_high * ((pace_int128)1 << 32) + error_low;
    return !beyond;
}

/* The same for numbers of any size. */
static void add_large_speedups(addition *out, const answered *a, const pace_fleet_cohort *cohort,
                               const uint8_t *tenth) {
    double error[PACE_JOB_BLOCK];
    size_t count = cohort->count;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < count; i++) error[i] = a->speedup[i] * a->spread[i];
    pace_sum_add_all(&out->speedup, a->speedup, count);
    pace_sum_add_all(&out->speedup_error, error, count);
    pace_sum_add_all_times(&out->cnode_speedup, a->speedup, cohort->cnodes, count);
    pace_sum_add_all_times(&out->cnode_error, error, cohort->cnodes, count);
    pace_sum_add_each(out->tenth_speedup, PACE_SHARE_TENTHS, tenth, a->speedup, count);
    pace_sum_add_each(out->tenth_error, PACE_SHARE_TENTHS, tenth, error, count);
}

/* In turns, so that no sum waits for the one before. */
static void add_units_of_tenths(addition *out, const answer_units *units, const uint8_t *tenth, size_t count) {
    enum { TURNS = 4 };
    int64_t speedup[TURNS][PACE_SHARE_TENTHS] = {{0}}, error[TURNS][PACE_SHARE_TENTHS] = {{0}};
    for (size_t i = 0; i < count; i++) {
        speedup[i % TURNS][tenth[i]] += units->speedup[i];
        error[i % TURNS][tenth[i]] += units->error[i];
    }
    for (int t = 0; t < PACE_SHARE_TENTHS; t++)
        for (int turn = 0; turn < TURNS; turn++) {
            out->tenth_speedup[t].units += speedup[turn][t];
            out->tenth_error[t].units += error[turn][t];
        }
}

/* GPU-hours of as many samples. */
PACE_FOR_EACH_CPU
static void find_hours(double *restrict hours, double *restrict error, const pace_fleet_cohort *restrict cohort,
                       const answered *restrict a) {
    for (size_t i = 0; i < cohort->count; i++) {
        hours[i] = cohort->hours[i] * a->longer[i];
        error[i] = hours[i] * a->spread[i];
    }
}

static void add_hours(addition *out, const pace_fleet_cohort *cohort, const answered *a) {
    double hours[PACE_JOB_BLOCK], error[PACE_JOB_BLOCK];
    find_hours(hours, error, cohort, a);
    pace_sum_add_all(&out->hours, hours, cohort->count);
    pace_sum_add_all(&out->hours_error, error, cohort->count);
}

/* Where resources change and parts follow each other, their shares of the step say all. */
static void answer(answered *out, const pace_fleet_cohort *cohort, const pace_fleet_question *question, double sigma) {
    double changed_s[PACE_JOB_BLOCK];
    if (question->kind != PACE_ASKED_SOFTWARE && question->change.overlap == 0) {
        pace_job_faster_steps(out->speedup, out->longer, out->spread, &cohort->elasticities, cohort->count,
                              &question->faster, sigma);
        return;
    }
    pace_job_changed_steps(changed_s, out->spread, &cohort->parts, &cohort->elasticities, cohort->count,
                           &question->change, sigma, question->spread);
    find_speedups(out, cohort, changed_s, question->samples);
}

static void find_addition(addition *out, const pace_fleet_cohort *cohort, const pace_fleet_question *question,
                          double sigma, const share_tenths *tenths) {
    static const uint8_t first_tenth[PACE_JOB_BLOCK];
    bool of_tenths = tenths && question->kind == PACE_ASKED_HARDWARE;
    const uint8_t *tenth = of_tenths ? tenths->of[question->resource[0]] : first_tenth;
    answered a;
    answer_units units;
    memset(out, 0, sizeof *out);
    answer(&a, cohort, question, sigma);
    if (!add_speedups(out, &units, &a, cohort->cnodes, cohort->count)) add_large_speedups(out, &a, cohort, tenth);
    else if (of_tenths) add_units_of_tenths(out, &units, tenth, cohort->count);
    if (tenths) add_hours(out, cohort, &a); /* nobody asks for more of jobs that were moved */
}

static void add_as_is(pace_fleet_answer *to, const addition *a, int class) {
    pace_sum_merge(&to->speedup[class], &a->speedup);
    pace_sum_merge(&to->speedup_error[class], &a->speedup_error);
    pace_sum_merge(&to->cnode_speedup, &a->cnode_speedup);
    pace_sum_merge(&to->cnode_error, &a->cnode_error);
    pace_sum_merge(&to->hours[class], &a->hours);
    pace_sum_merge(&to->hours_error[class], &a->hours_error);
}

static void add_tenths(pace_fleet_answer *to, const addition *a, const uint64_t *jobs) {
    for (int t = 0; t < PACE_SHARE_TENTHS; t++) {
        to->tenth_jobs[t] += jobs[t];
        pace_sum_merge(&to->tenth_speedup[t], &a->tenth_speedup[t]);
        pace_sum_merge(&to->tenth_error[t], &a->tenth_error[t]);
    }
}

/* Questions about hardware come first, so the first of a list has tenths if any has. Where the list has several
 * resources, none of the jobs uses them, and all are in the tenth from 0. */
static void answer_as_is(pace_fleet *fleet, const pace_fleet_block *b) {
    const pace_fleet_question *questions = fleet->questions->items.items;
    share_tenths tenths;
    addition a;
    find_tenths(&tenths, &b->as_is);
    for (size_t q = 0; q < fleet->questions->items.count; q++) {
        if (!questions[q].first[b->architecture]) continue;
        find_addition(&a, &b->as_is, &questions[q], fleet->setting->spread, &tenths);
        for (size_t same = q; same != SIZE_MAX; same = questions[same].next[b->architecture]) {
            add_as_is(&fleet->answers[same], &a, (int)b->architecture);
            if (questions[same].kind == PACE_ASKED_HARDWARE)
                add_tenths(&fleet->answers[same], &a, tenths.jobs[questions[same].resource[0]]);
        }
    }
}

static void answer_moved(pace_fleet *fleet, const pace_fleet_block *b) {
    const pace_fleet_question *questions = fleet->questions->items.items;
    addition a;
    for (size_t q = 0; q < fleet->questions->items.count; q++) {
        if (!questions[q].first[PACE_CLASS_PROJECTED]) continue;
        find_addition(&a, &b->moved, &questions[q], fleet->setting->spread, NULL);
        for (size_t same = q; same != SIZE_MAX; same = questions[same].next[PACE_CLASS_PROJECTED]) {
            pace_sum_merge(&fleet->answers[same].speedup[PACE_CLASS_PROJECTED], &a.speedup);
            pace_sum_merge(&fleet->answers[same].speedup_error[PACE_CLASS_PROJECTED], &a.speedup_error);
        }
    }
}

void pace_fleet_add_answers(pace_fleet *fleet, const pace_fleet_block *b) {
    answer_as_is(fleet, b);
    if (b->architecture == PACE_JOB_PS_WORKER) answer_moved(fleet, b);
}

/* --- assumptions -------------------------------------------------------------------------------------------------- */

/* Weights' share of each job, and the jobs and cNodes of which they take longest. */
PACE_FOR_EACH_CPU
static void find_weights(double *restrict share, uint64_t longest[PACE_LEVELS], const pace_job_parts *restrict parts,
                         const uint64_t *restrict cnodes, size_t count) {
    uint64_t jobs = 0, all_cnodes = 0;
    for (size_t i = 0; i < count; i++) {
        double of[PACE_JOB_COMPONENTS];
        pace_job_components(of, parts, i);
        double work = of[PACE_COMPONENT_COMPUTE] + of[PACE_COMPONENT_MEMORY], input = of[PACE_COMPONENT_INPUT];
        double weights = of[PACE_COMPONENT_WEIGHTS];
        bool most = (weights >= input) & (weights >= work);
        share[i] = weights / (input + work + weights);
        jobs += most;
        all_cnodes += most ? cnodes[i] : 0;
    }
    longest[PACE_LEVEL_JOB] += jobs;
    longest[PACE_LEVEL_CNODE] += all_cnodes;
}

PACE_FOR_EACH_CPU
static void divide(double *restrict out, const double *restrict a, const double *restrict b, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = a[i] / b[i];
}

static void conclude_ps(pace_fleet_conclusion *out, const pace_fleet_block *b, const pace_job_parts *parts,
                        const pace_job_setting *setting, const pace_job_change *fastest_network) {
    pace_projection p;
    double step_s[PACE_JOB_BLOCK], networked_s[PACE_JOB_BLOCK], speedup[PACE_JOB_BLOCK];
    size_t count = b->as_is.count;
    pace_job_change unchanged = pace_job_unchanged(setting), networked = *fastest_network;
    networked.overlap = setting->overlap;
    pace_job_steps(step_s, parts, count, &unchanged);
    pace_job_steps(networked_s, parts, count, &networked);
    pace_project(&p, &b->jobs, 0, count, step_s, setting, b->architecture, PACE_JOB_ALLREDUCE_LOCAL);
    for (size_t i = 0; i < count; i++) out->ps_gains += p.verdict[i] == PACE_PROJECTED_GAINS;
    divide(speedup, step_s, networked_s, count);
    pace_sum_add_all(&out->ps_network_speedup, speedup, count);
}

static void conclude(pace_fleet_conclusion *out, const pace_fleet_block *b, const pace_job_setting *setting,
                     const pace_job_change *fastest_network) {
    pace_job_parts parts;
    double weights[PACE_JOB_BLOCK];
    size_t count = b->as_is.count;
    pace_job_parts_as(&parts, &b->jobs, 0, count, setting, b->architecture, setting->contention == PACE_CONTENTION_ALL);
    memcpy(parts.rows, b->as_is.parts.rows, count * sizeof *parts.rows);
    find_weights(weights, out->weights_longest, &parts, b->as_is.cnodes, count);
    pace_sum_add_all(&out->weight_share[PACE_LEVEL_JOB], weights, count);
    pace_sum_add_all_times(&out->weight_share[PACE_LEVEL_CNODE], weights, b->as_is.cnodes, count);
    if (b->architecture == PACE_JOB_PS_WORKER) conclude_ps(out, b, &parts, setting, fastest_network);
}

/* Jobs without weights' traffic say nothing of it under any assumption. */
static bool has_weights(const pace_job_scheme *scheme) {
    bool any = false;
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) any = any || scheme->link[r];
    return any;
}

void pace_fleet_add_conclusions(pace_fleet *fleet, const pace_fleet_block *b) {
    const pace_fleet_questions *questions = fleet->questions;
    if (!has_weights(&fleet->setting->catalog->schemes[b->architecture])) return;
    for (size_t a = 0; a < questions->assumptions.count; a++)
        conclude(&fleet->conclusions[a], b, &questions->assumptions.items[a], &questions->fastest_network);
}

/* What a fleet would be with faster resources and other software, and under other assumptions. */
#include "fleet/fleet_block.h"

#include "base/each_cpu.h"

#include <string.h>

/* --- questions ---------------------------------------------------------------------------------------------------- */

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

/* What a question gives each job: its speed-up and that one's error in units of a sum, and the GPU-hours of as many
 * samples. */
typedef struct {
    int64_t units[PACE_JOB_BLOCK][2];
    double hours[PACE_JOB_BLOCK], hours_error[PACE_JOB_BLOCK];
} answered;

/* Sums of units, by job, and by cNode in two halves; beyond: a number is too large for them. */
typedef struct {
    uint64_t speedup, error, low, high, error_low, error_high, beyond;
} tally;

static inline __attribute__((always_inline)) void count_job(tally *t, answered *out, const pace_fleet_cohort *cohort,
                                                            size_t i, pace_job_gain gain, bool alone) {
    double error = gain.speedup * gain.spread, hours = cohort->hours[i] * gain.longer;
    uint64_t cnodes = alone ? 1 : cohort->cnodes[i], times = cnodes & UINT32_MAX;
    uint64_t unit = (uint64_t)pace_sum_nearest(gain.speedup * PACE_SUM_UNITS);
    uint64_t error_unit = (uint64_t)pace_sum_nearest(error * PACE_SUM_UNITS);
    t->beyond |= (uint64_t) !(gain.speedup < PACE_SUM_MOST_TIMED) | (uint64_t) !(error < PACE_SUM_MOST_TIMED) |
                 (uint64_t)(cnodes >= PACE_SUM_MOST_TIMES);
    t->speedup += unit;
    t->error += error_unit;
    if (!alone) {
        t->low += (unit & UINT32_MAX) * times;
        t->high += (unit >> 32) * times;
        t->error_low += (error_unit & UINT32_MAX) * times;
        t->error_high += (error_unit >> 32) * times;
    }
    out->units[i][0] = (int64_t)unit;
    out->units[i][1] = (int64_t)error_unit;
    out->hours[i] = hours;
    out->hours_error[i] = hours * gain.spread;
}

static inline __attribute__((always_inline)) tally count_faster_of(answered *restrict out,
                                                                   const pace_fleet_cohort *restrict cohort,
                                                                   const pace_job_faster *restrict faster, double sigma,
                                                                   bool alone) {
    tally t = {0};
    for (size_t i = 0; i < cohort->count; i++)
        count_job(&t, out, cohort, i, pace_job_faster_step(&cohort->elasticities, i, faster, sigma), alone);
    return t;
}

/* Jobs of one cNode are asked with a constant, for which the compiler leaves the products out. */
PACE_FOR_EACH_CPU
static tally count_faster(answered *out, const pace_fleet_cohort *cohort, const pace_job_faster *faster, double sigma) {
    return cohort->alone ? count_faster_of(out, cohort, faster, sigma, true)
                         : count_faster_of(out, cohort, faster, sigma, false);
}

static inline pace_job_gain changed_gain(double before_s, double after_s, double samples, double spread) {
    double speedup = before_s / after_s * samples;
    return (pace_job_gain){speedup, 1 / speedup, spread};
}

PACE_FOR_EACH_CPU
static tally count_changed(answered *restrict out, const pace_fleet_cohort *restrict cohort,
                           const double *restrict changed_s, const double *restrict spread, double samples) {
    tally t = {0};
    for (size_t i = 0; i < cohort->count; i++)
        count_job(&t, out, cohort, i, changed_gain(cohort->step_s[i], changed_s[i], samples, spread[i]), false);
    return t;
}

/* Speed-ups of any size. */
static void add_large(addition *out, const pace_job_gain *gains, const pace_fleet_cohort *cohort,
                      const uint8_t *tenth) {
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < cohort->count; i++) {
        double speedup = gains[i].speedup, error = speedup * gains[i].spread;
        pace_sum_add(&out->speedup, speedup);
        pace_sum_add(&out->speedup_error, error);
        pace_sum_add_times(&out->cnode_speedup, speedup, cohort->cnodes[i]);
        pace_sum_add_times(&out->cnode_error, error, cohort->cnodes[i]);
        pace_sum_add(&out->tenth_speedup[tenth[i]], speedup);
        pace_sum_add(&out->tenth_error[tenth[i]], error);
    }
}

/* Both units of a job at once; in turns, so that no sum waits for the one before. */
static void add_units_of_tenths(addition *out, const answered *a, const uint8_t *tenth, size_t count) {
    typedef int64_t pair __attribute__((vector_size(16)));
    enum { TURNS = 4 };
    pair sums[TURNS][PACE_SHARE_TENTHS] = {{{0}}};
    for (size_t i = 0; i < count; i++) {
        pair units;
        memcpy(&units, a->units[i], sizeof units);
        sums[i % TURNS][tenth[i]] += units;
    }
    for (int t = 0; t < PACE_SHARE_TENTHS; t++) {
        pair all = (sums[0][t] + sums[1][t]) + (sums[2][t] + sums[3][t]);
        out->tenth_speedup[t].units = all[0];
        out->tenth_error[t].units = all[1];
    }
}

static void add_tally(addition *out, const tally *t, bool alone) {
    out->speedup.units = (pace_int128)t->speedup;
    out->speedup_error.units = (pace_int128)t->error;
    out->cnode_speedup.units = alone ? out->speedup.units : (pace_int128)t->high * ((pace_int128)1 << 32) + t->low;
    out->cnode_error.units =
        alone ? out->speedup_error.units : (pace_int128)t->error_high * ((pace_int128)1 << 32) + t->error_low;
}

/* Where resources change and parts follow each other, their shares of the step say all. */
static bool is_faster(const pace_fleet_question *question) {
    return question->kind != PACE_ASKED_SOFTWARE && question->change.overlap == 0;
}

static void find_addition(addition *out, const pace_fleet_cohort *cohort, const pace_fleet_question *question,
                          double sigma, const share_tenths *tenths) {
    static const uint8_t first_tenth[PACE_JOB_BLOCK];
    bool of_tenths = tenths && question->kind == PACE_ASKED_HARDWARE, faster = is_faster(question);
    const uint8_t *tenth = of_tenths ? tenths->of[question->resource[0]] : first_tenth;
    double changed_s[PACE_JOB_BLOCK], spread[PACE_JOB_BLOCK];
    answered a;
    if (!faster)
        pace_job_changed_steps(changed_s, spread, &cohort->parts, &cohort->elasticities, cohort->count,
                               &question->change, sigma, question->spread);
    tally t = faster ? count_faster(&a, cohort, &question->faster, sigma)
                     : count_changed(&a, cohort, changed_s, spread, question->samples);
    if (t.beyond) {
        pace_job_gain gains[PACE_JOB_BLOCK];
        for (size_t i = 0; i < cohort->count; i++)
            gains[i] = faster ? pace_job_faster_step(&cohort->elasticities, i, &question->faster, sigma)
                              : changed_gain(cohort->step_s[i], changed_s[i], question->samples, spread[i]);
        add_large(out, gains, cohort, tenth);
    } else {
        add_tally(out, &t, faster && cohort->alone);
        if (of_tenths) add_units_of_tenths(out, &a, tenth, cohort->count);
    }
    if (!tenths) return; /* nobody asks for more of jobs that were moved */
    out->hours = out->hours_error = (pace_sum){0};
    pace_sum_add_all(&out->hours, a.hours, cohort->count);
    pace_sum_add_all(&out->hours_error, a.hours_error, cohort->count);
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

/* The parts of jobs under an assumption: those they have, where it leaves the machine as it is. */
static const pace_job_parts *parts_under(pace_job_parts *other, const pace_fleet_block *b,
                                         const pace_job_setting *as_is, const pace_job_setting *setting) {
    size_t count = b->as_is.count;
    if (memcmp(setting->machine.figure, as_is->machine.figure, sizeof as_is->machine.figure) == 0)
        return &b->as_is.parts;
    pace_job_parts_as(other, &b->jobs, 0, count, setting, b->architecture, setting->contention == PACE_CONTENTION_ALL);
    memcpy(other->rows, b->as_is.parts.rows, count * sizeof *other->rows);
    return other;
}

static void conclude(pace_fleet_conclusion *out, const pace_fleet_block *b, const pace_job_setting *as_is,
                     const pace_job_setting *setting, const pace_job_change *fastest_network) {
    pace_job_parts other;
    const pace_job_parts *parts = parts_under(&other, b, as_is, setting);
    double weights[PACE_JOB_BLOCK];
    size_t count = b->as_is.count;
    find_weights(weights, out->weights_longest, parts, b->as_is.cnodes, count);
    pace_sum_add_all(&out->weight_share[PACE_LEVEL_JOB], weights, count);
    pace_sum_add_all_times(&out->weight_share[PACE_LEVEL_CNODE], weights, b->as_is.cnodes, count);
    if (b->architecture == PACE_JOB_PS_WORKER) conclude_ps(out, b, parts, setting, fastest_network);
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
        conclude(&fleet->conclusions[a], b, fleet->setting, &questions->assumptions.items[a],
                 &questions->fastest_network);
}

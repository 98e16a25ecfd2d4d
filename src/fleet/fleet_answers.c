/* What a fleet would be with faster resources and other software, and under other assumptions. */
#include "fleet/fleet_block.h"

#include "base/each_cpu.h"

#include <string.h>

/* --- questions ---------------------------------------------------------------------------------------------------- */

typedef struct {
    double speedup[PACE_JOB_BLOCK], speedup_error[PACE_JOB_BLOCK];
    double hours[PACE_JOB_BLOCK], hours_error[PACE_JOB_BLOCK];
} answered;

PACE_FOR_EACH_CPU
static void find_speedups(answered *restrict out, const pace_fleet_cohort *restrict cohort,
                          const double *restrict changed_s, const double *restrict spread, double samples) {
    for (size_t i = 0; i < cohort->count; i++) {
        out->speedup[i] = cohort->step_s[i] / changed_s[i] * samples;
        out->speedup_error[i] = out->speedup[i] * spread[i];
    }
}

PACE_FOR_EACH_CPU
static void find_hours(answered *restrict out, const pace_fleet_cohort *restrict cohort,
                       const double *restrict spread) {
    for (size_t i = 0; i < cohort->count; i++) {
        out->hours[i] = cohort->hours[i] / out->speedup[i];
        out->hours_error[i] = out->hours[i] * spread[i];
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

static void find_addition(addition *out, const pace_fleet_cohort *cohort, const pace_fleet_question *question,
                          double sigma, const share_tenths *tenths) {
    double changed_s[PACE_JOB_BLOCK], spread[PACE_JOB_BLOCK];
    size_t count = cohort->count;
    answered a;
    memset(out, 0, sizeof *out);
    pace_job_changed_steps(changed_s, spread, &cohort->parts, &cohort->elasticities, count, &question->change, sigma,
                           question->spread);
    find_speedups(&a, cohort, changed_s, spread, question->samples);
    pace_sum_add_all(&out->speedup, a.speedup, count);
    pace_sum_add_all(&out->speedup_error, a.speedup_error, count);
    if (!tenths) return; /* nobody asks for more of jobs that were moved */
    find_hours(&a, cohort, spread);
    pace_sum_add_all_times(&out->cnode_speedup, a.speedup, cohort->cnodes, count);
    pace_sum_add_all_times(&out->cnode_error, a.speedup_error, cohort->cnodes, count);
    pace_sum_add_all(&out->hours, a.hours, count);
    pace_sum_add_all(&out->hours_error, a.hours_error, count);
    if (question->kind != PACE_ASKED_HARDWARE) return;
    const uint8_t *tenth = tenths->of[question->resource[0]];
    pace_sum_add_each(out->tenth_speedup, PACE_SHARE_TENTHS, tenth, a.speedup, count);
    pace_sum_add_each(out->tenth_error, PACE_SHARE_TENTHS, tenth, a.speedup_error, count);
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
    pace_project(&p, &b->jobs, 0, count, step_s, setting, PACE_JOB_ALLREDUCE_LOCAL);
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

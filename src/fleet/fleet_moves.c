/* What a fleet would be: PS/Worker jobs as other architectures, faster resources and other software, other assumptions.
 */
#include "fleet/fleet_block.h"

#include <math.h>

static size_t ps_count(const pace_fleet_block *b) {
    return b->begin[PACE_JOB_PS_WORKER + 1] - b->begin[PACE_JOB_PS_WORKER];
}

/* --- moved to another architecture -------------------------------------------------------------------------------- */

/* Only jobs that gain are moved; the others keep their architecture. */
static pace_status add_projected(pace_fleet_projection *out, const pace_fleet_cohort *before, size_t first,
                                 const pace_projection *p, const pace_job_shares *after, size_t i) {
    double hours = before->hours[first + i], single = p->single_speedup[i], throughput = p->throughput_speedup[i];
    double doubt = exp(PACE_NORMAL_90 * p->spread[i]);
    bool fits = p->verdict[i] != PACE_PROJECTED_TOO_LARGE, gains = p->verdict[i] == PACE_PROJECTED_GAINS;
    out->verdicts[PACE_LEVEL_JOB][p->verdict[i]]++;
    out->verdicts[PACE_LEVEL_CNODE][p->verdict[i]] += before->cnodes[first + i];
    out->least_gains += fits && throughput > doubt;
    out->most_gains += fits && throughput * doubt > 1;
    pace_sum_add(&out->hours_before, hours);
    pace_sum_add(&out->hours_after, gains ? hours / single : hours);
    pace_sum_add(&out->after_error, gains ? hours / single * p->spread[i] : 0);
    if (!fits) return PACE_OK;
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        pace_sum_add(&out->share_before[k], before->shares.share[k][first + i]);
        pace_sum_add(&out->share_after[k], after->share[k][i]);
    }
    pace_sum_add(&out->single_speedup, single);
    pace_sum_add(&out->throughput_speedup, throughput);
    pace_sum_add(&out->single_error, single * p->spread[i]);
    pace_sum_add(&out->throughput_error, throughput * p->spread[i]);
    PACE_TRY(pace_sketch_add(&out->single, single, 1));
    return pace_sketch_add(&out->throughput, throughput, 1);
}

static pace_job_elasticities ps_elasticities(const pace_fleet_block *b) {
    pace_job_elasticities ps;
    for (int r = 0; r < PACE_JOB_RESOURCES; r++)
        for (size_t i = 0; i < ps_count(b); i++)
            ps.of[r][i] = b->as_is.elasticities.of[r][b->begin[PACE_JOB_PS_WORKER] + i];
    return ps;
}

/* PS/Worker jobs as AllReduce-Local, those that fit: a class of their own. */
static void take_moved(pace_fleet_block *b) {
    const pace_projection *p = &b->projections[0];
    pace_fleet_cohort *moved = &b->moved;
    moved->count = 0;
    for (size_t i = 0; i < ps_count(b); i++) {
        size_t from = b->begin[PACE_JOB_PS_WORKER] + i, to = moved->count;
        if (p->verdict[i] == PACE_PROJECTED_TOO_LARGE) continue;
        for (int part = 0; part < PACE_JOB_PARTS; part++) moved->parts.part[part][to] = p->parts.part[part][i];
        moved->cnodes[to] = b->as_is.cnodes[from];
        moved->hours[to] = b->as_is.hours[from];
        moved->weight_bytes[to] = b->as_is.weight_bytes[from];
        moved->step_s[to] = p->step_s[i];
        moved->count++;
    }
}

pace_status pace_fleet_add_moved(pace_fleet *fleet, pace_fleet_block *b) {
    size_t first = b->begin[PACE_JOB_PS_WORKER], count = ps_count(b);
    const pace_job_setting *setting = fleet->setting;
    pace_job_elasticities before = ps_elasticities(b), after;
    pace_job_shares shares;
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        pace_projection *p = &b->projections[t];
        pace_project(p, &b->jobs, first, count, b->as_is.step_s + first, setting, pace_fleet_targets[t]);
        pace_job_elasticities_of(&after, &p->parts, count, setting->overlap);
        pace_job_speedup_spreads(p->spread, &before, &after, count, setting->spread);
        pace_job_shares_of(&shares, &p->parts, count, setting->spread);
        for (size_t i = 0; i < count; i++)
            PACE_TRY(add_projected(&fleet->projections[t], &b->as_is, first, p, &shares, i));
    }
    take_moved(b);
    pace_fleet_cohort_weigh(&b->moved, setting);
    return pace_fleet_group_add(&fleet->groups[PACE_CLASS_PROJECTED], &b->moved, 0, b->moved.count);
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

typedef struct {
    double speedup[PACE_JOB_BLOCK], speedup_error[PACE_JOB_BLOCK];
    double hours[PACE_JOB_BLOCK], hours_error[PACE_JOB_BLOCK];
} answered;

static void answer(answered *restrict out, const pace_fleet_cohort *restrict cohort,
                   const pace_fleet_question *question, double sigma) {
    double changed_s[PACE_JOB_BLOCK], spread[PACE_JOB_BLOCK];
    pace_job_changed_steps(changed_s, spread, &cohort->parts, &cohort->elasticities, cohort->count, &question->change,
                           sigma, question->spread);
    for (size_t i = 0; i < cohort->count; i++) {
        out->speedup[i] = cohort->step_s[i] / changed_s[i] * question->samples;
        out->speedup_error[i] = out->speedup[i] * spread[i];
        out->hours[i] = cohort->hours[i] / out->speedup[i];
        out->hours_error[i] = out->hours[i] * spread[i];
    }
}

static void add_answer(pace_fleet_answer *to, int class, const answered *a, const uint64_t *cnodes, size_t first,
                       size_t count) {
    pace_sum_add_all(&to->speedup[PACE_LEVEL_JOB][class], a->speedup + first, count);
    pace_sum_add_all(&to->speedup_error[PACE_LEVEL_JOB][class], a->speedup_error + first, count);
    pace_sum_add_all_times(&to->speedup[PACE_LEVEL_CNODE][class], a->speedup + first, cnodes + first, count);
    pace_sum_add_all_times(&to->speedup_error[PACE_LEVEL_CNODE][class], a->speedup_error + first, cnodes + first,
                           count);
    pace_sum_add_all(&to->hours[class], a->hours + first, count);
    pace_sum_add_all(&to->hours_error[class], a->hours_error + first, count);
}

/* The tenth that a share falls into; a share of 1 belongs to the last. */
static void find_tenths(uint8_t tenth[PACE_JOB_RESOURCES][PACE_JOB_BLOCK], const pace_fleet_cohort *cohort) {
    for (size_t i = 0; i < cohort->count; i++) {
        double part[PACE_JOB_RESOURCES] = {0}, sum = 0;
        for (int p = 0; p < PACE_JOB_PARTS; p++) {
            sum += cohort->parts.part[p][i];
            part[pace_job_part_resources[p]] += cohort->parts.part[p][i];
        }
        for (int r = 0; r < PACE_JOB_RESOURCES; r++) {
            int found = (int)(part[r] / sum * PACE_SHARE_TENTHS);
            tenth[r][i] = (uint8_t)(found < PACE_SHARE_TENTHS ? found : PACE_SHARE_TENTHS - 1);
        }
    }
}

static void add_tenths(pace_fleet_answer *to, const answered *a, const uint8_t *tenth, size_t count) {
    for (size_t i = 0; i < count; i++) to->tenth_jobs[tenth[i]]++;
    pace_sum_add_each(to->tenth_speedup, PACE_SHARE_TENTHS, tenth, a->speedup, count);
    pace_sum_add_each(to->tenth_error, PACE_SHARE_TENTHS, tenth, a->speedup_error, count);
}

void pace_fleet_add_answers(pace_fleet *fleet, const pace_fleet_block *b) {
    uint8_t tenth[PACE_JOB_RESOURCES][PACE_JOB_BLOCK];
    answered a;
    find_tenths(tenth, &b->as_is);
    for (size_t q = 0; q < fleet->questions->items.count; q++) {
        const pace_fleet_question *question = &fleet->questions->items.items[q];
        pace_fleet_answer *to = &fleet->answers[q];
        answer(&a, &b->as_is, question, fleet->setting->spread);
        for (int c = 0; c < PACE_JOB_ARCHITECTURES; c++)
            add_answer(to, c, &a, b->as_is.cnodes, b->begin[c], b->begin[c + 1] - b->begin[c]);
        if (question->kind == PACE_ASKED_HARDWARE) add_tenths(to, &a, tenth[question->resource[0]], b->as_is.count);
        answer(&a, &b->moved, question, fleet->setting->spread);
        add_answer(to, PACE_CLASS_PROJECTED, &a, b->moved.cnodes, 0, b->moved.count);
    }
}

/* --- assumptions -------------------------------------------------------------------------------------------------- */

static void conclude(pace_fleet_conclusion *out, const pace_fleet_block *b, const pace_job_setting *setting,
                     const pace_job_change *fastest_network) {
    pace_job_parts parts;
    pace_projection p;
    double step_s[PACE_JOB_BLOCK], networked_s[PACE_JOB_BLOCK], weights[PACE_JOB_BLOCK], speedup[PACE_JOB_BLOCK];
    pace_job_change unchanged = pace_job_unchanged(setting), networked = *fastest_network;
    size_t first = b->begin[PACE_JOB_PS_WORKER], count = ps_count(b);
    networked.overlap = setting->overlap;
    pace_job_parts_of(&parts, &b->jobs, 0, b->as_is.count, setting);
    pace_job_steps(step_s, &parts, b->as_is.count, &unchanged);
    pace_job_steps(networked_s, &parts, b->as_is.count, &networked);
    pace_project(&p, &b->jobs, first, count, step_s + first, setting, PACE_JOB_ALLREDUCE_LOCAL);
    for (size_t i = 0; i < b->as_is.count; i++) {
        double of[PACE_JOB_COMPONENTS];
        pace_job_components(of, &parts, i);
        double work = of[PACE_COMPONENT_COMPUTE] + of[PACE_COMPONENT_MEMORY], input = of[PACE_COMPONENT_INPUT];
        bool longest = of[PACE_COMPONENT_WEIGHTS] >= input && of[PACE_COMPONENT_WEIGHTS] >= work;
        weights[i] = of[PACE_COMPONENT_WEIGHTS] / (input + work + of[PACE_COMPONENT_WEIGHTS]);
        out->weights_longest[PACE_LEVEL_JOB] += longest;
        out->weights_longest[PACE_LEVEL_CNODE] += longest ? b->as_is.cnodes[i] : 0;
    }
    for (size_t i = 0; i < count; i++) out->ps_gains += p.verdict[i] == PACE_PROJECTED_GAINS;
    for (size_t i = 0; i < count; i++) speedup[i] = step_s[first + i] / networked_s[first + i];
    pace_sum_add_all(&out->weight_share[PACE_LEVEL_JOB], weights, b->as_is.count);
    pace_sum_add_all_times(&out->weight_share[PACE_LEVEL_CNODE], weights, b->as_is.cnodes, b->as_is.count);
    pace_sum_add_all(&out->ps_network_speedup, speedup, count);
}

void pace_fleet_add_conclusions(pace_fleet *fleet, const pace_fleet_block *b) {
    const pace_fleet_questions *questions = fleet->questions;
    for (size_t a = 0; a < questions->assumptions.count; a++)
        conclude(&fleet->conclusions[a], b, &questions->assumptions.items[a], &questions->fastest_network);
}

#include "fleet/fleet.h"

#include <math.h>
#include <string.h>

const char *const pace_level_names[PACE_LEVELS] = {"job", "cnode"};

const char *const pace_fleet_class_names[PACE_FLEET_CLASSES] = {
    "1w1g", "1wng", "ps_worker", "allreduce_local", "allreduce_cluster", "pearl", "ps_worker_as_allreduce_local"};

const pace_job_architecture pace_fleet_targets[PACE_FLEET_TARGETS] = {PACE_JOB_ALLREDUCE_LOCAL,
                                                                      PACE_JOB_ALLREDUCE_CLUSTER, PACE_JOB_PEARL};

enum { NO_CLASS = PACE_FLEET_CLASSES };

/* A block of jobs at work. */
typedef struct {
    const pace_jobs *jobs;
    size_t first, count;
    uint64_t cnodes[PACE_JOB_BLOCK]; /* 0 = the job cannot be asked */
    double hours[PACE_JOB_BLOCK];
    double step_s[PACE_JOB_BLOCK];
    uint8_t class[PACE_JOB_BLOCK]; /* NO_CLASS = not asked */
    pace_job_parts parts;
    pace_projection projections[PACE_FLEET_TARGETS];
} block;

pace_status pace_fleet_init(pace_fleet *out, const pace_job_setting *setting, const pace_fleet_questions *questions,
                            bool exact) {
    pace_fleet fleet = {.setting = setting, .questions = questions, .first_line = UINT64_MAX};
    fleet.answers = pace_alloc(questions->items.count, sizeof *fleet.answers);
    fleet.conclusions = pace_alloc(questions->assumptions.count, sizeof *fleet.conclusions);
    if (!fleet.answers || !fleet.conclusions) {
        pace_fleet_free(&fleet);
        return PACE_E_MEMORY;
    }
    for (int c = 0; c < PACE_FLEET_CLASSES; c++) {
        pace_fleet_group *group = &fleet.groups[c];
        group->cnode_counts.exact = group->weight_bytes.exact = exact;
        for (int l = 0; l < PACE_LEVELS; l++)
            for (int k = 0; k < PACE_JOB_COMPONENTS; k++) group->shares[l][k].exact = exact;
    }
    for (int t = 0; t < PACE_FLEET_TARGETS; t++)
        fleet.projections[t].single.exact = fleet.projections[t].throughput.exact = exact;
    *out = fleet;
    return PACE_OK;
}

void pace_fleet_free(pace_fleet *fleet) {
    for (int c = 0; c < PACE_FLEET_CLASSES; c++) {
        pace_fleet_group *group = &fleet->groups[c];
        pace_sketch_free(&group->cnode_counts);
        pace_sketch_free(&group->weight_bytes);
        for (int l = 0; l < PACE_LEVELS; l++)
            for (int k = 0; k < PACE_JOB_COMPONENTS; k++) pace_sketch_free(&group->shares[l][k]);
    }
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        pace_sketch_free(&fleet->projections[t].single);
        pace_sketch_free(&fleet->projections[t].throughput);
    }
    pace_free(fleet->answers);
    pace_free(fleet->conclusions);
    *fleet = (pace_fleet){0};
}

uint64_t pace_fleet_weight(const pace_fleet_group *group, int level) {
    return level == PACE_LEVEL_JOB ? group->jobs : group->cnodes;
}

/* --- which jobs can be asked -------------------------------------------------------------------------------------- */

static bool usable(const block *b, size_t i) {
    size_t job = b->first + i;
    double cnodes = b->jobs->values[PACE_JOB_CNODES][job], hours = b->jobs->values[PACE_JOB_GPU_HOURS][job];
    double weights =
        b->jobs->values[PACE_JOB_DENSE_WEIGHT_BYTES][job] + b->jobs->values[PACE_JOB_EMBEDDING_WEIGHT_BYTES][job];
    bool alone = b->jobs->architectures[job] == PACE_JOB_1W1G;
    return b->step_s[i] > 0 && b->step_s[i] < 1e300 && cnodes >= 1 && cnodes <= 0x1p40 && floor(cnodes) == cnodes &&
           (!alone || cnodes == 1) && weights >= 0 && weights < 1e300 && !(hours < 0) && !(hours > 1e15);
}

static void note_fault(pace_fleet *fleet, const block *b, size_t i) {
    uint64_t line = b->jobs->lines[b->first + i];
    fleet->unusable++;
    if (line >= fleet->first_line) return;
    fleet->first_line = line;
    if (!pace_job_fault(fleet->first_fault, sizeof fleet->first_fault, b->jobs, b->first + i, fleet->setting->catalog))
        memcpy(fleet->first_fault, "a number is out of range", 25);
}

static void prepare(pace_fleet *fleet, block *b) {
    pace_job_change unchanged = pace_job_unchanged(fleet->setting);
    pace_job_parts_of(&b->parts, b->jobs, b->first, b->count, fleet->setting);
    pace_job_steps(b->step_s, &b->parts, b->count, &unchanged);
    for (size_t i = 0; i < b->count; i++) {
        double hours = b->jobs->values[PACE_JOB_GPU_HOURS][b->first + i];
        bool asked = usable(b, i);
        b->cnodes[i] = asked ? (uint64_t)b->jobs->values[PACE_JOB_CNODES][b->first + i] : 0;
        b->class[i] = asked ? b->jobs->architectures[b->first + i] : (uint8_t)NO_CLASS;
        b->hours[i] = isnan(hours) ? (double)b->cnodes[i] : hours;
        fleet->hours_assumed += asked && isnan(hours);
        if (!asked) note_fault(fleet, b, i);
    }
}

/* --- as it is ----------------------------------------------------------------------------------------------------- */

static double shares_of(double share[PACE_JOB_COMPONENTS], const pace_job_parts *parts, size_t i) {
    double sum = 0;
    pace_job_components(share, parts, i);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) sum += share[k];
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) share[k] /= sum;
    return sum;
}

static pace_status add_to_group(pace_fleet_group *group, const block *b, size_t i, const pace_job_parts *parts,
                                uint64_t cnodes, double hours) {
    double share[PACE_JOB_COMPONENTS], sum_s = shares_of(share, parts, i);
    pace_job_component bottleneck = pace_job_bottleneck(share);
    double weights = b->jobs->values[PACE_JOB_DENSE_WEIGHT_BYTES][b->first + i] +
                     b->jobs->values[PACE_JOB_EMBEDDING_WEIGHT_BYTES][b->first + i];
    group->jobs++;
    group->cnodes += cnodes;
    pace_sum_add(&group->hours, hours);
    group->bottleneck[PACE_LEVEL_JOB][bottleneck]++;
    group->bottleneck[PACE_LEVEL_CNODE][bottleneck] += cnodes;
    pace_sum_add(&group->bottleneck_hours[bottleneck], hours);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        pace_sum_add(&group->share[PACE_LEVEL_JOB][k], share[k]);
        pace_sum_add_times(&group->share[PACE_LEVEL_CNODE][k], share[k], cnodes);
        pace_sum_add(&group->lost_hours[k], share[k] * hours);
        pace_sum_add(&group->mean_step_s[k], share[k] * sum_s);
        PACE_TRY(pace_sketch_add(&group->shares[PACE_LEVEL_JOB][k], share[k], 1));
        PACE_TRY(pace_sketch_add(&group->shares[PACE_LEVEL_CNODE][k], share[k], cnodes));
    }
    PACE_TRY(pace_sketch_add(&group->cnode_counts, (double)cnodes, 1));
    return pace_sketch_add(&group->weight_bytes, weights, 1);
}

/* --- moved to another architecture -------------------------------------------------------------------------------- */

/* Only jobs that gain are moved; the others go on as they are. */
static pace_status add_projected(pace_fleet_projection *out, const block *b, const pace_projection *p, size_t i) {
    double before[PACE_JOB_COMPONENTS], after[PACE_JOB_COMPONENTS], hours = b->hours[i];
    out->verdicts[PACE_LEVEL_JOB][p->verdict[i]]++;
    out->verdicts[PACE_LEVEL_CNODE][p->verdict[i]] += b->cnodes[i];
    pace_sum_add(&out->hours_before, hours);
    pace_sum_add(&out->hours_after, p->verdict[i] == PACE_PROJECTED_GAINS ? hours / p->single_speedup[i] : hours);
    if (p->verdict[i] == PACE_PROJECTED_TOO_LARGE) return PACE_OK;
    shares_of(before, &b->parts, i);
    shares_of(after, &p->parts, i);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        pace_sum_add(&out->share_before[k], before[k]);
        pace_sum_add(&out->share_after[k], after[k]);
    }
    pace_sum_add(&out->single_speedup, p->single_speedup[i]);
    pace_sum_add(&out->throughput_speedup, p->throughput_speedup[i]);
    PACE_TRY(pace_sketch_add(&out->single, p->single_speedup[i], 1));
    return pace_sketch_add(&out->throughput, p->throughput_speedup[i], 1);
}

static pace_status project(pace_fleet *fleet, block *b) {
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        pace_projection *p = &b->projections[t];
        pace_project(p, b->jobs, b->first, b->count, b->step_s, fleet->setting, pace_fleet_targets[t]);
        for (size_t i = 0; i < b->count; i++)
            if (b->class[i] == PACE_JOB_PS_WORKER) PACE_TRY(add_projected(&fleet->projections[t], b, p, i));
    }
    return PACE_OK;
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

/* Which tenth a share falls into; the whole is in the last. */
static size_t tenth_of(double share) {
    size_t tenth = (size_t)(share * PACE_SHARE_TENTHS);
    return tenth < PACE_SHARE_TENTHS ? tenth : PACE_SHARE_TENTHS - 1;
}

static double resource_share(const pace_job_parts *parts, size_t i, int resource) {
    double part = 0, sum = 0;
    for (int p = 0; p < PACE_JOB_PARTS; p++) {
        sum += parts->part[p][i];
        if ((int)pace_job_part_resources[p] == resource) part += parts->part[p][i];
    }
    return part / sum;
}

/* `step_s` are the times of these parts, `class` which jobs are asked. */
static void ask(pace_fleet *fleet, const block *b, const pace_job_parts *parts, const double *step_s,
                const uint8_t *class, bool tenths) {
    double changed_s[PACE_JOB_BLOCK];
    for (size_t q = 0; q < fleet->questions->items.count; q++) {
        const pace_fleet_question *question = &fleet->questions->items.items[q];
        pace_fleet_answer *answer = &fleet->answers[q];
        pace_job_steps(changed_s, parts, b->count, &question->change);
        for (size_t i = 0; i < b->count; i++) {
            if (class[i] == NO_CLASS) continue;
            double speedup = step_s[i] / changed_s[i] * question->samples;
            pace_sum_add(&answer->speedup[PACE_LEVEL_JOB][class[i]], speedup);
            pace_sum_add_times(&answer->speedup[PACE_LEVEL_CNODE][class[i]], speedup, b->cnodes[i]);
            pace_sum_add(&answer->hours[class[i]], b->hours[i] / speedup);
            if (!tenths || question->kind != PACE_ASKED_HARDWARE) continue;
            size_t tenth = tenth_of(resource_share(parts, i, question->resource[0]));
            answer->tenth_jobs[tenth]++;
            pace_sum_add(&answer->tenth_speedup[tenth], speedup);
        }
    }
}

/* PS/Worker jobs as AllReduce-Local, as a class of their own. */
static pace_status ask_projected(pace_fleet *fleet, const block *b) {
    const pace_projection *p = &b->projections[0];
    uint8_t class[PACE_JOB_BLOCK];
    for (size_t i = 0; i < b->count; i++) {
        bool moved = b->class[i] == PACE_JOB_PS_WORKER && p->verdict[i] != PACE_PROJECTED_TOO_LARGE;
        class[i] = moved ? (uint8_t)PACE_CLASS_PROJECTED : (uint8_t)NO_CLASS;
        if (moved)
            PACE_TRY(add_to_group(&fleet->groups[PACE_CLASS_PROJECTED], b, i, &p->parts, b->cnodes[i], b->hours[i]));
    }
    ask(fleet, b, &p->parts, p->step_s, class, false);
    return PACE_OK;
}

/* --- assumptions -------------------------------------------------------------------------------------------------- */

static void conclude(pace_fleet *fleet, const block *b) {
    pace_job_parts parts;
    pace_projection p;
    double step_s[PACE_JOB_BLOCK], networked_s[PACE_JOB_BLOCK];
    for (size_t a = 0; a < fleet->questions->assumptions.count; a++) {
        const pace_job_setting *setting = &fleet->questions->assumptions.items[a];
        pace_fleet_conclusion *out = &fleet->conclusions[a];
        pace_job_change unchanged = pace_job_unchanged(setting), networked = fleet->questions->fastest_network;
        networked.overlap = setting->overlap;
        pace_job_parts_of(&parts, b->jobs, b->first, b->count, setting);
        pace_job_steps(step_s, &parts, b->count, &unchanged);
        pace_job_steps(networked_s, &parts, b->count, &networked);
        pace_project(&p, b->jobs, b->first, b->count, step_s, setting, PACE_JOB_ALLREDUCE_LOCAL);
        for (size_t i = 0; i < b->count; i++) {
            double share[PACE_JOB_COMPONENTS];
            if (b->class[i] == NO_CLASS) continue;
            shares_of(share, &parts, i);
            double weights = share[PACE_COMPONENT_WEIGHTS];
            bool longest = weights >= share[PACE_COMPONENT_INPUT] &&
                           weights >= share[PACE_COMPONENT_COMPUTE] + share[PACE_COMPONENT_MEMORY];
            pace_sum_add(&out->weight_share[PACE_LEVEL_JOB], weights);
            pace_sum_add_times(&out->weight_share[PACE_LEVEL_CNODE], weights, b->cnodes[i]);
            out->weights_longest[PACE_LEVEL_JOB] += longest;
            out->weights_longest[PACE_LEVEL_CNODE] += longest ? b->cnodes[i] : 0;
            if (b->class[i] != PACE_JOB_PS_WORKER) continue;
            out->ps_gains += p.verdict[i] == PACE_PROJECTED_GAINS;
            pace_sum_add(&out->ps_network_speedup, step_s[i] / networked_s[i]);
        }
    }
}

/* --- jobs worth a call -------------------------------------------------------------------------------------------- */

/* The move that saves most of the job's GPU-hours, among those by which it gains. */
static void best_move(pace_worst_job *job, const block *b, size_t i) {
    for (int t = 0; t < PACE_FLEET_TARGETS && b->class[i] == PACE_JOB_PS_WORKER; t++) {
        const pace_projection *p = &b->projections[t];
        double saved = b->hours[i] * (1 - 1 / p->single_speedup[i]);
        if (p->verdict[i] != PACE_PROJECTED_GAINS || saved <= job->saved_hours) continue;
        job->saved_hours = saved;
        job->target = pace_fleet_targets[t];
    }
}

static void rank_jobs(pace_fleet *fleet, const block *b) {
    for (size_t i = 0; i < b->count; i++) {
        double share[PACE_JOB_COMPONENTS];
        if (b->class[i] == NO_CLASS) continue;
        shares_of(share, &b->parts, i);
        pace_job_component bottleneck = pace_job_bottleneck(share);
        double lost = share[bottleneck] * b->hours[i];
        if (!pace_worst_jobs_wants(&fleet->worst[bottleneck], lost)) continue;
        pace_worst_job job;
        memset(&job, 0, sizeof job);
        job.lost_hours = lost;
        job.hours = b->hours[i];
        job.share = share[bottleneck];
        job.cnodes = (double)b->cnodes[i];
        job.architecture = b->class[i];
        job.target = b->class[i];
        pace_worst_text(job.id, pace_jobs_id(b->jobs, b->first + i));
        pace_worst_text(job.user, pace_jobs_user(b->jobs, b->first + i));
        best_move(&job, b, i);
        pace_worst_jobs_add(&fleet->worst[bottleneck], &job);
    }
}

pace_status pace_fleet_add(pace_fleet *fleet, const pace_jobs *jobs) {
    block *b = pace_alloc(1, sizeof *b);
    pace_status status = b ? PACE_OK : PACE_E_MEMORY;
    for (size_t first = 0; first < jobs->count && status == PACE_OK; first += PACE_JOB_BLOCK) {
        b->jobs = jobs;
        b->first = first;
        b->count = jobs->count - first < PACE_JOB_BLOCK ? jobs->count - first : PACE_JOB_BLOCK;
        prepare(fleet, b);
        for (size_t i = 0; i < b->count && status == PACE_OK; i++)
            if (b->class[i] != NO_CLASS)
                status = add_to_group(&fleet->groups[b->class[i]], b, i, &b->parts, b->cnodes[i], b->hours[i]);
        if (status == PACE_OK) status = project(fleet, b);
        if (status != PACE_OK) break;
        ask(fleet, b, &b->parts, b->step_s, b->class, true);
        status = ask_projected(fleet, b);
        conclude(fleet, b);
        rank_jobs(fleet, b);
    }
    pace_free(b);
    return status;
}

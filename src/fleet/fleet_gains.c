/* PS/Worker jobs moved to other architectures, and what each question would gain. */
#include "fleet/fleet_figures.h"
#include "base/numbers.h"

/* --- moves -------------------------------------------------------------------------------------------------------- */

/* GPU-hours that are saved when those afterwards are within a range, as a share of those before. */
static pace_fleet_range saved(double before, pace_fleet_range after) {
    return (pace_fleet_range){pace_part_of(before - after.middle, before), pace_part_of(before - after.high, before),
                              pace_part_of(before - after.low, before)};
}

pace_fleet_moved pace_fleet_moved_to(pace_fleet_view *view, int target) {
    pace_fleet_projection *p = &view->fleet.projections[target];
    const pace_fleet_group *ps = &view->fleet.groups[PACE_JOB_PS_WORKER];
    const uint64_t *verdicts = p->verdicts[PACE_LEVEL_JOB];
    double jobs = (double)ps->jobs, fit = (double)(ps->jobs - verdicts[PACE_PROJECTED_TOO_LARGE]);
    double before = pace_sum_value(&p->hours_before);
    pace_fleet_moved out = {.architecture = pace_job_architecture_names[pace_fleet_targets[target]],
                            .jobs = ps->jobs,
                            .gains = {pace_part_of((double)verdicts[PACE_PROJECTED_GAINS], jobs),
                                      pace_part_of((double)p->least_gains, jobs),
                                      pace_part_of((double)p->most_gains, jobs)},
                            .single_speedup = pace_fleet_factor(&p->single_speedup, &p->single_error, fit),
                            .throughput_speedup = pace_fleet_factor(&p->throughput_speedup, &p->throughput_error, fit),
                            .saved_share = saved(before, pace_fleet_factor(&p->hours_after, &p->after_error, 1)),
                            .gains_cnodes_share =
                                pace_part_of((double)p->verdicts[PACE_LEVEL_CNODE][PACE_PROJECTED_GAINS],
                                             (double)ps->cnodes),
                            .single_median = pace_sketch_quantile(&p->single, 0.5),
                            .throughput_p10 = pace_sketch_quantile(&p->throughput, 0.1),
                            .throughput_median = pace_sketch_quantile(&p->throughput, 0.5),
                            .throughput_p90 = pace_sketch_quantile(&p->throughput, 0.9),
                            .saved_hours = before - pace_sum_value(&p->hours_after)};
    for (int v = 0; v < PACE_PROJECTED_VERDICTS; v++) out.verdict_share[v] = pace_part_of((double)verdicts[v], jobs);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        out.before_share[k] = pace_part_of(pace_sum_value(&p->share_before[k]), fit);
        out.after_share[k] = pace_part_of(pace_sum_value(&p->share_after[k]), fit);
    }
    return out;
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

static const pace_fleet_question *question_of(const pace_fleet_view *view, size_t question) {
    return &view->fleet.questions->items.items[question];
}

/* The resource that is changed, or the name of the software. */
static const char *resource_of(const pace_fleet_question *question) {
    return question->resource[0] < 0 ? question->name : pace_job_resource_names[question->resource[0]];
}

double pace_fleet_speedup(const pace_fleet_view *view, size_t question, int class) {
    return pace_part_of(pace_sum_value(&view->fleet.answers[question].speedup[class]),
                        (double)view->fleet.groups[class].jobs);
}

static pace_fleet_range job_speedup(const pace_fleet_view *view, size_t question, int class) {
    const pace_fleet_answer *a = &view->fleet.answers[question];
    return pace_fleet_factor(&a->speedup[class], &a->speedup_error[class], (double)view->fleet.groups[class].jobs);
}

/* Of all architectures. */
static pace_fleet_range all_hours(const pace_fleet_answer *answer) {
    pace_sum sum = {0}, error = {0};
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) {
        pace_sum_merge(&sum, &answer->hours[a]);
        pace_sum_merge(&error, &answer->hours_error[a]);
    }
    return pace_fleet_factor(&sum, &error, 1);
}

static double saved_hours(const pace_fleet_view *view, size_t question) {
    double hours = pace_sum_value(&view->all.hours);
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) hours -= pace_sum_value(&view->fleet.answers[question].hours[a]);
    return hours;
}

/* Bounds of what is saved, not of the price. */
static pace_fleet_range price_per_hour(const pace_fleet_view *view, double price, pace_fleet_range share) {
    double whole = price * (double)view->all.cnodes, hours = pace_sum_value(&view->all.hours);
    return (pace_fleet_range){share.middle > 0 ? whole / (share.middle * hours) : NAN,
                              share.high > 0 ? whole / (share.high * hours) : NAN,
                              share.low > 0 ? whole / (share.low * hours) : NAN};
}

pace_fleet_gain pace_fleet_gain_of(const pace_fleet_view *view, size_t question) {
    const pace_fleet_question *q = question_of(view, question);
    const pace_fleet_answer *a = &view->fleet.answers[question];
    pace_fleet_gain out = {.change = q->text,
                           .resource = resource_of(q),
                           .confidence = q->confidence,
                           .rate = q->resource[0] < 0 ? NAN : q->rate[0],
                           .cnode_speedup =
                               pace_fleet_factor(&a->cnode_speedup, &a->cnode_error, (double)view->all.cnodes),
                           .saved_share = saved(pace_sum_value(&view->all.hours), all_hours(a)),
                           .saved_hours = saved_hours(view, question),
                           .price = q->price};
    for (int c = 0; c < PACE_FLEET_CLASSES; c++) out.speedup[c] = job_speedup(view, question, c);
    out.price_per_hour = price_per_hour(view, q->price, out.saved_share);
    return out;
}

int pace_fleet_best(const pace_fleet_view *view, pace_asked_kind kind) {
    int best = -1;
    for (size_t q = 0; q < view->fleet.questions->items.count; q++) {
        const pace_fleet_question *question = question_of(view, q);
        if (question->kind != kind || strcmp(question->confidence, "low") == 0) continue;
        if (best < 0 || saved_hours(view, q) > saved_hours(view, (size_t)best)) best = (int)q;
    }
    return best;
}

bool pace_fleet_sensitivity_of(pace_fleet_sensitivity *out, const pace_fleet_view *view, int class) {
    size_t best = SIZE_MAX;
    for (size_t q = 0; q < view->fleet.questions->items.count; q++) {
        if (question_of(view, q)->kind != PACE_ASKED_HARDWARE) continue;
        double gain = pace_fleet_speedup(view, q, class);
        if (best == SIZE_MAX || gain > pace_fleet_speedup(view, best, class)) best = q;
    }
    if (best == SIZE_MAX || view->fleet.groups[class].jobs == 0) return false;
    const pace_fleet_question *q = question_of(view, best);
    *out = (pace_fleet_sensitivity){pace_fleet_class_names[class], resource_of(q), q->text, q->rate[0],
                                    job_speedup(view, best, class)};
    return true;
}

pace_fleet_tenth pace_fleet_tenth_of(const pace_fleet_view *view, size_t question, int tenth) {
    const pace_fleet_question *q = question_of(view, question);
    const pace_fleet_answer *a = &view->fleet.answers[question];
    uint64_t jobs = a->tenth_jobs[tenth];
    return (pace_fleet_tenth){q->text,
                              resource_of(q),
                              q->rate[0],
                              tenth / 10.0,
                              (tenth + 1) / 10.0,
                              jobs,
                              pace_fleet_factor(&a->tenth_speedup[tenth], &a->tenth_error[tenth], (double)jobs)};
}

pace_fleet_assumed pace_fleet_assumed_of(const pace_fleet_view *view, size_t assumption) {
    const pace_job_lever *lever = view->fleet.questions->levers.items[assumption];
    const pace_fleet_conclusion *c = &view->fleet.conclusions[assumption];
    double jobs = (double)view->all.jobs, cnodes = (double)view->all.cnodes;
    double ps = (double)view->fleet.groups[PACE_JOB_PS_WORKER].jobs;
    return (pace_fleet_assumed){
        .assumption = lever ? lever->title : "as given",
        .confidence = lever ? lever->source.confidence : "",
        .weights_job_share = pace_part_of(pace_sum_value(&c->weight_share[PACE_LEVEL_JOB]), jobs),
        .weights_cnode_share = pace_part_of(pace_sum_value(&c->weight_share[PACE_LEVEL_CNODE]), cnodes),
        .weights_longest_cnode_share = pace_part_of((double)c->weights_longest[PACE_LEVEL_CNODE], cnodes),
        .ps_gains_share = pace_part_of((double)c->ps_gains, ps),
        .ps_network_speedup = pace_part_of(pace_sum_value(&c->ps_network_speedup), ps)};
}

#include "plan/plan_search.h"

#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    pace_plan_found *found;
    pace_step_pricer *pricer;
    const pace_step_case *base;
} searcher;

/* "tp 8 does not divide the 12 heads" is "tp". A message about a field begins with it. */
pace_status pace_plan_refuse(pace_plan_found *found, const char *message) {
    pace_plan_refusal one = {.count = 1};
    size_t length = strcspn(message, "0123456789");
    while (length > 0 && message[length - 1] == ' ') length--;
    snprintf(one.reason, sizeof one.reason, "%.*s", (int)length, message);
    snprintf(one.first, sizeof one.first, "%s", message);
    found->refused++;
    for (size_t i = 0; i < found->refusals.count; i++)
        if (strcmp(found->refusals.items[i].reason, one.reason) == 0) {
            found->refusals.items[i].count++;
            return PACE_OK;
        }
    return PACE_PUSH(&found->refusals, one);
}

static pace_status keep(pace_plan_found *found, const pace_config *config, const pace_step_solution *solution) {
    pace_step_factors none = pace_step_factors_none();
    pace_plan_candidate one = {.config = *config,
                               .closed_s = solution->closed_s.median,
                               .need_bytes = solution->plan.memory.all_bytes,
                               .parts = pace_step_compose(&solution->plan, &none)};
    found->device_bytes = solution->plan.device_bytes;
    if (solution->fitting == PACE_FITS) return PACE_PUSH(&found->fitting, one);
    *(solution->fitting == PACE_MAY_FIT ? &found->may_fit : &found->too_large) += 1;
    if (!(found->nearest.need_bytes > 0) || one.need_bytes < found->nearest.need_bytes) found->nearest = one;
    return PACE_OK;
}

static pace_status visit(void *context, const pace_config *config) {
    searcher *s = context;
    pace_step_case one = *s->base;
    pace_step_solution solution;
    one.config = *config;
    one.may_recompute = false;
    if (pace_config_ranks(config) < 2) one.exchange = NULL;
    s->found->tried++;
    pace_status status = pace_model_check_parallel(one.model, &one.config);
    if (status == PACE_OK) status = pace_step_settle(&solution, s->pricer, &one);
    if (status == PACE_OK) return keep(s->found, config, &solution);
    return status == PACE_E_MEMORY ? status : pace_plan_refuse(s->found, pace_message());
}

/* Of equal times the one that splits the model less, then needs less memory. */
static int by_time(const void *left, const void *right) {
    const pace_plan_candidate *a = left, *b = right;
    double split_a = a->config.tp * a->config.pp * a->config.cp, split_b = b->config.tp * b->config.pp * b->config.cp;
    if (a->closed_s != b->closed_s) return a->closed_s < b->closed_s ? -1 : 1;
    if (split_a != split_b) return split_a < split_b ? -1 : 1;
    return (a->need_bytes > b->need_bytes) - (a->need_bytes < b->need_bytes);
}

/* --- one of each kind --------------------------------------------------------------------------------------------- */

static bool same_sharing(const pace_config *a, const pace_config *b) {
    return a->tp == b->tp && a->pp == b->pp && a->vpp == b->vpp && a->cp == b->cp && a->ep == b->ep && a->dp == b->dp &&
           a->micro_batch == b->micro_batch && a->schedule == b->schedule;
}

/* Of two that take as long, the one that needs clearly less memory, else the one that recomputes and shards less. */
static bool is_better(const pace_plan_candidate *a, const pace_plan_candidate *b) {
    enum { CLEARLY_PERCENT = 2 };
    double most = a->need_bytes > b->need_bytes ? a->need_bytes : b->need_bytes;
    if (100 * fabs(a->need_bytes - b->need_bytes) > CLEARLY_PERCENT * most) return a->need_bytes < b->need_bytes;
    if (a->config.zero_stage != b->config.zero_stage) return a->config.zero_stage < b->config.zero_stage;
    return a->config.recompute < b->config.recompute;
}

/* ZeRO and recomputation without effect on the time (within a thousandth) make one choice look like several. */
static void drop_alike(pace_plan_found *found) {
    size_t kept = 0;
    for (size_t i = 0; i < found->fitting.count; i++) {
        const pace_plan_candidate *one = &found->fitting.items[i];
        size_t like = kept;
        while (like > 0 && found->fitting.items[like - 1].closed_s * 1.001 >= one->closed_s &&
               !same_sharing(&found->fitting.items[like - 1].config, &one->config))
            like--;
        bool alike = like > 0 && found->fitting.items[like - 1].closed_s * 1.001 >= one->closed_s;
        if (!alike) found->fitting.items[kept++] = *one;
        else if (is_better(one, &found->fitting.items[like - 1])) found->fitting.items[like - 1] = *one;
    }
    found->alike = found->fitting.count - kept;
    found->fitting.count = kept;
}

pace_status pace_plan_search(pace_plan_found *out, pace_step_pricer *pricer, const pace_step_case *base,
                             const pace_plan_space *space) {
    searcher s = {out, pricer, base};
    *out = (pace_plan_found){0};
    PACE_TRY(pace_plan_space_visit(space, &base->config, visit, &s));
    if (out->fitting.count) qsort(out->fitting.items, out->fitting.count, sizeof *out->fitting.items, by_time);
    drop_alike(out);
    return PACE_OK;
}

void pace_plan_found_free(pace_plan_found *found) {
    PACE_VEC_FREE(&found->fitting);
    PACE_VEC_FREE(&found->refusals);
}

#include "plan/plan_search.h"
#include "base/order.h"

#include "model/model.h"
#include "plan/offload_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The best time of one way to share a step. */
typedef struct {
    pace_config config;
    double best_s;
} leader;

typedef struct {
    pace_plan_found *found;
    pace_step_pricer *pricer;
    const pace_step_case *base;
    const pace_plan_rules *rules;
    leader *leaders; /* fastest first; at most rules->wanted */
    size_t leading;
    double sure_s;              /* of the fastest that surely fits */
    double split[3];            /* tp, cp, ep that the model can follow; 0 = none yet */
    bool may_recompute_some;    /* where full recomputation leaves memory, of some layers */
    bool may_offload;           /* the configuration before is not known to fit */
    pace_step_memory on_device; /* what it needs */
} searcher;

/* "tp 8 does not divide the 12 heads" is "tp". A message about a field begins with it. */
pace_status pace_plan_refuse(pace_plan_found *found, const char *message) {
    pace_plan_refusal one = {.count = 1};
    size_t length = strcspn(message, "0123456789");
    while (length > 0 && message[length - 1] == ' ') length--;
    snprintf(one.reason, sizeof one.reason, "%.*s", (int)length, message);
    snprintf(one.first, sizeof one.first, "%s", message);
    found->refused++;
    pace_plan_refusal *known = PACE_FIND(found->refusals.items, found->refusals.count, reason, one.reason);
    if (!known) return PACE_PUSH(&found->refusals, one);
    known->count++;
    return PACE_OK;
}

/* --- the fastest so far ------------------------------------------------------------------------------------------- */

static bool same_sharing(const pace_config *a, const pace_config *b) {
    return a->tp == b->tp && a->pp == b->pp && a->vpp == b->vpp && a->cp == b->cp && a->ep == b->ep && a->dp == b->dp &&
           a->micro_batch == b->micro_batch && a->schedule == b->schedule && a->precision == b->precision;
}

/* Ways to share a step are told apart, so that the last of the leaders is no faster than the last of as many that are
 * kept. */
static void lead(searcher *s, const pace_config *config, double time_s) {
    size_t at = 0;
    if (s->rules->wanted == 0) return;
    while (at < s->leading && !same_sharing(&s->leaders[at].config, config)) at++;
    if (at < s->leading ? s->leaders[at].best_s <= time_s
                        : at == s->rules->wanted && s->leaders[at - 1].best_s <= time_s)
        return;
    if (at == s->leading && s->leading < s->rules->wanted) s->leading++;
    if (at == s->leading) at--;
    for (; at > 0 && s->leaders[at - 1].best_s > time_s; at--) s->leaders[at] = s->leaders[at - 1];
    s->leaders[at] = (leader){*config, time_s};
}

static bool surely_fits(const pace_plan_candidate *one, const pace_plan_found *found) {
    return pace_step_surely_fits(one->need_bytes, found->device_bytes, found->doubts);
}

/* The fastest that surely fits is asked for too. */
static pace_step_limits limits_of(const searcher *s) {
    bool full = s->rules->wanted > 0 && s->leading == s->rules->wanted;
    double longer = 1 + s->rules->tie, close_s = full ? s->leaders[s->leading - 1].best_s * longer : INFINITY;
    return (pace_step_limits){fmax(close_s, s->sure_s * longer), close_s};
}

static pace_status keep(searcher *s, const pace_config *config, const pace_step_solution *solution) {
    pace_plan_found *found = s->found;
    pace_plan_candidate one = {.config = *config,
                               .closed_s = solution->closed_s.median,
                               .need_bytes = solution->plan.memory.all_bytes};
    found->device_bytes = solution->plan.device_bytes;
    if (solution->fitting != PACE_FITS) {
        *(solution->fitting == PACE_MAY_FIT ? &found->may_fit : &found->too_large) += 1;
        if (!(found->nearest.need_bytes > 0) || one.need_bytes < found->nearest.need_bytes) found->nearest = one;
        return PACE_OK;
    }
    found->fit++;
    pace_step_limits limits = limits_of(s);
    bool sure = surely_fits(&one, found);
    if (one.closed_s > (sure ? limits.sure_s : limits.close_s)) {
        found->pruned++;
        return PACE_OK;
    }
    if (sure) s->sure_s = fmin(s->sure_s, one.closed_s);
    pace_step_factors none = pace_step_factors_none();
    one.parts = pace_step_compose(&solution->plan, &none);
    one.parts.skew_s = solution->closed_skew_s;
    lead(s, config, one.closed_s);
    return PACE_PUSH(&found->fitting, one);
}

/* Asking costs more than a visit. */
static bool is_stopped(searcher *s) {
    enum { OFTEN = 64 };
    const pace_plan_rules *rules = s->rules;
    if (!s->found->stopped && rules->stop && s->found->tried % OFTEN == 0)
        s->found->stopped = rules->stop(rules->stop_context);
    return s->found->stopped;
}

/* What a model can follow hangs on three fields, which change seldom. */
static pace_status check_split(searcher *s, const pace_config *config) {
    double *split = s->split;
    if (split[0] == config->tp && split[1] == config->cp && split[2] == config->ep) return PACE_OK;
    PACE_TRY(pace_model_check_parallel(s->base->model, config));
    split[0] = config->tp, split[1] = config->cp, split[2] = config->ep;
    return PACE_OK;
}

/* With the optimizer on the host after the same without, which offloading makes no faster. One whose weights and
 * gradients are too much by themselves is counted without asking, unless nothing fits and the one that needs least is
 * looked for. */
static bool is_idle_offload(searcher *s, const pace_config *config) {
    pace_plan_found *found = s->found;
    const pace_step_memory *m = &s->on_device;
    if (config->offload == s->base->config.offload) return false;
    if (!s->may_offload) return true;
    double least = m->weight_bytes + m->gradient_bytes + m->library_bytes;
    if (found->fit == 0 || pace_step_fits(least, found->device_bytes, found->doubts) != PACE_TOO_LARGE) return false;
    found->tried++;
    found->too_large++;
    return true;
}

/* More nodes or other devices would not help it as they help one that its device lacks memory for. */
static pace_status check_host(const pace_step_plan *plan) {
    pace_step_room room = pace_step_tightest(plan, 0);
    if (!room.of_host) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "offload: the ranks of a node would hold %.0f GB in their host's memory of %.0f GB "
                     "(" PACE_HOST_MEMORY_HINT ")",
                     room.need_bytes / 1e9, room.has_bytes / 1e9);
}

static bool fits_with(pace_step_solution *out, searcher *s, const pace_step_case *base, pace_recompute recompute,
                      double layers) {
    pace_step_case one = *base;
    const pace_step_limits limits = limits_of(s);
    one.config.recompute = recompute;
    one.config.recompute_layers = layers;
    return pace_step_screen(out, s->pricer, &one, &limits) == PACE_OK && out->fitting == PACE_FITS &&
           pace_step_surely_fits(out->plan.memory.all_bytes, out->plan.device_bytes, s->found->doubts);
}

static bool may_recompute_some(const searcher *s, const pace_step_case *one, const pace_step_solution *full) {
    return s->may_recompute_some && one->config.recompute == PACE_RECOMPUTE_FULL && full->fitting == PACE_FITS &&
           pace_step_surely_fits(full->plan.memory.all_bytes, full->plan.device_bytes, s->found->doubts);
}

/* Layers that need not run again keep what they form: of a configuration that surely fits with all of them recomputed,
 * and not with none, the one that recomputes the fewest of each chunk. */
static void recompute_fewer(pace_step_solution *solution, searcher *s, pace_step_case *one) {
    double most = ceil(solution->plan.slots->layers / (one->config.pp * one->config.vpp)), none = 0, fewest = 0;
    pace_step_solution fewer;
    if (!may_recompute_some(s, one, solution) || most < 2 || fits_with(&fewer, s, one, PACE_RECOMPUTE_NONE, 0)) return;
    while (most - none > 1) {
        double layers = floor((none + most) / 2);
        if (fits_with(&fewer, s, one, PACE_RECOMPUTE_FULL, layers)) *solution = fewer, fewest = most = layers;
        else none = layers;
    }
    one->config.recompute_layers = fewest;
}

static pace_status visit(void *context, const pace_config *config) {
    searcher *s = context;
    if (is_stopped(s) || is_idle_offload(s, config)) return PACE_OK;
    pace_step_case one = *s->base;
    pace_step_solution solution;
    one.config = *config;
    one.may_recompute = false;
    one.spreads = (pace_step_spreads){0}; /* candidates are ordered by their medians */
    if (pace_config_ranks(config) < 2) one.exchange = NULL;
    s->found->tried++;
    pace_status status = check_split(s, config);
    const pace_step_limits limits = limits_of(s);
    if (status == PACE_OK) status = pace_step_screen(&solution, s->pricer, &one, &limits);
    if (status == PACE_OK) status = check_host(&solution.plan);
    s->may_offload = status == PACE_OK && !pace_step_surely_fits(solution.plan.memory.all_bytes,
                                                                 solution.plan.device_bytes, s->found->doubts);
    if (s->may_offload) s->on_device = solution.plan.memory;
    if (status == PACE_OK) recompute_fewer(&solution, s, &one);
    if (status == PACE_OK) return keep(s, &one.config, &solution);
    return status == PACE_E_MEMORY ? status : pace_plan_refuse(s->found, pace_message_in_answer());
}

/* Of equal times the one that splits the model less, then needs less memory. */
#define PARTS(c) ((c)->config.tp * (c)->config.pp * (c)->config.cp)
PACE_ORDER(by_time, pace_plan_candidate, PACE_UP(closed_s) PACE_UP_OF(PARTS) PACE_UP(need_bytes))

/* --- one of each kind --------------------------------------------------------------------------------------------- */

/* Of two that take as long: the one that surely fits, else the one that shards and recomputes less. */
static bool is_better(const pace_plan_candidate *a, const pace_plan_candidate *b, const pace_plan_found *found) {
    bool sure = surely_fits(a, found);
    if (sure != surely_fits(b, found)) return sure;
    if (a->config.offload != b->config.offload) return a->config.offload < b->config.offload;
    if (a->config.zero_stage != b->config.zero_stage) return a->config.zero_stage < b->config.zero_stage;
    if (a->config.zero_group != b->config.zero_group) return a->config.zero_group < b->config.zero_group;
    return a->config.recompute < b->config.recompute;
}

static double fastest_s(const pace_plan_candidate *one) { return one->alike_s > 0 ? one->alike_s : one->closed_s; }

/* `one`, which is slower, takes the place of `kept` if it is better, and remembers the fastest that it stands for. */
static void meet(pace_plan_candidate *kept, const pace_plan_candidate *one, const pace_plan_found *found) {
    pace_plan_candidate fast = *kept;
    if (!is_better(one, kept, found)) return;
    *kept = *one;
    kept->alike_s = fastest_s(&fast);
    kept->alike = fast.alike_s > 0 ? fast.alike : fast.config;
}

/* ZeRO and recomputation without an effect on the time that could be told make one choice look like several. */
static void drop_alike(pace_plan_found *found, double tie) {
    size_t kept = 0;
    pace_plan_candidate *items = found->fitting.items;
    for (size_t i = 0; i < found->fitting.count; i++) {
        const pace_plan_candidate one = items[i];
        size_t like = kept;
        while (like > 0 && fastest_s(&items[like - 1]) * (1 + tie) >= one.closed_s &&
               !same_sharing(&items[like - 1].config, &one.config))
            like--;
        bool alike = like > 0 && fastest_s(&items[like - 1]) * (1 + tie) >= one.closed_s;
        if (alike) meet(&items[like - 1], &one, found);
        else items[kept++] = one;
    }
    found->fitting.count = kept;
    if (kept) qsort(items, kept, sizeof *items, by_time);
}

pace_status pace_plan_search(pace_plan_found *out, pace_step_pricer *pricer, const pace_step_case *base,
                             const pace_plan_space *space, const pace_plan_rules *rules) {
    searcher s = {.found = out, .pricer = pricer, .base = base, .rules = rules, .sure_s = INFINITY};
    s.may_recompute_some = base->framework->recomputes_some > 0 && base->config.recompute_layers == 0 &&
                           space->values[PACE_PLAN_RECOMPUTE].count > 1;
    *out = (pace_plan_found){.doubts = pace_cost_doubts(pricer->cost)};
    if (!PACE_MAKE(s.leaders, rules->wanted + 1)) return PACE_E_MEMORY;
    pace_status status = pace_plan_space_visit(space, &base->config, visit, &s);
    pace_free(s.leaders);
    PACE_TRY(status);
    if (out->fitting.count) qsort(out->fitting.items, out->fitting.count, sizeof *out->fitting.items, by_time);
    drop_alike(out, rules->tie);
    return PACE_OK;
}

const pace_plan_candidate *pace_plan_sure(const pace_plan_found *found) {
    for (size_t i = 0; i < found->fitting.count; i++)
        if (surely_fits(&found->fitting.items[i], found)) return &found->fitting.items[i];
    return NULL;
}

void pace_plan_found_free(pace_plan_found *found) { PACE_VEC_FREE(&found->fitting, &found->refusals); }

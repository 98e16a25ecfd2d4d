#include "ask/plan/plan_place.h"
#include "ask/plan/launcher_config.h"
#include "ask/plan/plan_words.h"
#include "base/order.h"
#include "machine/device_resolve.h"
#include "model/model_settings.h"
#include "model/parts.h"
#include "model/recompute.h"
#include "plan/plan_settle.h"

#include <math.h>
#include <stdio.h>

/* --- words -------------------------------------------------------------------------------------------------------- */

static bool is_set(const pace_plan_options *o, const char *key) {
    return pace_settings_name(&o->set, (const char *const[]){key, NULL});
}

static pace_status check_terms(const pace_plan_options *o) {
    if (o->together && o->on.count < 2)
        return pace_fail(PACE_E_USAGE, "together: expected two machines at least (on), found %zu", o->on.count);
    if (o->together && (o->within || o->budget || o->failures || !is_set(o, "global_batch")))
        return pace_fail(PACE_E_USAGE,
                         "together: expected " PACE_FIELD
                         "set global_batch=N, which the machines share, and none of within, budget and failures");
    if (o->failures && !o->tokens)
        return pace_fail(PACE_E_USAGE,
                         "failures: has no effect without " PACE_FIELD "tokens, which say what is trained");
    if (o->critical_batch && !o->tokens && is_set(o, "global_batch"))
        return pace_fail(PACE_E_USAGE,
                         "critical_batch: has no effect where the global batch is set, without " PACE_FIELD
                         "tokens, which say what is trained");
    return PACE_OK;
}

pace_status pace_plan_terms_read(pace_plan_asked *a) {
    const pace_plan_options *o = a->options;
    pace_plan_words words;
    pace_approach approach = {.skew = NAN};
    if (o->on.count == 0)
        return pace_fail(PACE_E_USAGE, "on: expected a machine, such as dgx-h100*2 (paceline machines lists them)");
    PACE_TRY(pace_plan_words_read(&words, o));
    a->tokens = words.amount;
    a->within_days = words.within_days;
    a->budget = words.budget;
    a->critical_batch = words.critical;
    if (o->failures) PACE_TRY(pace_plan_failures(&a->failures, o->failures));
    PACE_TRY(pace_approach_set_jitter(&approach, o->jitter));
    a->jitter = approach.skew;
    PACE_TRY(pace_predict_fits_open(&a->fits, &o->fits));
    return check_terms(o);
}

/* --- a place ------------------------------------------------------------------------------------------------------ */

/* Everybody is compared at one batch: unless given, at the catalogue's for the largest machine. */
static void assume_batch(pace_plan_asked *a, pace_step_asked *step, double here) {
    pace_config *config = &step->asked.config;
    double devices = fmax(here, a->most_devices);
    double sequence = pace_model_sequence(&step->model, config), samples = step->frameworks.plan_samples * devices;
    if (is_set(a->options, "global_batch")) return;
    if (pace_model_has_tables(&step->model)) samples = fmax(devices, step->frameworks.plan_clicks);
    if (sequence > 0) samples = fmax(devices, step->frameworks.plan_tokens / sequence);
    config->global_batch = exp2(round(log2(samples)));
    while (fmod(config->global_batch, devices) != 0 && config->global_batch < devices) config->global_batch *= 2;
    if (fmod(config->global_batch, devices) != 0) config->global_batch = devices * ceil(config->global_batch / devices);
    a->batch_assumed = isnan(a->critical_batch);
}

/* The values of all fields that are not pinned to those of `config`. */
static pace_status make_values(pace_plan_place *p, const pace_config *config, const bool pinned[PACE_PLAN_FIELDS],
                               bool whole) {
    pace_step_case *one = &p->step.asked;
    pace_model_parts parts;
    bool splits = false, experts = false, tables = pace_model_has_tables(one->model);
    PACE_ITEMS (const pace_layer, layer, &one->model->layers) {
        splits |= layer->shard != PACE_SHARD_NONE;
        experts |= layer->rule->expert_elements != NULL;
    }
    PACE_TRY(pace_model_parts_find(&parts, one->model, &one->config));
    const pace_plan_limits limits = {.devices = (double)p->machine.devices * p->machine.nodes,
                                     .devices_of_node = p->machine.devices,
                                     .layers = parts.layers,
                                     .sequence = pace_model_sequence(one->model, &one->config),
                                     .per_step = one->config.global_batch,
                                     .half = pace_step_autocast(one),
                                     .splits = splits,
                                     .experts = experts,
                                     .whole = whole,
                                     .framework = one->framework,
                                     .tables_follow = tables && !pinned[PACE_PLAN_EP]};
    p->layers = parts.layers;
    pace_model_parts_free(&parts);
    pace_plan_space_make(&p->space, &limits, config, pinned);
    return PACE_OK;
}

/* Of a framework that runs modules again by name those that save much and cost little, unless the question names some:
 * attention in one kernel saves nothing. */
static void choose_modules(pace_plan_place *p, const pace_plan_options *o) {
    const unsigned light = PACE_MODULE_MOE_ACT | PACE_MODULE_LAYERNORM | PACE_MODULE_MLA_UP_PROJ;
    pace_step_case *one = &p->step.asked;
    p->usual_modules = one->config.recompute_modules;
    bool usual = one->framework->reruns_attention > 0 && p->usual_modules == PACE_MODULE_CORE_ATTN;
    if (usual && !is_set(o, "recompute_modules") && !pace_model_forms_scores(one->model, &one->config))
        one->config.recompute_modules = (int)(light & ~pace_model_lacks_modules(one->model, light));
}

static pace_status read_yours(pace_plan_place *p, const pace_plan_asked *a) {
    pace_config asked = p->step.asked.config;
    asked.recompute_modules = p->usual_modules;
    const pace_launcher_place here = {.asked = &asked,
                                      .framework = p->step.asked.framework->name,
                                      .devices = (double)p->machine.devices * p->machine.nodes,
                                      .devices_of_node = p->machine.devices,
                                      .layers = p->layers};
    return pace_launcher_config(&p->yours, &a->file, &here);
}

/* What the user's file runs is always among what is searched. */
static pace_status make_space(pace_plan_place *p, const pace_plan_asked *a) {
    const pace_plan_options *o = a->options;
    pace_step_case *one = &p->step.asked;
    bool pinned[PACE_PLAN_FIELDS];
    for (int f = 0; f < PACE_PLAN_FIELDS; f++) pinned[f] = is_set(o, pace_plan_field_names[f]);
    PACE_TRY(make_values(p, &one->config, pinned, false));
    if (is_set(o, "dp")) p->space.dp = one->config.dp;
    if (!o->from) return PACE_OK;
    PACE_TRY(read_yours(p, a));
    pace_plan_space_add(&p->space, &p->yours, pinned);
    return PACE_OK;
}

/* Tokens, or samples of models without sequences, as samples. */
static double samples_of(const pace_plan_place *p, double tokens) {
    double sequence = pace_model_sequence(p->step.asked.model, &p->step.asked.config);
    return sequence > 0 ? tokens / sequence : tokens;
}

/* Samples to the same loss over those of small batches (McCandlish et al. 2018, section 2.3). */
static double learning_of(const pace_plan_place *p, const pace_plan_asked *a, double batch) {
    return isnan(a->critical_batch) ? 1 : 1 + batch / samples_of(p, a->critical_batch);
}

/* Where a failure comes before a checkpoint and a restart are done, a plan would count days that never end. */
static pace_status find_goodput(pace_plan_place *p, const pace_plan_asked *a, double devices) {
    const double least = 0.01;
    const pace_failures *f = &a->failures;
    p->goodput = pace_goodput_of(f, devices);
    if (p->goodput.share >= least) return PACE_OK;
    char between[32], lost[32];
    pace_say_span(between, p->goodput.between_failures_s);
    pace_say_span(lost, f->save_s + f->restart_s);
    return pace_fail(PACE_E_USAGE,
                     "failures: one of %.0f devices fails every %s, and a checkpoint and a restart take %s: less than "
                     "%.0f %% of the time would be progress, and the training would not end",
                     devices, between, lost, 100 * least);
}

pace_status pace_plan_place_open(pace_plan_place *p, pace_plan_asked *a, const char *name) {
    const pace_device *device;
    PACE_TRY(pace_device_resolve(&device, &a->devices, p->machine.device, 0));
    p->fits = &a->fits;
    if (device->is_cpu)
        return pace_fail(PACE_E_USAGE,
                         "on: expected accelerators, found the CPU %s, of which no configuration is searched",
                         device->name);
    const pace_step_words words = {
        .name = name, .set = &a->options->set, .device = device, .machine = &p->machine, .fits = &a->fits};
    PACE_TRY(pace_step_unshared_open(&p->step, a->options->context->catalog, &words));
    if (p->step.asked.config.mode != PACE_TRAINING)
        return pace_fail(PACE_E_USAGE, "set: expected mode=training: a plan is of training");
    double devices = (double)p->machine.devices * p->machine.nodes;
    p->device_w = device->tdp_w;
    p->goodput.share = 1;
    if (a->failures.save_s > 0) PACE_TRY(find_goodput(p, a, devices));
    PACE_TRY(pace_approach_set_jitter(&p->step.approach, a->options->jitter));
    assume_batch(a, &p->step, devices);
    p->learning = learning_of(p, a, p->step.asked.config.global_batch);
    choose_modules(p, a->options);
    return make_space(p, a);
}

/* Of parts of machines, which are many, one is shown. */
static bool has_parts(const pace_plan_options *o) { return o->within || o->budget; }
static size_t top_of(const pace_plan_options *o) { return o->top > 0 ? (size_t)o->top : has_parts(o) ? 1 : 5; }

/* The fastest of each question's own number, and some in the place of those that a walk refuses. */
static pace_plan_rules rules_of(const pace_plan_place *p, const pace_plan_asked *a) {
    enum { SPARE = 4, MANY = 1 << 16 };
    const pace_plan_options *o = a->options;
    size_t wanted = top_of(o) < MANY ? top_of(o) + SPARE : 0; /* all */
    return (pace_plan_rules){wanted, p->step.frameworks.plan_tie, o->stop, o->stop_context};
}

/* With a critical batch: the batch of which the fastest step learns most. */
static pace_status choose_batch(pace_plan_place *p, pace_plan_asked *a) {
    enum { DOUBLINGS = 5 };
    double usual = p->step.asked.config.global_batch, best = usual, best_per_s = 0;
    if (isnan(a->critical_batch) || is_set(a->options, "global_batch")) return PACE_OK;
    const pace_plan_rules rules = rules_of(p, a);
    for (int k = -DOUBLINGS; k <= DOUBLINGS; k++) {
        double batch = usual * exp2(k);
        pace_plan_found found = {0};
        if (batch != floor(batch)) continue;
        p->step.asked.config.global_batch = batch;
        PACE_TRY(make_space(p, a));
        pace_status status = pace_plan_search(&found, &p->step.pricer, &p->step.asked, &p->space, &rules);
        double per_s = found.fitting.count ? batch / found.fitting.items[0].closed_s / learning_of(p, a, batch) : 0;
        if (per_s > best_per_s) best_per_s = per_s, best = batch;
        pace_plan_found_free(&found);
        PACE_TRY(status);
    }
    p->step.asked.config.global_batch = best;
    p->learning = learning_of(p, a, best);
    a->batch_chosen = true;
    return make_space(p, a);
}

/* --- choices ------------------------------------------------------------------------------------------------------ */

static void finish_choice(pace_plan_choice *out, const pace_plan_place *p, double tokens) {
    double devices = p->space.devices;
    out->idle = devices - pace_config_ranks(&out->candidate.config);
    out->samples_per_s = out->candidate.config.global_batch / out->time_s.median;
    out->progress_per_s = out->samples_per_s * p->goodput.share / p->learning;
    out->days = samples_of(p, tokens) / out->progress_per_s / 86400;
    out->price = out->days * 24 * devices * p->device_price;
    out->energy_kwh = p->device_w > 0 ? out->days * 24 * devices * p->device_w / 1000 : NAN;
}

PACE_ORDER(by_time, pace_plan_choice, PACE_UP(time_s.median))

/* The engine's own time for a candidate. */
static pace_status solve_choice(pace_plan_choice *out, pace_plan_place *p, const pace_plan_candidate *candidate,
                                double tokens) {
    pace_plan_choice choice = {.candidate = *candidate};
    pace_step_case one = p->step.asked;
    pace_step_solution solution;
    one.config = candidate->config;
    one.may_recompute = false;
    if (pace_config_ranks(&one.config) < 2) one.exchange = NULL;
    PACE_TRY(pace_step_solve(&solution, &p->step.pricer, &one));
    choice.time_s = pace_predict_fits_step(p->fits, &solution, &one);
    choice.need_bytes = solution.plan.memory.all_bytes;
    choice.host_bytes = solution.plan.host_bytes;
    choice.close =
        !pace_step_surely_fits(choice.need_bytes, solution.plan.device_bytes, pace_cost_doubts(p->step.pricer.cost));
    choice.candidate.closed_s = solution.closed_s.median;
    pace_plan_otherwise(choice.otherwise, &solution.plan);
    finish_choice(&choice, p, tokens);
    *out = choice;
    return PACE_OK;
}

/* One that the walk refuses is counted as refused. */
static pace_status answer_choice(pace_plan_place *p, const pace_plan_candidate *candidate, double tokens) {
    pace_plan_choice choice;
    pace_status status = solve_choice(&choice, p, candidate, tokens);
    if (status == PACE_OK) return PACE_PUSH(&p->choices, choice);
    return status == PACE_E_MEMORY ? status : pace_plan_refuse(&p->found, pace_message_in_answer());
}

static double chunks_of(const pace_plan_choice *one) { return one->candidate.config.pp * one->candidate.config.vpp; }

/* Whether one as fast should lead: it surely fits, else it does not offload, else its pipeline is the shorter. */
static bool is_safer(const pace_plan_choice *one, const pace_plan_choice *other) {
    if (one->close != other->close) return other->close;
    int offload = one->candidate.config.offload, of_other = other->candidate.config.offload;
    return offload != of_other ? offload < of_other : chunks_of(one) < chunks_of(other);
}

/* Of the first and those that take as long, the safest leads. */
static void lead_sure(pace_plan_choice *all, size_t count, double tie) {
    size_t best = 0;
    for (size_t i = 1; i < count && all[i].time_s.median <= all[0].time_s.median * (1 + tie); i++)
        if (is_safer(&all[i], &all[best])) best = i;
    const pace_plan_choice leader = all[best];
    for (; best > 0; best--) all[best] = all[best - 1];
    all[0] = leader;
}

static void order_choices(pace_plan_asked *a, pace_plan_place *p) {
    const pace_plan_choice *first = p->choices.items;
    double screened_s = first->time_s.median, spread = p->step.frameworks.plan_spread;
    PACE_SORT(&p->choices, by_time);
    a->order_changed |= first->time_s.median < screened_s;
    lead_sure(p->choices.items, p->choices.count, p->step.frameworks.plan_tie);
    for (size_t i = 0; i < p->choices.count; i++)
        p->choices.items[i].chance = pace_plan_chance(first->time_s.median, p->choices.items[i].time_s.median, spread);
}

static void find_otherwise(pace_plan_place *p) {
    const pace_plan_choice *all = p->choices.items;
    for (int what = 0; what < PACE_PLAN_OTHERWISE; what++) {
        double best_s = INFINITY;
        for (size_t i = 0; i < p->choices.count; i++) {
            double time_s = all[i].time_s.median * all[i].otherwise[what];
            if (time_s < best_s) best_s = time_s, p->otherwise_first[what] = i;
        }
        p->otherwise_lost[what] = all[0].time_s.median * all[0].otherwise[what] / best_s - 1;
    }
}

/* Who is the fastest, and what timing the first few would gain. */
static pace_status settle(pace_plan_place *p) {
    enum { TIMED = 3 };
    const double sure = 0.9;
    size_t count = p->choices.count;
    double spread = p->step.frameworks.plan_spread, *figures = pace_alloc(2 * count, sizeof *figures);
    if (!figures) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) figures[i] = p->choices.items[i].time_s.median;
    pace_plan_fastest_chances(figures + count, figures, count, spread);
    for (size_t i = 0; i < count; i++) p->choices.items[i].fastest = figures[count + i];
    if (count > 1 && figures[count] < sure) {
        p->timed = count < TIMED ? count : TIMED;
        double now_s = pace_plan_expected_s(figures, count, 0, spread);
        p->timed_gain = 1 - pace_plan_expected_s(figures, count, p->timed, spread) / now_s;
    }
    pace_free(figures);
    return PACE_OK;
}

static bool is_stopped(const pace_plan_options *o) { return o->stop && o->stop(o->stop_context); }

pace_status pace_plan_place_search(pace_plan_place *p, const pace_plan_asked *a) {
    const pace_plan_rules rules = rules_of(p, a);
    return pace_plan_search(&p->found, &p->step.pricer, &p->step.asked, &p->space, &rules);
}

/* Where all that were answered fit closely: the fastest that surely fits. */
static pace_status answer_sure(pace_plan_place *p, const pace_plan_asked *a) {
    const pace_plan_candidate *sure = pace_plan_sure(&p->found);
    for (size_t i = 0; i < p->choices.count; i++)
        if (!p->choices.items[i].close) return PACE_OK;
    return sure && p->choices.count && !has_parts(a->options) ? answer_choice(p, sure, a->tokens) : PACE_OK;
}

/* Once stopped, the first is answered alone. */
pace_status pace_plan_place_answer(pace_plan_place *p, pace_plan_asked *a) {
    size_t top = top_of(a->options);
    PACE_TRY(choose_batch(p, a));
    PACE_TRY(pace_plan_place_search(p, a));
    for (size_t i = 0; i < p->found.fitting.count && p->choices.count < top; i++) {
        if (p->choices.count && (a->stopped = a->stopped || is_stopped(a->options))) break;
        PACE_TRY(answer_choice(p, &p->found.fitting.items[i], a->tokens));
    }
    if (!a->stopped) PACE_TRY(answer_sure(p, a));
    a->stopped |= p->found.stopped;
    if (p->choices.count) {
        order_choices(a, p);
        find_otherwise(p);
    }
    return p->choices.count ? settle(p) : PACE_OK;
}

pace_status pace_plan_place_best(pace_plan_choice *out, char *refused, size_t size, const pace_plan_asked *a,
                                 pace_plan_place *p, const pace_config *config, const bool pinned[PACE_PLAN_FIELDS]) {
    pace_plan_space space = p->space;
    pace_plan_found found = {0};
    pace_step_case base = p->step.asked;
    const pace_plan_rules rules = rules_of(p, a);
    base.config = *config;
    pace_status status = make_values(p, config, pinned, true);
    if (status == PACE_OK) status = pace_plan_search(&found, &p->step.pricer, &base, &p->space, &rules);
    if (status == PACE_OK && found.fitting.count > 0) {
        status = solve_choice(out, p, &found.fitting.items[0], a->tokens);
        if (status != PACE_E_MEMORY) status = PACE_OK;
    }
    if (found.fitting.count == 0) out->need_bytes = found.nearest.need_bytes;
    if (found.refusals.count > 0) snprintf(refused, size, "%s", found.refusals.items[0].first);
    pace_plan_found_free(&found);
    p->space = space;
    return status;
}

pace_status pace_plan_place_share(pace_plan_choice *out, const pace_plan_asked *a, pace_plan_place *p, double samples,
                                  bool timed) {
    const double whole = p->step.asked.config.global_batch;
    pace_plan_space space = p->space;
    pace_plan_found found = {0};
    const pace_plan_rules rules = rules_of(p, a);
    *out = (pace_plan_choice){.time_s = {.median = INFINITY}};
    p->step.asked.config.global_batch = samples;
    pace_status status = make_space(p, a);
    if (status == PACE_OK) status = pace_plan_search(&found, &p->step.pricer, &p->step.asked, &p->space, &rules);
    for (size_t i = 0; status == PACE_OK && isinf(out->time_s.median) && i < found.fitting.count; i++) {
        if (timed) status = solve_choice(out, p, &found.fitting.items[i], a->tokens);
        else out->time_s.median = found.fitting.items[i].closed_s;
        if (status != PACE_E_MEMORY) status = PACE_OK; /* the next */
    }
    pace_plan_found_free(&found);
    p->step.asked.config.global_batch = whole;
    p->space = space;
    return status;
}

void pace_plan_place_close(pace_plan_place *p) {
    pace_plan_found_free(&p->found);
    PACE_VEC_FREE(&p->choices, &p->loosened);
    pace_step_asked_close(&p->step);
    pace_free(p);
}

/* --- which one ---------------------------------------------------------------------------------------------------- */

static bool is_in_time(const pace_plan_asked *a, const pace_plan_choice *one, double longer) {
    return isnan(a->within_days) || one->days * longer <= a->within_days;
}

static bool is_in_budget(const pace_plan_asked *a, const pace_plan_choice *one, double longer) {
    return isnan(a->budget) || one->price * longer <= a->budget;
}

bool pace_plan_is_done(const pace_plan_asked *asked, const pace_plan_place *place, bool sure) {
    if (place->choices.count == 0) return false;
    const pace_plan_choice *one = &place->choices.items[0];
    double longer = sure ? pace_estimate_high(one->time_s) / one->time_s.median : 1;
    return is_in_time(asked, one, longer) && is_in_budget(asked, one, longer);
}

/* What a place must be to be looked at, from the strictest to anything that fits. */
typedef enum { DONE, IN_TIME, FITS } demand;

static bool meets(const pace_plan_asked *a, const pace_plan_place *p, demand what) {
    if (p->choices.count == 0) return false;
    return what == FITS || (what == IN_TIME ? is_in_time(a, &p->choices.items[0], 1) : pace_plan_is_done(a, p, false));
}

const pace_plan_place *pace_plan_best(const pace_plan_asked *asked, bool cheapest) {
    const pace_plan_place *best = NULL;
    for (demand what = DONE; !best && what <= FITS; what++)
        for (size_t i = 0; i < asked->places.count; i++) {
            const pace_plan_place *p = asked->places.items[i];
            if (!meets(asked, p, what)) continue;
            const pace_plan_choice *one = &p->choices.items[0], *first = best ? &best->choices.items[0] : NULL;
            if (!first || (cheapest ? one->price < first->price : one->progress_per_s > first->progress_per_s))
                best = p;
        }
    return best;
}

const pace_plan_place *pace_plan_smallest(const pace_plan_asked *asked, bool sure) {
    const pace_plan_place *smallest = NULL;
    for (size_t i = 0; i < asked->places.count; i++) {
        const pace_plan_place *p = asked->places.items[i];
        if (!pace_plan_is_done(asked, p, sure)) continue;
        if (!smallest || p->space.devices < smallest->space.devices) smallest = p;
    }
    return smallest;
}

const pace_plan_place *pace_plan_chosen(const pace_plan_asked *asked) {
    const pace_plan_place *smallest = pace_plan_smallest(asked, false);
    if (asked->options->within && smallest) return smallest;
    return pace_plan_best(asked, asked->options->budget && !smallest);
}

#include "ask/plan_asked.h"

#include "ask/context.h"
#include "ask/launcher.h"
#include "ask/model_settings.h"
#include "ask/plan_words.h"
#include "machine/device_resolve.h"
#include "model/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- words -------------------------------------------------------------------------------------------------------- */

static pace_status read_words(pace_plan_asked *a) {
    const pace_plan_options *o = a->options;
    pace_plan_words words;
    if (o->on.count == 0)
        return pace_fail(PACE_E_USAGE, "on: expected a machine, such as dgx-h100*2 (paceline machines lists them)");
    PACE_TRY(pace_plan_words_read(&words, o->tokens, o->within));
    a->tokens = words.amount;
    a->within_days = words.within_days;
    return PACE_OK;
}

/* --- a place ------------------------------------------------------------------------------------------------------ */

/* Everybody is compared at one batch: where nobody says it, at the catalogue's. */
static void assume_batch(pace_plan_asked *a, pace_step_asked *step, double devices) {
    static const char *const keys[] = {"global_batch", NULL};
    pace_config *config = &step->asked.config;
    double sequence = pace_model_sequence(&step->model, config), samples = step->frameworks.plan_samples * devices;
    if (pace_settings_name(&a->options->set, keys)) return;
    if (sequence > 0) samples = fmax(devices, step->frameworks.plan_tokens / sequence);
    config->global_batch = exp2(round(log2(samples)));
    while (fmod(config->global_batch, devices) != 0 && config->global_batch < devices) config->global_batch *= 2;
    if (fmod(config->global_batch, devices) != 0) config->global_batch = devices * ceil(config->global_batch / devices);
    a->batch_assumed = true;
}

static pace_status make_space(pace_plan_place *p, const pace_plan_options *o) {
    pace_step_case *one = &p->step.asked;
    pace_model_parts parts;
    bool pinned[PACE_PLAN_FIELDS], experts = false, tables = false;
    for (int f = 0; f < PACE_PLAN_FIELDS; f++)
        pinned[f] = pace_settings_name(&o->set, (const char *const[]){pace_plan_field_names[f], NULL});
    for (size_t i = 0; i < one->model->layers.count; i++) {
        experts |= one->model->layers.items[i].rule->expert_elements != NULL;
        tables |= one->model->layers.items[i].rule->sparse;
    }
    PACE_TRY(pace_model_parts_find(&parts, one->model, &one->config));
    const pace_plan_limits limits = {.devices = (double)p->machine.devices * p->machine.nodes,
                                     .devices_of_node = p->machine.devices,
                                     .layers = parts.layers,
                                     .sequence = pace_model_sequence(one->model, &one->config),
                                     .per_step = one->config.global_batch,
                                     .experts = experts,
                                     .zero_known = one->framework->zero_known,
                                     .schedule_known = one->framework->schedule_known,
                                     .tables_follow = tables && !pinned[PACE_PLAN_EP]};
    p->layers = parts.layers;
    pace_model_parts_free(&parts);
    pace_plan_space_make(&p->space, &limits, &one->config, pinned);
    if (pace_settings_name(&o->set, (const char *const[]){"dp", NULL})) p->space.dp = one->config.dp;
    return PACE_OK;
}

static pace_status open_place(pace_plan_place *p, pace_plan_asked *a, const char *name) {
    const pace_device *device;
    PACE_TRY(pace_device_resolve(&device, &a->devices, p->machine.device, 0));
    if (device->is_cpu)
        return pace_fail(PACE_E_USAGE,
                         "on: expected accelerators, found the CPU %s, of which no configuration is searched",
                         device->name);
    const pace_step_words words = {.name = name, .set = &a->options->set, .device = device, .machine = &p->machine};
    PACE_TRY(pace_step_unshared_open(&p->step, a->options->context->catalog, &words));
    if (p->step.asked.config.mode != PACE_TRAINING)
        return pace_fail(PACE_E_USAGE, "set: expected mode=training: a plan is of training");
    assume_batch(a, &p->step, (double)p->machine.devices * p->machine.nodes);
    return make_space(p, a->options);
}

static void finish_choice(pace_plan_choice *out, const pace_plan_place *p, double tokens) {
    const pace_step_case *one = &p->step.asked;
    double sequence = pace_model_sequence(one->model, &one->config), devices = p->space.devices;
    out->samples_per_s = out->candidate.config.global_batch / out->time_s.median;
    double samples = sequence > 0 ? tokens / sequence : tokens;
    out->days = samples / out->samples_per_s / 86400;
    out->price = out->days * 24 * devices * p->device_price;
}

static int by_time(const void *left, const void *right) {
    const pace_plan_choice *a = left, *b = right;
    return (a->time_s.median > b->time_s.median) - (a->time_s.median < b->time_s.median);
}

/* The engine's own time for a candidate; one that the walk refuses is counted as refused. */
static pace_status answer_choice(pace_plan_place *p, const pace_plan_candidate *candidate, double tokens) {
    pace_plan_choice choice = {.candidate = *candidate};
    pace_step_case one = p->step.asked;
    pace_step_solution solution;
    one.config = candidate->config;
    one.may_recompute = false;
    if (pace_config_ranks(&one.config) < 2) one.exchange = NULL;
    pace_status status = pace_step_solve(&solution, &p->step.pricer, &one);
    if (status != PACE_OK) return status == PACE_E_MEMORY ? status : pace_plan_refuse(&p->found, pace_message());
    double has = solution.plan.device_bytes, doubt = pace_cost_doubts(p->step.pricer.cost)->figure[PACE_DOUBT_MEMORY];
    choice.time_s = solution.time_s;
    choice.need_bytes = solution.plan.memory.all_bytes;
    choice.close = has > 0 && choice.need_bytes * doubt > has;
    finish_choice(&choice, p, tokens);
    return PACE_PUSH(&p->choices, choice);
}

/* Chances take the errors of two configurations as independent. */
static void order_choices(pace_plan_asked *a, pace_plan_place *p) {
    const pace_plan_choice *first = p->choices.items;
    double screened_s = first->time_s.median, spread = p->step.frameworks.plan_spread;
    qsort(p->choices.items, p->choices.count, sizeof *p->choices.items, by_time);
    a->order_changed |= first->time_s.median < screened_s;
    for (size_t i = 0; i < p->choices.count; i++) {
        double apart = log(p->choices.items[i].time_s.median / first->time_s.median);
        p->choices.items[i].chance = 0.5 * erfc(-apart / (2 * spread));
    }
}

static pace_status answer_place(pace_plan_asked *a, pace_plan_place *p) {
    size_t top = a->options->top > 0 ? (size_t)a->options->top : a->options->within ? 1 : 5;
    PACE_TRY(pace_plan_search(&p->found, &p->step.pricer, &p->step.asked, &p->space));
    for (size_t i = 0; i < p->found.fitting.count && p->choices.count < top; i++)
        PACE_TRY(answer_choice(p, &p->found.fitting.items[i], a->tokens));
    if (p->choices.count) order_choices(a, p);
    return PACE_OK;
}

static pace_status add_place(pace_plan_asked *a, const char *name, const pace_machine *machine, double price) {
    pace_plan_place *p = pace_alloc(1, sizeof *p);
    if (!p) return PACE_E_MEMORY;
    pace_status status = PACE_PUSH(&a->places, p);
    if (status != PACE_OK) {
        pace_free(p);
        return status;
    }
    p->machine = *machine;
    p->device_price = price;
    PACE_TRY(open_place(p, a, name));
    return answer_place(a, p);
}

/* With a limit of days, parts of the machine too: nodes from one on, twice as many each time. */
static pace_status add_machine(pace_plan_asked *a, const char *name, size_t number) {
    pace_machine machine;
    double price;
    PACE_TRY(pace_machine_asked(&machine, a->options->context->catalog, a->options->on.items[number]));
    PACE_TRY(pace_plan_price(&price, &a->options->price, number, a->options->on.count));
    pace_machine part = machine;
    for (int nodes = 1; a->options->within && nodes < machine.nodes; nodes *= 2) {
        part.nodes = nodes;
        snprintf(part.name, sizeof part.name, "%.*s*%d", (int)strcspn(machine.name, "*"), machine.name, nodes);
        PACE_TRY(add_place(a, name, &part, price));
    }
    return add_place(a, name, &machine, price);
}

static pace_status find_launch(pace_plan_asked *a) {
    const pace_plan_place *best = pace_plan_best(a, false);
    if (!best) return PACE_OK;
    const pace_step_case *one = &best->step.asked;
    const pace_launching launch = {.config = &best->choices.items[0].candidate.config,
                                   .framework = one->framework->name,
                                   .nodes = best->machine.nodes,
                                   .devices_of_node = best->machine.devices,
                                   .layers = best->layers,
                                   .sequence = pace_model_sequence(one->model, &one->config)};
    return pace_launch_lines(&a->launcher, &a->launch, a->options->context->catalog, &launch);
}

pace_status pace_plan_ask(pace_plan_asked *out, const char *name, const pace_plan_options *options) {
    out->options = options;
    PACE_TRY(read_words(out));
    PACE_TRY(pace_device_catalog_load(&out->devices, options->context->catalog));
    for (size_t i = 0; i < options->on.count; i++) PACE_TRY(add_machine(out, name, i));
    return find_launch(out);
}

void pace_plan_asked_free(pace_plan_asked *asked) {
    for (size_t i = 0; i < asked->places.count; i++) {
        pace_plan_place *p = asked->places.items[i];
        pace_plan_found_free(&p->found);
        PACE_VEC_FREE(&p->choices);
        pace_step_asked_close(&p->step);
        pace_free(p);
    }
    PACE_VEC_FREE(&asked->places);
    pace_texts_free(&asked->launch);
    pace_device_catalog_free(&asked->devices);
}

/* --- which one ---------------------------------------------------------------------------------------------------- */

const pace_plan_place *pace_plan_best(const pace_plan_asked *asked, bool cheapest) {
    const pace_plan_place *best = NULL;
    for (size_t i = 0; i < asked->places.count; i++) {
        const pace_plan_place *p = asked->places.items[i];
        if (p->choices.count == 0) continue;
        const pace_plan_choice *one = &p->choices.items[0], *first = best ? &best->choices.items[0] : NULL;
        if (!first || (cheapest ? one->price < first->price : one->samples_per_s > first->samples_per_s)) best = p;
    }
    return best;
}

const pace_plan_place *pace_plan_smallest(const pace_plan_asked *asked) {
    const pace_plan_place *smallest = NULL;
    for (size_t i = 0; i < asked->places.count; i++) {
        const pace_plan_place *p = asked->places.items[i];
        if (p->choices.count == 0 || !(p->choices.items[0].days <= asked->within_days)) continue;
        if (!smallest || p->space.devices < smallest->space.devices) smallest = p;
    }
    return smallest;
}

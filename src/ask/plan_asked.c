#include "ask/plan_asked.h"

#include "ask/context.h"
#include "ask/launcher.h"
#include "base/order.h"
#include "model/model_settings.h"
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
    if (o->failures) PACE_TRY(pace_plan_failures(&a->failures, o->failures));
    if (o->failures && !o->tokens)
        return pace_fail(PACE_E_USAGE,
                         "failures: has no effect without " PACE_FIELD "tokens, which say what is trained");
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

/* The values of all fields that are not pinned to those of `config`. */
static pace_status make_values(pace_plan_place *p, const pace_config *config, const bool pinned[PACE_PLAN_FIELDS]) {
    pace_step_case *one = &p->step.asked;
    pace_model_parts parts;
    bool experts = false, tables = false;
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
    pace_plan_space_make(&p->space, &limits, config, pinned);
    return PACE_OK;
}

static pace_status make_space(pace_plan_place *p, const pace_plan_options *o) {
    pace_step_case *one = &p->step.asked;
    bool pinned[PACE_PLAN_FIELDS];
    for (int f = 0; f < PACE_PLAN_FIELDS; f++)
        pinned[f] = pace_settings_name(&o->set, (const char *const[]){pace_plan_field_names[f], NULL});
    PACE_TRY(make_values(p, &one->config, pinned));
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
    double devices = (double)p->machine.devices * p->machine.nodes;
    p->device_w = device->tdp_w;
    p->goodput.share = 1;
    if (a->failures.save_s > 0) p->goodput = pace_goodput_of(&a->failures, devices);
    assume_batch(a, &p->step, devices);
    return make_space(p, a->options);
}

static void finish_choice(pace_plan_choice *out, const pace_plan_place *p, double tokens) {
    const pace_step_case *one = &p->step.asked;
    double sequence = pace_model_sequence(one->model, &one->config), devices = p->space.devices;
    out->samples_per_s = out->candidate.config.global_batch / out->time_s.median;
    double samples = sequence > 0 ? tokens / sequence : tokens;
    out->days = samples / out->samples_per_s / 86400 / p->goodput.share;
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
    double has = solution.plan.device_bytes, doubt = pace_cost_doubts(p->step.pricer.cost)->figure[PACE_DOUBT_MEMORY];
    choice.time_s = solution.time_s;
    choice.need_bytes = solution.plan.memory.all_bytes;
    choice.close = has > 0 && choice.need_bytes * doubt > has;
    choice.candidate.closed_s = solution.closed_s.median;
    finish_choice(&choice, p, tokens);
    *out = choice;
    return PACE_OK;
}

/* One that the walk refuses is counted as refused. */
static pace_status answer_choice(pace_plan_place *p, const pace_plan_candidate *candidate, double tokens) {
    pace_plan_choice choice;
    pace_status status = solve_choice(&choice, p, candidate, tokens);
    if (status == PACE_OK) return PACE_PUSH(&p->choices, choice);
    return status == PACE_E_MEMORY ? status : pace_plan_refuse(&p->found, pace_message());
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

/* --- the user's own configuration --------------------------------------------------------------------------------- */

/* What the file says that no search chooses (batch, sequence, precision) is fixed, unless the question says other. */
static pace_status read_file(pace_plan_asked *a) {
    const pace_plan_options *o = a->options;
    if (!o->from) return PACE_OK;
    if (o->on.count > 1) return pace_fail(PACE_E_USAGE, "from: expected one machine (on), found %zu", o->on.count);
    if (o->within) return pace_fail(PACE_E_USAGE, "from: expected no parts of machines (within)");
    PACE_TRY(pace_launcher_read(&a->file, o->context->catalog, o->from));
    for (size_t i = 0; i < o->set.count; i++) PACE_TRY(PACE_PUSH(&a->set, o->set.items[i]));
    if (!pace_framework_asked(&o->set)) PACE_TRY(PACE_PUSH(&a->set, a->file.framework));
    for (size_t i = 0; i < a->file.settings.count; i++) {
        const char *word = a->file.settings.items[i];
        char key[32];
        bool searched = false;
        snprintf(key, sizeof key, "%.*s", (int)strcspn(word, "="), word);
        for (int f = 0; f < PACE_PLAN_FIELDS; f++) searched |= strcmp(key, pace_plan_field_names[f]) == 0;
        bool said = pace_settings_name(&o->set, (const char *const[]){key, NULL});
        if (!searched && !said && strcmp(key, "sequence_parallel") != 0) PACE_TRY(PACE_PUSH(&a->set, word));
    }
    a->with_file = *o;
    a->with_file.set = (pace_words){a->set.items, a->set.count};
    a->options = &a->with_file;
    return PACE_OK;
}

/* One of what is searched and not said, else as the file has it. */
static pace_status read_yours(pace_config *out, pace_plan_asked *a, pace_plan_place *p) {
    pace_config config = p->step.asked.config;
    config.tp = config.pp = config.vpp = config.cp = config.ep = config.micro_batch = 1;
    config.zero_stage = 0;
    if (strcmp(p->step.asked.framework->name, "fsdp") != 0) config.sequence_parallel = 0; /* a flag of its own */
    config.recompute = PACE_RECOMPUTE_NONE;
    config.schedule = PACE_SCHEDULE_1F1B;
    for (size_t i = 0; i < a->file.settings.count; i++) {
        const char *word = a->file.settings.items[i], *equals = strchr(word, '=');
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)(equals - word), word);
        if (pace_config_has(key)) PACE_TRY(pace_config_set(&config, key, equals + 1));
    }
    if (a->file.layers_of_chunk > 0) config.vpp = p->layers / (config.pp * a->file.layers_of_chunk);
    if (!pace_settings_name(&(pace_words){(const char *const *)a->file.settings.items, a->file.settings.count},
                            (const char *const[]){"zero_stage", NULL}) &&
        strcmp(p->step.asked.framework->name, "fsdp") == 0)
        config.zero_stage = 3;
    *out = config;
    return PACE_OK;
}

static void say_field(char out[32], const pace_config *config, int field) {
    const double values[] = {config->tp, config->pp,         config->vpp,        config->cp,
                             config->ep, config->zero_stage, config->zero_group, config->micro_batch};
    const char *word = pace_config_word(config, pace_plan_field_names[field]);
    if (word) snprintf(out, 32, "%s", word);
    else snprintf(out, 32, "%.0f", values[field]);
}

/* The fastest that fits with some fields pinned to `config`; `out` is untouched where nothing does. */
static pace_status best_of(pace_plan_choice *out, pace_plan_asked *a, pace_plan_place *p, const pace_config *config,
                           const bool pinned[PACE_PLAN_FIELDS]) {
    pace_plan_space space = p->space;
    pace_plan_found found = {0};
    pace_step_case base = p->step.asked;
    base.config = *config;
    pace_status status = make_values(p, config, pinned);
    if (status == PACE_OK) status = pace_plan_search(&found, &p->step.pricer, &base, &p->space);
    if (status == PACE_OK && found.fitting.count > 0) {
        status = solve_choice(out, p, &found.fitting.items[0], a->tokens);
        if (status != PACE_E_MEMORY) status = PACE_OK;
    }
    pace_plan_found_free(&found);
    p->space = space;
    return status;
}

PACE_ORDER(by_change, pace_plan_change, PACE_UP(choice.time_s.median))

static pace_status try_field(pace_plan_asked *a, pace_plan_place *p, const pace_config *yours, int field) {
    bool pinned[PACE_PLAN_FIELDS];
    pace_plan_change change = {.field = pace_plan_field_names[field]};
    for (int f = 0; f < PACE_PLAN_FIELDS; f++) pinned[f] = f != field;
    PACE_TRY(best_of(&change.choice, a, p, yours, pinned));
    double yours_s = a->yours.time_s.median;
    if (!(change.choice.time_s.median > 0) || (yours_s > 0 && change.choice.time_s.median >= 0.999 * yours_s))
        return PACE_OK;
    say_field(change.from, yours, field);
    say_field(change.to, &change.choice.candidate.config, field);
    return PACE_PUSH(&a->changes, change);
}

static pace_status improve(pace_plan_asked *a) {
    pace_plan_place *p = a->places.items[0];
    bool pinned[PACE_PLAN_FIELDS];
    pace_config yours;
    if (!a->options->from) return PACE_OK;
    for (int f = 0; f < PACE_PLAN_FIELDS; f++) pinned[f] = true;
    PACE_TRY(read_yours(&yours, a, p));
    PACE_TRY(best_of(&a->yours, a, p, &yours, pinned));
    if (!(a->yours.time_s.median > 0)) {
        a->yours.candidate.config = yours;
        snprintf(a->yours_refused, sizeof a->yours_refused, "%s", "it does not divide, or does not fit into memory");
    }
    for (int f = 0; f < PACE_PLAN_FIELDS; f++) PACE_TRY(try_field(a, p, &yours, f));
    if (a->changes.count) qsort(a->changes.items, a->changes.count, sizeof *a->changes.items, by_change);
    return PACE_OK;
}

/* --- where nothing fits ------------------------------------------------------------------------------------------- */

static void close_place(pace_plan_place *p) {
    pace_plan_found_free(&p->found);
    PACE_VEC_FREE(&p->choices);
    PACE_VEC_FREE(&p->loosened);
    pace_step_asked_close(&p->step);
    pace_free(p);
}

/* Searches once more with the options and machine as they are now; what fits is kept in `out`. */
static pace_status try_change(pace_plan_place *out, pace_plan_asked *a, const char *name, const pace_machine *machine,
                              pace_plan_loosened *change) {
    pace_plan_place *p = pace_alloc(1, sizeof *p);
    if (!p) return PACE_E_MEMORY;
    p->machine = *machine;
    pace_status status = open_place(p, a, name);
    if (status == PACE_OK) status = pace_plan_search(&p->found, &p->step.pricer, &p->step.asked, &p->space);
    if (status == PACE_OK && p->found.fitting.count > 0) {
        change->config = p->found.fitting.items[0].config;
        status = PACE_PUSH(&out->loosened, *change);
    }
    close_place(p);
    return status == PACE_E_MEMORY ? status : PACE_OK;
}

/* Whether a setting is one that a search may choose; the batch that all share only says what divides. */
static bool may_be_left_out(const pace_plan_place *p, const char *key) {
    bool is = strcmp(key, "dp") == 0 || (p->found.tried == 0 && strcmp(key, "global_batch") == 0);
    for (int f = 0; f < PACE_PLAN_FIELDS; f++) is |= strcmp(key, pace_plan_field_names[f]) == 0;
    return is;
}

static pace_status leave_out(pace_plan_place *p, pace_plan_asked *a, const char *name, size_t number) {
    const pace_plan_options *all = a->options;
    pace_plan_options less = *all;
    pace_plan_loosened change = {.nodes = 0};
    const char *word = all->set.items[number], *equals = strchr(word, '=');
    if (!equals) return PACE_OK;
    snprintf(change.field, sizeof change.field, "%.*s", (int)(equals - word), word);
    snprintf(change.value, sizeof change.value, "%s", equals + 1);
    if (!may_be_left_out(p, change.field)) return PACE_OK;
    const char **words = pace_alloc(all->set.count, sizeof *words);
    if (!words) return PACE_E_MEMORY;
    less.set = (pace_words){words, 0};
    for (size_t i = 0; i < all->set.count; i++)
        if (i != number) words[less.set.count++] = all->set.items[i];
    a->options = &less;
    bool assumed = a->batch_assumed;
    pace_status status = try_change(p, a, name, &p->machine, &change);
    a->batch_assumed = assumed;
    a->options = all;
    pace_free(words);
    return status;
}

/* Single changes with which something fits: each setting left out, and more nodes of the same machine. */
static pace_status find_loosened(pace_plan_asked *a, const char *name) {
    pace_plan_place *p = a->places.items[a->places.count - 1];
    if (pace_plan_best(a, false)) return PACE_OK;
    for (size_t i = 0; i < a->options->set.count; i++) PACE_TRY(leave_out(p, a, name, i));
    pace_machine more = p->machine;
    size_t before = p->loosened.count;
    for (int times = 2; times <= PACE_PLAN_NODES_MOST && p->machine.nics > 0; times *= 2) {
        more.nodes = p->machine.nodes * times;
        PACE_TRY(try_change(p, a, name, &more, &(pace_plan_loosened){.nodes = more.nodes}));
        if (p->loosened.count > before) break;
    }
    return PACE_OK;
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

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

/* Of days and price. */
static void find_front(pace_plan_asked *a) {
    for (size_t i = 0; i < a->places.count; i++) {
        pace_plan_place *p = a->places.items[i];
        p->on_front = p->choices.count > 0 && p->choices.items[0].price > 0;
        for (size_t k = 0; p->on_front && k < a->places.count; k++) {
            const pace_plan_place *other = a->places.items[k];
            if (other == p || other->choices.count == 0) continue;
            const pace_plan_choice *one = &p->choices.items[0], *two = &other->choices.items[0];
            bool better = two->days < one->days || two->price < one->price;
            if (better && two->days <= one->days && two->price <= one->price) p->on_front = false;
        }
    }
}

pace_status pace_plan_ask(pace_plan_asked *out, const char *name, const pace_plan_options *options) {
    out->options = options;
    PACE_TRY(read_words(out));
    PACE_TRY(pace_device_catalog_load(&out->devices, options->context->catalog));
    PACE_TRY(read_file(out));
    for (size_t i = 0; i < options->on.count; i++) PACE_TRY(add_machine(out, name, i));
    PACE_TRY(improve(out));
    find_front(out);
    PACE_TRY(find_loosened(out, name));
    return find_launch(out);
}

void pace_plan_asked_free(pace_plan_asked *asked) {
    for (size_t i = 0; i < asked->places.count; i++) close_place(asked->places.items[i]);
    PACE_VEC_FREE(&asked->places);
    PACE_VEC_FREE(&asked->changes);
    PACE_VEC_FREE(&asked->set);
    pace_launcher_settings_free(&asked->file);
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

#include "ask/predict/step_memory.h"
#include "base/print.h"
#include "plan/offload_memory.h"

#include <math.h>

/* What one try changes; 0 = as asked. */
typedef struct {
    double micro_batch, dp, tp, pp, cp, zero_stage;
    bool recompute, offload;
} change;

typedef struct {
    const pace_memory_asked *memory;
    const pace_exchange *exchange; /* of all devices of the machine: the case's, whose prices are known; `other` */
    pace_exchange other;
    double devices;
    bool out_of_memory; /* of this program */
} search;

/* Whether the step can be had where its groups are others than those that were asked for. */
static pace_status check_groups(const search *s, const change *c, const pace_step_case *asked) {
    pace_step_solution solution;
    pace_step_case one = *asked;
    bool same = !(c->dp > 0 || c->tp > 0 || c->pp > 0 || c->cp > 0);
    return same ? PACE_OK : pace_step_settle(&solution, s->memory->pricer, &one);
}

static bool fits(search *s, const change *c) {
    pace_step_case one = *s->memory->asked;
    pace_config *config = &one.config;
    pace_step_solution solution;
    if (c->micro_batch > 0) config->micro_batch = c->micro_batch;
    if (c->recompute) config->recompute = PACE_RECOMPUTE_FULL;
    if (c->offload) config->offload = PACE_OFFLOAD_OPTIMIZER;
    if (c->dp > 0) config->dp = c->dp;
    if (c->tp > 0) config->tp = c->tp;
    if (c->pp > 0) config->pp = c->pp;
    if (c->cp > 0) config->cp = c->cp;
    if (s->memory->fills_machine && !(c->dp > 0)) config->dp = fmax(1, pace_config_replicas(config, s->devices));
    if (c->zero_stage > 0) config->zero_stage = c->zero_stage;
    if (s->memory->zero_said && config->zero_stage > 0 && config->dp * config->cp == 1) return false;
    if (s->memory->spread_tables) config->ep = config->dp * config->cp;
    one.may_recompute &= !c->recompute;
    if (one.assumes_recompute && !c->recompute) config->recompute = one.unassumed_recompute;
    if (s->out_of_memory || pace_config_ranks(config) > s->devices || pace_config_check(config) != PACE_OK)
        return false;
    if (s->memory->machine) one.exchange = pace_config_ranks(config) > 1 ? s->exchange : NULL;
    pace_status status = pace_step_weigh(&solution, s->memory->pricer, &one);
    bool room = status == PACE_OK && solution.fitting == PACE_FITS;
    if (room) status = check_groups(s, c, &one);
    s->out_of_memory |= status == PACE_E_MEMORY;
    return room && status == PACE_OK;
}

static void add_setting(char out[PACE_REMEDY_TEXT], const char *option, const char *name, double value) {
    pace_list(out, PACE_REMEDY_TEXT, " ", "%s%s%.0f", option, name, value);
}

static void add_word(char out[PACE_REMEDY_TEXT], const char *option, const char *word) {
    pace_list(out, PACE_REMEDY_TEXT, " ", "%s%s", option, word);
}

static void say(char out[PACE_REMEDY_TEXT], const change *c, const pace_memory_asked *memory) {
    const char *option = memory->option;
    *out = '\0';
    if (c->dp > 0) add_setting(out, option, "dp=", c->dp);
    if (c->tp > 0) add_setting(out, option, "tp=", c->tp);
    if (c->pp > 0) add_setting(out, option, "pp=", c->pp);
    if (c->cp > 0) add_setting(out, option, "cp=", c->cp);
    if (c->zero_stage > 0) add_setting(out, option, "zero_stage=", c->zero_stage);
    if (c->micro_batch > 0 && memory->batch_option)
        add_setting(out, memory->batch_option, "", c->micro_batch * fmax(1, memory->batch_times));
    else if (c->micro_batch > 0) add_setting(out, option, "micro_batch=", c->micro_batch);
    if (c->recompute) add_word(out, option, "recompute=full");
    if (c->offload) add_word(out, option, "offload=optimizer");
}

/* The largest power of two below the micro-batch; 0 below 1. */
static double smaller(const search *s, double micro_batch) {
    double halves = 1;
    if (micro_batch < s->memory->asked->config.micro_batch) return micro_batch >= 2 ? micro_batch / 2 : 0;
    while (2 * halves < micro_batch) halves *= 2;
    return micro_batch > 1 ? halves : 0;
}

static bool may_recompute(const search *s) {
    const pace_config *config = &s->memory->asked->config;
    bool asked = config->recompute == PACE_RECOMPUTE_FULL && !s->memory->asked->assumes_recompute;
    return config->mode == PACE_TRAINING && !asked;
}

static bool may_shard(const search *s) {
    const pace_config *config = &s->memory->asked->config;
    return config->mode == PACE_TRAINING && config->dp * config->cp > 1 && !s->memory->whole;
}

/* --- one change --------------------------------------------------------------------------------------------------- */

static bool by_batch(change *out, search *s) {
    for (double micro = smaller(s, s->memory->asked->config.micro_batch); micro >= 1; micro = smaller(s, micro)) {
        *out = (change){.micro_batch = micro};
        if (fits(s, out)) return true;
    }
    return false;
}

static bool by_recomputing(change *out, search *s) {
    *out = (change){.recompute = true};
    return may_recompute(s) && fits(s, out);
}

static bool by_sharding(change *out, search *s) {
    for (int stage = (int)s->memory->asked->config.zero_stage + 1; may_shard(s) && stage <= 3; stage++) {
        *out = (change){.zero_stage = stage};
        if (fits(s, out)) return true;
    }
    return false;
}

static bool by_splitting(change *out, search *s) {
    const pace_machine *machine = s->memory->machine;
    double tp = s->memory->asked->config.tp;
    for (double more = 2 * tp; machine && more <= machine->devices; more *= 2) {
        *out = (change){.tp = more};
        if (fits(s, out)) return true;
    }
    return false;
}

/* Sequences cut among ranks of a node, which are long enough for that. */
static bool by_cutting(change *out, search *s) {
    const pace_machine *machine = s->memory->machine;
    const pace_step_case *asked = s->memory->asked;
    double sequence = pace_model_sequence(asked->model, &asked->config);
    bool trains = asked->config.mode == PACE_TRAINING;
    for (double cp = 2 * asked->config.cp; machine && trains && cp <= machine->devices; cp *= 2) {
        *out = (change){.cp = cp};
        if (sequence / cp >= PACE_CONTEXT_PART_LEAST && fits(s, out)) return true;
    }
    return false;
}

/* The optimizer's states on the host. */
static bool by_offloading(change *out, search *s) {
    *out = (change){.offload = true};
    return s->memory->asked->config.offload == PACE_OFFLOAD_NONE && fits(s, out);
}

/* All that do alone: "a, b or c". */
static bool one_change(char out[PACE_REMEDY_TEXT], search *s) {
    static bool (*const ways[])(change * out, search * s) = {by_batch,     by_recomputing, by_sharding,
                                                             by_splitting, by_cutting,     by_offloading};
    enum { WAYS = PACE_COUNT(ways) };
    change found[WAYS];
    size_t count = 0;
    *out = '\0';
    for (size_t i = 0; i < WAYS; i++) count += ways[i](&found[count], s);
    for (size_t i = 0; i < count; i++) {
        char one[PACE_REMEDY_TEXT];
        say(one, &found[i], s->memory);
        pace_list(out, PACE_REMEDY_TEXT, i + 1 < count ? ", " : " or ", "%s", one);
    }
    return count > 0;
}

/* --- several ------------------------------------------------------------------------------------------------------ */

/* The largest smaller micro-batch of a power of two, without and with all activations recomputed. */
static bool shrink(char out[PACE_REMEDY_TEXT], search *s, change with) {
    double asked = s->memory->asked->config.micro_batch;
    int kinds = may_recompute(s) ? 2 : 1;
    for (double micro = asked; micro >= 1; micro = smaller(s, micro))
        for (int again = 0; again < kinds; again++) {
            with.recompute = again;
            with.micro_batch = micro < asked ? micro : 0;
            if (!fits(s, &with)) continue;
            say(out, &with, s->memory);
            return true;
        }
    return false;
}

/* Devices that the machine has besides: replicas that share all by ZeRO, tensor-parallel ranks, pipelines of them. */
static bool spread(char out[PACE_REMEDY_TEXT], search *s) {
    const pace_machine *machine = s->memory->machine;
    const pace_config *config = &s->memory->asked->config;
    double others = s->devices / (config->tp * config->pp * config->cp);
    if (config->mode == PACE_TRAINING && shrink(out, s, (change){.dp = others, .zero_stage = 3})) return true;
    for (double pp = 1; pp <= machine->nodes; pp *= 2)
        for (double tp = 2; tp <= machine->devices; tp *= 2)
            if (shrink(out, s, (change){.tp = tp, .pp = pp > 1 ? pp : 0})) return true;
    return false;
}

static bool several_changes(char out[PACE_REMEDY_TEXT], search *s) {
    if (shrink(out, s, (change){0})) return true;
    if (may_shard(s) && shrink(out, s, (change){.zero_stage = 3})) return true;
    if (s->memory->machine && s->devices > 1) return spread(out, s);
    return s->memory->asked->config.offload == PACE_OFFLOAD_NONE && shrink(out, s, (change){.offload = true});
}

/* Whether the case's own exchange is that of all devices of the machine. */
static bool spans(const pace_exchange *exchange, const pace_machine *machine) {
    return exchange && machine && exchange->machine.nodes == machine->nodes &&
           exchange->machine.devices == machine->devices;
}

pace_memory_asked pace_memory_asked_of(pace_step_asked *step) {
    return (pace_memory_asked){.asked = &step->asked,
                               .pricer = &step->pricer,
                               .machine = step->machine.devices ? &step->machine : NULL,
                               .fills_machine = step->all_devices,
                               .zero_said = step->zero_said,
                               .spread_tables = step->asked.assumes_tables,
                               .option = "--set "};
}

pace_status pace_step_remedy(char out[PACE_REMEDY_TEXT], const pace_memory_asked *memory) {
    const pace_machine *machine = memory->machine;
    search s = {.memory = memory, .devices = pace_config_ranks(&memory->asked->config)};
    *out = '\0';
    if (machine) s.devices = fmax(1, (double)machine->devices * machine->nodes);
    s.exchange = spans(memory->asked->exchange, machine) ? memory->asked->exchange : &s.other;
    if (machine && s.devices > 1 && s.exchange == &s.other)
        PACE_TRY(pace_exchange_open(&s.other, memory->pricer->catalog, machine, PACE_LIBRARY_AUTO, NULL));
    if (!one_change(out, &s)) several_changes(out, &s);
    return s.out_of_memory ? PACE_E_MEMORY : PACE_OK;
}

/* What parameters, gradients and optimizer take where one device holds all of them. */
static pace_status whole_bytes(double *out, const pace_memory_asked *memory) {
    pace_step_case one = *memory->asked;
    pace_config *config = &one.config;
    pace_step_solution solution;
    config->tp = config->pp = config->vpp = config->cp = config->dp = config->ep = 1;
    config->zero_stage = config->zero_group = config->sequence_parallel = config->global_batch = 0;
    config->schedule = PACE_SCHEDULE_1F1B;
    one.exchange = NULL;
    PACE_TRY(pace_step_weigh(&solution, memory->pricer, &one));
    *out = solution.plan.memory.fixed_bytes;
    return PACE_OK;
}

static pace_status say_whole(char *out, size_t size, const pace_memory_asked *memory, double device_bytes) {
    double bytes, devices = 1;
    const pace_machine *machine = memory->machine;
    char has[96] = "";
    PACE_TRY(whole_bytes(&bytes, memory));
    double needed = ceil(bytes / device_bytes);
    if (machine) devices = (double)machine->devices * machine->nodes;
    if (machine && devices < needed) pace_snprintf(has, sizeof has, "; %.60s has %.0f", machine->name, devices);
    pace_snprintf(out, size, "Parameters, gradients and optimizer alone fill %.0f such devices%s.", needed, has);
    return PACE_OK;
}

pace_status pace_step_advise(char *out, size_t size, const pace_memory_asked *memory, const pace_step_plan *plan) {
    char remedy[PACE_REMEDY_TEXT];
    double fixed = plan->memory.fixed_bytes;
    const char *host = pace_step_tightest(plan, 0).of_host ? PACE_HOST_MEMORY_HINT : "";
    PACE_TRY(pace_step_remedy(remedy, memory));
    if (*remedy) pace_snprintf(out, size, "It would fit with %s%s%s.", remedy, *host ? "; " : "", host);
    else if (*host) pace_snprintf(out, size, "No change of the configuration was found that fits; %s.", host);
    else if (fixed < plan->device_bytes)
        pace_snprintf(out, size,
                      "No batch fits: one sample's activations do not, even recomputed; fewer tokens would.");
    else return say_whole(out, size, memory, plan->device_bytes);
    return PACE_OK;
}

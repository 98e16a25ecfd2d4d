#include "ask/step_memory.h"

#include "base/print.h"

#include <math.h>

/* What one try changes; 0 = as asked. */
typedef struct {
    double micro_batch, dp, tp, pp, zero_stage;
    bool recompute;
} change;

typedef struct {
    const pace_memory_asked *memory;
    pace_exchange exchange; /* of all devices of the machine */
    double devices;
    bool out_of_memory; /* of this program */
} search;

static bool fits(search *s, const change *c) {
    pace_step_case one = *s->memory->asked;
    pace_config *config = &one.config;
    pace_step_solution solution;
    if (c->micro_batch > 0) config->micro_batch = c->micro_batch;
    if (c->recompute) config->recompute = PACE_RECOMPUTE_FULL;
    if (c->dp > 0) config->dp = c->dp;
    if (c->tp > 0) config->tp = c->tp;
    if (c->pp > 0) config->pp = c->pp;
    if (c->zero_stage > 0) config->zero_stage = c->zero_stage;
    if (s->memory->spread_tables) config->ep = config->dp * config->cp;
    one.may_recompute = false;
    if (s->out_of_memory || pace_config_ranks(config) > s->devices) return false;
    if (s->memory->machine) one.exchange = pace_config_ranks(config) > 1 ? &s->exchange : NULL;
    pace_status status = pace_step_settle(&solution, s->memory->pricer, &one);
    s->out_of_memory |= status == PACE_E_MEMORY;
    return status == PACE_OK && solution.fitting == PACE_FITS;
}

static void say(char out[PACE_REMEDY_TEXT], const change *c, const char *option) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"dp", c->dp}, {"tp", c->tp}, {"pp", c->pp}, {"zero_stage", c->zero_stage}, {"micro_batch", c->micro_batch}};
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value > 0)
            used += (size_t)pace_snprintf(out + used, PACE_REMEDY_TEXT - used, "%s%s%s=%.0f", used ? " " : "", option,
                                          numbers[i].name, numbers[i].value);
    if (c->recompute) pace_snprintf(out + used, PACE_REMEDY_TEXT - used, "%s%srecompute=full", used ? " " : "", option);
}

/* The largest smaller micro-batch of a power of two, without and with all activations recomputed. */
static bool shrink(char out[PACE_REMEDY_TEXT], search *s, change with) {
    const pace_config *config = &s->memory->asked->config;
    double halves = 1;
    bool trains = config->mode == PACE_TRAINING, whole = config->recompute == PACE_RECOMPUTE_FULL;
    while (2 * halves < config->micro_batch) halves *= 2;
    for (double micro = config->micro_batch; micro >= 1; micro = micro > halves ? halves : micro / 2)
        for (int again = 0; again <= (trains && !whole); again++) {
            with.recompute = again;
            with.micro_batch = micro < config->micro_batch ? micro : 0;
            if (!fits(s, &with)) continue;
            say(out, &with, s->memory->option);
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

pace_status pace_step_remedy(char out[PACE_REMEDY_TEXT], const pace_memory_asked *memory) {
    const pace_machine *machine = memory->machine;
    search s = {.memory = memory, .devices = pace_config_ranks(&memory->asked->config)};
    *out = '\0';
    if (machine) s.devices = fmax(1, (double)machine->devices * machine->nodes);
    if (machine && s.devices > 1)
        PACE_TRY(pace_exchange_open(&s.exchange, memory->pricer->catalog, machine, PACE_LIBRARY_AUTO, NULL));
    if (!shrink(out, &s, (change){0}) && machine && s.devices > 1) spread(out, &s);
    return s.out_of_memory ? PACE_E_MEMORY : PACE_OK;
}

pace_status pace_step_advise(char *out, size_t size, const pace_memory_asked *memory, const pace_step_plan *plan) {
    char remedy[PACE_REMEDY_TEXT];
    double fixed = plan->memory.all_bytes - plan->memory.activation_bytes;
    PACE_TRY(pace_step_remedy(remedy, memory));
    if (*remedy) pace_snprintf(out, size, "It would fit with %s.", remedy);
    else
        pace_snprintf(out, size, "Parameters, gradients and optimizer alone fill %.0f such devices.",
                      ceil(fixed / plan->device_bytes));
    return PACE_OK;
}

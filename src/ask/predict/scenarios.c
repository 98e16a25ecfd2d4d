#include "ask/predict/scenarios.h"
#include "machine/device_resolve.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>

void pace_scenarios_free(pace_scenarios *scenarios) {
    PACE_VEC_FREE_EACH(&scenarios->items, pace_scenario_free);
    pace_texts_free(&scenarios->labels);
}

/* Whether its one change is a precision, of the recorded device that has no rate for it. */
static bool is_unrated(const pace_scenario *scenario, const pace_device *recorded) {
    return scenario->has_precision && !scenario->device &&
           pace_device_rated_as(recorded, scenario->precision) != scenario->precision;
}

/* Whether it moves to a device that computes nothing in single precision, as it is. */
static bool is_unrated_there(const pace_scenario *scenario, const pace_device *recorded) {
    (void)recorded;
    return scenario->device && !scenario->device->is_cpu && !scenario->has_precision &&
           !(scenario->device->flop_per_s[PACE_FP32] > 0);
}

/* Leaves out scenarios of which one with device and precision remains; the label of the last. */
static const char *leave_out(pace_scenarios *scenarios, const pace_device *recorded,
                             bool (*leaves)(const pace_scenario *scenario, const pace_device *recorded)) {
    size_t kept = 0;
    bool elsewhere = false;
    const char *left_out = NULL;
    PACE_ITEMS (const pace_scenario, scenario, &scenarios->items)
        elsewhere |= scenario->has_precision && scenario->device;
    for (size_t i = 0; elsewhere && i < scenarios->items.count; i++) {
        pace_scenario *scenario = &scenarios->items.items[i];
        if (leaves(scenario, recorded)) {
            left_out = scenario->label;
            pace_scenario_free(scenario);
        } else scenarios->items.items[kept++] = *scenario;
    }
    if (left_out) scenarios->items.count = kept;
    return left_out;
}

const char *pace_scenarios_leave_unrated(pace_scenarios *scenarios, const pace_device *recorded) {
    return recorded ? leave_out(scenarios, recorded, is_unrated) : NULL;
}

const char *pace_scenarios_leave_single(pace_scenarios *scenarios) {
    return leave_out(scenarios, NULL, is_unrated_there);
}

pace_words *pace_what_if_words(pace_predict_options *options, const char *name) {
    size_t i = 0;
    while (strcmp(pace_what_ifs[i]->option.name, name) != 0) i++;
    return &options->what_ifs[i];
}

bool pace_what_ifs_need_device(const pace_predict_options *options) {
    for (size_t i = 0; i < pace_what_if_count; i++)
        if (!pace_what_ifs[i]->of_host && options->what_ifs[i].count) return true;
    return false;
}

size_t pace_what_ifs_asked(bool *at_odds, const pace_predict_options *options) {
    size_t count = 0;
    *at_odds = false;
    for (size_t i = 0; i < pace_what_if_count; i++) {
        size_t values = options->what_ifs[i].count;
        count += values;
        *at_odds |= values > 1 && pace_what_ifs[i]->alone;
    }
    return count;
}

static pace_status put_machine(pace_scenario *scenario, const pace_machine *machine, pace_device_catalog *devices) {
    PACE_TRY(pace_device_to_run_on(&scenario->device, devices, machine->device));
    scenario->machine.host_memory_bytes = machine->host_memory_bytes;
    if (machine->devices * machine->nodes < 2) return PACE_OK; /* nothing is said of how it is joined to others */
    if (scenario->has_approach)
        PACE_TRY(pace_approach_open(&scenario->exchange, devices->documents, &scenario->approach, machine));
    else PACE_TRY(pace_exchange_open(&scenario->exchange, devices->documents, machine, PACE_LIBRARY_AUTO, NULL));
    scenario->machine = *machine;
    scenario->has_exchange = true;
    return PACE_OK;
}

/* A machine by what tables and logs call it; where it is none, `failed` with the message there was. */
static pace_status put_named(pace_scenario *scenario, pace_status failed, const char *text,
                             pace_device_catalog *devices) {
    char refused[400];
    pace_machine machine;
    snprintf(refused, sizeof refused, "%.399s", pace_message_marked());
    pace_status status = pace_machine_asked(&machine, devices->documents, text);
    if (status == PACE_OK) return put_machine(scenario, &machine, devices);
    return status == PACE_E_MISSING ? pace_fail(failed, "%s", refused) : status;
}

/* A machine, whose devices are joined, or a device. */
static pace_status put_device(pace_scenario *scenario, const char *text, pace_device_catalog *devices) {
    pace_machine machine;
    pace_status status = pace_machine_parse(&machine, devices->documents, text);
    if (status == PACE_OK) return put_machine(scenario, &machine, devices);
    bool nameless = status == PACE_E_MISSING;
    bool joined = !nameless && pace_machine_is_meant(devices->documents, text); /* then its message counts */
    if (!joined) status = pace_device_to_run_on(&scenario->device, devices, text);
    if (status != PACE_OK && nameless) status = put_named(scenario, status, text, devices);
    return status == PACE_OK ? PACE_OK : pace_fail_in(status, "on");
}

typedef struct {
    pace_scenarios *out;
    const pace_predict_options *options;
    pace_device_catalog *devices;
    const char *base;       /* where steps without times run, NULL = they have times */
    pace_approach approach; /* when options name one */
} maker;

static pace_status add(maker *m, const char *format, ...) PACE_PRINTF(2, 3);
static pace_status add(maker *m, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *label = pace_format_text(format, arguments);
    va_end(arguments);
    PACE_TRY(pace_texts_take(&m->out->labels, label));
    pace_scenario scenario;
    pace_scenario_init(&scenario, label);
    scenario.has_approach = m->options->approach != NULL;
    scenario.approach = m->approach;
    return PACE_PUSH(&m->out->items, scenario);
}

static pace_scenario *last(maker *m) { return &m->out->items.items[m->out->items.count - 1]; }

/* Everything but the device. */
static pace_status put_all(maker *m) {
    for (size_t i = 0; i < pace_what_if_count; i++) {
        pace_words words = m->options->what_ifs[i];
        for (size_t k = 0; k < words.count; k++) PACE_TRY(pace_what_if_ask(last(m), pace_what_ifs[i], words.items[k]));
    }
    return PACE_OK;
}

static pace_status add_what_ifs(maker *m, const pace_what_if *one, pace_words words) {
    for (size_t i = 0; i < words.count; i++) {
        PACE_TRY(add(m, one->label, words.items[i]));
        PACE_TRY(pace_what_if_ask(last(m), one, words.items[i]));
    }
    return PACE_OK;
}

static pace_status add_each(maker *m) {
    const pace_predict_options *o = m->options;
    for (size_t i = 0; i < o->on.count; i++) {
        PACE_TRY(add(m, "on %s", o->on.items[i]));
        PACE_TRY(put_device(last(m), o->on.items[i], m->devices));
    }
    for (size_t i = 0; i < pace_what_if_count; i++) PACE_TRY(add_what_ifs(m, pace_what_ifs[i], o->what_ifs[i]));
    return PACE_OK;
}

/* A step runs on one device: of several, each is tried with everything else. */
static pace_status add_together(maker *m, const char *device) {
    const pace_predict_options *o = m->options;
    PACE_TRY(device && o->on.count > 1 ? add(m, "all together on %s", device) : add(m, "all together"));
    if (device) PACE_TRY(put_device(last(m), device, m->devices));
    return put_all(m);
}

static pace_status add_all(maker *m) {
    const pace_predict_options *o = m->options;
    bool at_odds;
    size_t others = pace_what_ifs_asked(&at_odds, o);
    if (m->base) PACE_TRY(add(m, "on %s", m->base));
    else PACE_TRY(add(m, "as it is"));
    PACE_TRY(add_each(m));
    if (at_odds || others == 0 || others + (o->on.count > 0) < 2) return PACE_OK;
    if (o->on.count == 0) return add_together(m, NULL);
    for (size_t i = 0; i < o->on.count; i++) PACE_TRY(add_together(m, o->on.items[i]));
    return PACE_OK;
}

/* What names no machine of its own runs on the first. */
static void share_base(pace_scenarios *scenarios) {
    const pace_scenario *base = &scenarios->items.items[0];
    for (size_t i = 1; i < scenarios->items.count; i++) {
        pace_scenario *scenario = &scenarios->items.items[i];
        if (scenario->device) continue;
        scenario->has_exchange = base->has_exchange;
        scenario->machine = base->machine;
        scenario->exchange = base->exchange;
    }
}

pace_status pace_scenarios_make(pace_scenarios *out, const pace_predict_options *options, bool timed,
                                pace_device_catalog *devices) {
    if (options->samples < 0 || options->samples != floor(options->samples) || options->samples > 1e9)
        return pace_fail(PACE_E_USAGE, "samples: expected a whole number from 1 to 1e9, found %g", options->samples);
    pace_scenarios scenarios = {0};
    pace_predict_options others = *options;
    maker m = {.out = &scenarios, .options = &others, .devices = devices};
    if (options->approach) PACE_TRY(pace_approach_named(&m.approach, devices->documents, options->approach));
    if (options->jitter && !options->approach)
        return pace_fail(PACE_E_USAGE,
                         PACE_FIELD "jitter is of ranks that exchange gradients: name an " PACE_FIELD "approach");
    PACE_TRY(pace_approach_set_jitter(&m.approach, options->jitter));
    if (!timed && options->on.count) {
        m.base = options->on.items[0];
        others.on = (pace_words){options->on.items + 1, options->on.count - 1};
    }
    pace_status status = add_all(&m);
    for (size_t i = 0; i < scenarios.items.count; i++) scenarios.items.items[i].samples = options->samples;
    if (status == PACE_OK && m.base) status = put_device(&scenarios.items.items[0], m.base, devices);
    if (status == PACE_OK && m.base) share_base(&scenarios);
    return PACE_GIVE(out, scenarios, status, pace_scenarios_free(&scenarios));
}

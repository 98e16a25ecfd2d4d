#include "ask/scenarios.h"

#include "base/decimal.h"
#include "base/text.h"
#include "machine/device_resolve.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pace_scenarios_free(pace_scenarios *scenarios) {
    for (size_t i = 0; i < scenarios->items.count; i++) pace_scenario_free(&scenarios->items.items[i]);
    for (size_t i = 0; i < scenarios->labels.count; i++) pace_free(scenarios->labels.items[i]);
    PACE_VEC_FREE(&scenarios->items);
    PACE_VEC_FREE(&scenarios->labels);
}

/* --- one what-if put into a scenario --------------------------------------------------------------------------- */

static pace_status put_machine(pace_scenario *scenario, const pace_machine *machine, pace_device_catalog *devices) {
    PACE_TRY(pace_device_to_run_on(&scenario->device, devices, machine->device));
    if (machine->devices * machine->nodes < 2) return PACE_OK; /* nothing is said of how it is joined to others */
    if (scenario->has_approach)
        PACE_TRY(pace_approach_open(&scenario->exchange, devices->documents, &scenario->approach, machine));
    else PACE_TRY(pace_exchange_open(&scenario->exchange, devices->documents, machine, PACE_LIBRARY_AUTO, NULL));
    scenario->has_exchange = true;
    return PACE_OK;
}

/* A machine by what tables and logs call it; where it is none, `failed` with the message there was. */
static pace_status put_named(pace_scenario *scenario, pace_status failed, const char *text,
                             pace_device_catalog *devices) {
    char refused[400];
    pace_machine machine;
    snprintf(refused, sizeof refused, "%.399s", pace_message());
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
    bool joined = !nameless && strchr(text, '*'); /* meant as a machine: its message counts */
    if (!joined) status = pace_device_to_run_on(&scenario->device, devices, text);
    if (status != PACE_OK && nameless) status = put_named(scenario, status, text, devices);
    return status == PACE_OK ? PACE_OK : pace_fail_in(status, "--on");
}

static pace_status put_scale(pace_scenario *scenario, const char *text) {
    const char *colon = strrchr(text, ':');
    double factor;
    size_t start = pace_starts(text, "kernel=") ? 7 : 0;
    bool plain = colon && colon > text + start && pace_number_parse(&factor, colon + 1);
    if (!plain || !(factor >= 0 && factor <= 1e6))
        return pace_fail(PACE_E_USAGE, "--scale: expected REGEX:FACTOR with a factor of at least 0, found '%s'", text);
    char *regex = pace_copy_text(text + start, (size_t)(colon - text) - start);
    if (!regex) return PACE_E_MEMORY;
    pace_status status = pace_scenario_scale(scenario, regex, factor);
    pace_free(regex);
    return status;
}

static pace_status put_batch(pace_scenario *scenario, const char *text) {
    double batch;
    if (!pace_number_parse(&batch, text) || !(batch >= 1) || batch > 1e9 || batch != floor(batch))
        return pace_fail(PACE_E_USAGE, "--batch: expected a number of samples from 1 to 1e9, found '%.80s'", text);
    scenario->batch = batch;
    return PACE_OK;
}

static pace_status put_precision(pace_scenario *scenario, const char *text) {
    static const pace_precision known[] = {PACE_FP32, PACE_TF32, PACE_FP16, PACE_BF16, PACE_FP8};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(text, pace_precision_key(known[i])) != 0) continue;
        scenario->has_precision = true;
        scenario->precision = known[i];
        return PACE_OK;
    }
    return pace_fail(PACE_E_USAGE, "--precision: expected fp32, tf32, fp16, bf16 or fp8, found '%.80s'", text);
}

static pace_status put_drop(pace_scenario *scenario, const char *text) {
    bool all = strcmp(text, "all") == 0;
    int digit = (text[0] == 't' || text[0] == 'T') && text[1] && !text[2] ? text[1] - '1' : -1;
    if (!all && (digit < 0 || digit >= PACE_OVERHEAD_TYPES))
        return pace_fail(PACE_E_USAGE, "--drop-overhead: expected T1 to T5 or all, found '%s'", text);
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        if (all || type == digit) scenario->overhead_scale[type] = 0;
    return PACE_OK;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

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
    if (!label) return PACE_E_MEMORY;
    pace_status status = PACE_PUSH(&m->out->labels, label);
    if (status != PACE_OK) {
        pace_free(label);
        return status;
    }
    pace_scenario scenario;
    pace_scenario_init(&scenario, label);
    scenario.has_approach = m->options->approach != NULL;
    scenario.approach = m->approach;
    return PACE_PUSH(&m->out->items, scenario);
}

static pace_scenario *last(maker *m) { return &m->out->items.items[m->out->items.count - 1]; }

/* Everything but the device. */
static pace_status put_all(maker *m) {
    const pace_predict_options *o = m->options;
    for (size_t i = 0; i < o->batch.count; i++) PACE_TRY(put_batch(last(m), o->batch.items[i]));
    for (size_t i = 0; i < o->precision.count; i++) PACE_TRY(put_precision(last(m), o->precision.items[i]));
    for (size_t i = 0; i < o->fuse.count; i++) PACE_TRY(pace_scenario_fuse(last(m), o->fuse.items[i]));
    for (size_t i = 0; i < o->scale.count; i++) PACE_TRY(put_scale(last(m), o->scale.items[i]));
    for (size_t i = 0; i < o->drop_overhead.count; i++) PACE_TRY(put_drop(last(m), o->drop_overhead.items[i]));
    last(m)->fuse_tables = o->fuse_tables;
    last(m)->balance_tables = o->balance_tables;
    last(m)->one_launch = o->graph;
    return PACE_OK;
}

static pace_status add_sized(maker *m) {
    const pace_predict_options *o = m->options;
    for (size_t i = 0; i < o->batch.count; i++) {
        PACE_TRY(add(m, "batch %s", o->batch.items[i]));
        PACE_TRY(put_batch(last(m), o->batch.items[i]));
    }
    for (size_t i = 0; i < o->precision.count; i++) {
        PACE_TRY(add(m, "precision %s", o->precision.items[i]));
        PACE_TRY(put_precision(last(m), o->precision.items[i]));
    }
    return PACE_OK;
}

static pace_status add_fused(maker *m) {
    const pace_predict_options *o = m->options;
    for (size_t i = 0; i < o->fuse.count; i++) {
        PACE_TRY(add(m, "fuse %s", o->fuse.items[i]));
        PACE_TRY(pace_scenario_fuse(last(m), o->fuse.items[i]));
    }
    if (o->fuse_tables) {
        PACE_TRY(add(m, "fused tables"));
        last(m)->fuse_tables = true;
    }
    if (o->balance_tables) {
        PACE_TRY(add(m, "balanced tables"));
        last(m)->balance_tables = true;
    }
    return PACE_OK;
}

static pace_status add_timed(maker *m) {
    const pace_predict_options *o = m->options;
    for (size_t i = 0; i < o->scale.count; i++) {
        PACE_TRY(add(m, "scale %s", o->scale.items[i]));
        PACE_TRY(put_scale(last(m), o->scale.items[i]));
    }
    for (size_t i = 0; i < o->drop_overhead.count; i++) {
        PACE_TRY(add(m, "without overhead %s", o->drop_overhead.items[i]));
        PACE_TRY(put_drop(last(m), o->drop_overhead.items[i]));
    }
    if (o->graph) {
        PACE_TRY(add(m, "as one device graph"));
        last(m)->one_launch = true;
    }
    return PACE_OK;
}

static pace_status add_each(maker *m) {
    const pace_predict_options *o = m->options;
    for (size_t i = 0; i < o->on.count; i++) {
        PACE_TRY(add(m, "on %s", o->on.items[i]));
        PACE_TRY(put_device(last(m), o->on.items[i], m->devices));
    }
    PACE_TRY(add_sized(m));
    PACE_TRY(add_fused(m));
    return add_timed(m);
}

/* A step runs on one device: of several, each is tried with everything else. */
static pace_status add_together(maker *m, const char *device) {
    const pace_predict_options *o = m->options;
    PACE_TRY(device && o->on.count > 1 ? add(m, "all together on %s", device) : add(m, "all together"));
    if (device) PACE_TRY(put_device(last(m), device, m->devices));
    return put_all(m);
}

static size_t count_others(const pace_predict_options *o) {
    return o->batch.count + o->precision.count + o->fuse.count + o->scale.count + o->drop_overhead.count +
           o->fuse_tables + o->balance_tables + o->graph;
}

static pace_status add_all(maker *m) {
    const pace_predict_options *o = m->options;
    size_t others = count_others(o);
    bool at_odds = o->batch.count > 1 || o->precision.count > 1; /* there is no "all together" of these */
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
        scenario->exchange = base->exchange;
    }
}

pace_status pace_scenarios_make(pace_scenarios *out, const pace_predict_options *options, bool timed,
                                pace_device_catalog *devices) {
    if (options->samples < 0 || options->samples != floor(options->samples) || options->samples > 1e9)
        return pace_fail(PACE_E_USAGE, "--samples: expected a whole number from 1 to 1e9, found %g", options->samples);
    pace_scenarios scenarios = {0};
    pace_predict_options others = *options;
    maker m = {.out = &scenarios, .options = &others, .devices = devices};
    if (options->approach) PACE_TRY(pace_approach_named(&m.approach, devices->documents, options->approach));
    if (options->jitter && !options->approach)
        return pace_fail(PACE_E_USAGE, "--jitter is of ranks that exchange gradients: name an --approach");
    PACE_TRY(pace_approach_set_jitter(&m.approach, options->jitter));
    if (!timed && options->on.count) {
        m.base = options->on.items[0];
        others.on = (pace_words){options->on.items + 1, options->on.count - 1};
    }
    pace_status status = add_all(&m);
    for (size_t i = 0; i < scenarios.items.count; i++) scenarios.items.items[i].samples = options->samples;
    if (status == PACE_OK && m.base) status = put_device(&scenarios.items.items[0], m.base, devices);
    if (status == PACE_OK && m.base) share_base(&scenarios);
    if (status == PACE_OK) *out = scenarios;
    else pace_scenarios_free(&scenarios);
    return status;
}

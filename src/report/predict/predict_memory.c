/* Which what-ifs do not fit into the device's memory: the first line of the answer. */
#include "report/predict/predict_parts.h"
#include "ask/predict/trace_memory.h"
#include "report/show.h"

#include <math.h>

#define EVENTS " by the recording's memory events"

typedef struct {
    size_t too_large, unsure, unknown; /* what-ifs */
    size_t first_too_large, first_unsure, first_unknown;
    pace_trace_memory large, doubtful;
} verdict;

static void count(size_t *counted, size_t *first, size_t i) {
    if ((*counted)++ == 0) *first = i;
}

static void judge(verdict *v, const pace_trace_memory *memory, size_t i) {
    if (!memory->known && memory->asked) count(&v->unknown, &v->first_unknown, i);
    if (!memory->known || memory->fitting == PACE_FITS) return;
    if (memory->fitting == PACE_TOO_LARGE) {
        if (v->too_large == 0) v->large = *memory;
        count(&v->too_large, &v->first_too_large, i);
    } else {
        if (v->unsure == 0) v->doubtful = *memory;
        count(&v->unsure, &v->first_unsure, i);
    }
}

/* Of matrix operations in single precision a step in half keeps twice as much. */
static bool widens(const pace_prediction *p, const pace_scenario *one) {
    return p->is_model && one->has_precision && one->precision < PACE_FP16 &&
           pace_config_matrix_precision(&p->step.asked.config) >= PACE_FP16;
}

/* A model's: the step's own case with the batch, the precision and the device of the what-if. What has no such step is
 * not known. */
static pace_status of_model(pace_trace_memory *out, pace_prediction *p, const pace_scenario *one,
                            const pace_doubts *doubts) {
    pace_step_case asked = p->step.asked;
    pace_config *config = &asked.config;
    pace_step_solution solution;
    *out = (pace_trace_memory){0};
    const pace_device *device = one->device ? one->device : asked.device;
    if (device->is_cpu || asked.device->is_cpu) return PACE_OK;
    if (one->batch > 0) {
        double now = config->micro_batch;
        config->micro_batch = ceil(one->batch / pace_config_micro_batches(config));
        config->global_batch *= config->micro_batch / now;
    }
    if (widens(p, one)) config->precision = PACE_RUN_FP32;
    asked.may_recompute = false;
    pace_status status = pace_step_settle(&solution, &p->step.pricer, &asked);
    if (status != PACE_OK) return status == PACE_E_MEMORY ? status : PACE_OK;
    pace_step_room room = pace_step_tightest(&solution.plan, 0);
    if (!room.of_host) room.has_bytes += device->memory_bytes - asked.device->memory_bytes;
    out->known = room.has_bytes > 0;
    out->fitting = pace_step_fits(room.need_bytes, room.has_bytes, doubts);
    out->need_bytes = room.need_bytes, out->has_bytes = room.has_bytes;
    out->device = device->name;
    if (out->fitting == PACE_FITS || device != asked.device) return PACE_OK;
    const pace_memory_asked memory = {.asked = &asked,
                                      .pricer = &p->step.pricer,
                                      .machine = p->step.machine.devices ? &p->step.machine : NULL,
                                      .fills_machine = p->step.all_devices,
                                      .zero_said = p->step.zero_said,
                                      .spread_tables = asked.assumes_tables,
                                      .option = "--set ",
                                      .batch_option = one->batch > 0 ? "--batch " : NULL,
                                      .batch_times = pace_config_micro_batches(config)};
    return pace_step_remedy(out->remedy, &memory);
}

static void lead(pace_report *report, const pace_prediction *p, const verdict *v) {
    const pace_trace_memory *m = &v->large;
    const char *label = p->scenarios.items.items[v->first_too_large].label;
    char others[64] = "", advice[PACE_REMEDY_TEXT + 32] = "";
    if (v->too_large > 1)
        pace_snprintf(others, sizeof others, " Neither do%s %zu more.", v->too_large == 2 ? "es" : "",
                      v->too_large - 1);
    if (m->fitting_samples > 0)
        pace_snprintf(advice, sizeof advice, " It would fit with --batch %.0f.", m->fitting_samples);
    else if (*m->remedy) pace_snprintf(advice, sizeof advice, " It would fit with %s.", m->remedy);
    pace_report_deny(report);
    pace_report_lead(report, PACE_WARN_DOES_NOT_FIT,
                     "Does not fit: with \"%.60s\" a rank needs %s %s%s, %s has %s (%.1f times as much).%s%s", label,
                     p->is_model   ? "about"
                     : m->at_least ? "at least"
                                   : "up to",
                     pace_show_bytes(m->need_bytes).text, p->is_model ? "" : EVENTS,
                     m->device ? m->device : "the device", pace_show_bytes(m->has_bytes).text,
                     m->need_bytes / m->has_bytes, advice, others);
}

static void warn(pace_report *report, const pace_prediction *p, const verdict *v) {
    const pace_scenario *all = p->scenarios.items.items;
    if (v->unsure)
        pace_report_warn(report, PACE_WARN_MAY_NOT_FIT, all[v->first_unsure].label,
                         "\"%.60s\" may not fit: a rank needs %s %s%s, the device has %s", all[v->first_unsure].label,
                         p->is_model ? "about" : "up to", pace_show_bytes(v->doubtful.need_bytes).text,
                         p->is_model ? "" : EVENTS, pace_show_bytes(v->doubtful.has_bytes).text);
    if (v->unknown)
        pace_report_warn(report, PACE_WARN_MEMORY_UNKNOWN, all[v->first_unknown].label,
                         "nothing says whether \"%.60s\" fits into memory: the recording has no memory events of the "
                         "device that tell (profile_memory=True)",
                         all[v->first_unknown].label);
}

/* What the answer is about already has been said by pace_put_fit(). */
static bool is_other_step(const pace_prediction *p, const pace_scenario *one) {
    if (one->batch > 0 || widens(p, one)) return true;
    return one->device && (!p->is_model || one->device != p->step.asked.device);
}

pace_status pace_put_what_if_fit(pace_report *report, pace_prediction *p, pace_context *context) {
    verdict v = {0};
    pace_doubts doubts;
    PACE_TRY(pace_doubts_load(&doubts, context->catalog));
    for (size_t i = 0; (p->inputs.is_measured || p->is_model) && i < p->scenarios.items.count; i++) {
        const pace_scenario *one = &p->scenarios.items.items[i];
        pace_trace_memory memory;
        if (!is_other_step(p, one)) continue;
        PACE_TRY(p->is_model ? of_model(&memory, p, one, &doubts) : pace_trace_memory_find(&memory, p, i, &doubts));
        judge(&v, &memory, i);
    }
    if (v.too_large) lead(report, p, &v);
    warn(report, p, &v);
    return PACE_OK;
}

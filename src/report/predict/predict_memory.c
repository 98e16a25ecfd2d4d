/* Which what-ifs do not fit into the device's memory: the first line of the answer. */
#include "report/predict/predict_parts.h"
#include "ask/predict/what_if_memory.h"
#include "report/show.h"

#define EVENTS " by the recording's memory events"

static void lead(pace_report *report, const pace_prediction *p, const pace_what_if_outcome *too_large) {
    const pace_scenario_memory *m = &too_large->memory;
    const char *label = p->scenarios.items.items[too_large->first].label;
    char others[64] = "", advice[PACE_REMEDY_TEXT + 32] = "";
    if (too_large->count > 1)
        pace_snprintf(others, sizeof others, " Neither do%s %zu more.", too_large->count == 2 ? "es" : "",
                      too_large->count - 1);
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

static void warn(pace_report *report, const pace_prediction *p, const pace_what_if_memory *found) {
    const char *unsure = p->scenarios.items.items[found->unsure.first].label;
    const char *unknown = p->scenarios.items.items[found->unknown.first].label;
    const pace_scenario_memory *m = &found->unsure.memory;
    if (found->unsure.count)
        pace_report_warn(report, PACE_WARN_MAY_NOT_FIT, unsure,
                         "\"%.60s\" may not fit: a rank needs %s %s%s, the device has %s", unsure,
                         p->is_model ? "about" : "up to", pace_show_bytes(m->need_bytes).text,
                         p->is_model ? "" : EVENTS, pace_show_bytes(m->has_bytes).text);
    if (found->unknown.count)
        pace_report_warn(report, PACE_WARN_MEMORY_UNKNOWN, unknown,
                         "nothing says whether \"%.60s\" fits into memory: the recording has no memory events of the "
                         "device that tell (profile_memory=True)",
                         unknown);
}

pace_status pace_put_what_if_fit(pace_report *report, pace_prediction *p, pace_context *context) {
    pace_what_if_memory found;
    pace_doubts doubts;
    PACE_TRY(pace_doubts_load(&doubts, context->catalog));
    PACE_TRY(pace_what_if_memory_of(&found, p, &doubts));
    if (found.too_large.count) lead(report, p, &found.too_large);
    warn(report, p, &found);
    return PACE_OK;
}

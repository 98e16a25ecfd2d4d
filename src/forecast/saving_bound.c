#include "forecast/saving_bound.h"

#include <math.h>

/* A host that has less to do fetches input while the device works. */
static unsigned may_save(unsigned acts_on) {
    return acts_on & 1U << PACE_ADVICE_HOST ? acts_on | 1U << PACE_ADVICE_INPUT : acts_on;
}

pace_status pace_saving_bounds(double *at_most_share, const pace_critical *critical, const pace_analysis *analysis,
                               const pace_rank *rank, const unsigned *acts_on, size_t count) {
    double step_ns = (double)(critical->to_ns - critical->from_ns);
    unsigned *resources = pace_alloc(count + 1, sizeof *resources);
    int64_t *without_ns = pace_alloc(count + 1, sizeof *without_ns);
    pace_status status = resources && without_ns ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < count; i++) resources[i] = may_save(acts_on[i]);
    if (status == PACE_OK) status = pace_critical_without(without_ns, critical, analysis, rank, resources, count);
    for (size_t i = 0; status == PACE_OK && i < count; i++) at_most_share[i] = 1 - (double)without_ns[i] / step_ns;
    PACE_FREE(resources, without_ns);
    return status;
}

unsigned pace_scenario_acts_on(const pace_scenario *scenario) {
    unsigned acts_on = 0;
    if (scenario->device || scenario->has_exchange) return 0; /* another machine */
    for (size_t i = 0; i < pace_what_if_count; i++) {
        if (!pace_what_if_is_asked(scenario, pace_what_ifs[i])) continue;
        if (pace_what_ifs[i]->acts_on == 0) return 0;
        acts_on |= pace_what_ifs[i]->acts_on;
    }
    return acts_on;
}

double pace_saving_samples(double batch, const pace_forecast_edits *edits) {
    return batch > 0 && edits->present.samples > 0 ? batch / (double)edits->present.samples : 1;
}

bool pace_saving_hold(pace_estimate *step_s, double now_s, double samples, double at_most_share) {
    double least_s = now_s * samples * (1 - at_most_share);
    if (!(step_s->median < least_s)) return false;
    double widened = hypot(step_s->spread, log(least_s / step_s->median)), now = now_s * samples;
    step_s->spread = fmax(step_s->spread, fmin(widened, log(now / least_s) / PACE_NORMAL_90));
    step_s->median = least_s;
    return true;
}

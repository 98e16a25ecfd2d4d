#include "forecast/saving_bound.h"
#include "insight/steps/step_choice.h"

#include <math.h>

/* A host that has less to do fetches input while the device works. */
static unsigned may_save(unsigned acts_on) {
    return acts_on & 1U << PACE_ADVICE_HOST ? acts_on | 1U << PACE_ADVICE_INPUT : acts_on;
}

/* On which advice what a resource of the matrix takes bears. */
static pace_advice advice_of(int resource) {
    static const pace_advice advices[PACE_RESOURCES] = {[PACE_COMPUTE_BOUND] = PACE_ADVICE_COMPUTE,
                                                        [PACE_MEMORY_BOUND] = PACE_ADVICE_MEMORY,
                                                        [PACE_COPY] = PACE_ADVICE_COPY,
                                                        [PACE_EXPOSED_COMMUNICATION] = PACE_ADVICE_NETWORK,
                                                        [PACE_IDLE_HOST] = PACE_ADVICE_HOST,
                                                        [PACE_IDLE_RANK] = PACE_ADVICE_BALANCE,
                                                        [PACE_IDLE_INPUT] = PACE_ADVICE_INPUT,
                                                        [PACE_IDLE_OTHER] = PACE_ADVICE_GAP};
    return advices[resource];
}

/* The mean of the steps that are walked, and by resource what it has more of than the step of the path. */
typedef struct {
    double step_ns, mean_ns, more_ns[PACE_RESOURCES];
} walked_mean;

static pace_status mean_of(walked_mean *out, const pace_critical *critical, const pace_rank *rank, const char *steps) {
    const pace_marks *marks = &rank->marks;
    const pace_step_choice choice = {.numbers = steps};
    size_t first = 0, count = marks->items.count, worked = 0;
    double step_ns = (double)(critical->to_ns - critical->from_ns), sum_ns = 0;
    *out = (walked_mean){.step_ns = step_ns, .mean_ns = step_ns};
    if (critical->mark == SIZE_MAX || critical->mark >= count) return PACE_OK;
    if (steps) PACE_TRY(pace_step_choice_find(&first, &count, &choice, marks, &rank->step.names, rank->path));
    for (size_t i = first; i < first + count; i++) {
        const pace_mark *mark = &marks->items.items[i];
        if (mark->to_ns <= mark->from_ns) continue;
        pace_matrix matrix = pace_matrix_of(&rank->tiles, mark->from_ns, mark->to_ns);
        for (int r = 0; r < PACE_RESOURCES; r++)
            out->more_ns[r] += (double)pace_matrix_columns(&matrix, (pace_resource)r, (pace_resource)r);
        sum_ns += (double)(mark->to_ns - mark->from_ns);
        worked++;
    }
    const pace_mark *typical = &marks->items.items[critical->mark];
    pace_matrix matrix = pace_matrix_of(&rank->tiles, typical->from_ns, typical->to_ns);
    for (int r = 0; worked && r < PACE_RESOURCES; r++)
        out->more_ns[r] =
            out->more_ns[r] / (double)worked - (double)pace_matrix_columns(&matrix, (pace_resource)r, (pace_resource)r);
    if (worked) out->mean_ns = sum_ns / (double)worked;
    return PACE_OK;
}

/* Steps that take longer than the one of the path, by what is acted on, may be as much shorter. */
static double of_mean(const walked_mean *mean, unsigned resources, double at_most_share) {
    double longer_ns = mean->mean_ns - mean->step_ns, more_ns = 0;
    if (!(longer_ns > 0)) return at_most_share;
    for (int r = 0; r < PACE_RESOURCES; r++)
        if (resources & 1U << advice_of(r)) more_ns += fmax(0, mean->more_ns[r]);
    return fmax(at_most_share, (at_most_share * mean->step_ns + fmin(more_ns, longer_ns)) / mean->mean_ns);
}

pace_status pace_saving_bounds(double *at_most_share, const pace_critical *critical, const pace_analysis *analysis,
                               const pace_rank *rank, const char *steps, const unsigned *acts_on, size_t count) {
    walked_mean mean;
    PACE_TRY(mean_of(&mean, critical, rank, steps));
    unsigned *resources = pace_alloc(count + 1, sizeof *resources);
    int64_t *without_ns = pace_alloc(count + 1, sizeof *without_ns);
    pace_status status = resources && without_ns ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < count; i++) resources[i] = may_save(acts_on[i]);
    if (status == PACE_OK) status = pace_critical_without(without_ns, critical, analysis, rank, resources, count);
    for (size_t i = 0; status == PACE_OK && i < count; i++)
        at_most_share[i] = of_mean(&mean, resources[i], 1 - (double)without_ns[i] / mean.step_ns);
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

#include "forecast/remedy_hints.h"
#include "base/pattern.h"

#include <math.h>

/* What stands behind half of the resource's time or more, or most of the waits. Where nothing could be tried instead, a
 * tenth will do. */
enum { MOST_NAMES = 10 };

static size_t list_names(const char *names[MOST_NAMES], const pace_lead *behind, double least) {
    const pace_culprit *c = &behind->culprit;
    size_t count = 0;
    if (c->share >= least && c->name && !c->before) names[count++] = c->name;
    if (c->share >= least && c->around && !c->before) names[count++] = c->around;
    if (c->within_share >= 0.5 && c->within) names[count++] = c->within;
    if (c->inmost) names[count++] = c->inmost;
    if (behind->reason == PACE_HOST_WAITS && behind->waits_in) names[count++] = behind->waits_in;
    if (behind->reason == PACE_HOST_LAUNCHES_BLOCK) names[count++] = pace_host_reason_names[behind->reason];
    if (behind->meanwhile.share >= 0.5) names[count++] = behind->meanwhile.name;
    return count;
}

static bool is_work(pace_resource resource) { return resource == PACE_COMPUTE_BOUND || resource == PACE_MEMORY_BOUND; }

static bool is_of(pace_resource resource, pace_advice advice) {
    return (resource == PACE_COMPUTE_BOUND && advice == PACE_ADVICE_COMPUTE) ||
           (resource == PACE_MEMORY_BOUND && advice == PACE_ADVICE_MEMORY);
}

/* One rank takes longer for as many kernels, or it runs others, or more. */
static const char *sign_of_late_rank(const pace_late_reason *late) {
    return fabs(late->kernel_calls - late->others_calls) < 0.02 * late->others_calls ? "late_device" : "late_work";
}

/* Stages of a pipeline wait for each other, whoever is slow. */
static const char *sign_of_stage(const pace_lead *lead, bool alone, bool late_enough, bool waits) {
    const pace_late_reason *late = &lead->late;
    if (late_enough && !is_work(late->resource)) return NULL; /* its host or loader is late */
    if (late_enough && alone && late->kernel) return sign_of_late_rank(late);
    if (late_enough && (late->excess_ns > lead->balance_ns || late->excess_ns * 10 >= lead->step_ns))
        return "late_stage";
    return waits ? "pipeline_bubbles" : NULL;
}

/* How ranks make others wait, where that costs enough to act on. */
static const char *sign_of_ranks(const pace_lead *lead, const pace_analysis *analysis) {
    const pace_latest_rank *latest = &analysis->latest;
    const pace_late_reason *late = &lead->late;
    bool late_enough = late->known && late->excess_ns * 20 >= lead->step_ns;
    bool waits = lead->balance_ns * 10 >= lead->step_ns;
    if (lead->at_least) return "late_elsewhere";
    if (lead->of_long_steps) return NULL;
    if (lead->unlike.found && analysis->ranks.count > 1 && (waits || latest->rank || latest->by_chance))
        return "late_by_turns";
    if (latest->by_work) return sign_of_stage(lead, latest->alone, late_enough, waits);
    bool by_turns = latest->by_chance || (latest->rank && latest->ranks * 2 > analysis->ranks.count);
    if (by_turns) return waits ? "late_by_turns" : NULL;
    if (!latest->rank || !late_enough || !late->kernel || !is_of(late->resource, lead->resource)) return NULL;
    return sign_of_late_rank(late);
}

static const char *sign_of_steps(const pace_lead *lead) {
    const pace_step_shift *s = &lead->shift;
    bool as_many = fabs(s->kernels_after - s->kernels_before) < 0.02 * s->kernels_before;
    return s->found && s->after_ns > s->before_ns && is_work(s->resource) && as_many ? "throttled" : NULL;
}

/* A tenth of the device's work or more is done again in the backward pass. */
static const char *sign_of_stages(const pace_lead *lead, const pace_analysis *analysis) {
    const pace_work *work = &analysis->ranks.items[lead->culprit.rank]->work;
    int64_t again_ns = 0, all_ns = 0;
    for (size_t i = 0; i < work->items.count; i++) {
        int64_t ns = work->items.items[i].end_ns - work->items.items[i].start_ns;
        all_ns += ns;
        if (work->items.items[i].stage == PACE_STAGE_RECOMPUTE) again_ns += ns;
    }
    return all_ns > 0 && again_ns * 10 >= all_ns ? "recomputes" : NULL;
}

static size_t list_signs(const char **names, const pace_lead *lead, const pace_analysis *analysis) {
    const char *signs[] = {sign_of_steps(lead), sign_of_ranks(lead, analysis), sign_of_stages(lead, analysis)};
    size_t count = 0;
    for (size_t i = 0; i < PACE_COUNT(signs); i++)
        if (signs[i]) names[count++] = signs[i];
    return count;
}

static bool has_shapes(const pace_step *step) {
    for (uint32_t task = 0; task < step->count; task++)
        if (step->kind[task] == PACE_TASK_OP && step->detail[task]) return true;
    return false;
}

static pace_status fits(bool *out, const pace_remedy_hint *hint, const char *const *names, size_t count) {
    regex_t pattern;
    *out = false;
    PACE_TRY(pace_pattern_compile(&pattern, "names:", hint->names));
    for (size_t i = 0; i < count && !*out; i++) *out = pace_pattern_fits(&pattern, names[i]);
    regfree(&pattern);
    return PACE_OK;
}

pace_status pace_hint_find(const pace_remedy_hint **out, const pace_remedy_catalog *catalog, const pace_lead *behind,
                           const pace_analysis *analysis) {
    const char *names[MOST_NAMES];
    bool sized = !analysis || has_shapes(&analysis->ranks.items[behind->culprit.rank]->step);
    *out = NULL;
    for (size_t i = 0; i < catalog->hints.count && !*out; i++) {
        const pace_remedy_hint *hint = &catalog->hints.items[i];
        bool is_it;
        double stretch = behind->culprit.longest_share;
        if (hint->resource != PACE_ADVICES && hint->resource != behind->resource) continue;
        if ((hint->of_long_steps && !behind->of_long_steps) || (hint->without_shapes && sized)) continue;
        if (stretch < hint->least_stretch || stretch > hint->most_stretch) continue;
        size_t count = list_names(names, behind, hint->without_shapes ? 0.1 : 0.5);
        if (analysis) count += list_signs(names + count, behind, analysis);
        if (hint->last) is_it = true;
        else PACE_TRY(fits(&is_it, hint, names, count));
        if (is_it) *out = hint;
    }
    return PACE_OK;
}

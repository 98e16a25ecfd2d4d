#include "forecast/remedy_trial.h"
#include "base/pattern.h"
#include "forecast/remedy_hints.h"
#include "insight/steps/passes.h"
#include "forecast/forecast.h"
#include "forecast/forecast_estimate.h"
#include "forecast/remedy_catalog.h"
#include "forecast/saving_bound.h"
#include "base/decimal.h"
#include "base/print.h"
#include "forecast/rank_batches.h"

#include <math.h>
#include <string.h>

/* --- values that are tried ---------------------------------------------------------------------------------------- */

typedef char value_text[256];

/* What values follow from. */
typedef struct {
    const pace_forecast *forecast;
    double headroom;
    int most_workers;
} remedy_setting;

/* As many as fetch faster than the rest of the step needs input, of the rank whose input takes the largest share. */
static double workers_of(const remedy_setting *setting) {
    double most = 0;
    PACE_ITEMS (const pace_forecast_rank, rank, &setting->forecast->ranks) {
        double input_ns = pace_graph_stretches(&rank->graph).ns, rest_ns = rank->steps_ns - input_ns;
        if (!(input_ns > 0)) continue;
        double workers = rest_ns > 0 ? ceil(setting->headroom * input_ns / rest_ns) : setting->most_workers;
        most = fmax(most, fmin(workers, setting->most_workers));
    }
    return most;
}

/* Twice what the first rank computes at a time; 0 = nothing shows it. */
static double double_batch(const remedy_setting *setting) {
    pace_batch_size size;
    if (pace_rank_batches_first(&size, setting->forecast, 0) != PACE_OK) return 0;
    return 2 * (double)size.samples;
}

/* The value that is tried at a turn, from 0; of a flag "". False: there is none. */
static bool remedy_value_at(value_text out, const pace_remedy_row *row, size_t turn, const remedy_setting *setting) {
    out[0] = '\0';
    if (row->value == PACE_REMEDY_LISTED) {
        const char *text =
            turn < pace_yaml_count(row->values) ? pace_yaml_text(pace_yaml_item(row->values, turn)) : NULL;
        if (text) pace_snprintf(out, sizeof(value_text), "%s", text);
        return text != NULL;
    }
    if (turn > 0 || row->value == PACE_REMEDY_FLAG) return turn == 0;
    double number = row->value == PACE_REMEDY_WORKERS ? workers_of(setting) : double_batch(setting);
    pace_snprintf(out, sizeof(value_text), "%.0f", number);
    return number > 0;
}

/* Times as many samples as the measured step has that the step with the remedy takes. */
static double remedy_samples(const pace_remedy_row *row, const pace_forecast_edits *edits, const char *value) {
    double wanted;
    bool asked = row->what_if == &pace_if_batch && pace_number_parse(&wanted, value);
    return pace_saving_samples(asked ? wanted : 0, edits);
}

static size_t count_marks(const char *text, const char *mark) {
    size_t count = 0;
    for (const char *at = strstr(text, mark); at; at = strstr(at + 1, mark)) count++;
    return count;
}

/* The text with the value in place of "{value}"; freed with pace_free(). */
static pace_status remedy_words(char **out, const char *text, const char *value) {
    static const char mark[] = "{value}";
    const char *put = value ? value : "";
    size_t room = strlen(text) + count_marks(text, mark) * strlen(put) + 1, used = 0;
    char *words = pace_alloc(room, 1);
    if (!words) return PACE_E_MEMORY;
    for (const char *at = strstr(text, mark); at; at = strstr(text, mark)) {
        used += (size_t)pace_snprintf(words + used, room - used, "%.*s%s", (int)(at - text), text, put);
        text = at + sizeof mark - 1;
    }
    pace_snprintf(words + used, room - used, "%s", text);
    *out = words;
    return PACE_OK;
}

/* --- whether it applies ------------------------------------------------------------------------------------------- */

/* Of its resources the one with most time on the path; PACE_ADVICES = none matters. */
static pace_advice resource_of(const pace_remedy_ground *g, const pace_remedy_row *row) {
    pace_advice most = PACE_ADVICES;
    for (int r = 0; r < PACE_ADVICE_GAP; r++) {
        if (!(row->resources & 1U << r) || g->behind[r].resource == PACE_ADVICES) continue;
        if (most == PACE_ADVICES || g->critical->by_resource_ns[r] > g->critical->by_resource_ns[most])
            most = (pace_advice)r;
    }
    return most;
}

static bool applies(const pace_remedy_ground *g, const pace_remedy_row *row, pace_advice resource) {
    if (resource == PACE_ADVICES || (g->of_host && !row->what_if->of_host)) return false;
    return !row->spread_host || resource != PACE_ADVICE_HOST || pace_lead_spreads(&g->behind[PACE_ADVICE_HOST]);
}

pace_status pace_remedy_count_names(pace_remedy_ground *g) {
    const pace_step *step = &g->rank->step;
    size_t names = pace_names_count(&step->names) + 1;
    if (!PACE_MAKE(g->named, names) || !PACE_MAKE(g->named_in_step, names)) return PACE_E_MEMORY;
    for (uint32_t task = 0; task < step->count; task++) {
        bool within = step->start_ns[task] >= g->critical->from_ns && step->start_ns[task] < g->critical->to_ns;
        g->named[step->name[task]]++;
        g->named_in_step[step->name[task]] += within;
    }
    return PACE_OK;
}

/* Whether at least so many of the counted tasks have a name that fits. */
static pace_status has_name(bool *found, const pace_remedy_ground *g, const char *member, const char *pattern,
                            const uint32_t *counted, size_t least) {
    const pace_names *names = &g->rank->step.names;
    regex_t fits;
    size_t count = 0;
    PACE_TRY(pace_pattern_compile(&fits, member, pattern));
    for (size_t i = 0; count < least && i < pace_names_count(names); i++)
        if (counted[i] && pace_pattern_fits(&fits, pace_names_text(names, (pace_name)i))) count += counted[i];
    regfree(&fits);
    *found = count >= least;
    return PACE_OK;
}

/* Whether names show that nobody carries the remedy out already, and that there is what it acts on. */
static pace_status fits_names(bool *fits, const pace_remedy_ground *g, const pace_remedy_row *row) {
    bool done = false, there = true;
    if (row->done_if) PACE_TRY(has_name(&done, g, "done_if:", row->done_if, g->named, 1));
    if (row->only_if) PACE_TRY(has_name(&there, g, "only_if:", row->only_if, g->named, 1));
    if (!there && row->or_repeated)
        PACE_TRY(has_name(&there, g, "or_repeated:", row->or_repeated, g->named_in_step, 2));
    *fits = there && !done;
    return PACE_OK;
}

/* Whether what stands behind the resource shows that the remedy would not help. */
static pace_status is_ruled_out(bool *out, const pace_remedy_ground *g, const pace_remedy_row *row,
                                pace_advice resource) {
    const pace_remedy_hint *hint;
    PACE_TRY(pace_hint_find(&hint, &g->catalog, &g->behind[resource], NULL));
    *out = hint && hint->rules_out && strcmp(hint->rules_out, row->id) == 0;
    return PACE_OK;
}

/* --- what it saves ------------------------------------------------------------------------------------------------ */

/* What a stream works between two instants; exchanges last as long as others let them. */
static int64_t busy_ns(const pace_step *step, const pace_lane *lane, int64_t from_ns, int64_t to_ns) {
    int64_t busy = 0;
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++) {
        int64_t start = step->start_ns[task], end = pace_step_end_ns(step, task);
        if (start < from_ns) start = from_ns;
        if (end > to_ns) end = to_ns;
        if (end > start && !pace_step_exchange(step, task)) busy += end - start;
    }
    return busy;
}

/* Of the slowest rank's streams the one that works most in a mean step. */
static double busiest_s(const pace_analysis *analysis) {
    const pace_rank *rank = pace_rank_trace(pace_analysis_slowest(analysis));
    const pace_marks *marks = &rank->marks;
    int64_t most = 0, from_ns = rank->work.window.first_ns, to_ns = rank->work.window.last_ns;
    size_t steps = 0;
    for (size_t i = 0; i < marks->items.count; i++)
        steps += marks->items.items[i].to_ns > marks->items.items[i].from_ns;
    if (steps) {
        from_ns = marks->items.items[0].from_ns;
        to_ns = marks->items.items[marks->items.count - 1].to_ns;
    }
    for (size_t l = 0; l < rank->step.lanes.count; l++) {
        if (!rank->step.lanes.items[l].device) continue;
        int64_t busy = busy_ns(&rank->step, &rank->step.lanes.items[l], from_ns, to_ns);
        if (busy > most) most = busy;
    }
    return (double)most / 1e9 / (double)(steps ? steps : 1);
}

bool pace_remedy_is_refused(pace_status status) {
    return status == PACE_E_USAGE || status == PACE_E_INPUT || status == PACE_E_MISSING || status == PACE_E_LIMIT;
}

/* As predict words it: one what-if, one value. */
static pace_status walk(pace_forecast_result *out, const pace_remedy_ground *g, const pace_forecast *forecast,
                        const pace_remedy_row *row, const char *value) {
    pace_scenario scenario;
    pace_scenario_init(&scenario, row->id);
    pace_status status = pace_what_if_ask(&scenario, row->what_if, value);
    if (status == PACE_OK) status = pace_forecast_run(out, forecast, &scenario);
    if (status == PACE_OK) pace_forecast_doubt_replay(out, pace_forecast_gap(forecast, g->replayed_s));
    pace_scenario_free(&scenario);
    return status;
}

/* Of what is left, by the spread of what is saved: to first order, and no further than to the step as it is. */
static double spread_of_saving(double left, double spread) {
    double to_the_step = -log(left) / log(pace_estimate_high((pace_estimate){.median = 1, .spread = 1}));
    return fmin(spread * (1 - left) / left, to_the_step);
}

static pace_status take(pace_remedy *remedy, const pace_remedy_ground *g, const pace_forecast_result *result,
                        const char *value) {
    double now_s = g->replayed_s;
    remedy->step_s = result->step_s;
    remedy->walked_s = result->step_s.median;
    remedy->walked_low_s = pace_estimate_low(result->step_s);
    remedy->samples = remedy_samples(&remedy->row, &result->edits, value);
    remedy->busiest_s = busiest_s(&result->analysis);
    double share = remedy->step_s.median / remedy->samples / now_s; /* of the step of today */
    remedy->saved_share = 1 - share;
    if (share > 0 && share < 1)
        remedy->step_s.spread = hypot(remedy->step_s.spread, spread_of_saving(share, remedy->row.spread));
    if (value && !(remedy->value = pace_copy_text(value, strlen(value)))) return PACE_E_MEMORY;
    PACE_TRY(remedy_words(&remedy->says, remedy->row.says, value));
    PACE_TRY(remedy_words(&remedy->how, remedy->row.how, value));
    const pace_lead *behind = &g->behind[remedy->resource];
    remedy->culprit = behind->culprit;
    if (behind->waits_in) { /* what the host waits in tells more than what comes late then */
        remedy->culprit.name = behind->waits_in;
        remedy->culprit.around = NULL;
    }
    return PACE_OK;
}

static pace_status keep(pace_remedy_trial *out, const pace_remedy_ground *g, const pace_remedy_row *row,
                        pace_advice resource, const pace_forecast_result *result, const char *value) {
    pace_remedy remedy = {.row = *row, .resource = resource};
    if (!pace_step_trains(&g->rank->step)) { /* a recording without backward and update is of inference */
        if (row->how_to_infer) remedy.row.how = row->how_to_infer;
        if (row->infers_on) remedy.row.rests_on = row->infers_on;
    }
    pace_status status = take(&remedy, g, result, value);
    if (status == PACE_OK && remedy.saved_share >= g->catalog.threshold) {
        status = PACE_PUSH(&out->items, remedy);
        if (status == PACE_OK) return PACE_OK;
    }
    pace_remedy_free(&remedy);
    return status;
}

/* Its values in turn: the first that is not refused, or all of them. */
static pace_status try_values(pace_remedy_trial *out, const pace_remedy_ground *g, const pace_remedy_row *row,
                              pace_advice resource, const pace_forecast *forecast) {
    pace_status status = PACE_E_USAGE;
    value_text text;
    remedy_setting setting = {forecast, g->catalog.headroom, g->catalog.most_workers};
    for (size_t i = 0; remedy_value_at(text, row, i, &setting); i++) {
        const char *value = row->what_if->option.argument ? text : NULL;
        pace_forecast_result result;
        status = walk(&result, g, forecast, row, value);
        if (pace_remedy_is_refused(status)) continue;
        if (status != PACE_OK) return status;
        bool changed = out->answered = !pace_what_if_is_idle(row->what_if, &result.edits);
        status = changed ? keep(out, g, row, resource, &result, value) : PACE_E_USAGE;
        pace_forecast_result_free(&result);
        if (!row->all_values || (status != PACE_OK && !pace_remedy_is_refused(status))) break;
    }
    out->refused = pace_remedy_is_refused(status);
    return out->refused ? PACE_OK : status;
}

pace_status pace_remedy_try(pace_remedy_trial *out, const pace_remedy_ground *g, const pace_remedy_row *row,
                            pace_price_cache *prices) {
    pace_advice resource = resource_of(g, row);
    bool fits, ruled_out;
    if (!applies(g, row, resource)) return PACE_OK;
    PACE_TRY(fits_names(&fits, g, row));
    PACE_TRY(is_ruled_out(&ruled_out, g, row, resource));
    if (!fits || ruled_out) return PACE_OK;
    pace_forecast forecast = g->forecast;
    forecast.prices = prices;
    out->tried = true;
    return try_values(out, g, row, resource, &forecast);
}

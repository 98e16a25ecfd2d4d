#include "forecast/remedies.h"
#include "base/order.h"
#include "base/pattern.h"
#include "base/print.h"
#include "forecast/remedy_hints.h"
#include "forecast/remedy_values.h"
#include "forecast/saving_bound.h"
#include "insight/steps/passes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const pace_remedies_outcome_names[PACE_REMEDIES_OUTCOMES] = {"tried", "unknown", "too_large",
                                                                         "replay_differs", "no_replay"};

static void free_remedy(pace_remedy *remedy) { PACE_FREE(remedy->value, remedy->says, remedy->how); }

void pace_remedies_free(pace_remedies *remedies) {
    PACE_VEC_FREE_EACH(&remedies->items, free_remedy);
    PACE_FREE(remedies->why, remedies->steps);
    *remedies = (pace_remedies){0};
}

typedef struct {
    pace_remedies *out;
    const pace_analysis *analysis;
    const pace_critical *critical;
    const pace_rank *rank; /* that is reported */
    pace_remedy_catalog catalog;
    pace_forecast forecast;
    bool of_host;                   /* the host is the device */
    bool late_ranks;                /* most communication may be waiting for ranks: faster links need not help */
    bool *answered;                 /* per row of the catalogue: it could be tried */
    pace_lead behind[PACE_ADVICES]; /* each resource that matters; else PACE_ADVICES is its resource */
} trial;

/* --- which steps are walked --------------------------------------------------------------------------------------- */

static size_t count_tasks(const pace_analysis *analysis) {
    size_t sum = 0;
    for (size_t i = 0; i < analysis->traces.count; i++) sum += analysis->traces.items[i]->step.count;
    return sum;
}

/* The graph of a step has an edge for every pair of threads that may hand over, and each stream is walked alone. */
enum { MOST_LANES = 1024 };

static bool has_too_many_lanes(const pace_analysis *analysis) {
    for (size_t i = 0; i < analysis->traces.count; i++)
        if (analysis->traces.items[i]->step.lanes.count > MOST_LANES) return true;
    return false;
}

/* From the typical step on both sides the usual ones, as many as fit. */
static void take_usual(size_t *first, size_t *count, const pace_spread *spread, size_t typical, size_t fit) {
    size_t from = typical, until = typical + 1; /* behind the last */
    while (until - from < fit) {
        bool before = from > 0 && spread->notes.items[from - 1].verdict == PACE_STEP_USUAL;
        bool after = until < spread->notes.count && spread->notes.items[until].verdict == PACE_STEP_USUAL;
        if (!before && !after) break;
        if (after) until++;
        if (before && until - from < fit) from--;
    }
    *first = from;
    *count = until - from;
}

static pace_status name_steps(trial *t, size_t first, size_t count) {
    const pace_marks *marks = &t->rank->marks;
    char text[64];
    pace_snprintf(text, sizeof text, "%" PRId64 ":%" PRId64, pace_mark_number(marks, &t->rank->step.names, first),
                  pace_mark_number(marks, &t->rank->step.names, first + count - 1));
    t->out->steps = pace_copy_text(text, strlen(text));
    return t->out->steps ? PACE_OK : PACE_E_MEMORY;
}

/* All steps, unless some are unusual or the trace is large: then as many usual ones around the typical one as may be
 * walked. */
static pace_status choose_steps(trial *t) {
    const pace_marks *marks = &t->rank->marks;
    size_t tasks = count_tasks(t->analysis), steps = marks->items.count, first, count;
    bool annotated = steps && marks->origin == PACE_MARKS_ANNOTATED;
    size_t alone = annotated ? tasks / steps : tasks, fit = (size_t)t->catalog.most_tasks / (alone + 1);
    if (alone > (size_t)t->catalog.most_alone || has_too_many_lanes(t->analysis)) {
        t->out->outcome = PACE_REMEDIES_TOO_LARGE;
        return PACE_OK;
    }
    if (!annotated || t->critical->mark == SIZE_MAX) return PACE_OK;
    pace_spread spread;
    PACE_TRY(pace_spread_measure(&spread, t->rank));
    take_usual(&first, &count, &spread, t->critical->mark, fit);
    pace_spread_free(&spread);
    return count < steps ? name_steps(t, first, count) : PACE_OK;
}

/* --- one remedy --------------------------------------------------------------------------------------------------- */

/* What stands behind each resource that matters. */
static pace_status look_behind(trial *t) {
    double least = t->catalog.threshold * (double)(t->critical->to_ns - t->critical->from_ns);
    for (int r = 0; r < PACE_ADVICES; r++) {
        bool matters = r < PACE_ADVICE_GAP && (double)t->critical->by_resource_ns[r] >= least;
        if (r == PACE_ADVICE_NETWORK && t->late_ranks) matters = false;
        t->behind[r].resource = PACE_ADVICES;
        if (matters) PACE_TRY(pace_lead_of(&t->behind[r], t->critical, t->analysis, t->rank, (pace_advice)r));
    }
    return PACE_OK;
}

/* Of its resources the one with most time on the path; PACE_ADVICES = none matters. */
static pace_advice resource_of(const trial *t, const pace_remedy_row *row) {
    pace_advice most = PACE_ADVICES;
    for (int r = 0; r < PACE_ADVICE_GAP; r++) {
        if (!(row->resources & 1U << r) || t->behind[r].resource == PACE_ADVICES) continue;
        if (most == PACE_ADVICES || t->critical->by_resource_ns[r] > t->critical->by_resource_ns[most])
            most = (pace_advice)r;
    }
    return most;
}

static bool applies(const trial *t, const pace_remedy_row *row, pace_advice resource) {
    if (resource == PACE_ADVICES || (t->of_host && !row->what_if->of_host)) return false;
    return !row->spread_host || resource != PACE_ADVICE_HOST || pace_lead_spreads(&t->behind[PACE_ADVICE_HOST]);
}

/* How many tasks have a name that fits; `fits` holds what names are known to do: 0 = nothing, 1 = it does not, 2 = it
 * does. */
static size_t count_fitting(const trial *t, const regex_t *names, uint8_t *fits, bool of_step) {
    const pace_step *step = &t->rank->step;
    size_t count = 0;
    for (uint32_t task = 0; task < step->count; task++) {
        uint8_t *known = &fits[step->name[task]];
        if (of_step && (step->start_ns[task] < t->critical->from_ns || step->start_ns[task] >= t->critical->to_ns))
            continue;
        if (*known == 0) *known = pace_pattern_fits(names, pace_step_name(step, task)) ? 2 : 1;
        count += *known == 2;
    }
    return count;
}

/* Whether at least so many tasks of the recording, or of the step, have a name that fits. */
static pace_status has_name(bool *found, const trial *t, const char *member, const char *pattern, size_t least) {
    regex_t names;
    PACE_TRY(pace_pattern_compile(&names, member, pattern));
    uint8_t *fits = pace_alloc(pace_names_count(&t->rank->step.names) + 1, sizeof *fits);
    *found = fits && count_fitting(t, &names, fits, least > 1) >= least;
    regfree(&names);
    pace_status status = fits ? PACE_OK : PACE_E_MEMORY;
    pace_free(fits);
    return status;
}

/* Whether names show that nobody carries the remedy out already, and that there is what it acts on. */
static pace_status fits_names(bool *fits, const trial *t, const pace_remedy_row *row) {
    bool done = false, there = true;
    if (row->done_if) PACE_TRY(has_name(&done, t, "done_if:", row->done_if, 1));
    if (row->only_if) PACE_TRY(has_name(&there, t, "only_if:", row->only_if, 1));
    if (!there && row->or_repeated) PACE_TRY(has_name(&there, t, "or_repeated:", row->or_repeated, 2));
    *fits = there && !done;
    return PACE_OK;
}

/* Whether what stands behind the resource shows that the remedy would not help. */
static pace_status is_ruled_out(bool *out, const trial *t, const pace_remedy_row *row, pace_advice resource) {
    const pace_remedy_hint *hint;
    PACE_TRY(pace_hint_find(&hint, &t->catalog, &t->behind[resource], NULL));
    *out = hint && hint->rules_out && strcmp(hint->rules_out, row->id) == 0;
    return PACE_OK;
}

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

/* Whether a failure says that the remedy is of no use here, and not that something broke. */
static bool is_refusal(pace_status status) {
    return status == PACE_E_USAGE || status == PACE_E_INPUT || status == PACE_E_MISSING || status == PACE_E_LIMIT;
}

/* As predict words it: one what-if, one value. */
static pace_status walk(pace_forecast_result *out, const trial *t, const pace_remedy_row *row, const char *value) {
    pace_scenario scenario;
    pace_scenario_init(&scenario, row->id);
    pace_status status = pace_what_if_ask(&scenario, row->what_if, value);
    if (status == PACE_OK) status = pace_forecast_run(out, &t->forecast, &scenario);
    if (status == PACE_OK) pace_forecast_doubt_replay(out, pace_forecast_gap(&t->forecast, t->out->replayed_s));
    pace_scenario_free(&scenario);
    return status;
}

static bool changed_something(const pace_what_if *what_if, const pace_forecast_edits *edits) {
    return !what_if->idle || *(const size_t *)(const void *)((const char *)edits + what_if->changed) > 0;
}

/* Of what is left, by the spread of what is saved: to first order, and no further than to the step as it is. */
static double spread_of_saving(double left, double spread) {
    double to_the_step = -log(left) / log(pace_estimate_high((pace_estimate){.median = 1, .spread = 1}));
    return fmin(spread * (1 - left) / left, to_the_step);
}

static pace_status take(pace_remedy *remedy, const trial *t, const pace_forecast_result *result, const char *value) {
    double now_s = t->out->replayed_s;
    remedy->step_s = result->step_s;
    remedy->walked_s = result->step_s.median;
    remedy->walked_low_s = pace_estimate_low(result->step_s);
    remedy->samples = pace_remedy_samples(&remedy->row, &result->edits, value);
    remedy->busiest_s = busiest_s(&result->analysis);
    double share = remedy->step_s.median / remedy->samples / now_s; /* of the step of today */
    remedy->saved_share = 1 - share;
    if (share > 0 && share < 1)
        remedy->step_s.spread = hypot(remedy->step_s.spread, spread_of_saving(share, remedy->row.spread));
    if (value && !(remedy->value = pace_copy_text(value, strlen(value)))) return PACE_E_MEMORY;
    PACE_TRY(pace_remedy_words(&remedy->says, remedy->row.says, value));
    PACE_TRY(pace_remedy_words(&remedy->how, remedy->row.how, value));
    const pace_lead *behind = &t->behind[remedy->resource];
    remedy->culprit = behind->culprit;
    if (behind->waits_in) { /* what the host waits in tells more than what comes late then */
        remedy->culprit.name = behind->waits_in;
        remedy->culprit.around = NULL;
    }
    return PACE_OK;
}

static pace_status keep(trial *t, const pace_remedy_row *row, pace_advice resource, const pace_forecast_result *result,
                        const char *value) {
    pace_remedy remedy = {.row = *row, .resource = resource};
    if (!pace_step_trains(&t->rank->step)) { /* a recording without backward and update is of inference */
        if (row->how_to_infer) remedy.row.how = row->how_to_infer;
        if (row->infers_on) remedy.row.rests_on = row->infers_on;
    }
    pace_status status = take(&remedy, t, result, value);
    if (status == PACE_OK && remedy.saved_share >= t->catalog.threshold) {
        status = PACE_PUSH(&t->out->items, remedy);
        if (status == PACE_OK) return PACE_OK;
    }
    free_remedy(&remedy);
    return status;
}

static bool is_replaced(const trial *t, const pace_remedy_row *row) {
    for (size_t i = 0; row->unless && i < t->catalog.rows.count; i++)
        if (strcmp(t->catalog.rows.items[i].id, row->unless) == 0) return t->answered[i];
    return false;
}

static pace_status try_row(trial *t, size_t number) {
    const pace_remedy_row *row = &t->catalog.rows.items[number];
    pace_advice resource = resource_of(t, row);
    bool fits, ruled_out;
    if (!applies(t, row, resource) || is_replaced(t, row)) return PACE_OK;
    PACE_TRY(fits_names(&fits, t, row));
    PACE_TRY(is_ruled_out(&ruled_out, t, row, resource));
    if (!fits || ruled_out) return PACE_OK;
    t->out->tried++;
    pace_status status = PACE_E_USAGE;
    pace_remedy_value_text text;
    pace_remedy_setting setting = {&t->forecast, t->catalog.headroom, t->catalog.most_workers};
    for (size_t i = 0; pace_remedy_value_at(text, row, i, &setting); i++) {
        const char *value = row->what_if->option.argument ? text : NULL;
        pace_forecast_result result;
        status = walk(&result, t, row, value);
        if (is_refusal(status)) continue;
        if (status != PACE_OK) return status;
        bool changed = t->answered[number] = changed_something(row->what_if, &result.edits);
        status = changed ? keep(t, row, resource, &result, value) : PACE_E_USAGE;
        pace_forecast_result_free(&result);
        if (!row->all_values || (status != PACE_OK && !is_refusal(status))) break;
    }
    if (!is_refusal(status)) return status;
    t->out->refused++;
    return PACE_OK;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

/* Where a what-if may act on anything, the remedy names what it acts on. */
static unsigned acts_on(const pace_remedy_row *row) {
    return row->what_if->acts_on ? row->what_if->acts_on : row->resources;
}

static pace_status find_bounds(trial *t, const pace_rank *rank) {
    size_t count = t->out->items.count;
    unsigned *sets = pace_alloc(count + 1, sizeof *sets);
    double *at_most = pace_alloc(count + 1, sizeof *at_most);
    pace_status status = sets && at_most ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < count; i++) sets[i] = acts_on(&t->out->items.items[i].row);
    if (status == PACE_OK) status = pace_saving_bounds(at_most, t->critical, t->analysis, rank, sets, count);
    for (size_t i = 0; status == PACE_OK && i < count; i++) {
        pace_remedy *remedy = &t->out->items.items[i];
        remedy->at_most_share = at_most[i];
        if (pace_saving_hold(&remedy->step_s, t->out->replayed_s, remedy->samples, at_most[i]))
            remedy->saved_share = at_most[i];
        double least_s = t->out->replayed_s * remedy->samples * (1 - at_most[i]);
        double least_low_s = fmin(least_s / remedy->walked_s, 1) * remedy->walked_low_s;
        remedy->low_s = fmax(pace_estimate_low(remedy->step_s), least_low_s);
        remedy->high_s = pace_estimate_high(remedy->step_s);
    }
    PACE_FREE(sets, at_most);
    return status;
}

PACE_ORDER(by_gain, pace_remedy, PACE_DOWN(saved_share) PACE_TEXT(row.id))

/* Whether the same remedy, with another value, saves more. */
static bool is_outdone(const pace_remedies *out, size_t before, const pace_remedy *remedy) {
    for (size_t i = 0; i < before; i++)
        if (out->items.items[i].row.id == remedy->row.id) return true;
    return false;
}

/* Those that save enough even so, best first. */
static void keep_worthwhile(pace_remedies *out) {
    size_t kept = 0;
    if (out->items.count) qsort(out->items.items, out->items.count, sizeof *out->items.items, by_gain);
    for (size_t i = 0; i < out->items.count; i++) {
        pace_remedy *remedy = &out->items.items[i];
        if (remedy->saved_share >= out->threshold && !is_outdone(out, kept, remedy)) out->items.items[kept++] = *remedy;
        else free_remedy(remedy);
    }
    out->items.count = kept;
}

const pace_remedy *pace_remedies_first(bool *on_lead, const pace_remedies *remedies, const pace_lead *lead) {
    *on_lead = !lead->matters;
    for (size_t i = 0; lead->matters && !lead->of_long_steps && i < remedies->items.count; i++)
        if (remedies->items.items[i].row.resources & 1U << lead->resource) {
            *on_lead = true;
            return &remedies->items.items[i];
        }
    return remedies->items.count ? &remedies->items.items[0] : NULL;
}

static pace_status try_all(trial *t, const pace_rank *rank) {
    if (!PACE_MAKE(t->answered, t->catalog.rows.count + 1)) return PACE_E_MEMORY;
    for (size_t i = 0; i < t->catalog.rows.count; i++) PACE_TRY(try_row(t, i));
    PACE_TRY(find_bounds(t, rank));
    keep_worthwhile(t->out);
    return PACE_OK;
}

static pace_status give_up(pace_remedies *out) {
    const char *message = pace_message();
    out->outcome = PACE_REMEDIES_NO_REPLAY;
    out->why = pace_copy_text(message, strlen(message));
    return out->why ? PACE_OK : PACE_E_MEMORY;
}

/* What a recording without marked steps holds beside a step that repeats. */
static pace_status note_first_uses(pace_remedies *out, const pace_forecast *forecast) {
    char text[192];
    for (size_t i = 0; i < forecast->ranks.count && !out->why; i++) {
        const pace_forecast_rank *rank = &forecast->ranks.items[i];
        if (rank->first_uses.count == 0) continue;
        pace_snprintf(text, sizeof text, "%zu first uses, such as '%.80s', are in the recording",
                      rank->first_uses.count, pace_names_text(&rank->graph.names, rank->first_uses.longest));
        out->why = pace_copy_text(text, strlen(text));
        if (!out->why) return PACE_E_MEMORY;
    }
    return PACE_OK;
}

/* The step as it is, walked: what savings are told against. */
static pace_status walk_as_it_is(trial *t) {
    pace_scenario scenario;
    pace_forecast_result result;
    pace_scenario_init(&scenario, "as it is");
    pace_status status = pace_forecast_of_analysis(&t->forecast, t->analysis, t->out->steps);
    if (status == PACE_OK) status = pace_forecast_run(&result, &t->forecast, &scenario);
    if (is_refusal(status)) return give_up(t->out);
    PACE_TRY(status);
    t->out->replayed_s = result.step_s.median;
    t->out->measured_s = pace_forecast_measured_ns(&t->forecast) / 1e9;
    pace_forecast_result_free(&result);
    double error = t->out->replayed_s / t->out->measured_s - 1;
    if (!(t->out->measured_s > 0) || !(fabs(error) <= t->catalog.most_error))
        t->out->outcome = PACE_REMEDIES_REPLAY_OFF;
    return t->out->outcome == PACE_REMEDIES_REPLAY_OFF ? note_first_uses(t->out, &t->forecast) : PACE_OK;
}

static pace_status try_here(trial *t, const pace_rank *rank) {
    PACE_TRY(look_behind(t));
    PACE_TRY(choose_steps(t));
    if (t->rank->step.of_passes) {
        (void)pace_fail(PACE_E_INPUT, "passes are recorded, no kernels and nothing of the host");
        return give_up(t->out);
    }
    if (t->out->outcome == PACE_REMEDIES_TRIED) PACE_TRY(walk_as_it_is(t));
    return t->out->outcome == PACE_REMEDIES_TRIED ? try_all(t, rank) : PACE_OK;
}

static pace_status find_hint(pace_remedy_hint *out, const trial *t, const pace_lead *lead) {
    const pace_remedy_hint *hint = NULL;
    if (lead->matters) PACE_TRY(pace_hint_find(&hint, &t->catalog, lead, t->analysis));
    if (hint && hint->last && t->out->items.count) return PACE_OK;
    for (size_t i = 0; hint && hint->unless && i < t->out->items.count; i++)
        if (strcmp(t->out->items.items[i].row.id, hint->unless) == 0) return PACE_OK;
    if (hint) *out = *hint;
    return PACE_OK;
}

pace_status pace_remedies_try(pace_remedies *out, const pace_analysis *analysis, const pace_critical *critical,
                              const pace_rank *rank) {
    pace_remedies remedies = {0};
    trial t = {.out = &remedies, .analysis = analysis, .critical = critical, .rank = pace_rank_trace(rank)};
    t.of_host = t.rank->work.host_is_device;
    PACE_TRY(pace_remedy_catalog_load(&t.catalog, analysis->devices.documents));
    remedies.threshold = t.catalog.threshold;
    pace_lead lead;
    pace_status status = pace_lead_find(&lead, critical, analysis, rank);
    t.late_ranks = status == PACE_OK && (lead.at_least || !pace_analysis_knows_groups(analysis));
    if (status == PACE_OK && (lead.evidence.lacks != PACE_EVIDENCE_WHOLE || lead.resource == PACE_ADVICES))
        remedies.outcome = PACE_REMEDIES_NO_EVIDENCE;
    else if (status == PACE_OK) status = try_here(&t, rank);
    if (status == PACE_OK && remedies.outcome != PACE_REMEDIES_NO_EVIDENCE)
        status = find_hint(&remedies.hint, &t, &lead);
    pace_forecast_free(&t.forecast);
    pace_free(t.answered);
    pace_remedy_catalog_free(&t.catalog);
    return PACE_GIVE(out, remedies, status, pace_remedies_free(&remedies));
}

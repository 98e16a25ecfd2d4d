#include "forecast/remedies.h"
#include "base/order.h"
#include "base/parallel.h"
#include "base/print.h"
#include "forecast/remedy_hints.h"
#include "forecast/remedy_trial.h"
#include "forecast/saving_bound.h"
#include "insight/steps/typical_step.h"

#include <string.h>

const char *const pace_remedies_outcome_names[PACE_REMEDIES_OUTCOMES] = {"tried", "unknown", "too_large",
                                                                         "replay_differs", "no_replay"};

void pace_remedies_free(pace_remedies *remedies) {
    PACE_VEC_FREE_EACH(&remedies->items, pace_remedy_free);
    PACE_FREE(remedies->why, remedies->steps);
    *remedies = (pace_remedies){0};
}

typedef struct {
    pace_remedies *out;
    pace_remedy_ground ground;
    pace_remedy_trial *rows;  /* of the catalogue */
    bool *due;                /* per row: it is tried in this round */
    pace_price_cache *prices; /* per worker but the first, which has the forecast's */
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

/* All steps that repeat; of a large trace as many around the typical one as may be walked. */
static pace_status choose_steps(trial *t) {
    const pace_marks *marks = &t->ground.rank->marks;
    size_t tasks = count_tasks(t->ground.analysis), steps = marks->items.count;
    bool annotated = steps && marks->origin == PACE_MARKS_ANNOTATED;
    size_t alone = annotated ? tasks / steps : tasks, fit = (size_t)t->ground.catalog.most_tasks / (alone + 1);
    if (alone > (size_t)t->ground.catalog.most_alone || has_too_many_lanes(t->ground.analysis)) {
        t->out->outcome = PACE_REMEDIES_TOO_LARGE;
        return PACE_OK;
    }
    return pace_repeating_steps(&t->out->steps, t->ground.rank, t->ground.critical->mark, fit);
}

/* --- the ground of all -------------------------------------------------------------------------------------------- */

/* What stands behind each resource that matters. */
static pace_status look_behind(pace_remedy_ground *g) {
    double least = g->catalog.threshold * (double)(g->critical->to_ns - g->critical->from_ns);
    for (int r = 0; r < PACE_ADVICES; r++) {
        bool matters = r < PACE_ADVICE_GAP && (double)g->critical->by_resource_ns[r] >= least;
        if (r == PACE_ADVICE_NETWORK && g->late_ranks) matters = false;
        g->behind[r].resource = PACE_ADVICES;
        if (matters) PACE_TRY(pace_lead_of(&g->behind[r], g->critical, g->analysis, g->rank, (pace_advice)r));
    }
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
    if (status == PACE_OK)
        status = pace_saving_bounds(at_most, t->ground.critical, t->ground.analysis, rank, t->out->steps, sets, count);
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
    PACE_SORT(&out->items, by_gain);
    PACE_ITEMS (pace_remedy, remedy, &out->items) {
        if (remedy->saved_share >= out->threshold && !is_outdone(out, kept, remedy)) out->items.items[kept++] = *remedy;
        else pace_remedy_free(remedy);
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

/* The row in whose place another is tried only where it has no answer; NULL = none. */
static const pace_remedy_trial *instead_of(const trial *t, const pace_remedy_row *row) {
    const pace_remedy_catalog *catalog = &t->ground.catalog;
    for (size_t i = 0; row->unless && i < catalog->rows.count; i++)
        if (strcmp(catalog->rows.items[i].id, row->unless) == 0) return &t->rows[i];
    return NULL;
}

static pace_status try_one(void *context, size_t worker, size_t i) {
    const trial *t = context;
    if (!t->due[i]) return PACE_OK;
    pace_price_cache *prices = worker == 0 ? t->ground.forecast.prices : &t->prices[worker];
    if (!prices->slots) pace_price_cache_init(prices);
    return pace_remedy_try(&t->rows[i], &t->ground, &t->ground.catalog.rows.items[i], prices);
}

/* Those that stand in nobody's place, on all threads, then those that stand in for one without an answer. */
static pace_status try_rows(trial *t) {
    size_t count = t->ground.catalog.rows.count;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < count; i++) {
            const pace_remedy_trial *instead = instead_of(t, &t->ground.catalog.rows.items[i]);
            t->due[i] = round == 0 ? !instead : instead && !instead->answered;
        }
        PACE_TRY(pace_for_each(count, try_one, t));
    }
    return PACE_OK;
}

static pace_status take_rows(trial *t) {
    for (size_t i = 0; i < t->ground.catalog.rows.count; i++) {
        pace_remedy_trial *row = &t->rows[i];
        t->out->tried += row->tried;
        t->out->refused += row->refused;
        size_t count = t->out->items.count, more = row->items.count;
        PACE_TRY(pace_grow(&t->out->items.items, &t->out->items.capacity, count + more, sizeof *t->out->items.items));
        if (more) memcpy(t->out->items.items + count, row->items.items, more * sizeof *row->items.items);
        t->out->items.count += more;
        row->items.count = 0;
    }
    return PACE_OK;
}

static pace_status try_all(trial *t, const pace_rank *rank) {
    size_t count = t->ground.catalog.rows.count;
    if (!PACE_MAKE(t->rows, count + 1) || !PACE_MAKE(t->due, count + 1) || !PACE_MAKE(t->prices, pace_workers()))
        return PACE_E_MEMORY;
    PACE_TRY(pace_remedy_count_names(&t->ground));
    PACE_TRY(try_rows(t));
    PACE_TRY(take_rows(t));
    PACE_TRY(find_bounds(t, rank));
    keep_worthwhile(t->out);
    return PACE_OK;
}

static void free_trial(trial *t) {
    size_t rows = t->rows ? t->ground.catalog.rows.count : 0, workers = t->prices ? pace_workers() : 0;
    for (size_t i = 0; i < rows; i++) PACE_VEC_FREE_EACH(&t->rows[i].items, pace_remedy_free);
    for (size_t i = 0; i < workers; i++) pace_price_cache_free(&t->prices[i]);
    PACE_FREE(t->rows, t->due, t->prices, t->ground.named, t->ground.named_in_step);
    pace_forecast_free(&t->ground.forecast);
    pace_remedy_catalog_free(&t->ground.catalog);
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
        bool one = rank->first_uses.count == 1;
        pace_snprintf(text, sizeof text, "%zu first use%s, %s'%.80s', %s in the recording", rank->first_uses.count,
                      one ? "" : "s", one ? "" : "such as ",
                      pace_names_text(&rank->graph.names, rank->first_uses.longest), one ? "is" : "are");
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
    pace_status status = pace_forecast_of_analysis(&t->ground.forecast, t->ground.analysis, t->out->steps);
    if (status == PACE_OK) status = pace_forecast_run(&result, &t->ground.forecast, &scenario);
    if (pace_remedy_is_refused(status)) return give_up(t->out);
    PACE_TRY(status);
    t->out->replayed_s = t->ground.replayed_s = result.step_s.median;
    t->out->measured_s = pace_forecast_measured_ns(&t->ground.forecast) / 1e9;
    pace_forecast_result_free(&result);
    double error = t->out->replayed_s / t->out->measured_s - 1;
    if (!(t->out->measured_s > 0) || !(fabs(error) <= t->ground.catalog.most_error))
        t->out->outcome = PACE_REMEDIES_REPLAY_OFF;
    return t->out->outcome == PACE_REMEDIES_REPLAY_OFF ? note_first_uses(t->out, &t->ground.forecast) : PACE_OK;
}

static pace_status try_here(trial *t, const pace_rank *rank) {
    PACE_TRY(look_behind(&t->ground));
    PACE_TRY(choose_steps(t));
    if (t->ground.rank->step.of_passes) {
        (void)pace_fail(PACE_E_INPUT, "passes are recorded, no kernels and nothing of the host");
        return give_up(t->out);
    }
    if (t->out->outcome == PACE_REMEDIES_TRIED) PACE_TRY(walk_as_it_is(t));
    return t->out->outcome == PACE_REMEDIES_TRIED ? try_all(t, rank) : PACE_OK;
}

static bool acted_on(const pace_remedies *remedies, int resource) {
    PACE_ITEMS (const pace_remedy, remedy, &remedies->items)
        if (remedy->row.resources & 1U << resource) return true;
    return false;
}

/* What names tell of the dearest of the other resources on which no remedy acts that saves enough. */
static pace_status find_beside(const trial *t, const pace_lead *lead) {
    const pace_critical *critical = t->ground.critical;
    double step_ns = (double)(critical->to_ns - critical->from_ns);
    double best = t->out->items.count ? t->out->items.items[0].saved_share : 0, most = fmax(0.1, 2 * best);
    for (int r = 0; r < PACE_ADVICE_GAP; r++) {
        const pace_lead *behind = &t->ground.behind[r];
        const pace_remedy_hint *hint = NULL;
        double share = 1 - (double)critical->without_ns[r] / step_ns;
        if (r == (int)lead->resource || behind->resource == PACE_ADVICES || !(share >= most)) continue;
        if (acted_on(t->out, r)) continue;
        PACE_TRY(pace_hint_find(&hint, &t->ground.catalog, behind, NULL));
        if (!hint || hint->last) continue;
        t->out->beside = *hint;
        t->out->beside_share = most = share;
    }
    return PACE_OK;
}

static pace_status find_hint(pace_remedy_hint *out, const trial *t, const pace_lead *lead) {
    const pace_remedy_hint *hint = NULL;
    if (lead->matters) PACE_TRY(pace_hint_find(&hint, &t->ground.catalog, lead, t->ground.analysis));
    if (lead->matters && (!hint || hint->last) && t->out->outcome == PACE_REMEDIES_TRIED)
        PACE_TRY(find_beside(t, lead));
    if (hint && hint->last && t->out->items.count) return PACE_OK;
    for (size_t i = 0; hint && hint->unless && i < t->out->items.count; i++)
        if (strcmp(t->out->items.items[i].row.id, hint->unless) == 0) return PACE_OK;
    if (hint) *out = *hint;
    return PACE_OK;
}

bool pace_remedies_want_later_steps(const pace_remedies *remedies) {
    return remedies->outcome == PACE_REMEDIES_REPLAY_OFF && remedies->why &&
           remedies->replayed_s < 0.5 * remedies->measured_s;
}

pace_status pace_remedies_try(pace_remedies *out, const pace_analysis *analysis, const pace_critical *critical,
                              const pace_rank *rank) {
    pace_remedies remedies = {0};
    trial t = {.out = &remedies, .ground = {analysis, critical, pace_rank_trace(rank)}};
    pace_remedy_ground *ground = &t.ground;
    ground->of_host = ground->rank->work.host_is_device;
    PACE_TRY(pace_remedy_catalog_load(&ground->catalog, analysis->devices.documents));
    remedies.threshold = ground->catalog.threshold;
    pace_lead lead;
    pace_status status = pace_lead_find(&lead, critical, analysis, rank);
    ground->late_ranks = status == PACE_OK && (lead.at_least || !pace_analysis_knows_groups(analysis));
    if (status == PACE_OK && (lead.evidence.lacks != PACE_EVIDENCE_WHOLE || lead.resource == PACE_ADVICES))
        remedies.outcome = PACE_REMEDIES_NO_EVIDENCE;
    else if (status == PACE_OK) status = try_here(&t, rank);
    if (status == PACE_OK && remedies.outcome != PACE_REMEDIES_NO_EVIDENCE &&
        !pace_remedies_want_later_steps(&remedies))
        status = find_hint(&remedies.hint, &t, &lead);
    free_trial(&t);
    return PACE_GIVE(out, remedies, status, pace_remedies_free(&remedies));
}

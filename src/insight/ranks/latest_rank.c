#include "insight/ranks/latest_rank.h"

#include "base/sort.h"
#include "insight/ranks/chance_lateness.h"
#include "insight/ranks/item_exchange.h"
#include "insight/steps/mean_step.h"
#include "insight/spread.h"

#include <string.h>

typedef struct {
    pace_rank *const *ranks;
    size_t count;
    const pace_collectives *collectives;
    int64_t *late_ns; /* one a rank */
    pace_chance_lateness chance;
} finder;

/* --- by collectives ----------------------------------------------------------------------------------------------- */

static bool any_usual(const pace_spread *spread) {
    for (size_t i = 0; i < spread->notes.count; i++)
        if (spread->notes.items[i].verdict == PACE_STEP_USUAL) return true;
    return false;
}

/* To which row of figures a collective is added: 1 and up by the step of the first rank that takes part, 0 outside of
 * steps, -1 in a step that is not usual. */
static ptrdiff_t row_of(const finder *f, const uint32_t *parts, const pace_spread *spreads) {
    size_t r = 0;
    while (parts[r] == PACE_NO_TASK) r++;
    const pace_rank *rank = f->ranks[r];
    ptrdiff_t mark =
        pace_marks_at(&rank->marks, pace_task_issued_ns(&rank->step, rank->work.items.items[parts[r]].task));
    bool usual = mark < 0 || !any_usual(&spreads[r]) || spreads[r].notes.items[mark].verdict == PACE_STEP_USUAL;
    return usual ? mark + 1 : -1;
}

static size_t most_marks(const finder *f) {
    size_t most = 0;
    for (size_t r = 0; r < f->count; r++)
        if (f->ranks[r]->marks.items.count > most) most = f->ranks[r]->marks.items.count;
    return most;
}

static bool any_late(const int64_t *late_ns, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (late_ns[i] > 0) return true;
    return false;
}

/* Where all ranks meet in every collective, and in steps, another one may be late in each. */
static void find_chance(finder *f, int64_t *late_ns, size_t rows) {
    size_t steps = 0;
    PACE_ITEMS (const pace_measured_collective, own, &f->collectives->items)
        if (own->members < f->count) return;
    if (any_late(late_ns, f->count)) return;
    for (size_t row = 1; row < rows; row++)
        if (any_late(late_ns + row * f->count, f->count))
            memmove(late_ns + steps++ * f->count, late_ns + row * f->count, f->count * sizeof *late_ns);
    f->chance = pace_chance_lateness_of(late_ns, steps, f->count);
}

static pace_status late_in_steps(finder *f, int64_t *late_ns, const ptrdiff_t *row, size_t rows) {
    PACE_TRY(pace_collectives_lateness(late_ns, f->collectives, f->ranks, f->count, row, rows));
    for (size_t i = 0; i < rows * f->count; i++) f->late_ns[i % f->count] += late_ns[i];
    find_chance(f, late_ns, rows);
    return PACE_OK;
}

static pace_status by_collectives(finder *f) {
    const pace_collectives *c = f->collectives;
    size_t rows = most_marks(f) + 1;
    pace_spread *spreads = pace_alloc(f->count, sizeof *spreads);
    ptrdiff_t *row = pace_alloc(c->items.count, sizeof *row);
    int64_t *late_ns = pace_alloc(rows * f->count, sizeof *late_ns);
    pace_status status = spreads && row && late_ns ? PACE_OK : PACE_E_MEMORY;
    for (size_t r = 0; status == PACE_OK && r < f->count; r++) status = pace_spread_measure(&spreads[r], f->ranks[r]);
    for (size_t i = 0; status == PACE_OK && i < c->items.count; i++)
        row[i] = row_of(f, c->parts.items + c->items.items[i].first_part, spreads);
    if (status == PACE_OK) status = late_in_steps(f, late_ns, row, rows);
    for (size_t r = 0; spreads && r < f->count; r++) pace_spread_free(&spreads[r]);
    PACE_FREE(spreads, row, late_ns);
    return status;
}

/* --- by work ------------------------------------------------------------------------------------------------------ */

/* What a rank does itself in a step: not what it waits for others, exchanges, or has in line behind either. */
static int64_t own_work(const pace_mean_step *step) {
    static const pace_resource own[] = {PACE_COMPUTE_BOUND, PACE_MEMORY_BOUND, PACE_COPY, PACE_IDLE_HOST,
                                        PACE_IDLE_INPUT};
    int64_t sum = 0;
    for (int s = 0; s < PACE_STAGES; s++)
        for (size_t i = 0; i < PACE_COUNT(own); i++) sum += step->matrix.cell_ns[s][own[i]];
    return sum;
}

/* In a pipeline every stage waits for every other; the one with most to do sets the pace. Of a step, since
 * the usual ones of one rank may be more than those of another; then of as many as any rank has. */
static pace_status by_work(finder *f) {
    int64_t *order = pace_alloc(f->count, sizeof *order);
    pace_status status = order ? PACE_OK : PACE_E_MEMORY;
    int64_t steps = 1;
    for (size_t r = 0; status == PACE_OK && r < f->count; r++) {
        pace_mean_step step;
        status = pace_usual_step_of(&step, f->ranks[r]);
        if (status != PACE_OK) break;
        order[r] = f->late_ns[r] = own_work(&step);
        if ((int64_t)step.steps > steps) steps = (int64_t)step.steps;
    }
    if (status == PACE_OK) {
        pace_order_ns(order, f->count);
        for (size_t r = 0; r < f->count; r++) f->late_ns[r] = (f->late_ns[r] - order[(f->count - 1) / 2]) * steps;
    }
    pace_free(order);
    return status;
}

/* --- the rank ----------------------------------------------------------------------------------------------------- */

static int64_t longest_span(const finder *f) {
    int64_t longest = 0;
    for (size_t r = 0; r < f->count; r++)
        if (f->ranks[r]->work.window.span_ns > longest) longest = f->ranks[r]->work.window.span_ns;
    return longest;
}

static bool is_late(const finder *f, const pace_latest_rank *latest, size_t r) {
    return f->late_ns[r] > 0 && f->late_ns[r] * 2 >= latest->by_ns;
}

/* Where groups of ranks never meet, one may take far longer than a rank that another group waits for a little. */
static void choose(pace_latest_rank *out, const finder *f) {
    size_t latest = 0;
    for (size_t r = 1; r < f->count; r++)
        if (f->late_ns[r] > f->late_ns[latest]) latest = r;
    int64_t span = f->ranks[latest]->work.window.span_ns;
    out->by_ns = f->chance.by_chance ? f->chance.late_ns : f->late_ns[latest];
    out->by_chance = f->chance.by_chance && out->by_ns >= span / 100;
    if (f->chance.by_chance) return;
    if (out->by_ns > 0 && out->by_ns >= span / 100)
        *(out->by_ns >= longest_span(f) - span ? &out->rank : &out->shorter) = f->ranks[latest];
    for (size_t r = 0; r < f->count; r++) out->ranks += is_late(f, out, r);
}

static uint32_t first_of(const uint32_t *group, uint32_t rank) {
    while (group[rank] != rank) rank = group[rank];
    return rank;
}

/* How many groups of ranks share no collective, directly or through others. */
static pace_status count_groups(size_t *out, const finder *f) {
    uint32_t *group = pace_alloc(f->count, sizeof *group);
    if (!group) return PACE_E_MEMORY;
    *out = f->count;
    for (uint32_t r = 0; r < f->count; r++) group[r] = r;
    for (size_t i = 0; i < f->collectives->items.count; i++) {
        const uint32_t *parts = f->collectives->parts.items + f->collectives->items.items[i].first_part;
        for (uint32_t r = 0, met = UINT32_MAX; r < f->count; r++) {
            if (parts[r] == PACE_NO_TASK) continue;
            uint32_t own = first_of(group, r);
            if (met == UINT32_MAX) met = own;
            *out -= own != met;
            group[own] = met;
        }
    }
    pace_free(group);
    return PACE_OK;
}

/* Replicas gather their parameters and scatter their gradients among themselves. */
static bool shares_parameters(const finder *f, const uint32_t *parts, size_t r) {
    const pace_exchange_info *info = pace_item_exchange(f->ranks[r], parts[r]);
    const char *name = info ? pace_names_text(&f->ranks[r]->step.names, info->collective) : "";
    return strstr(name, "reduce_scatter") || strstr(name, "allgather");
}

/* Of the groups of fewer than all ranks. */
static void find_alone(pace_latest_rank *latest, const finder *f) {
    size_t own = 0;
    while (f->ranks[own] != latest->rank) own++;
    PACE_ITEMS (const pace_measured_collective, c, &f->collectives->items) {
        const uint32_t *parts = f->collectives->parts.items + c->first_part;
        if (c->members == f->count || parts[own] == PACE_NO_TASK || !shares_parameters(f, parts, own)) continue;
        size_t late = 0;
        for (size_t r = 0; r < f->count; r++) late += parts[r] != PACE_NO_TASK && is_late(f, latest, r);
        latest->alone = late == 1;
        return;
    }
}

/* What the median of the others loses to waiting, all usual steps together: kernels beside an exchange hide its
 * wait. */
static pace_status find_hidden(pace_latest_rank *latest, const finder *f) {
    int64_t *lost = pace_alloc(f->count, sizeof *lost);
    pace_status status = lost ? PACE_OK : PACE_E_MEMORY;
    size_t others = 0;
    for (size_t r = 0; status == PACE_OK && r < f->count; r++) {
        pace_mean_step step;
        if (f->ranks[r] == latest->rank) continue;
        status = pace_usual_step_of(&step, f->ranks[r]);
        for (int s = 0; status == PACE_OK && s < PACE_STAGES; s++)
            lost[others] += step.matrix.cell_ns[s][PACE_IDLE_RANK] * (int64_t)(step.steps ? step.steps : 1);
        others++;
    }
    if (status == PACE_OK) pace_order_ns(lost, others);
    latest->hidden = status == PACE_OK && lost[(others - 1) / 2] * 2 < latest->by_ns;
    pace_free(lost);
    return status;
}

pace_status pace_latest_rank_find(pace_latest_rank *out, pace_rank *const *ranks, size_t count,
                                  const pace_collectives *collectives, bool messages) {
    pace_latest_rank latest = {.by_work = messages};
    finder f = {.ranks = ranks, .count = count, .collectives = collectives};
    f.late_ns = pace_alloc(count, sizeof *f.late_ns);
    pace_status status = f.late_ns ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK && count > 1) status = latest.by_work ? by_work(&f) : by_collectives(&f);
    if (status == PACE_OK && count > 1) choose(&latest, &f);
    if (status == PACE_OK && (latest.rank || latest.by_chance) && !latest.by_work) status = find_hidden(&latest, &f);
    if (status == PACE_OK && latest.rank && latest.by_work) find_alone(&latest, &f);
    if (status == PACE_OK) status = count_groups(&latest.groups, &f);
    pace_free(f.late_ns);
    if (status == PACE_OK) *out = latest;
    return status;
}

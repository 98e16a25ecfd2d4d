#include "insight/ranks/collectives.h"

#include "base/sort.h"
#include "insight/ranks/item_exchange.h"
#include "source/traces/collective_names.h"

#include <stdlib.h>
#include <string.h>

void pace_collectives_free(pace_collectives *collectives) { PACE_VEC_FREE(&collectives->items, &collectives->parts); }

/* --- matching --------------------------------------------------------------------------------------------------- */

typedef struct {
    PACE_VEC(uint32_t) items; /* work items, PACE_NO_TASK once taken */
    PACE_VEC(int64_t) steps;  /* number of the step that issued each, or one of the two below */
    size_t first;             /* all before are taken */
} item_list;

enum { ANY_STEP = -1, NO_STEP = -2 };

static void free_list(item_list *list) { PACE_VEC_FREE(&list->items, &list->steps); }

static const pace_work_item *item_at(const pace_rank *rank, uint32_t item) { return &rank->work.items.items[item]; }

static const char *name_of(const pace_rank *rank, uint32_t item) {
    return pace_step_name(&rank->step, item_at(rank, item)->task);
}

static int64_t step_of(const pace_rank *rank, const pace_work_item *item, const int64_t *numbers) {
    bool known = rank->work.host_is_device || pace_task_cause(&rank->step, item->task) != PACE_NO_TASK;
    if (rank->marks.origin != PACE_MARKS_ANNOTATED || !known) return ANY_STEP;
    ptrdiff_t at = pace_marks_at(&rank->marks, pace_task_issued_ns(&rank->step, item->task));
    return at < 0 ? NO_STEP : numbers[at];
}

static pace_status list_items(item_list *out, const pace_rank *rank, const int64_t *numbers) {
    for (uint32_t i = 0; i < rank->work.items.count; i++) {
        const pace_work_item *item = &rank->work.items.items[i];
        if (item->class != PACE_WORK_COMMUNICATION || item->message) continue;
        PACE_TRY(PACE_PUSH(&out->items, i));
        PACE_TRY(PACE_PUSH(&out->steps, step_of(rank, item, numbers)));
    }
    return PACE_OK;
}

static pace_status list_communication(item_list *out, const pace_rank *rank) {
    int64_t *numbers = pace_alloc(rank->marks.items.count, sizeof *numbers);
    if (!numbers) return PACE_E_MEMORY;
    pace_mark_numbers(numbers, &rank->marks, &rank->step.names);
    pace_status status = list_items(out, rank, numbers);
    pace_free(numbers);
    return status;
}

/* Which of the ranks take part: all, unless the trace names the members. */
static void find_members(bool *member, const char *group, pace_rank *const *ranks, size_t rank_count) {
    for (size_t r = 0; r < rank_count; r++) member[r] = *group == '\0' || ranks[r]->step.rank < 0;
    for (const char *at = group; *at;) {
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        char *end;
        long long number = strtoll(at, &end, 10);
        for (size_t r = 0; r < rank_count; r++) member[r] = member[r] || ranks[r]->step.rank == number;
        at = end;
    }
}

static bool same_step(int64_t a, int64_t b) { return a == b || a == ANY_STEP || b == ANY_STEP; }

/* The next kernel of a name, group and step on another rank; ranks mostly agree on the order, so it is found near the
 * cursor. */
static uint32_t take(item_list *list, const pace_rank *rank, const char *name, const char *group, int64_t step) {
    while (list->first < list->items.count && list->items.items[list->first] == PACE_NO_TASK) list->first++;
    for (size_t i = list->first; i < list->items.count; i++) {
        uint32_t item = list->items.items[i];
        if (item == PACE_NO_TASK || !same_step(list->steps.items[i], step)) continue;
        if (strcmp(name_of(rank, item), name) != 0) continue;
        if (strcmp(pace_item_members(rank, item), group) != 0) continue;
        list->items.items[i] = PACE_NO_TASK;
        return item;
    }
    return PACE_NO_TASK;
}

typedef struct {
    pace_collectives *out;
    pace_rank *const *ranks;
    size_t rank_count;
    item_list *lists;
    bool *member;
    bool by_time; /* members run at the same time on clocks that agree; else they come in the same order */
} matcher;

static int64_t end_on_first_clock(const pace_rank *rank, uint32_t item) {
    return item_at(rank, item)->end_ns + rank->shift_ns;
}

static int64_t start_on_first_clock(const pace_rank *rank, uint32_t item) {
    return item_at(rank, item)->start_ns + rank->shift_ns;
}

static bool is_alike(const matcher *m, size_t own, uint32_t item, size_t r, uint32_t other) {
    return strcmp(name_of(m->ranks[r], other), name_of(m->ranks[own], item)) == 0 &&
           strcmp(pace_item_members(m->ranks[r], other), pace_item_members(m->ranks[own], item)) == 0;
}

/* Of those of the same name, group and step on rank `r` that run when `item` of rank `own` does, the one that ends
 * closest to it. Items come in order of start: what ended before this one began is of no use for later ones. */
static uint32_t take_by_time(const matcher *m, size_t r, size_t own, uint32_t item, int64_t step) {
    item_list *list = &m->lists[r];
    const pace_rank *there = m->ranks[r];
    int64_t start_ns = start_on_first_clock(m->ranks[own], item), end_ns = end_on_first_clock(m->ranks[own], item);
    int64_t closest = INT64_MAX;
    size_t best = SIZE_MAX;
    while (list->first < list->items.count && (list->items.items[list->first] == PACE_NO_TASK ||
                                               end_on_first_clock(there, list->items.items[list->first]) < start_ns))
        list->first++;
    for (size_t i = list->first; i < list->items.count; i++) {
        uint32_t other = list->items.items[i];
        if (other == PACE_NO_TASK) continue;
        if (start_on_first_clock(there, other) > end_ns) break;
        int64_t apart = llabs(end_on_first_clock(there, other) - end_ns);
        if (end_on_first_clock(there, other) < start_ns || apart >= closest) continue;
        if (!same_step(list->steps.items[i], step) || !is_alike(m, own, item, r, other)) continue;
        best = i;
        closest = apart;
    }
    if (best == SIZE_MAX) return PACE_NO_TASK;
    uint32_t taken = list->items.items[best];
    list->items.items[best] = PACE_NO_TASK;
    return taken;
}

/* One kernel of rank `own`, the lowest of its group's, and its partners. */
static pace_status match_one(matcher *m, size_t own, uint32_t item, int64_t step) {
    const char *name = name_of(m->ranks[own], item), *group = pace_item_members(m->ranks[own], item);
    size_t first = m->out->parts.count, members = 0, here = 0;
    bool whole = true;
    for (size_t r = 0; r < m->rank_count; r++) {
        uint32_t part = r == own        ? item
                        : !m->member[r] ? PACE_NO_TASK
                        : m->by_time    ? take_by_time(m, r, own, item, step)
                                        : take(&m->lists[r], m->ranks[r], name, group, step);
        whole = whole && (part != PACE_NO_TASK || !m->member[r]);
        members += part != PACE_NO_TASK;
        here += m->member[r];
        PACE_TRY(PACE_PUSH(&m->out->parts, part));
    }
    if (!whole || members < 2) {
        m->out->parts.count = first;
        m->out->unmatched += here > 1; /* else no other rank of its group is here */
        return PACE_OK;
    }
    return PACE_PUSH(
        &m->out->items,
        ((pace_measured_collective){.name = name, .first_part = first, .members = (uint32_t)members, .bytes = -1}));
}

/* A process may use a device for copies alone. */
static void leave_out_silent_devices(matcher *m) {
    for (size_t r = 0; r < m->rank_count; r++)
        if (m->ranks[r]->trace && m->lists[r].items.count == 0) m->member[r] = false;
}

/* No rank of the group but `own` is here: what a predicted stage exchanges with ranks that it stands for. */
static bool is_alone(const matcher *m, size_t own) {
    for (size_t r = 0; r < m->rank_count; r++)
        if (m->member[r] && r != own) return false;
    return true;
}

static pace_status match_all(matcher *m) {
    for (size_t own = 0; own < m->rank_count; own++) {
        const char *before = NULL; /* the group of the item before: most are of few groups */
        bool alone = false;
        for (size_t r = 0; r < m->rank_count; r++) m->lists[r].first = 0;
        for (size_t i = 0; i < m->lists[own].items.count; i++) {
            uint32_t item = m->lists[own].items.items[i];
            if (item == PACE_NO_TASK) continue;
            const char *group = pace_item_members(m->ranks[own], item);
            if (group != before) find_members(m->member, group, m->ranks, m->rank_count);
            if (group != before) leave_out_silent_devices(m);
            if (group != before) alone = is_alone(m, own);
            before = group;
            if (alone) continue;
            size_t lowest = 0;
            while (lowest < own && !m->member[lowest]) lowest++;
            if (lowest == own)
                PACE_TRY(match_one(m, own, item,
                                   m->lists[own].steps.items[i])); /* else its lowest rank has no partner for it */
        }
    }
    return PACE_OK;
}

/* --- waiting and transfer ----------------------------------------------------------------------------------------- */

static int64_t bytes_of(const pace_rank *rank, uint32_t item) {
    const pace_exchange_info *info = pace_item_exchange(rank, item);
    return info && info->in_elements > 0 ? pace_exchange_bytes(&rank->step, info) : -1;
}

/* Index of the first rank that takes part. */
static size_t first_member(const uint32_t *parts) {
    size_t r = 0;
    while (parts[r] == PACE_NO_TASK) r++;
    return r;
}

/* How much later the last came than the one before it, unless that is less than what the ranks' ends differ by: members
 * leave together, so that is how well their clocks are known. */
static int64_t margin_of(const pace_measured_collective *own, const uint32_t *parts, pace_rank *const *ranks,
                         size_t rank_count) {
    int64_t before = INT64_MIN, first_end = INT64_MAX;
    for (size_t r = 0; r < rank_count; r++) {
        if (parts[r] == PACE_NO_TASK) continue;
        const pace_work_item *item = item_at(ranks[r], parts[r]);
        int64_t start = item->start_ns + ranks[r]->shift_ns, end = item->end_ns + ranks[r]->shift_ns;
        if (r != own->last_rank && start > before) before = start;
        if (end < first_end) first_end = end;
    }
    int64_t margin = own->last_start_ns - before;
    return margin > own->end_ns - first_end ? margin : 0;
}

static void split(pace_measured_collective *own, const uint32_t *parts, pace_rank *const *ranks, size_t rank_count) {
    own->last_start_ns = own->end_ns = INT64_MIN;
    for (size_t r = 0; r < rank_count; r++) {
        if (parts[r] == PACE_NO_TASK) continue;
        const pace_work_item *item = item_at(ranks[r], parts[r]);
        if (item->start_ns + ranks[r]->shift_ns > own->last_start_ns) {
            own->last_start_ns = item->start_ns + ranks[r]->shift_ns;
            own->last_rank = (uint32_t)r;
        }
        if (item->end_ns + ranks[r]->shift_ns > own->end_ns) own->end_ns = item->end_ns + ranks[r]->shift_ns;
    }
    for (size_t r = 0; r < rank_count; r++) {
        if (parts[r] == PACE_NO_TASK) continue;
        pace_work_item *item = &ranks[r]->work.items.items[parts[r]];
        int64_t until = own->last_start_ns - ranks[r]->shift_ns;
        item->wait_until_ns = until > item->end_ns ? item->end_ns : until;
        own->wait_ns += item->wait_until_ns > item->start_ns ? item->wait_until_ns - item->start_ns : 0;
    }
    own->transfer_ns = own->end_ns - own->last_start_ns;
    own->margin_ns = margin_of(own, parts, ranks, rank_count);
    own->bytes = bytes_of(ranks[first_member(parts)], parts[first_member(parts)]);
}

void pace_collectives_split(pace_collectives *c, pace_rank *const *ranks, size_t rank_count) {
    for (size_t i = 0; i < c->items.count; i++)
        split(&c->items.items[i], c->parts.items + c->items.items[i].first_part, ranks, rank_count);
}

/* Adds how late each member came; `starts` has room for all ranks. */
static void add_lateness(int64_t *late_ns, const pace_measured_collective *own, const uint32_t *parts,
                         pace_rank *const *ranks, size_t rank_count, int64_t *starts) {
    int64_t first_end = INT64_MAX;
    size_t count = 0;
    for (size_t r = 0; r < rank_count; r++) {
        if (parts[r] == PACE_NO_TASK) continue;
        const pace_work_item *item = item_at(ranks[r], parts[r]);
        starts[count++] = item->start_ns + ranks[r]->shift_ns;
        if (item->end_ns + ranks[r]->shift_ns < first_end) first_end = item->end_ns + ranks[r]->shift_ns;
    }
    pace_order_ns(starts, count);
    for (size_t r = 0; r < rank_count; r++) {
        if (parts[r] == PACE_NO_TASK) continue;
        int64_t late = item_at(ranks[r], parts[r])->start_ns + ranks[r]->shift_ns - starts[(count - 1) / 2];
        if (late > own->end_ns - first_end) late_ns[r] += late;
    }
}

pace_status pace_collectives_lateness(int64_t *out_ns, const pace_collectives *c, pace_rank *const *ranks,
                                      size_t rank_count, const ptrdiff_t *row, size_t rows) {
    int64_t *starts = pace_alloc(rank_count, sizeof *starts);
    if (!starts) return PACE_E_MEMORY;
    for (size_t i = 0; i < rows * rank_count; i++) out_ns[i] = 0;
    for (size_t i = 0; i < c->items.count; i++) {
        size_t to = row && row[i] > 0 ? (size_t)row[i] : 0;
        if (!row || row[i] >= 0)
            add_lateness(out_ns + to * rank_count, &c->items.items[i], c->parts.items + c->items.items[i].first_part,
                         ranks, rank_count, starts);
    }
    pace_free(starts);
    return PACE_OK;
}

static pace_status match_with(pace_collectives *out, pace_rank *const *ranks, size_t rank_count, bool by_time) {
    matcher m = {.out = out, .ranks = ranks, .rank_count = rank_count, .by_time = by_time};
    pace_status status = PACE_MAKE(m.lists, rank_count) && PACE_MAKE(m.member, rank_count) ? PACE_OK : PACE_E_MEMORY;
    for (size_t r = 0; status == PACE_OK && r < rank_count; r++) status = list_communication(&m.lists[r], ranks[r]);
    if (status == PACE_OK) status = match_all(&m);
    for (size_t r = 0; m.lists && r < rank_count; r++) free_list(&m.lists[r]);
    PACE_FREE(m.lists, m.member);
    return status;
}

pace_status pace_collectives_match(pace_collectives *out, pace_rank *const *ranks, size_t rank_count) {
    pace_collectives c = {0};
    if (rank_count < 2) {
        *out = c;
        return PACE_OK;
    }
    pace_status status = match_with(&c, ranks, rank_count, false);
    return PACE_GIVE(out, c, status, pace_collectives_free(&c));
}

/* --- matches that are none ---------------------------------------------------------------------------------------- */

/* Only a rooted collective may be over on one member before another begins. */
static bool is_rooted(const char *name) {
    const char *collective = pace_collective_in(name);
    return strcmp(collective, "broadcast") == 0 || strcmp(collective, "reduce") == 0;
}

static bool members_meet(const pace_collectives *c, const pace_measured_collective *own, pace_rank *const *ranks,
                         size_t rank_count) {
    const uint32_t *parts = c->parts.items + own->first_part;
    int64_t last_start = INT64_MIN, first_end = INT64_MAX;
    for (size_t r = 0; r < rank_count; r++) {
        if (parts[r] == PACE_NO_TASK) continue;
        int64_t start = start_on_first_clock(ranks[r], parts[r]), end = end_on_first_clock(ranks[r], parts[r]);
        if (start > last_start) last_start = start;
        if (end < first_end) first_end = end;
    }
    return last_start <= first_end || is_rooted(own->name);
}

size_t pace_collectives_that_meet(const pace_collectives *collectives, pace_rank *const *ranks, size_t rank_count) {
    size_t meet = 0;
    for (size_t i = 0; i < collectives->items.count; i++)
        meet += members_meet(collectives, &collectives->items.items[i], ranks, rank_count);
    return meet;
}

pace_status pace_collectives_recheck(pace_collectives *collectives, pace_rank *const *ranks, size_t rank_count) {
    size_t meet = pace_collectives_that_meet(collectives, ranks, rank_count);
    if (meet == collectives->items.count) return PACE_OK;
    pace_collectives by_time = {0};
    pace_status status = match_with(&by_time, ranks, rank_count, true);
    if (status == PACE_OK && by_time.items.count >= meet) {
        pace_collectives_free(collectives);
        *collectives = by_time;
        return PACE_OK;
    }
    pace_collectives_free(&by_time);
    return status;
}

/* --- why the last rank was late -------------------------------------------------------------------------------- */

/* What the last rank spent beyond the mean of the others, since the members' exchange before. */
static void explain(pace_measured_collective *own, const uint32_t *parts, pace_rank *const *ranks, size_t rank_count,
                    int64_t since) {
    double excess[PACE_RESOURCES] = {0};
    for (size_t r = 0; r < rank_count; r++) {
        if (parts[r] == PACE_NO_TASK) continue;
        int64_t shift = ranks[r]->shift_ns;
        pace_matrix m = pace_rank_matrix(ranks[r], since - shift, own->last_start_ns - shift);
        double weight = r == own->last_rank ? 1 : -1.0 / (double)(own->members - 1);
        for (int s = 0; s < PACE_STAGES; s++)
            for (int k = 0; k < PACE_RESOURCES; k++) excess[k] += weight * (double)m.cell_ns[s][k];
    }
    int most = -1;
    for (int k = 0; k < PACE_RESOURCES; k++)
        if (k != PACE_IDLE_RANK && k != PACE_EXPOSED_COMMUNICATION && excess[k] > 0 &&
            (most < 0 || excess[k] > excess[most]))
            most = k;
    own->cause = most < 0 ? NULL : pace_resource_names[most];
    own->cause_ns = most < 0 ? 0 : (int64_t)excess[most];
}

pace_status pace_collectives_explain(pace_collectives *c, pace_rank *const *ranks, size_t rank_count) {
    if (c->items.count == 0) return PACE_OK;
    int64_t *before = pace_alloc(rank_count, sizeof *before); /* end of each rank's exchange before */
    if (!before) return PACE_E_MEMORY;
    for (size_t r = 0; r < rank_count; r++) before[r] = INT64_MIN / 4;
    PACE_ITEMS (pace_measured_collective, own, &c->items) {
        const uint32_t *parts = c->parts.items + own->first_part;
        int64_t since = INT64_MIN / 4;
        for (size_t r = 0; r < rank_count; r++)
            if (parts[r] != PACE_NO_TASK && before[r] > since) since = before[r];
        explain(own, parts, ranks, rank_count, since);
        for (size_t r = 0; r < rank_count; r++)
            if (parts[r] != PACE_NO_TASK) before[r] = own->end_ns;
    }
    pace_free(before);
    return PACE_OK;
}

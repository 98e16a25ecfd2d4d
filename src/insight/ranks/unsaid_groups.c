#include "insight/ranks/unsaid_groups.h"

#include "base/order.h"
#include "insight/ranks/clocks.h"
#include "insight/ranks/item_exchange.h"

#include <string.h>

/* --- kernels that end together ------------------------------------------------------------------------------------ */

typedef struct {
    uint32_t name; /* among the names of all ranks */
    uint32_t rank, item;
    int64_t start_ns, end_ns; /* on the first rank's clock */
    bool taken;
} ending;

typedef PACE_VEC(ending) endings;
typedef PACE_VEC(const char *) texts;

PACE_ORDER(by_name_and_end, ending, PACE_UP(name) PACE_UP(end_ns) PACE_UP(rank) PACE_UP(item))

static bool counts(const pace_work_item *item) { return item->class == PACE_WORK_COMMUNICATION && !item->message; }

/* There are few names of exchanges. */
static pace_status number_of(uint32_t *out, texts *names, const char *name) {
    for (*out = 0; *out < names->count; (*out)++)
        if (strcmp(names->items[*out], name) == 0) return PACE_OK;
    return PACE_PUSH(names, name);
}

static pace_status list_rank(endings *out, texts *names, const pace_rank *rank, uint32_t index) {
    for (uint32_t i = 0; i < rank->work.items.count; i++) {
        const pace_work_item *item = &rank->work.items.items[i];
        ending one = {.rank = index,
                      .item = i,
                      .start_ns = item->start_ns + rank->shift_ns,
                      .end_ns = item->end_ns + rank->shift_ns};
        if (!counts(item)) continue;
        PACE_TRY(number_of(&one.name, names, pace_step_name(&rank->step, item->task)));
        PACE_TRY(PACE_PUSH(out, one));
    }
    return PACE_OK;
}

static pace_status list_all(endings *out, pace_rank *const *ranks, size_t rank_count) {
    texts names = {0};
    pace_status status = PACE_OK;
    for (size_t r = 0; status == PACE_OK && r < rank_count; r++) status = list_rank(out, &names, ranks[r], (uint32_t)r);
    PACE_SORT(out, by_name_and_end);
    PACE_VEC_FREE(&names);
    return status;
}

/* No stream has more kernels that end within these microseconds, unless the trace is broken. */
enum { LOOKED_AT = 64 };

/* Fills `parts` with the kernels of other ranks that run when the one at `first` does and end within some microseconds
 * behind it; returns how many there are with it. */
static uint32_t gather(uint32_t *parts, size_t rank_count, endings *all, size_t first) {
    const ending *own = &all->items[first];
    uint32_t members = 0;
    for (size_t r = 0; r < rank_count; r++) parts[r] = PACE_NO_TASK;
    for (size_t i = first; i < all->count && i - first < LOOKED_AT * rank_count; i++) {
        ending *one = &all->items[i];
        if (one->name != own->name || one->end_ns > own->end_ns + PACE_TOGETHER_NS) break;
        if (one->taken || parts[one->rank] != PACE_NO_TASK || one->start_ns > own->end_ns) continue;
        parts[one->rank] = one->item;
        one->taken = true;
        members++;
    }
    return members;
}

static pace_status add(pace_collectives *out, const char *name, const uint32_t *parts, size_t rank_count,
                       uint32_t members) {
    size_t first = out->parts.count;
    for (size_t r = 0; r < rank_count; r++) PACE_TRY(PACE_PUSH(&out->parts, parts[r]));
    return PACE_PUSH(&out->items,
                     ((pace_measured_collective){.name = name, .first_part = first, .members = members, .bytes = -1}));
}

/* The exchanges of kernels that end together; `alone` counts those that end with no other. */
static pace_status match_ends(pace_collectives *out, size_t *alone, endings *all, pace_rank *const *ranks,
                              size_t rank_count) {
    uint32_t *parts = pace_alloc(rank_count, sizeof *parts);
    pace_status status = parts ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < all->count; i++) {
        const ending *own = &all->items[i];
        if (own->taken) continue;
        uint32_t members = gather(parts, rank_count, all, i), task = ranks[own->rank]->work.items.items[own->item].task;
        if (members < 2) ++*alone;
        else status = add(out, pace_step_name(&ranks[own->rank]->step, task), parts, rank_count, members);
    }
    pace_free(parts);
    return status;
}

/* --- exchanges that end together by chance ------------------------------------------------------------------------ */

typedef struct {
    const uint32_t *parts; /* who is a member */
    uint64_t key;          /* the same of the same members, and most likely of no others */
    uint32_t members;
    size_t times;
} member_set;

typedef PACE_VEC(member_set) member_sets;

typedef struct {
    const pace_collectives *from;
    pace_rank *const *ranks;
    size_t rank_count;
    member_sets sets; /* the most frequent first */
} set_list;

static uint64_t key_of(const uint32_t *parts, size_t rank_count) {
    uint64_t key = 0;
    for (size_t r = 0; r < rank_count; r++)
        if (parts[r] != PACE_NO_TASK) key = (key ^ (r + 1)) * UINT64_C(0x9e3779b97f4a7c15);
    return key;
}

static member_set *find_set(const set_list *list, uint64_t key) {
    for (size_t s = 0; s < list->sets.count; s++)
        if (list->sets.items[s].key == key) return &list->sets.items[s];
    return NULL;
}

PACE_ORDER(by_times, member_set, PACE_DOWN(times) PACE_UP(members))

/* Chance makes a set once or twice; there are no more true groups than some for each rank. */
static pace_status list_sets(set_list *list) {
    size_t most = 16 * list->rank_count;
    PACE_ITEMS (const pace_measured_collective, own, &list->from->items) {
        const uint32_t *parts = list->from->parts.items + own->first_part;
        uint64_t key = key_of(parts, list->rank_count);
        member_set *known = find_set(list, key);
        if (known) known->times++;
        else if (list->sets.count < most) PACE_TRY(PACE_PUSH(&list->sets, ((member_set){parts, key, own->members, 1})));
    }
    PACE_SORT(&list->sets, by_times);
    return PACE_OK;
}

/* Takes the members of a set that all stand in `rest` out of it, into `piece`. False: some do not. */
static bool take_out(uint32_t *piece, uint32_t *rest, const member_set *set, size_t rank_count) {
    for (size_t r = 0; r < rank_count; r++)
        if (set->parts[r] != PACE_NO_TASK && rest[r] == PACE_NO_TASK) return false;
    for (size_t r = 0; r < rank_count; r++) {
        bool member = set->parts[r] != PACE_NO_TASK;
        piece[r] = member ? rest[r] : PACE_NO_TASK;
        if (member) rest[r] = PACE_NO_TASK;
    }
    return true;
}

/* From the arrival of the last member to the end. */
static int64_t transfer_ns(const set_list *list, const uint32_t *parts) {
    int64_t start_ns = INT64_MIN, end_ns = INT64_MIN;
    for (size_t r = 0; r < list->rank_count; r++) {
        if (parts[r] == PACE_NO_TASK) continue;
        const pace_work_item *item = &list->ranks[r]->work.items.items[parts[r]];
        int64_t shift_ns = list->ranks[r]->shift_ns;
        if (item->start_ns + shift_ns > start_ns) start_ns = item->start_ns + shift_ns;
        if (item->end_ns + shift_ns > end_ns) end_ns = item->end_ns + shift_ns;
    }
    return end_ns - start_ns;
}

/* Exchanges that end together by chance take alike. Where one would take twice as long as another, it waited for it. */
static bool take_alike(const pace_collectives *pieces, size_t first_item, const set_list *list) {
    int64_t least_ns = INT64_MAX, most_ns = 0;
    for (size_t i = first_item; i < pieces->items.count; i++) {
        int64_t ns = transfer_ns(list, pieces->parts.items + pieces->items.items[i].first_part);
        if (ns < least_ns) least_ns = ns;
        if (ns > most_ns) most_ns = ns;
    }
    return most_ns <= 2 * least_ns + PACE_TOGETHER_NS;
}

/* Adds an exchange, or the several of which it is made: sets that meet more often than all of it, and leave nobody. */
static pace_status add_apart(pace_collectives *out, const set_list *list, const pace_measured_collective *own,
                             uint32_t *scratch) {
    const uint32_t *parts = list->from->parts.items + own->first_part;
    const member_set *known = find_set(list, key_of(parts, list->rank_count));
    size_t ranks = list->rank_count, times = known ? known->times : 1, items = out->items.count;
    size_t first = out->parts.count;
    uint32_t *rest = scratch, *piece = scratch + ranks, left = own->members;
    memcpy(rest, parts, ranks * sizeof *rest);
    for (size_t s = 0; left && s < list->sets.count && list->sets.items[s].times > times; s++) {
        const member_set *set = &list->sets.items[s];
        if (set->members > left || !take_out(piece, rest, set, ranks)) continue;
        PACE_TRY(add(out, own->name, piece, ranks, set->members));
        left -= set->members;
    }
    if (left == 0 && take_alike(out, items, list)) return PACE_OK;
    out->items.count = items;
    out->parts.count = first;
    return add(out, own->name, parts, ranks, own->members);
}

static pace_status part_chance(pace_collectives *out, const pace_collectives *from, pace_rank *const *ranks,
                               size_t rank_count) {
    set_list list = {.from = from, .ranks = ranks, .rank_count = rank_count};
    uint32_t *scratch = pace_alloc(2 * rank_count, sizeof *scratch);
    pace_status status = scratch ? list_sets(&list) : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < from->items.count; i++)
        status = add_apart(out, &list, &from->items.items[i], scratch);
    PACE_VEC_FREE(&list.sets);
    pace_free(scratch);
    return status;
}

/* --- which it is -------------------------------------------------------------------------------------------------- */

static bool is_most(size_t part, size_t all) { return all > 0 && part * 10 >= all * 9; }

static bool is_unsaid(pace_rank *const *ranks, size_t rank_count) {
    for (size_t r = 0; r < rank_count; r++)
        for (uint32_t i = 0; i < ranks[r]->work.items.count; i++)
            if (counts(&ranks[r]->work.items.items[i]) && *pace_item_members(ranks[r], i)) return false;
    return true;
}

/* Replaces the match by kernels that end together, where most do. */
static pace_status try_ends(pace_collectives *collectives, bool *done, pace_rank *const *ranks, size_t rank_count) {
    endings all = {0};
    pace_collectives together = {0}, apart = {0};
    size_t alone = 0;
    pace_status status = list_all(&all, ranks, rank_count);
    if (status == PACE_OK) status = match_ends(&together, &alone, &all, ranks, rank_count);
    *done = status == PACE_OK && is_most(all.count - alone, all.count);
    if (*done) status = part_chance(&apart, &together, ranks, rank_count);
    if (*done && status == PACE_OK) {
        apart.unmatched = alone;
        pace_collectives_free(collectives);
        *collectives = apart;
    } else {
        pace_collectives_free(&apart);
    }
    pace_collectives_free(&together);
    PACE_VEC_FREE(&all);
    return status;
}

static pace_status regroup(pace_collectives *collectives, bool *moved, pace_rank *const *ranks, size_t rank_count,
                           int64_t *aligned_ns) {
    size_t count = collectives->items.count;
    bool meet = is_most(pace_collectives_that_meet(collectives, ranks, rank_count), count);
    for (size_t r = 0; r < rank_count; r++) aligned_ns[r] = ranks[r]->shift_ns;
    pace_clocks_by_wall(ranks, rank_count);
    if (!is_most(pace_collectives_that_meet(collectives, ranks, rank_count), count))
        PACE_TRY(try_ends(collectives, moved, ranks, rank_count));
    if (*moved) return PACE_OK;
    for (size_t r = 0; r < rank_count; r++) ranks[r]->shift_ns = aligned_ns[r];
    if (meet) return PACE_OK;
    pace_clocks_by_wall(ranks, rank_count);
    pace_collectives_free(collectives);
    collectives->groups_unknown = true;
    return PACE_OK;
}

pace_status pace_collectives_regroup(pace_collectives *collectives, bool *moved, pace_rank *const *ranks,
                                     size_t rank_count) {
    *moved = false;
    if (rank_count < 3 || collectives->items.count == 0 || !is_unsaid(ranks, rank_count)) return PACE_OK;
    int64_t *aligned_ns = pace_alloc(rank_count, sizeof *aligned_ns);
    if (!aligned_ns) return PACE_E_MEMORY;
    pace_status status = regroup(collectives, moved, ranks, rank_count, aligned_ns);
    pace_free(aligned_ns);
    return status;
}

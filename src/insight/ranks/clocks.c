#include "insight/ranks/clocks.h"

#include "base/sort.h"

#include <stdlib.h>

typedef struct {
    pace_rank *const *ranks;
    size_t rank_count;
    const pace_collectives *collectives;
    const pace_messages *messages;
    bool *known;
    int64_t *differences; /* as many as there are collectives */
} aligner;

static int64_t end_of(const aligner *a, size_t rank, uint32_t item) {
    return a->ranks[rank]->work.items.items[item].end_ns + a->ranks[rank]->shift_ns;
}

/* From the collectives it shares with ranks whose clock is known. */
static bool by_collectives(const aligner *a, size_t rank) {
    size_t count = 0;
    for (size_t i = 0; i < a->collectives->items.count; i++) {
        const uint32_t *parts = a->collectives->parts.items + a->collectives->items.items[i].first_part;
        if (parts[rank] == PACE_NO_TASK) continue;
        size_t other = 0;
        while (other < a->rank_count && !(a->known[other] && parts[other] != PACE_NO_TASK)) other++;
        if (other == a->rank_count) continue;
        a->differences[count++] = end_of(a, other, parts[other]) - end_of(a, rank, parts[rank]);
    }
    if (count == 0) return false;
    pace_order_ns(a->differences, count);
    a->ranks[rank]->shift_ns = a->differences[count / 2];
    return true;
}

/* From its messages with ranks whose clock is known. */
static bool by_messages(const aligner *a, size_t rank) {
    int64_t most = INT64_MAX, least = INT64_MIN; /* bounds of the shift */
    PACE_ITEMS (const pace_p2p_message, m, &a->messages->items) {
        if (!m->matched) continue;
        int own = m->rank[PACE_SENDS] == rank ? PACE_SENDS : PACE_RECEIVES;
        if (m->rank[own] != rank || !a->known[m->rank[!own]]) continue;
        int64_t difference = end_of(a, m->rank[!own], m->item[!own]) - end_of(a, rank, m->item[own]);
        if (own == PACE_SENDS && difference < most) most = difference;
        if (own == PACE_RECEIVES && difference > least) least = difference;
    }
    if (most == INT64_MAX && least == INT64_MIN) return false;
    a->ranks[rank]->shift_ns = most == INT64_MAX ? least : least == INT64_MIN ? most : least + (most - least) / 2;
    return true;
}

/* The devices of one trace share its clock. */
static void make_known(const aligner *a, size_t rank) {
    for (size_t r = 0; r < a->rank_count; r++) {
        if (pace_rank_trace(a->ranks[r]) != pace_rank_trace(a->ranks[rank])) continue;
        a->ranks[r]->shift_ns = a->ranks[rank]->shift_ns;
        a->known[r] = true;
    }
}

/* Ranks become known one after another, until no exchange joins one more to those that are. */
static void spread(const aligner *a, bool (*find)(const aligner *, size_t)) {
    for (bool more = true; more;) {
        more = false;
        for (size_t r = 0; r < a->rank_count; r++) {
            if (a->known[r] || !find(a, r)) continue;
            make_known(a, r);
            more = true;
        }
    }
}

static int64_t wall_clock_difference(const pace_rank *first, const pace_rank *rank) {
    int64_t from = first->step.base_ns, to = rank->step.base_ns;
    if (from <= 0 || to <= 0) return 0;
    int64_t difference = to - from;
    return llabs(difference) < INT64_MAX / 4 ? difference : 0;
}

void pace_clocks_by_wall(pace_rank *const *ranks, size_t rank_count) {
    for (size_t r = 0; r < rank_count; r++) ranks[r]->shift_ns = wall_clock_difference(ranks[0], ranks[r]);
}

pace_status pace_clocks_align(pace_rank *const *ranks, size_t rank_count, const pace_collectives *collectives,
                              const pace_messages *messages) {
    if (rank_count < 2) return PACE_OK;
    aligner a = {.ranks = ranks, .rank_count = rank_count, .collectives = collectives, .messages = messages};
    pace_status status =
        PACE_MAKE(a.known, rank_count) && PACE_MAKE(a.differences, collectives->items.count) ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) {
        make_known(&a, 0);
        spread(&a, by_collectives);
        spread(&a, by_messages);
        spread(&a, by_collectives);
        for (size_t r = 1; r < rank_count; r++)
            if (!a.known[r]) ranks[r]->shift_ns = wall_clock_difference(ranks[0], ranks[r]);
    }
    PACE_FREE(a.known, a.differences);
    return status;
}

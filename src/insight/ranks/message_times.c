/* Messages of which the trace does not say between whom: either side ends when the other does. */
#include "base/order.h"
#include "insight/ranks/clocks.h"
#include "insight/ranks/messages.h"

#include <stdlib.h>
#include <string.h>

/* One or two may end together by chance. */
enum { FEWEST = 4 };

typedef struct {
    int64_t end_ns; /* on the first rank's clock */
    size_t place;   /* among the messages */
    bool taken;
} ending;

typedef PACE_VEC(ending) endings;

PACE_ORDER(by_end, ending, PACE_UP(end_ns) PACE_UP(place))

static bool is_unsaid(const pace_p2p_message *m) { return !m->matched && (m->number[0] < 0 || m->number[1] < 0); }

/* Of one side, in order. */
static pace_status list(endings *out, const pace_messages *messages, pace_rank *const *ranks, int side) {
    for (size_t i = 0; i < messages->items.count; i++) {
        const pace_p2p_message *m = &messages->items.items[i];
        if (!is_unsaid(m) || m->rank[side] == PACE_NO_INDEX) continue;
        const pace_rank *rank = ranks[m->rank[side]];
        PACE_TRY(PACE_PUSH(out, ((ending){rank->work.items.items[m->item[side]].end_ns + rank->shift_ns, i, false})));
    }
    PACE_SORT(out, by_end);
    return PACE_OK;
}

static bool may_be_one(const pace_p2p_message *sent, const pace_p2p_message *received) {
    bool same_size = sent->bytes < 0 || received->bytes < 0 || sent->bytes == received->bytes;
    bool same_group = !sent->group[0] || !received->group[0] || strcmp(sent->group, received->group) == 0;
    return sent->rank[PACE_SENDS] != received->rank[PACE_RECEIVES] && same_size && same_group;
}

/* The free receive that ends nearest to a send; NULL = none ends together with it. */
static ending *nearest(const pace_messages *messages, const endings *received, const ending *sent) {
    size_t at = 0;
    ending *best = NULL;
    PACE_SEARCH(at, received->count, i, received->items[i].end_ns < sent->end_ns - PACE_TOGETHER_NS);
    for (; at < received->count && received->items[at].end_ns <= sent->end_ns + PACE_TOGETHER_NS; at++) {
        ending *one = &received->items[at];
        if (one->taken || !may_be_one(&messages->items.items[sent->place], &messages->items.items[one->place]))
            continue;
        if (!best || llabs(one->end_ns - sent->end_ns) < llabs(best->end_ns - sent->end_ns)) best = one;
    }
    return best;
}

static void pair(pace_messages *messages, pace_rank *const *ranks, size_t sent, size_t received) {
    pace_p2p_message *whole = &messages->items.items[sent], *other = &messages->items.items[received];
    whole->rank[PACE_RECEIVES] = other->rank[PACE_RECEIVES];
    whole->item[PACE_RECEIVES] = other->item[PACE_RECEIVES];
    if (whole->bytes < 0) whole->bytes = other->bytes;
    for (int s = 0; s < 2; s++) whole->number[s] = ranks[whole->rank[s]]->step.rank;
    whole->matched = true;
    other->rank[PACE_RECEIVES] = PACE_NO_INDEX; /* gone: it has no side left */
}

static void drop_gone(pace_messages *messages) {
    size_t kept = 0;
    PACE_ITEMS (const pace_p2p_message, m, &messages->items)
        if (m->rank[0] != PACE_NO_INDEX || m->rank[1] != PACE_NO_INDEX) messages->items.items[kept++] = *m;
    messages->items.count = kept;
}

/* Where one in ten finds no partner, the clocks do not tell. */
static pace_status pair_all(pace_messages *messages, pace_rank *const *ranks, const endings *sent, endings *received) {
    size_t found = 0, *partner = pace_alloc(sent->count, sizeof *partner);
    if (!partner) return PACE_E_MEMORY;
    for (size_t i = 0; i < sent->count; i++) {
        ending *one = nearest(messages, received, &sent->items[i]);
        partner[i] = one ? one->place : SIZE_MAX;
        if (one) one->taken = true;
        found += one != NULL;
    }
    if (found * 10 >= sent->count * 9) {
        for (size_t i = 0; i < sent->count; i++)
            if (partner[i] != SIZE_MAX) pair(messages, ranks, sent->items[i].place, partner[i]);
        drop_gone(messages);
        messages->by_time += found;
        messages->alone -= 2 * found;
    }
    pace_free(partner);
    return PACE_OK;
}

/* --- what the others may wait ------------------------------------------------------------------------------------- */

typedef struct {
    int64_t start_ns, end_ns; /* on the first rank's clock */
    uint32_t rank;
} stretch;

typedef PACE_VEC(stretch) stretches;

PACE_ORDER(by_start, stretch, PACE_UP(start_ns) PACE_UP(rank) PACE_UP(end_ns))

static pace_status list_stretches(stretches *out, const pace_messages *messages, pace_rank *const *ranks) {
    PACE_ITEMS (const pace_p2p_message, m, &messages->items) {
        if (!is_unsaid(m)) continue;
        uint32_t r = m->rank[m->rank[PACE_SENDS] == PACE_NO_INDEX ? PACE_RECEIVES : PACE_SENDS];
        const pace_work_item *item =
            &ranks[r]->work.items.items[m->item[m->rank[PACE_SENDS] == r ? PACE_SENDS : PACE_RECEIVES]];
        int64_t shift_ns = ranks[r]->shift_ns;
        PACE_TRY(PACE_PUSH(out, ((stretch){item->start_ns + shift_ns, item->end_ns + shift_ns, r})));
    }
    PACE_SORT(out, by_start);
    return PACE_OK;
}

/* Of kernels that both send and receive: until another rank's begins last within it; all of it where none does. */
static int64_t may_wait(const stretches *all, size_t own) {
    const stretch *s = &all->items[own];
    size_t last = own + 1;
    PACE_SEARCH(last, all->count, i, all->items[i].start_ns < s->end_ns);
    for (size_t i = last; i-- > own + 1;)
        if (all->items[i].rank != s->rank) return all->items[i].start_ns - s->start_ns;
    for (size_t i = own; i-- > 0 && s->start_ns - all->items[i].start_ns < PACE_TOGETHER_NS;)
        if (all->items[i].rank != s->rank) return 0;
    return s->end_ns - s->start_ns;
}

/* Where the traces have one side alone, its kernels do both. Of the sides of two kinds that do not end together each
 * may wait all its time: the clocks do not agree. */
static pace_status sum_unsaid(pace_messages *messages, pace_rank *const *ranks, bool one_kind) {
    stretches all = {0};
    pace_status status = list_stretches(&all, messages, ranks);
    for (size_t i = 0; status == PACE_OK && i < all.count; i++) {
        int64_t time_ns = all.items[i].end_ns - all.items[i].start_ns;
        messages->unsaid_ns += time_ns;
        messages->may_wait_ns += one_kind ? may_wait(&all, i) : time_ns;
    }
    PACE_VEC_FREE(&all);
    return status;
}

pace_status pace_messages_match_times(pace_messages *messages, pace_rank *const *ranks) {
    endings sent = {0}, received = {0};
    pace_status status = list(&sent, messages, ranks, PACE_SENDS);
    if (status == PACE_OK) status = list(&received, messages, ranks, PACE_RECEIVES);
    if (status == PACE_OK && sent.count >= FEWEST && received.count >= FEWEST)
        status = pair_all(messages, ranks, &sent, &received);
    if (status == PACE_OK) status = sum_unsaid(messages, ranks, sent.count == 0 || received.count == 0);
    PACE_VEC_FREE(&sent, &received);
    return status;
}

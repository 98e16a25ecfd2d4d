/* Messages of which the trace does not say between whom: either side ends when the other does. */
#include "base/order.h"
#include "insight/ranks/messages.h"

#include <stdlib.h>
#include <string.h>

/* Both kernels of a message end within some microseconds; clocks are aligned to as many. A few may by chance. */
enum { TOGETHER_NS = 20000, FEWEST = 16 };

typedef struct {
    int64_t end_ns; /* on the first rank's clock */
    size_t place;   /* among the messages */
    bool taken;
} ending;

typedef PACE_VEC(ending) endings;

PACE_ORDER(by_end, ending, PACE_UP(end_ns) PACE_UP(place))

/* Of one side, in order. */
static pace_status list(endings *out, const pace_messages *messages, pace_rank *const *ranks, int side) {
    for (size_t i = 0; i < messages->items.count; i++) {
        const pace_p2p_message *m = &messages->items.items[i];
        if (m->matched || m->rank[side] == PACE_NO_INDEX || (m->number[0] >= 0 && m->number[1] >= 0)) continue;
        const pace_rank *rank = ranks[m->rank[side]];
        PACE_TRY(PACE_PUSH(out, ((ending){rank->work.items.items[m->item[side]].end_ns + rank->shift_ns, i, false})));
    }
    if (out->count) qsort(out->items, out->count, sizeof *out->items, by_end);
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
    PACE_SEARCH(at, received->count, i, received->items[i].end_ns < sent->end_ns - TOGETHER_NS);
    for (; at < received->count && received->items[at].end_ns <= sent->end_ns + TOGETHER_NS; at++) {
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
    for (size_t i = 0; i < messages->items.count; i++) {
        const pace_p2p_message *m = &messages->items.items[i];
        if (m->rank[0] != PACE_NO_INDEX || m->rank[1] != PACE_NO_INDEX) messages->items.items[kept++] = *m;
    }
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

pace_status pace_messages_match_times(pace_messages *messages, pace_rank *const *ranks) {
    endings sent = {0}, received = {0};
    pace_status status = list(&sent, messages, ranks, PACE_SENDS);
    if (status == PACE_OK) status = list(&received, messages, ranks, PACE_RECEIVES);
    if (status == PACE_OK && sent.count >= FEWEST && received.count >= FEWEST)
        status = pair_all(messages, ranks, &sent, &received);
    PACE_VEC_FREE(&sent, &received);
    return status;
}

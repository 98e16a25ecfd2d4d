#include "insight/ranks/messages.h"

#include "base/order.h"

#include <stdlib.h>
#include <string.h>

void pace_messages_free(pace_messages *messages) { PACE_VEC_FREE(&messages->items); }

static const pace_work_item *item_at(pace_rank *const *ranks, const pace_p2p_message *message, int side) {
    return &ranks[message->rank[side]]->work.items.items[message->item[side]];
}

bool pace_p2p_same_pair(const pace_p2p_message *a, const pace_p2p_message *b) {
    return a->number[0] == b->number[0] && a->number[1] == b->number[1] && strcmp(a->group, b->group) == 0;
}

/* --- matching --------------------------------------------------------------------------------------------------- */

typedef struct {
    pace_p2p_message message; /* with one side filled in */
    uint8_t side;
    size_t place; /* among all sides: their order */
} half;

static int by_pair(const half *a, const half *b) {
    for (int i = 0; i < 2; i++)
        if (a->message.number[i] != b->message.number[i]) return a->message.number[i] < b->message.number[i] ? -1 : 1;
    return strcmp(a->message.group, b->message.group);
}

PACE_ORDER(by_pair_and_side, half, PACE_THEN(by_pair) PACE_UP(side) PACE_UP(place))

static half half_of(const pace_rank *rank, uint32_t index, const pace_message_side *side, size_t place) {
    half h = {.side = side->side, .place = place};
    h.message = (pace_p2p_message){.rank = {PACE_NO_INDEX, PACE_NO_INDEX}, .group = side->group, .bytes = side->bytes};
    h.message.number[side->side] = rank->step.rank;
    h.message.number[!side->side] = side->peer;
    h.message.rank[side->side] = index;
    h.message.item[side->side] = side->item;
    return h;
}

static bool is_loaded(pace_rank *const *ranks, size_t rank_count, int64_t number) {
    for (size_t r = 0; r < rank_count; r++)
        if (number >= 0 && ranks[r]->step.rank == number) return true;
    return false;
}

static pace_status add_alone(pace_messages *out, pace_rank *const *ranks, size_t rank_count, const half *h) {
    bool loaded = is_loaded(ranks, rank_count, h->message.number[!h->side]);
    *(loaded ? &out->unmatched : &out->alone) += 1;
    return PACE_PUSH(&out->items, h->message);
}

/* The halves of one pair of ranks in one group: the sends, then the receives. */
static pace_status join(pace_messages *out, pace_rank *const *ranks, size_t rank_count, const half *halves,
                        size_t count) {
    size_t sends = 0;
    while (sends < count && halves[sends].side == PACE_SENDS) sends++;
    bool known = halves[0].message.number[0] >= 0 && halves[0].message.number[1] >= 0;
    size_t both = sends < count - sends ? sends : count - sends;
    for (size_t i = 0; i < count; i++) {
        size_t place = i < sends ? i : i - sends;
        if (!known || place >= both) PACE_TRY(add_alone(out, ranks, rank_count, &halves[i]));
        else if (i < sends) {
            pace_p2p_message whole = halves[i].message;
            const pace_p2p_message *received = &halves[sends + i].message;
            whole.rank[PACE_RECEIVES] = received->rank[PACE_RECEIVES];
            whole.item[PACE_RECEIVES] = received->item[PACE_RECEIVES];
            if (whole.bytes < 0) whole.bytes = received->bytes;
            whole.matched = true;
            PACE_TRY(PACE_PUSH(&out->items, whole));
        }
    }
    return PACE_OK;
}

pace_status pace_messages_match(pace_messages *out, pace_rank *const *ranks, const pace_message_sides *sides,
                                size_t rank_count) {
    pace_messages messages = {0};
    size_t count = 0, at = 0;
    for (size_t r = 0; r < rank_count; r++) count += sides[r].count;
    half *halves = pace_alloc(count, sizeof *halves);
    if (!halves) return PACE_E_MEMORY;
    for (size_t r = 0; r < rank_count; r++)
        for (size_t i = 0; i < sides[r].count; i++, at++)
            halves[at] = half_of(ranks[r], (uint32_t)r, &sides[r].items[i], at);
    if (count) qsort(halves, count, sizeof *halves, by_pair_and_side);
    pace_status status = PACE_OK;
    for (size_t first = 0, end; status == PACE_OK && first < count; first = end) {
        for (end = first + 1; end < count && by_pair(&halves[first], &halves[end]) == 0;) end++;
        status = join(&messages, ranks, rank_count, halves + first, end - first);
    }
    pace_free(halves);
    return PACE_GIVE(out, messages, status, pace_messages_free(&messages));
}

/* --- waiting and transfer ----------------------------------------------------------------------------------------- */

static void split(pace_p2p_message *own, pace_rank *const *ranks) {
    int64_t start[2], end[2];
    for (int s = 0; s < 2; s++) {
        start[s] = item_at(ranks, own, s)->start_ns + ranks[own->rank[s]]->shift_ns;
        end[s] = item_at(ranks, own, s)->end_ns + ranks[own->rank[s]]->shift_ns;
    }
    own->last_start_ns = start[0] > start[1] ? start[0] : start[1];
    own->end_ns = end[0] > end[1] ? end[0] : end[1];
    for (int s = 0; s < 2; s++) {
        if (start[!s] <= start[s] || start[!s] >= end[s]) continue; /* the last, or over before the peer began */
        own->wait_ns[s] = start[!s] - start[s];
        pace_work_item *item = &ranks[own->rank[s]]->work.items.items[own->item[s]];
        int64_t until = start[!s] - ranks[own->rank[s]]->shift_ns;
        if (until > item->wait_until_ns) item->wait_until_ns = until;
    }
}

void pace_messages_split(pace_messages *messages, pace_rank *const *ranks) {
    for (size_t i = 0; i < messages->items.count; i++)
        if (messages->items.items[i].matched) split(&messages->items.items[i], ranks);
}

/* --- what the late side did meanwhile ----------------------------------------------------------------------------- */

void pace_messages_explain(pace_messages *messages, pace_rank *const *ranks) {
    PACE_ITEMS (pace_p2p_message, own, &messages->items) {
        int waits = own->wait_ns[PACE_RECEIVES] > 0 ? PACE_RECEIVES : PACE_SENDS;
        if (!own->matched || own->wait_ns[waits] == 0) continue;
        const pace_rank *late = ranks[own->rank[!waits]];
        int64_t until = own->last_start_ns - late->shift_ns;
        pace_matrix m = pace_matrix_of(&late->tiles, until - own->wait_ns[waits], until);
        int64_t most = 0;
        for (int k = 0; k < PACE_RESOURCES; k++) {
            int64_t sum = 0;
            for (int s = 0; s < PACE_STAGES; s++) sum += m.cell_ns[s][k];
            if (sum > most) {
                most = sum;
                own->cause = pace_resource_names[k];
            }
        }
    }
}

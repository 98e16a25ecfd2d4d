#include "schedule/flows_state.h"

#include <stdio.h>
#include <string.h>

/* --- peers of lanes ---------------------------------------------------------------------------------------------- */

/* Numbers the peers of every program lane: sends and receives apart. */
static pace_status number_peers(pace_flow_state *s) {
    const pace_program *p = s->program;
    uint32_t *seen = pace_alloc(2 * p->peers.count + 2, 2 * sizeof *seen);
    if (!seen) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    for (uint32_t l = 0; l < p->lanes.count && status == PACE_OK; l++) {
        const pace_program_lane *lane = &p->lanes.items[l];
        s->send_first[l] = (uint32_t)s->send_peers.count;
        s->receive_first[l] = (uint32_t)s->receive_peers.count;
        for (uint32_t i = lane->first; i < lane->first + lane->count && status == PACE_OK; i++) {
            const pace_operation *o = &p->operations.items[i];
            if (o->kind != PACE_OPERATION_SEND && o->kind != PACE_OPERATION_RECEIVE) continue;
            bool send = o->kind == PACE_OPERATION_SEND;
            uint32_t *mine = &seen[4 * (size_t)o->peer + (send ? 0 : 2)]; /* lane + 1, slot */
            if (mine[0] != l + 1) {
                mine[0] = l + 1;
                mine[1] = send ? (uint32_t)s->send_peers.count - s->send_first[l]
                               : (uint32_t)s->receive_peers.count - s->receive_first[l];
                status = send ? PACE_PUSH(&s->send_peers, o->peer) : PACE_PUSH(&s->receive_peers, o->peer);
            }
            s->slot[i] = mine[1];
        }
    }
    s->send_first[p->lanes.count] = (uint32_t)s->send_peers.count;
    s->receive_first[p->lanes.count] = (uint32_t)s->receive_peers.count;
    pace_free(seen);
    return status;
}

/* --- lanes ------------------------------------------------------------------------------------------------------- */

static const pace_rank_class *class_of_unit(const pace_flow_state *s, uint32_t unit) {
    return &s->program->classes.items[s->program->class_of[s->fold.first[unit]]];
}

static pace_status lay_lanes(pace_flow_state *s) {
    const pace_program *p = s->program;
    uint64_t lanes = 0, sends = 0, receives = 0;
    for (uint32_t u = 0; u < s->fold.count; u++) {
        const pace_rank_class *class = class_of_unit(s, u);
        uint32_t end = class->first_lane + class->lane_count;
        s->unit_lane[u] = (uint32_t)lanes;
        lanes += class->lane_count;
        sends += s->send_first[end] - s->send_first[class->first_lane];
        receives += s->receive_first[end] - s->receive_first[class->first_lane];
    }
    s->unit_lane[s->fold.count] = (uint32_t)lanes;
    if (lanes >= UINT32_MAX || sends >= UINT32_MAX || receives >= UINT32_MAX)
        return pace_fail(PACE_E_INPUT, "more than 4 billion lanes or pairs of ranks: too many to simulate");
    if (!PACE_MAKE(s->lanes, lanes + 1) || !PACE_MAKE(s->next_waiting, lanes + 1) ||
        !PACE_MAKE(s->send_queue, sends + 1) || !PACE_MAKE(s->queues, receives + 1))
        return PACE_E_MEMORY;
    for (uint32_t u = 0; u < s->fold.count; u++) {
        double start_ns = s->question->start_ns ? s->question->start_ns[s->fold.first[u]] : 0;
        uint32_t first = class_of_unit(s, u)->first_lane;
        for (uint32_t l = s->unit_lane[u]; l < s->unit_lane[u + 1]; l++, first++) {
            const pace_program_lane *lane = &p->lanes.items[first];
            s->lanes[l] = (pace_flow_lane){.now_ns = start_ns,
                                           .out_ns = start_ns,
                                           .in_ns = start_ns,
                                           .cursor = lane->first,
                                           .last = lane->first + lane->count,
                                           .unit = u,
                                           .program_lane = first,
                                           .send_queues = s->send_queue_count,
                                           .queues = s->queue_count};
            s->send_queue_count += s->send_first[first + 1] - s->send_first[first];
            uint32_t count = s->receive_first[first + 1] - s->receive_first[first];
            for (uint32_t i = 0; i < count; i++) s->queues[s->queue_count++] = (pace_flow_queue){.lane = l};
        }
    }
    s->lane_count = (uint32_t)lanes;
    return PACE_OK;
}

/* --- who sends into which queue ---------------------------------------------------------------------------------- */

/* What a queue is known by: the units, the channel, and where units stand for several ranks, how they see each other.
 */
typedef struct {
    uint32_t from, to;
    pace_peer how;
} queue_key;

typedef struct {
    queue_key *keys; /* per queue */
    uint32_t *slots; /* queue + 1 */
    size_t count;
} queue_table;

static queue_key key_of(const pace_flow_state *s, uint32_t from, uint32_t to, pace_peer how) {
    bool folded = s->fold.count < s->program->rank_count;
    queue_key key;
    memset(&key, 0, sizeof key); /* the padding is compared too */
    key.from = from;
    key.to = to;
    key.how.channel = how.channel;
    if (folded) {
        key.how.kind = how.kind;
        key.how.stride = how.stride;
        key.how.extent = how.extent;
        key.how.value = how.value;
    }
    return key;
}

static size_t hash_of(const queue_key *key) {
    uint64_t h = ((uint64_t)key->from << 32 | key->to) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ key->how.value) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 29 ^ ((uint64_t)key->how.stride << 16 | key->how.channel)) * 0x94d049bb133111ebu;
    return (size_t)(h ^ h >> 31);
}

static uint32_t *find_queue(const queue_table *table, const queue_key *key) {
    size_t i = hash_of(key) & (table->count - 1);
    while (table->slots[i] && memcmp(&table->keys[table->slots[i] - 1], key, sizeof *key))
        i = (i + 1) & (table->count - 1);
    return &table->slots[i];
}

static pace_status check_peer(const pace_flow_state *s, uint32_t rank, uint32_t peer) {
    if (peer < s->program->rank_count && peer != rank) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "rank %u exchanges with rank %u: expected another of the %u ranks", rank, peer,
                     s->program->rank_count);
}

static pace_status enter_queues(queue_table *table, pace_flow_state *s) {
    for (uint32_t l = 0; l < s->lane_count; l++) {
        const pace_flow_lane *lane = &s->lanes[l];
        uint32_t rank = pace_flow_rank(s, lane), first = s->receive_first[lane->program_lane];
        for (uint32_t i = first; i < s->receive_first[lane->program_lane + 1]; i++) {
            pace_peer how = s->program->peers.items[s->receive_peers.items[i]];
            uint32_t queue = lane->queues + i - first, peer = pace_peer_rank(&how, rank);
            PACE_TRY(check_peer(s, rank, peer));
            table->keys[queue] = key_of(s, s->fold.colour_of[peer], lane->unit, pace_peer_back(how));
            uint32_t *slot = find_queue(table, &table->keys[queue]);
            if (*slot)
                return pace_fail(PACE_E_INPUT,
                                 "rank %u receives from rank %u on channel %u in two lanes, or under two names; their "
                                 "order would be open",
                                 rank, peer, how.channel);
            *slot = queue + 1;
        }
    }
    return PACE_OK;
}

static pace_status find_queues(const queue_table *table, pace_flow_state *s) {
    uint8_t *taken = pace_alloc((size_t)s->queue_count + 1, 1);
    if (!taken) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    for (uint32_t l = 0; l < s->lane_count && status == PACE_OK; l++) {
        const pace_flow_lane *lane = &s->lanes[l];
        uint32_t rank = pace_flow_rank(s, lane), first = s->send_first[lane->program_lane];
        for (uint32_t i = first; i < s->send_first[lane->program_lane + 1] && status == PACE_OK; i++) {
            pace_peer how = s->program->peers.items[s->send_peers.items[i]];
            uint32_t peer = pace_peer_rank(&how, rank);
            status = check_peer(s, rank, peer);
            if (status != PACE_OK) break;
            queue_key key = key_of(s, lane->unit, s->fold.colour_of[peer], how);
            uint32_t queue = *find_queue(table, &key);
            if (!queue)
                status = pace_fail(PACE_E_INPUT, "rank %u sends to rank %u on channel %u, which never receives there",
                                   rank, peer, how.channel);
            else if (taken[queue - 1]++)
                status = pace_fail(PACE_E_INPUT,
                                   "rank %u sends to rank %u on channel %u in two lanes, or under two names; their "
                                   "order would be open",
                                   rank, peer, how.channel);
            else s->send_queue[lane->send_queues + i - first] = queue - 1;
        }
    }
    pace_free(taken);
    return status;
}

static pace_status match_queues(pace_flow_state *s) {
    queue_table table = {.count = 64};
    while (table.count < 2 * (size_t)s->queue_count) table.count *= 2;
    pace_status status = PACE_MAKE(table.keys, (size_t)s->queue_count + 1) && PACE_MAKE(table.slots, table.count)
                             ? PACE_OK
                             : PACE_E_MEMORY;
    if (status == PACE_OK) status = enter_queues(&table, s);
    if (status == PACE_OK) status = find_queues(&table, s);
    PACE_FREE(table.keys, table.slots);
    return status;
}

/* --- waits between lanes ----------------------------------------------------------------------------------------- */

static pace_status publish_class(pace_flow_state *s, uint32_t number) {
    const pace_program *p = s->program;
    const pace_rank_class *class = &p->classes.items[number];
    for (uint32_t l = class->first_lane; l < class->first_lane + class->lane_count; l++) {
        const pace_program_lane *lane = &p->lanes.items[l];
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            const pace_operation *o = &p->operations.items[i];
            if (o->kind != PACE_OPERATION_WAIT) continue;
            if (!s->published) s->published = pace_alloc(p->operations.count, sizeof *s->published);
            if (!s->published) return PACE_E_MEMORY;
            uint32_t on = p->lanes.items[class->first_lane + o->peer].first + (uint32_t)o->amount;
            if (!s->published[on]) s->published[on] = ++s->class_published[number];
            s->slot[i] = on;
        }
    }
    return PACE_OK;
}

static pace_status publish(pace_flow_state *s) {
    for (uint32_t c = 0; c < s->program->classes.count; c++) PACE_TRY(publish_class(s, c));
    size_t count = 0;
    for (uint32_t u = 0; u < s->fold.count; u++) {
        s->unit_published[u] = (uint32_t)count;
        count += s->class_published[s->program->class_of[s->fold.first[u]]];
    }
    if (count >= UINT32_MAX) return pace_fail(PACE_E_INPUT, "more than 4 billion waits: too many to simulate");
    if (!PACE_MAKE(s->ended_ns, count + 1) || !PACE_MAKE(s->ended_waiting, count + 1)) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) s->ended_ns[i] = -1;
    return PACE_OK;
}

/* --- begin and end ----------------------------------------------------------------------------------------------- */

pace_status pace_flow_state_init(pace_flow_state *s, const pace_flows_question *question, const pace_fold *fold) {
    const pace_program *p = question->program;
    *s = (pace_flow_state){.question = question, .program = p, .fold = *fold};
    if (!PACE_MAKE(s->slot, p->operations.count + 1) || !PACE_MAKE(s->send_first, p->lanes.count + 1) ||
        !PACE_MAKE(s->receive_first, p->lanes.count + 1) || !PACE_MAKE(s->class_published, p->classes.count + 1) ||
        !PACE_MAKE(s->unit_lane, (size_t)fold->count + 1) || !PACE_MAKE(s->unit_published, (size_t)fold->count + 1))
        return PACE_E_MEMORY;
    PACE_TRY(number_peers(s));
    PACE_TRY(lay_lanes(s));
    PACE_TRY(match_queues(s));
    return publish(s);
}

void pace_flow_state_free(pace_flow_state *s) {
    PACE_FREE(s->lanes, s->unit_lane, s->slot, s->send_first, s->receive_first);
    PACE_VEC_FREE(&s->send_peers, &s->receive_peers);
    PACE_FREE(s->send_queue, s->queues, s->published, s->class_published, s->unit_published, s->ended_ns);
    PACE_FREE(s->ended_waiting, s->next_waiting);
    PACE_VEC_FREE(&s->messages.items);
}

/* --- messages ---------------------------------------------------------------------------------------------------- */

pace_status pace_flow_post_behind(pace_flow_pool *pool, pace_flow_queue *queue, pace_flow_message message) {
    uint32_t number = pool->free - 1;
    if (pool->free) {
        pool->free = pool->items.items[number].next;
    } else {
        number = (uint32_t)pool->items.count;
        PACE_TRY(PACE_PUSH(&pool->items, ((pace_flow_pooled){0})));
    }
    pool->items.items[number].message = message;
    if (queue->count == 1) queue->head = number;
    else pool->items.items[queue->tail].next = number;
    queue->tail = number;
    queue->count++;
    return PACE_OK;
}

void pace_flow_move_up(pace_flow_pool *pool, pace_flow_queue *queue) {
    uint32_t number = queue->head;
    pace_flow_pooled *next = &pool->items.items[number];
    queue->first = next->message;
    queue->head = next->next;
    next->next = pool->free;
    pool->free = number + 1;
}

/* --- what went wrong --------------------------------------------------------------------------------------------- */

pace_status pace_flow_mismatch(const pace_flow_state *s, const pace_flow_lane *lane, const pace_operation *receive,
                               double bytes) {
    uint32_t rank = pace_flow_rank(s, lane);
    return pace_fail(PACE_E_INPUT, "rank %u receives %.0f bytes from rank %u at its operation %u, but %.0f were sent",
                     rank, receive->amount, pace_peer_rank(&s->program->peers.items[receive->peer], rank),
                     lane->cursor - s->program->lanes.items[lane->program_lane].first, bytes);
}

enum { NAMED = 3, LINE = 160 };

static void describe(char out[LINE], const pace_flow_state *s, const pace_flow_lane *lane) {
    const pace_program *p = s->program;
    const pace_operation *o = &p->operations.items[lane->cursor];
    uint32_t rank = pace_flow_rank(s, lane), at = lane->cursor - p->lanes.items[lane->program_lane].first;
    uint32_t number = (uint32_t)(lane - s->lanes) - s->unit_lane[lane->unit];
    if (o->kind == PACE_OPERATION_RECEIVE)
        snprintf(out, LINE, "rank %u lane %u at operation %u, receive %.0f bytes from rank %u", rank, number, at,
                 o->amount, pace_peer_rank(&p->peers.items[o->peer], rank));
    else snprintf(out, LINE, "rank %u lane %u at operation %u, %s", rank, number, at, pace_operation_names[o->kind]);
}

static pace_status fail_blocked(const pace_flow_state *s) {
    char text[NAMED * LINE] = "", line[LINE];
    uint32_t blocked = 0;
    for (uint32_t l = 0; l < s->lane_count; l++) {
        if (s->lanes[l].cursor == s->lanes[l].last || blocked++ >= NAMED) continue;
        describe(line, s, &s->lanes[l]);
        if (text[0]) strcat(text, "; ");
        strcat(text, line);
    }
    if (blocked > NAMED)
        return pace_fail(PACE_E_INPUT, "the exchange cannot finish: %s; and %u more wait for ever", text,
                         blocked - NAMED);
    return pace_fail(PACE_E_INPUT, "the exchange cannot finish: %s: waiting for ever", text);
}

static pace_status fail_unreceived(const pace_flow_state *s, uint32_t number) {
    const pace_flow_queue *queue = &s->queues[number];
    const pace_flow_lane *lane = &s->lanes[queue->lane];
    uint32_t count = queue->count, rank = pace_flow_rank(s, lane);
    uint32_t peer = s->receive_peers.items[s->receive_first[lane->program_lane] + number - lane->queues];
    return pace_fail(PACE_E_INPUT, "rank %u sent %u more messages to rank %u than it receives",
                     pace_peer_rank(&s->program->peers.items[peer], rank), count, rank);
}

pace_status pace_flow_finished(const pace_flow_state *s) {
    for (uint32_t l = 0; l < s->lane_count; l++)
        if (s->lanes[l].cursor != s->lanes[l].last) return fail_blocked(s);
    for (uint32_t q = 0; q < s->queue_count; q++)
        if (s->queues[q].count) return fail_unreceived(s, q);
    return PACE_OK;
}

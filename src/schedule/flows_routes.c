#include "schedule/flows_routes.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

/* What a way is like, beside its links. */
static void describe_way(pace_flow_routes *r, uint32_t slot, const pace_fabric *fabric, uint32_t from, uint32_t to,
                         const pace_hop *hops, size_t count) {
    r->latency_ns[slot] = pace_fabric_latency_ns(fabric, from, to);
    r->alone_bytes_per_s[slot] = INFINITY;
    for (size_t h = 0; h < count; h++)
        r->alone_bytes_per_s[slot] = fmin(r->alone_bytes_per_s[slot], fabric->bytes_per_s[hops[h].link]);
}

/* --- every rank by itself ----------------------------------------------------------------------------------------- */

static pace_status direct_routes(pace_flow_routes *r, const pace_flow_state *s, const pace_fabric *fabric) {
    for (uint32_t l = 0; l < s->lane_count; l++) {
        const pace_flow_lane *lane = &s->lanes[l];
        uint32_t rank = pace_flow_rank(s, lane), first = s->send_first[lane->program_lane];
        for (uint32_t i = first; i < s->send_first[lane->program_lane + 1]; i++) {
            uint32_t peer = pace_peer_rank(&s->program->peers.items[s->send_peers.items[i]], rank);
            uint32_t slot = lane->send_queues + i - first, begin = (uint32_t)r->hops.count;
            r->first[slot] = begin;
            PACE_TRY(pace_fabric_route(&r->hops, fabric, rank, peer));
            describe_way(r, slot, fabric, rank, peer, r->hops.items + begin, r->hops.count - begin);
        }
    }
    r->first[s->send_queue_count] = (uint32_t)r->hops.count;
    return PACE_OK;
}

/* What sums of marks are made of: 0 for no number, so that a link nothing crosses has a mark of its own. */
static const uint64_t seed = 0x94d049bb133111ebu;

static uint64_t mixed(uint64_t a, uint64_t b) {
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 31;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* --- folded: links that the same kinds of messages cross equally often are alike, too ----------------------------- */

/* A kind of message: what the ranks of one colour send to one of their peers; its number is its slot. */
typedef struct {
    uint32_t colour;
    const pace_peer *how;
} message_kind;

/* Kinds are looked at side by side, every so-many-th by each thread. */
enum { MOST_PARTS = 8, WORTH_PARTS = 1 << 20 };

typedef struct {
    uint64_t *mark; /* link -> the kinds of messages that cross it, in any order: of this part */
    pace_route route;
    bool unlike;
} part;

typedef struct {
    const pace_flow_state *state;
    const pace_fabric *fabric;
    uint64_t *mark;      /* of all parts: of links, then of their colours */
    uint32_t *colour_of; /* link -> colour */
    uint32_t *members;   /* colour -> links */
    uint32_t *slots;     /* hash table: link + 1 */
    size_t slot_count;
    uint32_t *ranks, *rank_first; /* the ranks of every colour */
    PACE_VEC(message_kind) kinds;
    part parts[MOST_PARTS];
    size_t part_count;
    pace_flow_routes *routes;
} joiner;

static pace_status list_kinds(joiner *j) {
    const pace_flow_state *s = j->state;
    uint64_t pairs = 0;
    for (uint32_t l = 0; l < s->lane_count; l++) {
        const pace_flow_lane *lane = &s->lanes[l];
        for (uint32_t i = s->send_first[lane->program_lane]; i < s->send_first[lane->program_lane + 1]; i++) {
            const pace_peer *how = &s->program->peers.items[s->send_peers.items[i]];
            PACE_TRY(PACE_PUSH(&j->kinds, ((message_kind){lane->unit, how})));
            pairs += s->fold.members[lane->unit];
        }
    }
    size_t workers = pairs < WORTH_PARTS ? 1 : pace_workers();
    j->part_count = workers < MOST_PARTS ? workers : MOST_PARTS;
    for (size_t i = 1; i < j->part_count; i++)
        if (!PACE_MAKE(j->parts[i].mark, (size_t)j->fabric->link_count + 1)) return PACE_E_MEMORY;
    j->parts[0].mark = j->mark;
    return PACE_OK;
}

static pace_status find_route(pace_route *out, const joiner *j, uint32_t rank, const pace_peer *how) {
    out->count = 0;
    return pace_fabric_route(out, j->fabric, rank, pace_peer_rank(how, rank));
}

static pace_status mark_links(void *context, size_t worker, size_t number) {
    joiner *j = context;
    part *p = &j->parts[number];
    (void)worker;
    for (size_t kind = number; kind < j->kinds.count; kind += j->part_count) {
        const uint64_t mark = mixed(seed, kind);
        const message_kind *k = &j->kinds.items[kind];
        for (uint32_t i = j->rank_first[k->colour]; i < j->rank_first[k->colour + 1]; i++) {
            PACE_TRY(find_route(&p->route, j, j->ranks[i], k->how));
            for (size_t h = 0; h < p->route.count; h++) p->mark[p->route.items[h].link] += mark;
        }
    }
    return PACE_OK;
}

static void add_marks(joiner *j) {
    for (size_t i = 1; i < j->part_count; i++)
        for (uint32_t link = 0; link < j->fabric->link_count; link++) j->mark[link] += j->parts[i].mark[link];
}

static void colour_links(joiner *j, pace_flow_routes *r) {
    const pace_fabric *f = j->fabric;
    for (uint32_t link = 0; link < f->link_count; link++) {
        j->mark[link] = mixed(mixed(j->mark[link], f->link_class[link]), bits_of(f->bytes_per_s[link]));
        size_t i = j->mark[link] & (j->slot_count - 1);
        while (j->slots[i] && j->mark[j->slots[i] - 1] != j->mark[link]) i = (i + 1) & (j->slot_count - 1);
        if (!j->slots[i]) {
            j->slots[i] = link + 1;
            j->colour_of[link] = r->link_colours;
            r->colour_link[r->link_colours] = link;
            r->colour_bytes_per_s[r->link_colours++] = f->bytes_per_s[link];
        } else {
            j->colour_of[link] = j->colour_of[j->slots[i] - 1];
        }
        j->members[j->colour_of[link]]++;
    }
    for (uint32_t link = 0; link < f->link_count; link++) j->mark[link] = mixed(seed, j->colour_of[link]);
}

/* Of the colours of a route's links, in any order; the marks of links are those of their colours by now. */
static uint64_t route_mark(const joiner *j, const pace_route *route) {
    uint64_t sum = 0;
    for (size_t h = 0; h < route->count; h++) sum += j->mark[route->items[h].link];
    return sum;
}

/* The way of a kind's first rank stands for all. */
static pace_status describe_kind(joiner *j, uint32_t kind) {
    const message_kind *k = &j->kinds.items[kind];
    pace_flow_routes *r = j->routes;
    const pace_route *route = &j->parts[0].route;
    uint32_t rank = j->ranks[j->rank_first[k->colour]], ranks = j->state->fold.members[k->colour];
    r->first[kind] = (uint32_t)r->hops.count;
    PACE_TRY(find_route(&j->parts[0].route, j, rank, k->how));
    describe_way(r, kind, j->fabric, rank, pace_peer_rank(k->how, rank), route->items, route->count);
    for (size_t h = 0; h < route->count; h++) {
        uint32_t link = j->colour_of[route->items[h].link];
        double times = (double)ranks / j->members[link];
        size_t known = r->first[kind];
        while (known < r->hops.count && r->hops.items[known].link != link) known++;
        if (known < r->hops.count) r->hops.items[known].times += times;
        else PACE_TRY(PACE_PUSH(&r->hops, ((pace_hop){link, times})));
    }
    return PACE_OK;
}

/* Whether the ways of all ranks of a kind are like the first's. */
static pace_status compare_routes(void *context, size_t worker, size_t number) {
    joiner *j = context;
    part *p = &j->parts[number];
    (void)worker;
    for (size_t kind = number; kind < j->kinds.count; kind += j->part_count) {
        const message_kind *k = &j->kinds.items[kind];
        uint64_t mark = 0;
        for (uint32_t i = j->rank_first[k->colour]; i < j->rank_first[k->colour + 1]; i++) {
            PACE_TRY(find_route(&p->route, j, j->ranks[i], k->how));
            if (i == j->rank_first[k->colour]) mark = route_mark(j, &p->route);
            p->unlike = p->unlike || route_mark(j, &p->route) != mark;
        }
        if (p->unlike) return PACE_OK;
    }
    return PACE_OK;
}

/* The ranks of every colour, one after the other. */
static void list_ranks(joiner *j) {
    const pace_fold *fold = &j->state->fold;
    for (uint32_t c = 0; c < fold->count; c++) j->rank_first[c + 1] = j->rank_first[c] + fold->members[c];
    for (uint32_t rank = j->state->program->rank_count; rank-- > 0;) {
        uint32_t colour = fold->colour_of[rank];
        j->ranks[--j->rank_first[colour + 1]] = rank;
    }
    for (uint32_t c = 0; c < fold->count; c++) j->rank_first[c] = j->rank_first[c + 1];
    j->rank_first[fold->count] = j->state->program->rank_count;
}

static pace_status joined_routes(joiner *j) {
    pace_flow_routes *r = j->routes;
    list_ranks(j);
    PACE_TRY(list_kinds(j));
    PACE_TRY(pace_for_each(j->part_count, mark_links, j));
    add_marks(j);
    colour_links(j, r);
    for (uint32_t kind = 0; kind < j->kinds.count; kind++) PACE_TRY(describe_kind(j, kind));
    r->first[j->kinds.count] = (uint32_t)r->hops.count;
    PACE_TRY(pace_for_each(j->part_count, compare_routes, j));
    for (size_t i = 0; i < j->part_count; i++) r->alike = r->alike && !j->parts[i].unlike;
    return PACE_OK;
}

static void free_parts(joiner *j) {
    for (size_t i = 0; i < j->part_count; i++) {
        if (i) pace_free(j->parts[i].mark);
        PACE_VEC_FREE(&j->parts[i].route);
    }
    PACE_VEC_FREE(&j->kinds);
}

static pace_status folded_routes(pace_flow_routes *r, const pace_flow_state *s, const pace_fabric *fabric) {
    joiner j = {.state = s, .fabric = fabric, .slot_count = 64, .routes = r};
    size_t links = (size_t)fabric->link_count + 1;
    while (j.slot_count < 2 * links) j.slot_count *= 2;
    bool made = PACE_MAKE(r->colour_bytes_per_s, links) && PACE_MAKE(r->colour_link, links) &&
                PACE_MAKE(j.mark, links) && PACE_MAKE(j.colour_of, links) && PACE_MAKE(j.members, links) &&
                PACE_MAKE(j.slots, j.slot_count) && PACE_MAKE(j.ranks, s->program->rank_count) &&
                PACE_MAKE(j.rank_first, (size_t)s->fold.count + 1);
    pace_status status = made ? joined_routes(&j) : PACE_E_MEMORY;
    free_parts(&j);
    PACE_FREE(j.mark, j.colour_of, j.members, j.slots, j.ranks, j.rank_first);
    return status;
}

pace_status pace_flow_routes_init(pace_flow_routes *routes, const pace_flow_state *state, const pace_fabric *fabric) {
    *routes = (pace_flow_routes){.alike = true};
    if (!PACE_MAKE(routes->first, (size_t)state->send_queue_count + 1) ||
        !PACE_MAKE(routes->latency_ns, (size_t)state->send_queue_count + 1) ||
        !PACE_MAKE(routes->alone_bytes_per_s, (size_t)state->send_queue_count + 1))
        return PACE_E_MEMORY;
    if (state->fold.count < state->program->rank_count) return folded_routes(routes, state, fabric);
    return direct_routes(routes, state, fabric);
}

void pace_flow_routes_free(pace_flow_routes *routes) {
    PACE_VEC_FREE(&routes->hops);
    PACE_FREE(routes->first, routes->latency_ns, routes->alone_bytes_per_s, routes->colour_link);
    pace_free(routes->colour_bytes_per_s);
}

/* A kind of link that ranks of one colour cross more than once on the whole has several of them on each. */
static bool own_links(const pace_flow_routes *r, uint32_t *owner, uint32_t slot, uint32_t lane) {
    for (uint32_t h = r->first[slot]; h < r->first[slot + 1]; h++) {
        const pace_hop *hop = &r->hops.items[h];
        if (hop->times > 1 || (owner[hop->link] && owner[hop->link] != lane + 1)) return false;
        owner[hop->link] = lane + 1;
    }
    return true;
}

pace_status pace_flow_routes_apart(bool *out, const pace_flow_routes *r, const pace_flow_state *s, uint32_t links) {
    uint32_t *owner = pace_alloc((size_t)links + 1, sizeof *owner);
    if (!owner) return PACE_E_MEMORY;
    *out = true;
    for (uint32_t l = 0; l < s->lane_count && *out; l++) {
        uint32_t begin = s->lanes[l].send_queues,
                 end = l + 1 < s->lane_count ? s->lanes[l + 1].send_queues : s->send_queue_count;
        for (uint32_t slot = begin; slot < end && *out; slot++) *out = own_links(r, owner, slot, l);
    }
    pace_free(owner);
    return PACE_OK;
}

/* --- which ranks have like routes --------------------------------------------------------------------------------- */

/* The classes and rates of links are summed up, so that their order does not matter. */
static pace_status mix_route(uint64_t *kind, pace_route *route, const pace_fabric *fabric, uint32_t from, uint32_t to) {
    uint64_t sum = 0;
    if (to >= fabric->rank_count || to == from) return PACE_OK; /* a fault found later */
    route->count = 0;
    PACE_TRY(pace_fabric_route(route, fabric, from, to));
    for (size_t h = 0; h < route->count; h++)
        sum += mixed(bits_of(fabric->bytes_per_s[route->items[h].link]), fabric->link_class[route->items[h].link] + 1);
    *kind = mixed(*kind, mixed(sum, bits_of(pace_fabric_latency_ns(fabric, from, to))));
    return PACE_OK;
}

static pace_status mix_class(uint64_t *kinds, pace_route *route, const pace_program *p, uint32_t class,
                             const uint32_t *peers, size_t count, size_t most, const pace_fabric *fabric) {
    size_t step = count > most ? (count + most - 1) / most : 1;
    for (uint32_t rank = 0; rank < p->rank_count; rank++)
        for (size_t i = 0; i < count && p->class_of[rank] == class; i += step)
            PACE_TRY(mix_route(&kinds[rank], route, fabric, rank, pace_peer_rank(&p->peers.items[peers[i]], rank)));
    return PACE_OK;
}

pace_status pace_flow_route_kinds(uint64_t *kinds, const pace_program *p, const pace_fabric *fabric, size_t most) {
    PACE_VEC(uint32_t) peers = {0};
    pace_route route = {0};
    uint32_t *seen = pace_alloc(p->peers.count + 1, sizeof *seen);
    pace_status status = seen ? PACE_OK : PACE_E_MEMORY;
    for (uint32_t c = 0; c < p->classes.count && status == PACE_OK; c++) {
        const pace_rank_class *class = &p->classes.items[c];
        const pace_program_lane *first = &p->lanes.items[class->first_lane], *last = first + class->lane_count - 1;
        peers.count = 0;
        for (uint32_t i = first->first; i < last->first + last->count && status == PACE_OK; i++) {
            const pace_operation *o = &p->operations.items[i];
            if (o->kind != PACE_OPERATION_SEND || seen[o->peer] == c + 1) continue;
            seen[o->peer] = c + 1;
            status = PACE_PUSH(&peers, o->peer);
        }
        if (status == PACE_OK) status = mix_class(kinds, &route, p, c, peers.items, peers.count, most, fabric);
    }
    pace_free(seen);
    PACE_VEC_FREE(&peers, &route);
    return status;
}

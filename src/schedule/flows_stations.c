#include "schedule/flows_stations.h"

#include "base/union_find.h"

/* --- which links go together -------------------------------------------------------------------------------------- */

/* Messages of a lane that cross no link have a group of their own. */
static pace_status group_slots(pace_stations *st, const pace_flow_state *s, const pace_flow_routes *r, uint32_t links) {
    uint32_t slots = s->send_queue_count, *number;
    pace_union_find sets;
    PACE_TRY(pace_union_find_init(&sets, links + slots));
    for (uint32_t slot = 0; slot < slots; slot++)
        for (uint32_t h = r->first[slot] + 1; h < r->first[slot + 1]; h++)
            pace_union_find_join(&sets, r->hops.items[h - 1].link, r->hops.items[h].link);
    number = pace_alloc((size_t)links + slots + 1, sizeof *number);
    for (uint32_t slot = 0; number && slot < slots; slot++) {
        bool none = r->first[slot] == r->first[slot + 1];
        uint32_t *of = &number[pace_union_find_root(&sets, none ? links + slot : r->hops.items[r->first[slot]].link)];
        if (!*of) *of = ++st->group_count;
        st->group_of[slot] = *of - 1;
    }
    pace_union_find_free(&sets);
    pace_free(number);
    return number ? PACE_OK : PACE_E_MEMORY;
}

/* --- which groups are stations ------------------------------------------------------------------------------------ */

typedef struct {
    uint32_t slot; /* the first + 1 */
    uint32_t lane, lanes;
    double limit;
    bool alike;
} group;

static bool same_way(const pace_flow_routes *r, uint32_t a, uint32_t b) {
    uint32_t count = r->first[a + 1] - r->first[a];
    if (r->first[b + 1] - r->first[b] != count) return false;
    for (uint32_t h = 0; h < count; h++) {
        const pace_hop *one = &r->hops.items[r->first[a] + h], *other = &r->hops.items[r->first[b] + h];
        if (one->link != other->link || one->times != other->times) return false;
    }
    return true;
}

static bool wires_are_alike(const pace_flow_state *s) {
    for (size_t i = 1; i < s->question->wire_count; i++)
        if (s->question->wires[i].ns_per_byte != s->question->wires[0].ns_per_byte) return false;
    return true;
}

static double way_bytes_per_s(const pace_flow_routes *r, const double *bytes_per_s, uint32_t slot) {
    double rate = INFINITY;
    for (uint32_t h = r->first[slot]; h < r->first[slot + 1]; h++)
        rate = fmin(rate, bytes_per_s[r->hops.items[h].link] / r->hops.items[h].times);
    return rate;
}

static void look_at(group *g, const pace_flow_state *s, const pace_flow_routes *r, uint32_t slot, uint32_t lane) {
    double limit = s->question->wire_count ? pace_flow_way_limit(s, r, s->question->wires, slot, lane) : INFINITY;
    if (!g->slot) *g = (group){slot + 1, lane, 1, limit, true};
    if (g->lane != lane) g->lanes++;
    g->lane = lane;
    g->alike = g->alike && g->limit == limit && same_way(r, slot, g->slot - 1);
}

/* Room for a flow of every lane. */
static pace_status open_station(uint32_t *out, pace_stations *st, const group *g, uint32_t *room) {
    *out = (uint32_t)st->all.count;
    *room += g->lanes;
    return PACE_PUSH(&st->all, ((pace_station){.first = *room - g->lanes}));
}

static pace_status open_stations(pace_stations *st, const pace_flow_state *s, group *groups, uint32_t *number) {
    uint32_t room = 0;
    bool wires = wires_are_alike(s);
    for (uint32_t i = 0; i < st->group_count; i++) {
        const group *g = &groups[i];
        number[i] = PACE_NO_STATION;
        st->group_lane[i] = g->lane;
        if (!s->question->background_count && (g->lanes == 1 || (g->alike && wires)))
            PACE_TRY(open_station(&number[i], st, g, &room));
    }
    for (uint32_t l = 0; l < s->lane_count; l++) {
        st->alone[l] = !s->question->background_count;
        for (uint32_t slot = s->lanes[l].send_queues; slot < pace_flow_slots_end(s, l); slot++) {
            st->station_of[slot] = number[st->group_of[slot]];
            st->alone[l] = st->alone[l] && groups[st->group_of[slot]].lanes == 1;
        }
    }
    st->flows = pace_alloc((size_t)room + 1, sizeof *st->flows);
    return st->flows ? PACE_OK : PACE_E_MEMORY;
}

static pace_status find_stations(pace_stations *st, const pace_flow_state *s, const pace_flow_routes *r) {
    group *groups = pace_alloc((size_t)st->group_count + 1, sizeof *groups);
    uint32_t *number = pace_alloc((size_t)st->group_count + 1, sizeof *number);
    st->group_lane = pace_alloc((size_t)st->group_count + 1, sizeof *st->group_lane);
    pace_status status = groups && number && st->group_lane ? PACE_OK : PACE_E_MEMORY;
    for (uint32_t l = 0; l < s->lane_count && status == PACE_OK; l++)
        for (uint32_t slot = s->lanes[l].send_queues; slot < pace_flow_slots_end(s, l); slot++)
            look_at(&groups[st->group_of[slot]], s, r, slot, l);
    if (status == PACE_OK) status = open_stations(st, s, groups, number);
    PACE_FREE(groups, number);
    return status;
}

pace_status pace_stations_init(pace_stations *st, const pace_flow_state *s, const pace_flow_routes *r,
                               const double *bytes_per_s, uint32_t links) {
    size_t slots = (size_t)s->send_queue_count + 1;
    if (!PACE_MAKE(st->group_of, slots) || !PACE_MAKE(st->station_of, slots) || !PACE_MAKE(st->bytes_per_s, slots) ||
        !PACE_MAKE(st->alone, (size_t)s->lane_count + 1))
        return PACE_E_MEMORY;
    for (uint32_t slot = 0; slot < s->send_queue_count; slot++)
        st->bytes_per_s[slot] = way_bytes_per_s(r, bytes_per_s, slot);
    PACE_TRY(group_slots(st, s, r, links));
    return find_stations(st, s, r);
}

void pace_stations_free(pace_stations *st) {
    PACE_FREE(st->group_of, st->group_lane, st->station_of, st->bytes_per_s, st->alone, st->flows);
    PACE_VEC_FREE(&st->all);
}

/* --- serving ------------------------------------------------------------------------------------------------------ */

static void serve(pace_station *s, double now_ns) {
    if (s->count && now_ns > s->then_ns) s->served += (now_ns - s->then_ns) * s->each_bytes_per_s;
    s->then_ns = now_ns;
}

static double ends_ns(const pace_station *s, const pace_station_flow *flow) {
    double left = flow->ends - s->served;
    return s->then_ns + (left > 0 ? left / s->each_bytes_per_s : 0);
}

void pace_station_begin(pace_stations *st, uint32_t slot, uint32_t lane, double bytes, double limit_bytes_per_s,
                        double now_ns) {
    pace_station *s = &st->all.items[st->station_of[slot]];
    pace_station_flow *heap = &st->flows[s->first];
    serve(s, now_ns);
    if (!s->count) s->served = 0;
    s->bytes_per_s = st->bytes_per_s[slot];
    s->limit_bytes_per_s = limit_bytes_per_s;
    double ends = s->served + bytes * 1e9;
    uint32_t i = s->count++;
    for (; i && heap[(i - 1) / 2].ends > ends; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = (pace_station_flow){ends, lane};
}

static void drop_first(pace_station *s, pace_station_flow *heap) {
    const pace_station_flow last = heap[--s->count];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < s->count; i = child) {
        if (child + 1 < s->count && heap[child + 1].ends < heap[child].ends) child++;
        if (heap[child].ends >= last.ends) break;
        heap[i] = heap[child];
    }
    heap[i] = last;
}

bool pace_station_end(uint32_t *lane, pace_stations *st, uint32_t station, double now_ns, double until_ns) {
    pace_station *s = &st->all.items[station];
    pace_station_flow *heap = &st->flows[s->first];
    serve(s, now_ns);
    if (!s->count || ends_ns(s, &heap[0]) > until_ns) return false;
    *lane = heap[0].lane;
    drop_first(s, heap);
    return true;
}

double pace_station_next(pace_stations *st, uint32_t station) {
    pace_station *s = &st->all.items[station];
    if (!s->count) return INFINITY;
    double share = s->bytes_per_s / s->count;
    s->each_bytes_per_s = share < s->limit_bytes_per_s ? share : s->limit_bytes_per_s;
    return ends_ns(s, &st->flows[s->first]);
}

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

/* Each has room for a flow of every lane; `count` is that of its lanes until here. */
static pace_status make_room(pace_stations *st) {
    size_t room = 0;
    PACE_ITEMS (const pace_station, one, &st->all) room += one->count;
    if (!PACE_MAKE(st->flows, room + 1)) return PACE_E_MEMORY;
    pace_station_flow *next = st->flows;
    PACE_ITEMS (pace_station, one, &st->all) {
        one->flows = next;
        next += one->count;
        one->count = 0;
    }
    return PACE_OK;
}

static pace_status open_stations(pace_stations *st, const pace_flow_state *s, group *groups, uint32_t *number) {
    bool wires = wires_are_alike(s);
    for (uint32_t i = 0; i < st->group_count; i++) {
        const group *g = &groups[i];
        number[i] = PACE_NO_STATION;
        st->group_lane[i] = g->lane;
        if (s->question->background_count || (g->lanes > 1 && !(g->alike && wires))) continue;
        number[i] = (uint32_t)st->all.count;
        PACE_TRY(PACE_PUSH(&st->all, ((pace_station){.count = g->lanes})));
    }
    for (uint32_t l = 0; l < s->lane_count; l++) {
        st->alone[l] = !s->question->background_count;
        for (uint32_t slot = s->lanes[l].send_queues; slot < pace_flow_slots_end(s, l); slot++) {
            st->station_of[slot] = number[st->group_of[slot]];
            st->alone[l] = st->alone[l] && groups[st->group_of[slot]].lanes == 1;
        }
    }
    return make_room(st);
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

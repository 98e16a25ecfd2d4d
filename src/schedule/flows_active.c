#include "schedule/flows_active.h"

pace_status pace_active_links_init(pace_active_links *links, const double *bytes_per_s, uint32_t count) {
    PACE_TRY(pace_rates_init(&links->rates, bytes_per_s, count));
    return PACE_MAKE(links->of, (size_t)count + 1) && PACE_MAKE(links->room, (size_t)count + 1) ? PACE_OK
                                                                                                : PACE_E_MEMORY;
}

void pace_active_links_free(pace_active_links *links) {
    pace_rates_free(&links->rates);
    PACE_FREE(links->of, links->room);
}

void pace_active_flows_init(pace_active_flows *a, const pace_active_links *links, uint32_t most_hops) {
    *a = (pace_active_flows){.links = *links, .most_hops = most_hops ? most_hops : 1};
    a->rates =
        (pace_rates){.link_count = links->rates.link_count, .bytes_per_s = links->room, .links = links->rates.links};
}

void pace_active_flows_free(pace_active_flows *a) {
    a->rates.links = NULL; /* borrowed */
    pace_rates_free(&a->rates);
    PACE_VEC_FREE(&a->flows, &a->ways, &a->crossings, &a->free, &a->heap, &a->dirty, &a->started, &a->touched);
    PACE_VEC_FREE(&a->gone, &a->taken_over, &a->part, &a->rate);
}

/* --- the heap ----------------------------------------------------------------------------------------------------- */

static void put(pace_active_flows *a, size_t place, uint32_t flow) {
    a->heap.items[place] = flow;
    a->flows.items[flow].place = (uint32_t)place;
}

static double ends(const pace_active_flows *a, size_t place) { return a->flows.items[a->heap.items[place]].ends_ns; }

static void sift_up(pace_active_flows *a, size_t place) {
    uint32_t flow = a->heap.items[place];
    double ends_ns = a->flows.items[flow].ends_ns;
    for (; place && ends(a, (place - 1) / 2) > ends_ns; place = (place - 1) / 2)
        put(a, place, a->heap.items[(place - 1) / 2]);
    put(a, place, flow);
}

static void sift_down(pace_active_flows *a, size_t place) {
    uint32_t flow = a->heap.items[place];
    double ends_ns = a->flows.items[flow].ends_ns;
    for (size_t child; (child = 2 * place + 1) < a->heap.count; place = child) {
        if (child + 1 < a->heap.count && ends(a, child + 1) < ends(a, child)) child++;
        if (ends(a, child) >= ends_ns) break;
        put(a, place, a->heap.items[child]);
    }
    put(a, place, flow);
}

static void moved(pace_active_flows *a, uint32_t flow) {
    sift_up(a, a->flows.items[flow].place);
    sift_down(a, a->flows.items[flow].place);
}

/* --- links' lists ------------------------------------------------------------------------------------------------- */

static void enter(pace_active_flows *a, uint32_t flow) {
    const pace_flow *way = &a->ways.items[flow];
    for (uint32_t h = 0; h < way->hop_count; h++) {
        uint32_t number = flow * a->most_hops + h, link = way->hops[h].link;
        a->crossings.items[number] = (pace_active_crossing){a->links.of[link].first, 0};
        if (a->links.of[link].first) a->crossings.items[a->links.of[link].first - 1].before = number + 1;
        a->links.of[link].first = number + 1;
        a->links.of[link].new ++;
    }
}

static pace_status leave(pace_active_flows *a, uint32_t flow) {
    const pace_flow *way = &a->ways.items[flow];
    for (uint32_t h = 0; h < way->hop_count; h++) {
        const pace_active_crossing *c = &a->crossings.items[flow * a->most_hops + h];
        uint32_t link = way->hops[h].link;
        if (c->before) a->crossings.items[c->before - 1].next = c->next;
        else a->links.of[link].first = c->next;
        if (c->next) a->crossings.items[c->next - 1].before = c->before;
        if (!a->links.of[link].first) a->links.of[link].full = false;
        if (!a->links.of[link].full) continue;
        a->links.of[link].dirty = true;
        PACE_TRY(PACE_PUSH(&a->dirty, link));
    }
    return PACE_OK;
}

/* --- come and go -------------------------------------------------------------------------------------------------- */

static pace_status new_place(uint32_t *out, pace_active_flows *a) {
    if (a->free.count) {
        *out = a->free.items[--a->free.count];
        return PACE_OK;
    }
    *out = (uint32_t)a->flows.count;
    size_t crossings = (a->flows.count + 1) * a->most_hops;
    if (crossings >= UINT32_MAX) return pace_fail(PACE_E_INPUT, "too many messages on too many links at once");
    PACE_TRY(pace_grow(&a->crossings.items, &a->crossings.capacity, crossings, sizeof *a->crossings.items));
    PACE_TRY(PACE_PUSH(&a->ways, ((pace_flow){0})));
    return PACE_PUSH(&a->flows, ((pace_active_flow){0}));
}

static bool same_way(pace_flow a, pace_flow b) {
    return a.hops == b.hops && a.hop_count == b.hop_count && a.limit_bytes_per_s == b.limit_bytes_per_s;
}

/* Whether the flow that ended last was on this way; the port that sent it sends the next one. */
static bool takes_over(uint32_t *flow, pace_active_flows *a, pace_flow way) {
    if (!a->gone.count || !same_way(a->ways.items[a->gone.items[a->gone.count - 1]], way)) return false;
    *flow = a->gone.items[--a->gone.count];
    return true;
}

static pace_status push_last(pace_active_flows *a, uint32_t flow) {
    PACE_TRY(PACE_PUSH(&a->heap, flow));
    put(a, a->heap.count - 1, flow);
    return PACE_OK;
}

/* Ends last until it has a rate. */
pace_status pace_active_flows_add(pace_active_flows *a, pace_flow way, double bytes, uint32_t lane) {
    uint32_t flow;
    if (takes_over(&flow, a, way)) {
        a->flows.items[flow].ends_ns = INFINITY;
        a->flows.items[flow].bytes = bytes;
        a->flows.items[flow].lane = lane;
        PACE_TRY(push_last(a, flow));
        return PACE_PUSH(&a->taken_over, flow);
    }
    PACE_TRY(new_place(&flow, a));
    a->ways.items[flow] = way;
    a->flows.items[flow] = (pace_active_flow){INFINITY, 0, bytes, lane, 0, 0};
    enter(a, flow);
    PACE_TRY(push_last(a, flow));
    return PACE_PUSH(&a->started, flow);
}

bool pace_active_flows_take(pace_active_flow *out, pace_status *status, pace_active_flows *a, double until_ns) {
    if (!(pace_active_flows_next(a) <= until_ns)) return false;
    uint32_t flow = a->heap.items[0], last = a->heap.items[--a->heap.count];
    *out = a->flows.items[flow];
    *status = PACE_PUSH(&a->gone, flow);
    if (last != flow) {
        put(a, 0, last);
        sift_down(a, 0);
    }
    return true;
}

/* --- rates -------------------------------------------------------------------------------------------------------- */

/* Rounding of rates, and what is left of a link that is full, of all it has. */
static const double nearly_none = 1e-9;

static bool is_more(double rate, double than) { return rate > than * (1 + nearly_none); }

static pace_status touch(pace_active_flows *a, uint32_t flow) {
    if (a->flows.items[flow].seen == a->round) return PACE_OK;
    a->flows.items[flow].seen = a->round;
    return PACE_PUSH(&a->touched, flow);
}

/* A link's flows that have as much as `level`, or more. */
static pace_status touch_from(pace_active_flows *a, uint32_t link, double level) {
    for (uint32_t at = a->links.of[link].first; at; at = a->crossings.items[at - 1].next) {
        uint32_t flow = (at - 1) / a->most_hops;
        if (!is_more(level, a->flows.items[flow].bytes_per_s)) PACE_TRY(touch(a, flow));
    }
    return PACE_OK;
}

static pace_status touch_new(pace_active_flows *a, uint32_t link) {
    for (uint32_t at = a->links.of[link].first, left = a->links.of[link].new; at &&left;
         at = a->crossings.items[at - 1].next) {
        uint32_t flow = (at - 1) / a->most_hops;
        if (a->flows.items[flow].bytes_per_s > 0) continue;
        PACE_TRY(touch(a, flow));
        left--;
    }
    return PACE_OK;
}

/* New ones that share a link with the touched ones from `from` on: they are rated together. */
static pace_status spread(pace_active_flows *a, size_t from) {
    for (size_t i = from; i < a->touched.count; i++) {
        const pace_flow *way = &a->ways.items[a->touched.items[i]];
        for (uint32_t h = 0; h < way->hop_count; h++)
            if (a->links.of[way->hops[h].link].new > 0) PACE_TRY(touch_new(a, way->hops[h].link));
    }
    return PACE_OK;
}

/* What those that are not touched leave of a link. */
static double room_on(const pace_active_flows *a, uint32_t link) {
    double room = a->links.rates.bytes_per_s[link];
    for (uint32_t at = a->links.of[link].first; at; at = a->crossings.items[at - 1].next) {
        uint32_t flow = (at - 1) / a->most_hops, hop = (at - 1) % a->most_hops;
        const pace_active_flow *f = &a->flows.items[flow];
        if (f->seen != a->round) room -= f->bytes_per_s * a->ways.items[flow].hops[hop].times;
    }
    return room > 0 ? room : 0;
}

static pace_status solve(pace_active_flows *a) {
    size_t count = a->touched.count;
    a->part.count = 0;
    a->solution++;
    for (size_t i = 0; i < count; i++) {
        const pace_flow *way = &a->ways.items[a->touched.items[i]];
        PACE_TRY(PACE_PUSH(&a->part, *way));
        for (uint32_t h = 0; h < way->hop_count; h++) {
            uint32_t link = way->hops[h].link;
            if (a->links.of[link].room_of == a->solution) continue;
            a->links.of[link].room_of = a->solution;
            a->links.room[link] = room_on(a, link);
            a->links.of[link].top = 0;
            a->links.of[link].held = -1;
        }
    }
    PACE_TRY(pace_grow(&a->rate.items, &a->rate.capacity, count, sizeof *a->rate.items));
    PACE_TRY(pace_rates_solve(a->rate.items, &a->rates, a->part.items, (uint32_t)count));
    for (size_t i = 0; i < count; i++)
        for (uint32_t h = 0; h < a->part.items[i].hop_count; h++) {
            uint32_t link = a->part.items[i].hops[h].link;
            if (a->rate.items[i] > a->links.of[link].top) a->links.of[link].top = a->rate.items[i];
            if (a->rates.fixed_by.items[i] == link) a->links.of[link].held = a->rate.items[i];
        }
    return PACE_OK;
}

static bool is_full(const pace_active_flows *a, uint32_t link) {
    return a->rates.links[link].left <= nearly_none * a->links.rates.bytes_per_s[link];
}

/* The most that a flow has on a link of those that are not touched. */
static double most_of_others(const pace_active_flows *a, uint32_t link) {
    double most = 0;
    for (uint32_t at = a->links.of[link].first; at; at = a->crossings.items[at - 1].next) {
        const pace_active_flow *f = &a->flows.items[(at - 1) / a->most_hops];
        if (f->seen != a->round && f->bytes_per_s > most) most = f->bytes_per_s;
    }
    return most;
}

/* Others on the touched ones' links: whom a link held back that has room now, or on which another has more; and who has
 * more than one whom the link holds back. */
static pace_status touch_others(pace_active_flows *a) {
    for (size_t i = 0; i < a->rates.touched.count; i++) {
        uint32_t link = a->rates.touched.items[i];
        double level = a->links.of[link].level, held = a->links.of[link].held;
        if (a->links.of[link].full && (!is_full(a, link) || is_more(a->links.of[link].top, level)))
            PACE_TRY(touch_from(a, link, level));
        if (held < 0) continue;
        double most = most_of_others(a, link);
        if (is_more(most, held)) PACE_TRY(touch_from(a, link, most));
    }
    return PACE_OK;
}

static void is_rated(pace_active_flows *a, const pace_flow *way) {
    for (uint32_t h = 0; h < way->hop_count; h++) a->links.of[way->hops[h].link].new --;
}

/* What is still to be sent takes a new time. A flow that never ends has sent something until now. */
static void set_rate(pace_active_flows *a, uint32_t flow, double rate, double now_ns) {
    pace_active_flow *f = &a->flows.items[flow];
    if (rate == f->bytes_per_s) return;
    if (!(f->bytes_per_s > 0)) is_rated(a, &a->ways.items[flow]);
    double left = f->bytes_per_s > 0 ? (f->ends_ns - now_ns) * f->bytes_per_s : f->bytes * 1e9;
    f->ends_ns = now_ns + (left > 0 ? left / rate : 0);
    f->bytes_per_s = rate;
    moved(a, flow);
}

static void note_levels(pace_active_flows *a) {
    for (size_t i = 0; i < a->rates.touched.count; i++) {
        uint32_t link = a->rates.touched.items[i];
        double others = (a->links.of[link].full = is_full(a, link)) ? most_of_others(a, link) : 0;
        a->links.of[link].level = others > a->links.of[link].top ? others : a->links.of[link].top;
        a->links.of[link].dirty = false;
    }
}

/* The touched ones and those that they touch. */
static pace_status rate_touched(pace_active_flows *a, double now_ns) {
    for (size_t solved = 0; solved < a->touched.count;) {
        PACE_TRY(spread(a, solved));
        solved = a->touched.count;
        PACE_TRY(solve(a));
        PACE_TRY(touch_others(a));
    }
    for (size_t i = 0; i < a->touched.count; i++) set_rate(a, a->touched.items[i], a->rate.items[i], now_ns);
    if (a->touched.count) note_levels(a);
    return PACE_OK;
}

static void begin_round(pace_active_flows *a) {
    a->round++;
    a->touched.count = 0;
}

/* Those that have gone leave their links; those that took over begin. */
static pace_status settle(pace_active_flows *a, double now_ns) {
    for (size_t i = 0; i < a->gone.count; i++) {
        PACE_TRY(leave(a, a->gone.items[i]));
        PACE_TRY(PACE_PUSH(&a->free, a->gone.items[i]));
    }
    for (size_t i = 0; i < a->taken_over.count; i++) {
        pace_active_flow *f = &a->flows.items[a->taken_over.items[i]];
        f->ends_ns = now_ns + f->bytes * 1e9 / f->bytes_per_s;
        sift_up(a, f->place);
    }
    a->gone.count = a->taken_over.count = 0;
    return PACE_OK;
}

pace_status pace_active_flows_rate(pace_active_flows *a, double now_ns) {
    PACE_TRY(settle(a, now_ns));
    for (size_t i = 0; i < a->dirty.count; i++) {
        uint32_t link = a->dirty.items[i];
        if (!a->links.of[link].dirty) continue;
        begin_round(a);
        PACE_TRY(touch_from(a, link, a->links.of[link].level));
        PACE_TRY(rate_touched(a, now_ns));
        if (a->touched.count == 0) a->links.of[link].full = a->links.of[link].dirty = false;
    }
    for (size_t i = 0; i < a->started.count; i++) {
        if (a->flows.items[a->started.items[i]].bytes_per_s > 0) continue;
        begin_round(a);
        PACE_TRY(touch(a, a->started.items[i]));
        PACE_TRY(rate_touched(a, now_ns));
    }
    a->dirty.count = a->started.count = 0;
    return PACE_OK;
}

#include "exchange/rates.h"

#include <math.h>

/* What is left of a link's load when all its flows are fixed, but for rounding. */
static const double no_load = 1e-9;

pace_status pace_rates_init(pace_rates *rates, const double *bytes_per_s, uint32_t link_count) {
    *rates = (pace_rates){.link_count = link_count, .bytes_per_s = bytes_per_s};
    for (uint32_t i = 0; i < link_count; i++)
        if (!(bytes_per_s[i] > 0))
            return pace_fail(PACE_E_INPUT, "link %u: expected a bandwidth above 0, found %g bytes/s", i,
                             bytes_per_s[i]);
    rates->links = pace_alloc((size_t)link_count + 1, sizeof *rates->links);
    return rates->links ? PACE_OK : PACE_E_MEMORY;
}

void pace_rates_free(pace_rates *rates) {
    pace_free(rates->links);
    PACE_VEC_FREE(&rates->touched, &rates->crossings, &rates->heap, &rates->fixed_by);
}

static void sift_down(pace_rates_entry *heap, size_t count, size_t i) {
    pace_rates_entry entry = heap[i];
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && heap[child + 1].share < heap[child].share) child++;
        if (heap[child].share >= entry.share) break;
        heap[i] = heap[child];
    }
    heap[i] = entry;
}

static pace_status push(pace_rates *r, double share, uint32_t number) {
    return PACE_PUSH(&r->heap, ((pace_rates_entry){share, number}));
}

static void drop_top(pace_rates *r) {
    r->heap.items[0] = r->heap.items[--r->heap.count];
    if (r->heap.count) sift_down(r->heap.items, r->heap.count, 0);
}

static pace_status load_links(pace_rates *r, const pace_flow *flows, uint32_t count) {
    uint32_t crossings = 0;
    r->touched.count = 0;
    for (uint32_t f = 0; f < count; f++)
        for (uint32_t h = 0; h < flows[f].hop_count; h++) {
            uint32_t number = flows[f].hops[h].link;
            pace_rates_link *link = &r->links[number];
            if (!link->count) {
                PACE_TRY(PACE_PUSH(&r->touched, number));
                link->left = r->bytes_per_s[number];
                link->load = 0;
            }
            link->load += flows[f].hops[h].times;
            link->count++;
            crossings++;
        }
    PACE_TRY(pace_grow(&r->crossings.items, &r->crossings.capacity, crossings, sizeof *r->crossings.items));
    uint32_t first = 0;
    for (size_t i = 0; i < r->touched.count; i++) {
        pace_rates_link *link = &r->links[r->touched.items[i]];
        link->first = first;
        first += link->count;
        link->count = 0;
    }
    for (uint32_t f = 0; f < count; f++)
        for (uint32_t h = 0; h < flows[f].hop_count; h++) {
            pace_rates_link *link = &r->links[flows[f].hops[h].link];
            r->crossings.items[link->first + link->count++] = f;
        }
    return PACE_OK;
}

static pace_status fill_heap(pace_rates *r, const pace_flow *flows, uint32_t count) {
    r->heap.count = 0;
    for (size_t i = 0; i < r->touched.count; i++) {
        const pace_rates_link *link = &r->links[r->touched.items[i]];
        PACE_TRY(push(r, link->left / link->load, r->touched.items[i]));
    }
    for (uint32_t f = 0; f < count; f++)
        if (!isinf(flows[f].limit_bytes_per_s)) PACE_TRY(push(r, flows[f].limit_bytes_per_s, r->link_count + f));
    for (size_t i = r->heap.count / 2; i-- > 0;) sift_down(r->heap.items, r->heap.count, i);
    return PACE_OK;
}

static void fix(double *out, pace_rates *r, const pace_flow *flows, uint32_t f, double rate, uint32_t by) {
    if (!isinf(out[f])) return;
    out[f] = rate;
    r->fixed_by.items[f] = by;
    for (uint32_t h = 0; h < flows[f].hop_count; h++) {
        pace_rates_link *link = &r->links[flows[f].hops[h].link];
        link->left -= rate * flows[f].hops[h].times;
        if (link->left < 0) link->left = 0;
        link->load -= flows[f].hops[h].times;
    }
}

static void fill(double *out, pace_rates *r, const pace_flow *flows) {
    while (r->heap.count) {
        pace_rates_entry top = r->heap.items[0];
        if (top.number >= r->link_count) {
            drop_top(r);
            fix(out, r, flows, top.number - r->link_count, top.share, PACE_OWN_LIMIT);
            continue;
        }
        const pace_rates_link *link = &r->links[top.number];
        if (link->load < no_load) {
            drop_top(r);
            continue;
        }
        double share = link->left / link->load;
        if (share > top.share) {
            r->heap.items[0].share = share;
            sift_down(r->heap.items, r->heap.count, 0);
            continue;
        }
        drop_top(r);
        for (uint32_t i = 0; i < link->count; i++)
            fix(out, r, flows, r->crossings.items[link->first + i], top.share, top.number);
    }
}

pace_status pace_rates_solve(double *out, pace_rates *rates, const pace_flow *flows, uint32_t count) {
    PACE_TRY(pace_grow(&rates->fixed_by.items, &rates->fixed_by.capacity, count, sizeof *rates->fixed_by.items));
    for (uint32_t f = 0; f < count; f++) {
        out[f] = INFINITY;
        rates->fixed_by.items[f] = PACE_OWN_LIMIT;
    }
    pace_status status = load_links(rates, flows, count);
    if (status == PACE_OK) status = fill_heap(rates, flows, count);
    if (status == PACE_OK) fill(out, rates, flows);
    for (size_t i = 0; i < rates->touched.count; i++) rates->links[rates->touched.items[i]].count = 0;
    return status;
}

#include "insight/ranks/exchange_totals.h"

#include "base/order.h"
#include "exchange/exchange.h"
#include "insight/ranks/item_exchange.h"

#include <math.h>
#include <string.h>

void pace_exchange_totals_free(pace_exchange_totals *totals) { PACE_VEC_FREE(&totals->items); }

typedef struct {
    pace_exchange_totals *out;
    const pace_rank *rank;
} summer;

/* Both sides of an exchange name what they hold of it; the larger is the whole vector. */
static int64_t bytes_of(const pace_step *step, const pace_exchange_info *info) {
    int64_t first = info->in_elements > 0 ? info->in_elements : info->out_elements;
    int64_t most = info->in_elements > info->out_elements ? info->in_elements : info->out_elements;
    int64_t bytes = pace_exchange_bytes(step, info);
    return bytes > 0 && first > 0 && most < INT64_MAX / 64 ? bytes / first * most : -1;
}

/* One kind of exchange; without `info` all that is known is the kernel. */
static pace_exchange_total kind_of(const summer *s, uint32_t task, const pace_exchange_info *info) {
    const pace_names *names = &s->rank->step.names;
    pace_exchange_total kind = {.collective = pace_step_name(&s->rank->step, task),
                                .group = "",
                                .dtype = "",
                                .bytes = -1,
                                .least_ns = INT64_MAX,
                                .expected_ns = -1,
                                .most_ns = -1,
                                .waiting_ns = -1};
    if (!info || !info->collective) return kind;
    kind.collective = pace_names_text(names, info->collective);
    kind.group = pace_names_text(names, info->group);
    kind.dtype = pace_names_text(names, info->dtype);
    kind.group_size = info->group_size;
    kind.bytes = bytes_of(&s->rank->step, info);
    return kind;
}

static bool same_kind(const pace_exchange_total *a, const pace_exchange_total *b) {
    return a->bytes == b->bytes && a->group_size == b->group_size && strcmp(a->collective, b->collective) == 0 &&
           strcmp(a->group, b->group) == 0 && strcmp(a->dtype, b->dtype) == 0;
}

/* What a call would take over the machine's links, over the nodes that the group fills. */
static pace_status expect(pace_exchange_total *row, const summer *s, pace_catalog *catalog, const char *members) {
    pace_collective collective;
    pace_machine machine = s->out->links.machine;
    pace_exchange exchange;
    pace_estimate time_s;
    if (machine.devices == 0 || row->bytes <= 0 || row->group_size < 2 || row->group_size > 1 << 20) return PACE_OK;
    if (!pace_collective_find(&collective, row->collective)) return PACE_OK;
    machine.nodes = row->nodes = pace_link_machine_nodes(&machine, row->group_size, members);
    int per_node = (int)((row->group_size + row->nodes - 1) / row->nodes);
    if (per_node > machine.devices) return PACE_OK;
    pace_exchange_question question = {collective, (double)row->bytes, per_node, machine.nodes, PACE_ANY, PACE_ANY, 0};
    pace_status status = pace_exchange_open(&exchange, catalog, &machine, PACE_LIBRARY_AUTO, NULL);
    if (status == PACE_OK) status = pace_exchange_time(&time_s, &exchange, &question);
    if (status == PACE_OK) {
        row->expected_ns = pace_ns(time_s.median);
        row->most_ns = pace_estimate_high_ns(time_s);
    }
    return status == PACE_E_MEMORY ? status : PACE_OK; /* what cannot be asked stays unknown */
}

static pace_status row_of(pace_exchange_total **out, summer *s, pace_catalog *catalog, uint32_t task,
                          const pace_exchange_info *info) {
    pace_exchange_total kind = kind_of(s, task, info);
    for (size_t i = 0; i < s->out->items.count; i++) {
        *out = &s->out->items.items[i];
        if (same_kind(*out, &kind)) return PACE_OK;
    }
    PACE_TRY(expect(&kind, s, catalog, info ? pace_names_text(&s->rank->step.names, info->group_ranks) : ""));
    PACE_TRY(PACE_PUSH(&s->out->items, kind));
    *out = &s->out->items.items[s->out->items.count - 1];
    return PACE_OK;
}

static pace_status add_item(summer *s, pace_catalog *catalog, uint32_t index) {
    const pace_work_item *item = &s->rank->work.items.items[index];
    pace_exchange_total *row;
    if (item->message) return PACE_OK;
    PACE_TRY(row_of(&row, s, catalog, item->task, pace_item_exchange(s->rank, index)));
    int64_t took = item->end_ns - item->start_ns;
    int64_t exposed = took - pace_intervals_within(&s->rank->work.compute, item->start_ns, item->end_ns);
    row->calls++;
    row->time_ns += took;
    row->exposed_ns += exposed;
    if (took < row->least_ns) row->least_ns = took;
    if (row->expected_ns >= 0 && exposed > row->most_ns) row->late_ns += exposed - row->most_ns;
    if (item->wait_until_ns == INT64_MIN) return PACE_OK;
    if (row->waiting_ns < 0) row->waiting_ns = 0;
    if (item->wait_until_ns > item->start_ns) row->waiting_ns += item->wait_until_ns - item->start_ns;
    return PACE_OK;
}

PACE_ORDER(by_time, pace_exchange_total, PACE_DOWN(time_ns) PACE_UP(bytes))

static void add_sums(pace_exchange_totals *totals, const pace_exchange_total *row, size_t here) {
    int64_t waited_ns = row->waiting_ns > 0 ? row->waiting_ns : 0;
    int64_t exposed_ns = row->exposed_ns > waited_ns ? row->exposed_ns - waited_ns : 0;
    int64_t beyond_ns = row->late_ns > waited_ns ? row->late_ns - waited_ns : 0;
    *(row->expected_ns >= 0 ? &totals->exposed_ns : &totals->unknown_ns) += exposed_ns;
    if (row->waiting_ns < 0 || row->group_size > (int64_t)here) totals->elsewhere_ns += beyond_ns;
    else totals->slow_ns += beyond_ns;
}

static void finish(pace_exchange_totals *totals, size_t here) {
    PACE_ITEMS (pace_exchange_total, row, &totals->items) {
        pace_collective collective;
        double mean_s = (double)row->time_ns * 1e-9 / (double)row->calls;
        row->algbw_per_s = mean_s > 0 && row->bytes > 0 ? (double)row->bytes / mean_s : NAN;
        bool known = pace_collective_find(&collective, row->collective) && row->group_size > 1;
        row->busbw_per_s = known ? row->algbw_per_s * pace_bus_factor(collective, (int)row->group_size) : NAN;
        add_sums(totals, row, here);
    }
    PACE_SORT(&totals->items, by_time);
}

pace_status pace_exchange_totals_find(pace_exchange_totals *out, const pace_rank *rank, size_t here,
                                      const pace_machine *asked, pace_catalog *catalog, const pace_intervals *within) {
    pace_exchange_totals totals = {0};
    summer s = {.out = &totals, .rank = rank};
    pace_status status = pace_link_machine_choose(&totals.links, rank, asked, catalog);
    for (uint32_t i = 0; status == PACE_OK && i < rank->work.items.count; i++) {
        const pace_work_item *item = &rank->work.items.items[i];
        if (item->class == PACE_WORK_COMMUNICATION && pace_intervals_hold(within, item->start_ns))
            status = add_item(&s, catalog, i);
    }
    if (status == PACE_OK) finish(&totals, here);
    return PACE_GIVE(out, totals, status, pace_exchange_totals_free(&totals));
}

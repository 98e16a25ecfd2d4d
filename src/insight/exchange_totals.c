#include "insight/exchange_totals.h"

#include "exchange/exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pace_exchange_totals_free(pace_exchange_totals *totals) { PACE_VEC_FREE(&totals->items); }

typedef struct {
    pace_exchange_totals *out;
    const pace_rank *rank;
    pace_machine machine; /* the fastest of the catalogue with the rank's device; devices = 0: none */
} summer;

/* Links of other machines with the same device are slower: what these take is the least. */
static pace_status choose_machine(summer *s, pace_catalog *catalog) {
    pace_machine_catalog machines;
    if (!s->rank->device) return PACE_OK;
    PACE_TRY(pace_machine_catalog_load(&machines, catalog));
    for (size_t i = 0; i < machines.machines.count; i++) {
        const pace_machine *one = &machines.machines.items[i];
        if (strcmp(one->device, s->rank->device->name) != 0) continue;
        if (s->machine.devices == 0 || pace_machine_inside_rate(one) > pace_machine_inside_rate(&s->machine))
            s->machine = *one;
    }
    pace_machine_catalog_free(&machines);
    snprintf(s->out->machine, sizeof s->out->machine, "%s", s->machine.name);
    return PACE_OK;
}

/* Both sides of an exchange name what they hold of it; the larger is the whole vector. */
static int64_t bytes_of(const pace_step *step, const pace_exchange_info *info) {
    int64_t first = info->in_elements > 0 ? info->in_elements : info->out_elements;
    int64_t most = info->in_elements > info->out_elements ? info->in_elements : info->out_elements;
    int64_t bytes = pace_exchange_bytes(step, info);
    return bytes > 0 && first > 0 && most < INT64_MAX / 64 ? bytes / first * most : -1;
}

static pace_exchange_total *row_of(summer *s, const pace_exchange_info *info, int64_t bytes) {
    const pace_names *names = &s->rank->step.names;
    const char *collective = pace_names_text(names, info->collective), *dtype = pace_names_text(names, info->dtype);
    for (size_t i = 0; i < s->out->items.count; i++) {
        pace_exchange_total *row = &s->out->items.items[i];
        if (row->bytes == bytes && row->group_size == info->group_size && strcmp(row->collective, collective) == 0 &&
            strcmp(row->dtype, dtype) == 0)
            return row;
    }
    pace_exchange_total row = {.collective = collective,
                               .dtype = dtype,
                               .group_size = info->group_size,
                               .bytes = bytes,
                               .least_ns = INT64_MAX,
                               .expected_ns = -1};
    if (PACE_PUSH(&s->out->items, row) != PACE_OK) return NULL;
    return &s->out->items.items[s->out->items.count - 1];
}

/* What a call would take over the machine's links, with as many nodes as the group fills. */
static pace_status expect(int64_t *out_ns, const summer *s, pace_catalog *catalog, const pace_exchange_total *row) {
    pace_collective collective;
    pace_machine machine = s->machine;
    pace_exchange exchange;
    pace_estimate time_s;
    *out_ns = -1;
    if (machine.devices == 0 || row->group_size < 2 || row->group_size > 1 << 20) return PACE_OK;
    if (!pace_collective_find(&collective, row->collective)) return PACE_OK;
    machine.nodes = (int)((row->group_size + machine.devices - 1) / machine.devices);
    int per_node = machine.nodes > 1 ? machine.devices : (int)row->group_size;
    pace_exchange_question question = {collective, (double)row->bytes, per_node, machine.nodes, PACE_ANY, PACE_ANY, 0};
    pace_status status = pace_exchange_open(&exchange, catalog, &machine, PACE_LIBRARY_AUTO, NULL);
    if (status == PACE_OK) status = pace_exchange_time(&time_s, &exchange, &question);
    if (status == PACE_OK) *out_ns = llround(time_s.median * 1e9);
    return status == PACE_E_MEMORY ? status : PACE_OK; /* what cannot be asked stays unknown */
}

static pace_status add_item(summer *s, pace_catalog *catalog, const pace_work_item *item) {
    const pace_exchange_info *info = pace_step_exchange(&s->rank->step, item->task);
    int64_t bytes = info ? bytes_of(&s->rank->step, info) : -1, took = item->end_ns - item->start_ns;
    if (bytes <= 0 || !info->collective || item->message) return PACE_OK;
    pace_exchange_total *row = row_of(s, info, bytes);
    if (!row) return PACE_E_MEMORY;
    if (row->calls == 0) PACE_TRY(expect(&row->expected_ns, s, catalog, row));
    int64_t exposed = took - pace_intervals_within(&s->rank->work.compute, item->start_ns, item->end_ns);
    row->calls++;
    row->time_ns += took;
    row->exposed_ns += exposed;
    if (took < row->least_ns) row->least_ns = took;
    if (row->expected_ns >= 0 && exposed > row->expected_ns) row->late_ns += exposed - row->expected_ns;
    return PACE_OK;
}

static int by_time(const void *left, const void *right) {
    const pace_exchange_total *a = left, *b = right;
    if (a->time_ns != b->time_ns) return a->time_ns > b->time_ns ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static void finish(pace_exchange_totals *totals) {
    for (size_t i = 0; i < totals->items.count; i++) {
        pace_exchange_total *row = &totals->items.items[i];
        pace_collective collective;
        double mean_s = (double)row->time_ns * 1e-9 / (double)row->calls;
        row->algbw_per_s = mean_s > 0 ? (double)row->bytes / mean_s : NAN;
        bool known = pace_collective_find(&collective, row->collective) && row->group_size > 1;
        row->busbw_per_s = known ? row->algbw_per_s * pace_bus_factor(collective, (int)row->group_size) : NAN;
        totals->exposed_ns += row->exposed_ns;
        totals->late_ns += row->late_ns;
    }
    if (totals->items.count) qsort(totals->items.items, totals->items.count, sizeof *totals->items.items, by_time);
}

pace_status pace_exchange_totals_find(pace_exchange_totals *out, const pace_rank *rank, pace_catalog *catalog,
                                      int64_t start_ns, int64_t end_ns) {
    pace_exchange_totals totals = {0};
    summer s = {.out = &totals, .rank = rank};
    pace_status status = choose_machine(&s, catalog);
    for (size_t i = 0; status == PACE_OK && i < rank->work.items.count; i++) {
        const pace_work_item *item = &rank->work.items.items[i];
        if (item->class == PACE_WORK_COMMUNICATION && item->start_ns >= start_ns && item->start_ns < end_ns)
            status = add_item(&s, catalog, item);
    }
    if (status != PACE_OK) {
        pace_exchange_totals_free(&totals);
        return status;
    }
    finish(&totals);
    *out = totals;
    return PACE_OK;
}

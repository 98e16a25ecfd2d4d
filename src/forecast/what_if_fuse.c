#include "base/pattern.h"
#include "forecast/what_ifs.h"
#include "step/op_edit.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static uint32_t annotation_of(const pace_graph *graph, uint32_t node) {
    while (node != PACE_NO_NODE && graph->nodes.items[node].kind != PACE_TASK_ANNOTATION)
        node = graph->nodes.items[node].parent;
    return node;
}

static bool together(const pace_graph *graph, const pace_launch *a, const pace_launch *b) {
    const pace_graph_node *nodes = graph->nodes.items;
    return a->stream == b->stream && nodes[a->node].thread == nodes[b->node].thread && !pace_launch_waits(b) &&
           annotation_of(graph, a->node) == annotation_of(graph, b->node);
}

/* --- element-wise chains ------------------------------------------------------------------------------------------ */

static bool matches(const pace_graph *graph, const pace_launch *launch, const regex_t *names) {
    return pace_pattern_fits(names, pace_names_text(&graph->names, launch->name)) ||
           pace_pattern_fits(names, pace_names_text(&graph->names, graph->nodes.items[launch->node].name));
}

static bool can_fuse(const pace_variant *v, uint32_t number, const regex_t *names) {
    const pace_launch *launch = &v->graph.launches.items[number];
    const pace_op *op = pace_variant_op(v, number);
    return op && op->family == PACE_OP_ELEMENTWISE && op->size[0] > 0 && launch->kind == PACE_TASK_KERNEL &&
           !launch->exchange && matches(&v->graph, launch, names);
}

/* A single number, as Python's are cast to for the next kernel: a compiler keeps it aside. */
static bool is_number(const pace_variant *v, uint32_t number) {
    const pace_op *op = pace_variant_op(v, number);
    return op && (op->family == PACE_OP_ELEMENTWISE || op->family == PACE_OP_COPY) && op->size[0] == 1;
}

static bool chains(const pace_variant *v, uint32_t before, uint32_t after) {
    const pace_op *a = pace_variant_op(v, before), *b = pace_variant_op(v, after);
    const pace_launch *launches = v->graph.launches.items;
    return a->size[0] == b->size[0] && a->element_bytes == b->element_bytes &&
           together(&v->graph, &launches[before], &launches[after]);
}

/* The chain's first kernel does the work of all, one link more. */
static pace_status add_link(pace_variant *v, uint32_t head, uint32_t link) {
    pace_op both[2] = {*pace_variant_op(v, head), *pace_variant_op(v, link)};
    pace_op fused = pace_op_fuse(both, 2);
    return pace_variant_set_op(v, head, &fused);
}

typedef struct {
    const regex_t *names;
    uint32_t *last; /* of each stream: the launch that the next may be chained to */
} chain_search;

static pace_status find_chains(uint32_t *into, size_t *fused, pace_variant *v, void *context) {
    const chain_search *c = context;
    uint32_t *last = c->last;
    for (uint32_t s = 0; s < v->graph.stream_count; s++) last[s] = PACE_NO_LAUNCH;
    for (uint32_t i = 0; i < v->graph.launches.count; i++) {
        uint32_t *before = &last[v->graph.launches.items[i].stream];
        bool fits = can_fuse(v, i, c->names);
        if (fits && *before != PACE_NO_LAUNCH && chains(v, *before, i)) {
            into[i] = into[*before];
            PACE_TRY(add_link(v, into[i], i));
            double *assumed = &v->launches[into[i]].assumed;
            *assumed = fmax(*assumed, v->doubts->figure[PACE_DOUBT_FUSED_RESULTS]);
            v->launches[into[i]].assumed_by = PACE_DOUBT_FUSED_RESULTS;
            ++*fused;
        }
        if (fits || !is_number(v, i)) *before = fits ? i : PACE_NO_LAUNCH;
    }
    return PACE_OK;
}

pace_status pace_what_if_fuse(size_t *fused, pace_variant *variant, const regex_t *names) {
    chain_search c = {names, pace_alloc(variant->graph.stream_count + 1, sizeof *c.last)};
    pace_status status = c.last ? pace_variant_fuse(fused, variant, find_chains, &c) : PACE_E_MEMORY;
    pace_free(c.last);
    return status;
}

/* --- embedding tables --------------------------------------------------------------------------------------------- */

static bool is_lookup(const pace_op *op) {
    return op && op->family == PACE_OP_EMBEDDING && op->size[0] > 0 && op->size[4] > 0;
}

static bool same_lookups(const pace_op *a, const pace_op *b) {
    return a->pass == b->pass && a->size[0] == b->size[0] && a->size[4] == b->size[4] &&
           a->element_bytes == b->element_bytes && strcmp(a->kind, b->kind) == 0;
}

static double tables_of(const pace_op *op) { return op->size[1] > 0 ? op->size[1] : 1; }

/* One lookup in the tables of both, of their mean size. */
static pace_op join_tables(const pace_op *a, const pace_op *b) {
    enum { TABLES = 1, ROWS, LOOKUPS };
    pace_op both = *a;
    double of_a = tables_of(a), of_b = tables_of(b), all = of_a + of_b;
    both.size[TABLES] = all;
    both.size[ROWS] = (of_a * a->size[ROWS] + of_b * b->size[ROWS]) / all;
    both.size[LOOKUPS] = (of_a * a->size[LOOKUPS] + of_b * b->size[LOOKUPS]) / all;
    both.flop = a->flop + b->flop;
    both.read_bytes = a->read_bytes + b->read_bytes;
    both.write_bytes = a->write_bytes + b->write_bytes;
    return both;
}

static pace_status find_tables(uint32_t *into, size_t *fused, pace_variant *v, void *context) {
    PACE_VEC(uint32_t) heads = {0};
    (void)context;
    pace_status status = PACE_OK;
    for (uint32_t i = 0; status == PACE_OK && i < v->graph.launches.count; i++) {
        const pace_op *op = pace_variant_op(v, i);
        if (!is_lookup(op)) continue;
        size_t h = heads.count; /* the latest head is the likeliest */
        while (h > 0 &&
               !(same_lookups(pace_variant_op(v, heads.items[h - 1]), op) &&
                 together(&v->graph, &v->graph.launches.items[heads.items[h - 1]], &v->graph.launches.items[i])))
            h--;
        if (h == 0) {
            status = PACE_PUSH(&heads, i);
            continue;
        }
        pace_op joined = join_tables(pace_variant_op(v, heads.items[h - 1]), op);
        into[i] = heads.items[h - 1];
        ++*fused;
        status = pace_variant_set_op(v, into[i], &joined);
    }
    PACE_VEC_FREE(&heads);
    return status;
}

pace_status pace_what_if_fuse_tables(size_t *fused, pace_variant *variant) {
    return pace_variant_fuse(fused, variant, find_tables, NULL);
}

/* --- the rows ----------------------------------------------------------------------------------------------------- */

static pace_status apply_tables(pace_editing *e, size_t *fused) {
    for (size_t i = 0; i < e->count; i++) PACE_TRY(pace_what_if_fuse_tables(fused, &e->variants[i]));
    return PACE_OK;
}

static pace_status apply(pace_editing *e, size_t *fused) {
    const pace_scenario_value *named;
    for (size_t i = 0; i < e->count; i++)
        for (size_t k = 0; (named = pace_scenario_value_at(e->scenario, "fuse", k)); k++)
            PACE_TRY(pace_what_if_fuse(fused, &e->variants[i], &named->name));
    return PACE_OK;
}

const char pace_what_if_tables_note[] =
    "Tables: all tables of one launch are assumed to have equal numbers of lookups.";

const pace_what_if pace_if_fuse_tables = {
    .option = PACE_WHAT_IF_FLAG("fuse_tables", "look up embedding tables together"),
    .acts_on = 1U << PACE_ADVICE_MEMORY | 1U << PACE_ADVICE_HOST,
    .label = "fused tables",
    .turn = PACE_TURN_FUSE,
    .apply = apply_tables,
    .edits_kernels = true,
    .assumption = pace_what_if_tables_note,
    .changed = offsetof(pace_forecast_edits, fused_tables),
    .idle = "no two embedding lookups of known size can be fused",
};

const pace_what_if pace_if_fuse = {
    .option =
        PACE_WHAT_IF_VALUES("fuse", "REGEX", "fuse chains of element-wise kernels whose name matches", NULL, " step "),
    .acts_on = 1U << PACE_ADVICE_MEMORY | 1U << PACE_ADVICE_HOST,
    .label = "fuse %s",
    .of_host = true,
    .turn = PACE_TURN_FUSE,
    .apply = apply,
    .edits_kernels = true,
    .assumption =
        "Fusion: neighbouring kernels of equal size are assumed to feed each other, and the tensors between them "
        "not to be needed later.",
    .changed = offsetof(pace_forecast_edits, fused_kernels),
    .idle = "no two matching element-wise kernels of equal size are adjacent",
    .by_name = true,
};

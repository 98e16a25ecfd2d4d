#include "base/order.h"
#include "forecast/forecast_price.h"
#include "forecast/what_ifs.h"

#include <string.h>

typedef struct {
    double cost_s;
    uint32_t rank;
} table;

typedef struct {
    PACE_VEC(table) tables;
    double *before_s, *after_s; /* per rank: cost of its tables, of both directions */
    double *width, *new_width;  /* per rank: tables */
} balance;

static bool is_lookup(const pace_op *op) { return op && op->family == PACE_OP_EMBEDDING && op->size[4] > 0; }

static unsigned tables_of(const pace_op *op) { return op->size[1] >= 1 ? (unsigned)op->size[1] : 1; }

/* Tables are counted forward; backward their costs are added in proportion. */
static pace_status take_rank(balance *b, const pace_variant *v, const double *cost_s, uint32_t rank) {
    double forward = 0, all = 0;
    for (uint32_t i = 0; i < v->graph.launches.count; i++) {
        const pace_op *op = pace_variant_op(v, i);
        if (!is_lookup(op)) continue;
        all += cost_s[i];
        if (op->pass == PACE_PASS_FORWARD) forward += cost_s[i];
    }
    b->before_s[rank] = all;
    for (uint32_t i = 0; i < v->graph.launches.count && forward > 0; i++) {
        const pace_op *op = pace_variant_op(v, i);
        if (!is_lookup(op) || op->pass != PACE_PASS_FORWARD) continue;
        unsigned count = tables_of(op);
        for (unsigned t = 0; t < count; t++)
            PACE_TRY(PACE_PUSH(&b->tables, ((table){cost_s[i] / count * all / forward, rank})));
        b->width[rank] += count;
    }
    return PACE_OK;
}

PACE_ORDER(largest_first, table, PACE_DOWN(cost_s) PACE_UP(rank))

/* Longest processing time first (Graham 1969): at most 4/3 of the best. */
static void deal_out(balance *b, size_t ranks) {
    PACE_SORT(&b->tables, largest_first);
    for (size_t i = 0; i < b->tables.count; i++) {
        size_t least = 0;
        for (size_t r = 1; r < ranks; r++)
            if (b->after_s[r] < b->after_s[least]) least = r;
        b->after_s[least] += b->tables.items[i].cost_s;
        b->new_width[least]++;
    }
}

static double most(const double *values, size_t count) {
    double found = 0;
    for (size_t i = 0; i < count; i++) found = values[i] > found ? values[i] : found;
    return found;
}

static pace_status change_lookup(pace_variant *v, uint32_t number, double share) {
    pace_op op = *pace_variant_op(v, number);
    op.size[1] = (op.size[1] > 0 ? op.size[1] : 1) * share;
    op.flop *= share;
    op.read_bytes *= share;
    op.write_bytes *= share;
    v->launches[number].more *= share;
    pace_variant_assume(v, number, PACE_DOUBT_BALANCED_TABLES, v->doubts->figure[PACE_DOUBT_BALANCED_TABLES]);
    return pace_variant_set_op(v, number, &op);
}

/* An all-to-all is over when the rank that sends most has sent. */
static void change_exchange(pace_variant *v, uint32_t number, double share) {
    const pace_launch *launch = &v->graph.launches.items[number];
    pace_graph_exchange *exchange = &v->graph.exchanges.items[launch->exchange - 1];
    if (strcmp(pace_names_text(&v->graph.names, exchange->collective), "alltoall") != 0) return;
    exchange->bytes *= share;
    v->launches[number].more *= share;
    pace_variant_assume(v, number, PACE_DOUBT_BALANCED_TABLES, v->doubts->figure[PACE_DOUBT_BALANCED_TABLES]);
}

static pace_status change_rank(pace_variant *v, double share, double widest_share) {
    for (uint32_t i = 0; i < v->graph.launches.count; i++) {
        if (v->graph.launches.items[i].exchange) change_exchange(v, i, widest_share);
        else if (is_lookup(pace_variant_op(v, i))) PACE_TRY(change_lookup(v, i, share));
    }
    return PACE_OK;
}

static pace_status rebalance(balance *b, pace_variant *variants, const double *const *cost_s, size_t count) {
    size_t with = 0;
    for (size_t r = 0; r < count; r++) {
        PACE_TRY(take_rank(b, &variants[r], cost_s[r], (uint32_t)r));
        with += b->width[r] > 0;
    }
    if (with < 2 || with < count)
        return pace_fail(PACE_E_INPUT,
                         "balance_tables: expected embedding lookups on all of at least two ranks, found them on %zu "
                         "of %zu",
                         with, count);
    deal_out(b, count);
    double widest = most(b->new_width, count) / most(b->width, count);
    for (size_t r = 0; r < count; r++)
        PACE_TRY(change_rank(&variants[r], b->before_s[r] > 0 ? b->after_s[r] / b->before_s[r] : 1, widest));
    return PACE_OK;
}

pace_status pace_what_if_balance_tables(pace_variant *variants, const double *const *cost_s, size_t count) {
    balance b = {0};
    if (!PACE_MAKE(b.before_s, 4 * count + 1)) return PACE_E_MEMORY;
    b.after_s = b.before_s + count;
    b.width = b.after_s + count;
    b.new_width = b.width + count;
    pace_status status = rebalance(&b, variants, cost_s, count);
    PACE_VEC_FREE(&b.tables);
    pace_free(b.before_s);
    return status;
}

static pace_status price_all(pace_editing *e, double **cost_ns) {
    for (size_t i = 0; i < e->count; i++) {
        pace_pricing pricing = {e->forecast, &e->ranks[i], &e->variants[i], e->scenario, NULL, NULL};
        if (!PACE_MAKE(cost_ns[i], e->variants[i].graph.launches.count + 1)) return PACE_E_MEMORY;
        PACE_TRY(pace_price_launches(cost_ns[i], NULL, &pricing));
    }
    return PACE_OK;
}

static pace_status apply(pace_editing *e, size_t *changed) {
    (void)changed;
    double **cost_ns = pace_alloc(e->count + 1, sizeof *cost_ns);
    pace_status status = cost_ns ? price_all(e, cost_ns) : PACE_E_MEMORY;
    if (status == PACE_OK) status = pace_what_if_balance_tables(e->variants, (const double *const *)cost_ns, e->count);
    for (size_t i = 0; cost_ns && i < e->count; i++) pace_free(cost_ns[i]);
    pace_free(cost_ns);
    return status;
}

const pace_what_if pace_if_balance_tables = {
    .option = PACE_WHAT_IF_FLAG("balance_tables", "spread embedding tables evenly over ranks"),
    .acts_on = 1U << PACE_ADVICE_BALANCE | 1U << PACE_ADVICE_NETWORK,
    .label = "balanced tables",
    .turn = PACE_TURN_BALANCE,
    .apply = apply,
    .edits_kernels = true,
    .assumption = pace_what_if_tables_note,
};

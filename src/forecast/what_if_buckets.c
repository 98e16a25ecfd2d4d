/*
 * Gradients summed over ranks in buckets of another size: a recorded step's all-reduces of gradients are taken apart
 * and put together as DistributedDataParallel does it (model/buckets.h). A bucket goes when its last gradient has been
 * accumulated; what it takes is what the links explain of so many bytes (forecast/exchange_links.h), and what the
 * recorded all-reduces took longer.
 */
#include "base/decimal.h"
#include "forecast/exchange_links.h"
#include "forecast/tensor_roles.h"
#include "forecast/variant_insert.h"
#include "model/buckets.h"
#include "cost/optimizer_line.h"

#include <math.h>
#include <string.h>

/* A gradient, accumulated by a node. */
typedef struct {
    uint32_t node, place; /* where what it is followed by is issued (step/graph.h) */
    double bytes;         /* a weight until the pass is known to hold that many */
} gradient;

/* A recorded all-reduce of gradients. */
typedef struct {
    uint32_t launch, place;
    double bytes, measured_ns, explained_ns;
} sum;

/* The gradients and all-reduces of one backward pass. */
typedef struct {
    PACE_VEC(gradient) gradients;
    PACE_VEC(sum) sums;
} backward_pass;

/* One bucket of another size. */
typedef struct {
    double bytes, kept_ns; /* what recorded all-reduces took beyond what links explain */
    uint32_t carrier;      /* the recorded all-reduce in whose place it goes; PACE_NO_LAUNCH = a new one */
    size_t last;           /* of its gradients */
} bucket;

typedef struct {
    pace_link_prices *prices;
    pace_variant *variant;
    const double *measured_ns; /* per part */
    double limit_bytes;
    backward_pass pass;
    PACE_VEC(bucket) buckets; /* of the pass */
    pace_insertions inserted; /* of all passes */
    size_t changed;
} bucketing;

static const pace_graph *graph_of(const bucketing *b) { return &b->variant->graph; }

static const char *node_name(const pace_graph *graph, uint32_t node) {
    return pace_names_text(&graph->names, graph->nodes.items[node].name);
}

/* --- what there is ------------------------------------------------------------------------------------------------ */

static const char accumulation[] = "torch::autograd::AccumulateGrad";

static bool is_within(const pace_graph *graph, uint32_t node, uint32_t outer) {
    while (node != PACE_NO_NODE && node > outer) node = graph->nodes.items[node].parent;
    return node == outer;
}

/* The first node of its thread behind a node and all that is within it. */
static uint32_t place_behind(const pace_graph *graph, uint32_t node) {
    uint32_t at = node + 1;
    while (at < graph->nodes.count &&
           (graph->nodes.items[at].thread != graph->nodes.items[node].thread || is_within(graph, at, node)))
        at++;
    return at;
}

static double weight_of(const pace_graph *graph, uint32_t node) {
    pace_op_shapes shapes;
    double elements = 1;
    if (!pace_node_shapes(&shapes, graph, node) || shapes.count == 0) return 0;
    for (int d = 0; d < shapes.rank[0]; d++) elements *= (double)shapes.dims[0][d];
    return elements;
}

/* Where one pass ends and the next begins: a step, or its update. */
static bool parts_passes(const pace_graph *graph, uint32_t node) {
    return graph->nodes.items[node].marks_step || pace_name_marks_step(node_name(graph, node)) ||
           pace_is_optimizer_step(node_name(graph, node));
}

static bool is_sum(const pace_graph *graph, uint32_t launch) {
    const pace_graph_exchange *exchange = pace_graph_exchange_of(graph, launch);
    return exchange && strcmp(pace_names_text(&graph->names, exchange->collective), "allreduce") == 0;
}

static pace_status take_sum(bucketing *b, uint32_t launch) {
    const pace_graph_exchange *exchange = pace_graph_exchange_of(graph_of(b), launch);
    sum s = {.launch = launch,
             .place = graph_of(b)->launches.items[launch].place,
             .bytes = exchange->bytes,
             .measured_ns = fmax(1, b->measured_ns[b->variant->launches[launch].part])};
    pace_estimate ns;
    pace_link_case as_is = {s.bytes, 1, PACE_ANY};
    if (!pace_link_price(&ns, b->prices, graph_of(b), exchange, &as_is))
        return pace_fail(PACE_E_INPUT,
                         "bucket_cap: an all-reduce of gradients does not say how many bytes how many ranks exchange "
                         "(NCCL's metadata, PyTorch 2.2 or newer)");
    s.explained_ns = ns.median;
    return PACE_PUSH(&b->pass.sums, s);
}

static pace_status take_gradient(bucketing *b, uint32_t node) {
    gradient g = {node, place_behind(graph_of(b), node), weight_of(graph_of(b), node)};
    return PACE_PUSH(&b->pass.gradients, g);
}

/* --- what becomes of a pass --------------------------------------------------------------------------------------- */

/* Weights become bytes: those of all of the pass' all-reduces, spread by shapes where all gradients have one, else
 * evenly. */
static double weigh(bucketing *b) {
    double weights = 0, bytes = 0;
    bool shaped = true;
    for (size_t i = 0; i < b->pass.sums.count; i++) bytes += b->pass.sums.items[i].bytes;
    for (size_t i = 0; i < b->pass.gradients.count; i++) shaped = shaped && b->pass.gradients.items[i].bytes > 0;
    for (size_t i = 0; i < b->pass.gradients.count; i++) {
        if (!shaped) b->pass.gradients.items[i].bytes = 1;
        weights += b->pass.gradients.items[i].bytes;
    }
    for (size_t i = 0; i < b->pass.gradients.count; i++) b->pass.gradients.items[i].bytes *= bytes / weights;
    return bytes;
}

/* The recorded all-reduce that goes between a gradient and the next; of the last gradient the last of all. */
static uint32_t carrier_of(const bucketing *b, size_t last) {
    const backward_pass *pass = &b->pass;
    if (last + 1 == pass->gradients.count) return pass->sums.items[pass->sums.count - 1].launch;
    for (size_t i = 0; i + 1 < pass->sums.count; i++)
        if (pass->sums.items[i].place >= pass->gradients.items[last].place &&
            pass->sums.items[i].place < pass->gradients.items[last + 1].place)
            return pass->sums.items[i].launch;
    return PACE_NO_LAUNCH;
}

static pace_status fill_buckets(bucketing *b) {
    pace_gradient_bucket filling = {0};
    b->buckets.count = 0;
    for (size_t i = 0; i < b->pass.gradients.count; i++) {
        filling.bytes += b->pass.gradients.items[i].bytes;
        bool last = i + 1 == b->pass.gradients.count;
        if (!last && !pace_bucket_is_full(&filling, b->limit_bytes)) continue;
        PACE_TRY(PACE_PUSH(&b->buckets, ((bucket){filling.bytes, 0, carrier_of(b, i), i})));
        filling = (pace_gradient_bucket){.number = filling.number + 1};
    }
    return PACE_OK;
}

/* The bucket that holds the pass' byte. */
static bucket *bucket_at(bucketing *b, double byte) {
    size_t i = 0;
    for (double before = 0; i + 1 < b->buckets.count; i++) {
        before += b->buckets.items[i].bytes;
        if (byte <= before * (1 + 1e-9)) break;
    }
    return &b->buckets.items[i];
}

/* What recorded all-reduces took longer than links explain stays with the bucket that their last byte is in. Returns
 * how much of the closed forms the rest is. */
static double keep_waits(bucketing *b) {
    double explained = 0, reached = 0, byte = 0;
    PACE_ITEMS (const sum, s, &b->pass.sums) {
        double base =
            pace_link_explained_ns(pace_graph_exchange_of(graph_of(b), s->launch), s->measured_ns, s->explained_ns);
        byte += s->bytes;
        bucket_at(b, byte)->kept_ns += s->measured_ns - base;
        explained += s->explained_ns;
        reached += base;
    }
    return reached / explained;
}

static const sum *sum_of(const bucketing *b, uint32_t launch) {
    for (size_t i = 0; i < b->pass.sums.count; i++)
        if (b->pass.sums.items[i].launch == launch) return &b->pass.sums.items[i];
    return &b->pass.sums.items[b->pass.sums.count - 1];
}

/* The last work of another stream that is issued before a place: what holds the bucket's last gradient. */
static uint32_t work_before(const pace_graph *graph, uint32_t place, uint32_t stream) {
    uint32_t found = PACE_NO_LAUNCH;
    for (uint32_t i = 0; i < graph->launches.count; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        if (launch->place > place) continue;
        if (launch->stream != stream && !launch->exchange) found = i;
    }
    return found;
}

static uint32_t first_behind(const pace_graph *graph, uint32_t place) {
    uint32_t i = 0;
    while (i < graph->launches.count && graph->launches.items[i].place <= place) i++;
    return i;
}

static pace_status insert(bucketing *b, const bucket *of, double ns, int32_t meeting) {
    const gradient *g = &b->pass.gradients.items[of->last];
    const sum *like = &b->pass.sums.items[b->pass.sums.count - 1];
    pace_graph *graph = &b->variant->graph;
    pace_insertion insertion = {.before = first_behind(graph, g->place),
                                .launch = graph->launches.items[like->launch],
                                .part = b->variant->launches[like->launch].part,
                                .more = ns / like->measured_ns};
    pace_graph_exchange exchange = *pace_graph_exchange_of(graph, like->launch);
    insertion.launch.node = g->node;
    insertion.launch.place = g->place;
    insertion.launch.task = PACE_NO_TASK;
    insertion.launch.waits[0] = work_before(graph, g->place, insertion.launch.stream);
    insertion.launch.waits[1] = PACE_NO_LAUNCH;
    insertion.launch.heads_line = insertion.launch.same_call = false;
    exchange.bytes = of->bytes;
    if (exchange.meeting > 0) exchange.meeting = meeting;
    PACE_TRY(PACE_PUSH(&graph->exchanges, exchange));
    insertion.launch.exchange = (uint32_t)graph->exchanges.count;
    return PACE_PUSH(&b->inserted, insertion);
}

/* New meetings are counted on every rank alike, behind those that were recorded. */
enum { FIRST_NEW_MEETING = 1 << 24 };

static pace_status place_bucket(bucketing *b, const bucket *of, double reached) {
    pace_estimate ns;
    pace_link_case then = {of->bytes, 1, PACE_ANY};
    const sum *like = sum_of(b, of->carrier);
    if (!pace_link_price(&ns, b->prices, graph_of(b), pace_graph_exchange_of(graph_of(b), like->launch), &then))
        return PACE_OK;
    double took_ns = reached * ns.median + of->kept_ns;
    if (of->carrier == PACE_NO_LAUNCH) return insert(b, of, took_ns, FIRST_NEW_MEETING + (int32_t)b->inserted.count);
    pace_graph *graph = &b->variant->graph;
    graph->exchanges.items[graph->launches.items[of->carrier].exchange - 1].bytes = of->bytes;
    b->variant->launches[of->carrier].more = took_ns / like->measured_ns;
    pace_variant_assume(b->variant, of->carrier, PACE_DOUBT_NETWORK, ns.spread * fabs(1 - like->measured_ns / took_ns));
    return PACE_OK;
}

/* Whoever waited for an all-reduce that is gone waits for the bucket that its bytes are in, if that is issued
 * before. */
static void wait_for_carrier(bucketing *b, uint32_t gone, uint32_t now) {
    pace_graph *graph = &b->variant->graph;
    for (uint32_t i = 0; i < graph->launches.count; i++)
        for (int k = 0; k < 2; k++)
            if (graph->launches.items[i].waits[k] == gone) graph->launches.items[i].waits[k] = now < i ? now : gone;
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.items[i].waits_launch == gone && graph->launches.items[now].place <= i)
            graph->nodes.items[i].waits_launch = now;
}

static bool carries(const bucketing *b, uint32_t launch) {
    for (size_t i = 0; i < b->buckets.count; i++)
        if (b->buckets.items[i].carrier == launch) return true;
    return false;
}

/* All-reduces whose gradients go with others do nothing. */
static void empty_sums(bucketing *b) {
    double byte = 0;
    PACE_ITEMS (const sum, s, &b->pass.sums) {
        byte += s->bytes;
        if (carries(b, s->launch)) continue;
        b->variant->launches[s->launch].more = 0;
        uint32_t now = bucket_at(b, byte)->carrier;
        if (now != PACE_NO_LAUNCH) wait_for_carrier(b, s->launch, now);
    }
}

static pace_status end_pass(bucketing *b) {
    backward_pass *pass = &b->pass;
    pace_status status = PACE_OK;
    if (pass->gradients.count > 1 && pass->sums.count && weigh(b) > 0) {
        status = fill_buckets(b);
        double reached = status == PACE_OK ? keep_waits(b) : 0;
        for (size_t i = 0; status == PACE_OK && i < b->buckets.count; i++)
            status = place_bucket(b, &b->buckets.items[i], reached);
        if (status == PACE_OK) empty_sums(b);
        b->changed += b->buckets.count;
    }
    pass->gradients.count = pass->sums.count = 0;
    return status;
}

/* --- a rank ------------------------------------------------------------------------------------------------------- */

/* Nodes and launches in the order in which they are issued. All-reduces before a pass' first gradient are of something
 * else. */
static pace_status walk_passes(bucketing *b) {
    const pace_graph *graph = graph_of(b);
    uint32_t launches = (uint32_t)graph->launches.count, next = 0;
    for (uint32_t node = 0; node < graph->nodes.count; node++) {
        for (; next < launches && graph->launches.items[next].place <= node; next++)
            if (b->pass.gradients.count && is_sum(graph, next)) PACE_TRY(take_sum(b, next));
        if (parts_passes(graph, node)) PACE_TRY(end_pass(b));
        if (strncmp(node_name(graph, node), accumulation, sizeof accumulation - 1) == 0)
            PACE_TRY(take_gradient(b, node));
    }
    for (; next < launches; next++)
        if (b->pass.gradients.count && is_sum(graph, next)) PACE_TRY(take_sum(b, next));
    return end_pass(b);
}

static pace_status change_rank(size_t *changed, pace_editing *e, size_t rank, pace_link_prices *prices,
                               double limit_bytes) {
    bucketing b = {.prices = prices,
                   .variant = &e->variants[rank],
                   .measured_ns = e->ranks[rank].measured_ns,
                   .limit_bytes = limit_bytes};
    pace_status status = walk_passes(&b);
    if (status == PACE_OK) status = pace_variant_insert(b.variant, b.inserted.items, b.inserted.count);
    PACE_VEC_FREE(&b.pass.gradients, &b.pass.sums, &b.buckets, &b.inserted);
    *changed += b.changed;
    return status;
}

/* --- the row ------------------------------------------------------------------------------------------------------ */

static pace_status parse(pace_scenario *scenario, const char *text) {
    double size;
    if (!pace_number_parse(&size, text) || !(size > 0) || size > 1e6)
        return pace_fail(PACE_E_USAGE, "bucket_cap: expected MiB, more than 0 and at most 1e6, found '%.80s'", text);
    return pace_scenario_put(scenario, "bucket_cap", size);
}

static pace_status apply(pace_editing *e, size_t *changed) {
    pace_link_prices prices;
    double limit_bytes = pace_scenario_value_at(e->scenario, "bucket_cap", 0)->number * 1048576;
    PACE_TRY(pace_link_prices_open(&prices, e, "bucket_cap"));
    for (size_t r = 0; r < e->count; r++) PACE_TRY(change_rank(changed, e, r, &prices, limit_bytes));
    return PACE_OK;
}

const pace_what_if pace_if_bucket_cap = {
    .option = PACE_WHAT_IF_VALUES("bucket_cap", "MIB", "sum gradients in buckets of MIB MiB, as they are formed", NULL,
                                  " step "),
    .acts_on = 1U << PACE_ADVICE_NETWORK,
    .label = "buckets of %s MiB",
    .alone = true,
    .parse = parse,
    .turn = PACE_TURN_COUNT,
    .apply = apply,
    .edits_kernels = true,
    .idle = "found no all-reduce behind autograd's accumulation of gradients (torch::autograd::AccumulateGrad)",
    .needs_change = true,
    .assumption =
        "Buckets: filled in the order in which autograd accumulates gradients, the first with 1 MiB; a bucket's "
        "gradients are as large as their shapes say, or all as large as each other.",
};

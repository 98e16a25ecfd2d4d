#include "base/decimal.h"
#include "forecast/rank_batches.h"
#include "forecast/tensor_roles.h"
#include "forecast/what_ifs.h"
#include "step/op_edit.h"

#include <math.h>

typedef struct {
    pace_variant *variant;
    pace_tensor_roles roles;
    double samples, factor;
} batch_change;

static const char *collective_of(const batch_change *c, const pace_launch *launch) {
    const pace_graph *graph = &c->variant->graph;
    return pace_names_text(&graph->names, graph->exchanges.items[launch->exchange - 1].collective);
}

/* Of a recording activations are taken to go all-to-all (embeddings, experts) or from stage to stage; what is reduced,
 * gathered and scattered, to be gradients and parameters. A model's exchanges are known. */
static bool exchanges_activations(const batch_change *c, const pace_launch *launch) {
    static const char *const names[] = {"alltoall", "send", "recv", "sendrecv"};
    unsigned role = c->variant->graph.exchanges.items[launch->exchange - 1].role;
    if (role != PACE_ROLE_UNKNOWN) return role == PACE_ROLE_ACTIVATION;
    return pace_word_number(names, PACE_COUNT(names), collective_of(c, launch)) >= 0;
}

/* `doubt` PACE_DOUBTS = none. */
static void grow(batch_change *c, uint32_t number, pace_doubt doubt) {
    c->variant->launches[number].more *= c->factor;
    if (doubt == PACE_DOUBTS) return;
    pace_variant_assume(c->variant, number, doubt, c->variant->doubts->figure[doubt] * fabs(log(c->factor)));
}

static void change_exchange(batch_change *c, uint32_t number) {
    const pace_launch *launch = &c->variant->graph.launches.items[number];
    if (!exchanges_activations(c, launch)) return;
    pace_graph_exchange *exchange = &c->variant->graph.exchanges.items[launch->exchange - 1];
    exchange->bytes *= c->factor;
    grow(c, number, exchange->role == PACE_ROLE_UNKNOWN ? PACE_DOUBT_BATCH_EXCHANGE : PACE_DOUBTS);
}

/* Which size of a matrix product counts samples. One that a pass names has the forward product's sizes (step/op.h), one
 * read from a backward pass's own operators has its own: of the weight's gradient, samples are summed over. */
static unsigned gemm_size(const batch_change *c, const pace_op *op, uint32_t node, bool *sure) {
    enum { B, M, N, K };
    const double *s = op->size;
    *sure = true;
    if (op->pass != PACE_PASS_FORWARD) return M;
    if (pace_tensor_roles_has_matrix(&c->roles, s[K], s[N])) return M;
    if (pace_node_is_backward(c->variant->original, node) && pace_tensor_roles_has_matrix(&c->roles, s[M], s[N]))
        return K;
    if (pace_tensor_roles_has_matrix(&c->roles, s[M], s[K])) return N;
    if (s[B] > 1) return B;
    *sure = false;
    return M;
}

/* The sum that makes a bias's gradient runs over the samples. */
static unsigned reduction_size(const batch_change *c, const pace_op *op, uint32_t node) {
    bool bias = pace_node_is_backward(c->variant->original, node) && op->pass == PACE_PASS_FORWARD &&
                pace_tensor_roles_has_vector(&c->roles, op->size[0]);
    return bias ? 1 : 0;
}

static unsigned size_of(const batch_change *c, uint32_t number, const pace_op *op, uint32_t node, bool *sure) {
    bool product = op->family == PACE_OP_GEMM;
    *sure = true;
    switch ((pace_samples)c->variant->graph.launches.items[number].samples) {
    case PACE_SAMPLES_FIRST: return product && op->pass != PACE_PASS_FORWARD ? 1 : pace_op_sample_size(op);
    case PACE_SAMPLES_ROWS: return product ? 1 : 0;
    case PACE_SAMPLES_SUMMED: return product && op->pass == PACE_PASS_FORWARD ? 3 : 1;
    default: break;
    }
    if (op->family == PACE_OP_GEMM) return gemm_size(c, op, node, sure);
    if (op->family == PACE_OP_REDUCTION) return reduction_size(c, op, node);
    return pace_op_sample_size(op);
}

/* Copies and fills that no operator's shapes describe: of samples when they can be divided among these. */
static bool divides(const batch_change *c, const pace_op *op) {
    double each = op->size[0] / c->samples;
    return each >= 1 && each == floor(each);
}

static bool grows(const batch_change *c, uint32_t number, const pace_op *op) {
    const pace_launch *launch = &c->variant->graph.launches.items[number];
    const pace_graph *original = c->variant->original;
    uint32_t node = original->launches.items[c->variant->launches[number].part].node;
    pace_op_shapes shapes;
    if (launch->samples == PACE_SAMPLES_NONE || pace_node_updates(original, node) ||
        pace_node_accumulates(original, node))
        return false;
    if (op && op->family == PACE_OP_OPTIMIZER) return false;
    if (launch->kind != PACE_TASK_KERNEL) return op && divides(c, op);
    return !pace_node_shapes(&shapes, original, node) || !pace_tensor_roles_only(&c->roles, &shapes);
}

static pace_status change_launch(batch_change *c, uint32_t number) {
    const pace_op *present = pace_variant_op(c->variant, number);
    bool sure;
    if (c->variant->graph.launches.items[number].exchange) {
        change_exchange(c, number);
        return PACE_OK;
    }
    if (!grows(c, number, present)) return PACE_OK;
    bool sized = present && (present->flop > 0 || present->read_bytes > 0 || present->write_bytes > 0);
    if (!sized) {
        grow(c, number, PACE_DOUBT_BATCH_UNKNOWN);
        return PACE_OK;
    }
    pace_op op = *present;
    uint32_t node = c->variant->original->launches.items[c->variant->launches[number].part].node;
    pace_op_scale_size(&op, size_of(c, number, &op, node, &sure), c->factor);
    grow(c, number, sure ? PACE_DOUBTS : PACE_DOUBT_BATCH_UNKNOWN);
    return pace_variant_set_op(c->variant, number, &op);
}

/* Fetching takes as much longer as there is to fetch. */
static void grow_input(pace_graph *graph, double factor) {
    PACE_ITEMS (pace_graph_node, node, &graph->nodes)
        if (pace_graph_node_fetches(node)) node->spends_ns = llround((double)node->spends_ns * factor);
}

pace_status pace_what_if_batch(pace_variant *variant, double samples, double wanted) {
    batch_change c = {.variant = variant, .samples = samples, .factor = wanted / samples};
    PACE_TRY(pace_tensor_roles_find(&c.roles, variant->original));
    pace_status status = PACE_OK;
    for (uint32_t i = 0; status == PACE_OK && i < variant->graph.launches.count; i++) status = change_launch(&c, i);
    pace_tensor_roles_free(&c.roles);
    if (status == PACE_OK) grow_input(&variant->graph, c.factor);
    return status;
}

static pace_status parse(pace_scenario *scenario, const char *text) {
    double batch;
    if (!pace_number_parse(&batch, text) || !(batch >= 1) || batch > 1e9 || batch != floor(batch))
        return pace_fail(PACE_E_USAGE, "batch: expected a number of samples from 1 to 1e9, found '%.80s'", text);
    scenario->batch = batch;
    return PACE_OK;
}

static bool asked(const pace_scenario *scenario) { return scenario->batch > 0; }

static pace_status apply_to(pace_editing *e, pace_batch_size *sizes) {
    PACE_TRY(pace_rank_batches_find(sizes, e->forecast, e->scenario->samples));
    for (size_t i = 0; i < e->count; i++) {
        if (sizes[i].samples <= 0)
            return pace_fail(PACE_E_INPUT,
                             "%s: cannot tell how many samples its step has: no operator with shapes shows it; say it "
                             "with " PACE_FIELD "samples",
                             e->ranks[i].name);
        if (i == 0) e->edits->present = sizes[i];
        PACE_TRY(pace_what_if_batch(&e->variants[i], (double)sizes[i].samples, e->scenario->batch));
    }
    return PACE_OK;
}

static pace_status apply(pace_editing *e, size_t *changed) {
    (void)changed;
    pace_batch_size *sizes = pace_alloc(e->count + 1, sizeof *sizes);
    pace_status status = sizes ? apply_to(e, sizes) : PACE_E_MEMORY;
    pace_free(sizes);
    return status;
}

const pace_what_if pace_if_batch = {
    .option =
        PACE_WHAT_IF_VALUES("batch", "N", "run N samples at a time on each rank", "micro_batch", " step scaling "),
    .acts_on = 1U << PACE_ADVICE_HOST | 1U << PACE_ADVICE_NETWORK | 1U << PACE_ADVICE_MEMORY,
    .label = "batch %s",
    .of_host = true,
    .alone = true,
    .parse = parse,
    .asked = asked,
    .turn = PACE_TURN_SIZE,
    .apply = apply,
    .edits_kernels = true,
    .needs_sizes = true,
    .assumption =
        "Batch: host time but for fetching input, updates and gradient exchanges do not change. Kernels of unknown size are scaled in "
        "proportion, which widens the interval.",
};

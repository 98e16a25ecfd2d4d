#include "forecast/batch_size.h"
#include "base/text.h"
#include "forecast/tensor_roles.h"

#include <string.h>

static const char *const asked[] = {
    "inputs of convolutions",       "queries of attention", "bags of embedding lookups",
    "indices of embedding lookups", "inputs of the loss",   "inputs of linear layers",
};

enum { KINDS = PACE_COUNT(asked) };

static const struct {
    const char *name;  /* a prefix */
    unsigned argument; /* whose first size counts samples */
    unsigned rank;     /* it has at least */
    unsigned kind;     /* in `asked` */
} witnesses[] = {
    {"aten::conv1d", 0, 3, 0},
    {"aten::conv2d", 0, 4, 0},
    {"aten::conv3d", 0, 5, 0},
    {"aten::convolution", 0, 3, 0},
    {"aten::cudnn_convolution", 0, 3, 0},
    {"aten::miopen_convolution", 0, 3, 0},
    {"aten::mkldnn_convolution", 0, 3, 0},
    {"aten::scaled_dot_product_attention", 0, 4, 1},
    {"aten::_scaled_dot_product", 0, 4, 1},
    {"aten::_efficient_attention_forward", 0, 4, 1},
    {"aten::embedding_bag", 2, 1, 2},
    {"aten::_embedding_bag", 2, 1, 2},
    {"aten::embedding", 1, 2, 3},
    {"aten::nll_loss_forward", 0, 2, 4},
    {"aten::binary_cross_entropy", 0, 1, 4},
    {"aten::mse_loss", 0, 1, 4},
    {"aten::linear", 0, 2, 5},
    {"aten::addmm", 1, 2, 5},
};

typedef struct {
    int64_t samples;
    size_t count;
} vote;

/* A stretch of the forward pass, from one backward pass to the next: the operators of each kind in it. */
typedef struct {
    size_t count[KINDS];
} forward_run;

typedef PACE_VEC(vote) votes;

typedef struct {
    votes kinds[KINDS];
    PACE_VEC(forward_run) runs;
    bool backward; /* the last operator was: the next forward one opens a run */
    bool messages; /* ranks hand samples on: passes over several are under way at a time */
} poll;

static pace_status cast(votes *of, int64_t samples) {
    for (size_t i = 0; i < of->count; i++)
        if (of->items[i].samples == samples) {
            of->items[i].count++;
            return PACE_OK;
        }
    return PACE_PUSH(of, ((vote){samples, 1}));
}

static pace_status count_forward(poll *of, unsigned kind, int64_t samples) {
    if (of->backward || of->runs.count == 0) PACE_TRY(PACE_PUSH(&of->runs, (forward_run){0}));
    of->runs.items[of->runs.count - 1].count[kind]++;
    of->backward = false;
    return cast(&of->kinds[kind], samples);
}

static pace_status ask(poll *of, const pace_graph *graph, uint32_t node) {
    const pace_graph_node *n = &graph->nodes.items[node];
    const char *name = pace_names_text(&graph->names, n->name);
    if (n->stage == PACE_STAGE_BACKWARD || strstr(name, "Backward")) of->backward = true;
    if (!n->shapes || strstr(name, "backward")) return PACE_OK;
    for (size_t i = 0; i < PACE_COUNT(witnesses); i++) {
        pace_op_shapes shapes;
        unsigned at = witnesses[i].argument;
        if (!pace_starts(name, witnesses[i].name)) continue;
        if (n->stage == PACE_STAGE_RECOMPUTE || pace_node_is_backward(graph, node) || pace_node_updates(graph, node))
            return PACE_OK;
        if (!pace_op_shapes_parse(&shapes, pace_names_text(&graph->names, n->shapes)) || at >= shapes.count ||
            shapes.rank[at] < witnesses[i].rank || shapes.dims[at][0] <= 0)
            return PACE_OK;
        return count_forward(of, witnesses[i].kind, shapes.dims[at][0]);
    }
    return PACE_OK;
}

/* Whether every run has as many operators of a kind: passes over other samples, not parts of one. */
static size_t passes_of(const poll *of, unsigned kind, size_t steps) {
    size_t runs = of->runs.count;
    for (size_t i = 1; i < runs; i++)
        if (of->runs.items[i].count[kind] != of->runs.items[0].count[kind]) return 1;
    return steps && runs && runs % steps == 0 && !of->messages ? runs / steps : 1;
}

static pace_batch_size count_votes(const poll *of, size_t steps) {
    for (unsigned k = 0; k < KINDS; k++) {
        pace_batch_size most = {.from = asked[k], .passes = 1};
        PACE_ITEMS (const vote, one, &of->kinds[k]) {
            most.of += one->count;
            if (one->count <= most.agree) continue;
            most.agree = one->count;
            most.samples = one->samples;
        }
        if (most.samples == 0) continue;
        if (most.agree == most.of) most.passes = passes_of(of, k, steps);
        return most;
    }
    return (pace_batch_size){.passes = 1};
}

static bool hands_on(const pace_graph *graph) {
    for (uint32_t i = 0; i < graph->launches.count; i++) {
        const pace_graph_exchange *one = pace_graph_exchange_of(graph, i);
        const char *what = one ? pace_names_text(&graph->names, one->collective) : "";
        if (strcmp(what, "send") == 0 || strcmp(what, "recv") == 0) return true;
    }
    return false;
}

pace_status pace_batch_size_infer(pace_batch_size *out, const pace_graph *graph, size_t steps) {
    poll of = {.messages = hands_on(graph)};
    pace_status status = PACE_OK;
    for (uint32_t i = 0; status == PACE_OK && i < graph->nodes.count; i++) status = ask(&of, graph, i);
    if (status == PACE_OK) *out = count_votes(&of, steps);
    for (unsigned k = 0; k < KINDS; k++) PACE_VEC_FREE(&of.kinds[k]);
    PACE_VEC_FREE(&of.runs);
    return status;
}

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

typedef PACE_VEC(vote) votes;

static pace_status cast(votes *of, int64_t samples) {
    for (size_t i = 0; i < of->count; i++)
        if (of->items[i].samples == samples) {
            of->items[i].count++;
            return PACE_OK;
        }
    return PACE_PUSH(of, ((vote){samples, 1}));
}

static pace_status ask(votes *kinds, const pace_graph *graph, uint32_t node) {
    const char *name = pace_names_text(&graph->names, graph->nodes.items[node].name);
    if (!graph->nodes.items[node].shapes || strstr(name, "backward")) return PACE_OK;
    for (size_t i = 0; i < PACE_COUNT(witnesses); i++) {
        pace_op_shapes shapes;
        unsigned at = witnesses[i].argument;
        if (!pace_starts(name, witnesses[i].name)) continue;
        if (pace_node_is_backward(graph, node) || pace_node_updates(graph, node)) return PACE_OK;
        if (!pace_op_shapes_parse(&shapes, pace_names_text(&graph->names, graph->nodes.items[node].shapes)) ||
            at >= shapes.count || shapes.rank[at] < witnesses[i].rank || shapes.dims[at][0] <= 0)
            return PACE_OK;
        return cast(&kinds[witnesses[i].kind], shapes.dims[at][0]);
    }
    return PACE_OK;
}

static pace_batch_size count_votes(const votes *kinds) {
    for (unsigned k = 0; k < KINDS; k++) {
        pace_batch_size most = {.from = asked[k]};
        for (size_t i = 0; i < kinds[k].count; i++) {
            most.of += kinds[k].items[i].count;
            if (kinds[k].items[i].count <= most.agree) continue;
            most.agree = kinds[k].items[i].count;
            most.samples = kinds[k].items[i].samples;
        }
        if (most.samples) return most;
    }
    return (pace_batch_size){0};
}

pace_status pace_batch_size_infer(pace_batch_size *out, const pace_graph *graph) {
    votes kinds[KINDS] = {0};
    pace_status status = PACE_OK;
    for (uint32_t i = 0; status == PACE_OK && i < graph->nodes.count; i++) status = ask(kinds, graph, i);
    if (status == PACE_OK) *out = count_votes(kinds);
    for (unsigned k = 0; k < KINDS; k++) PACE_VEC_FREE(&kinds[k]);
    return status;
}

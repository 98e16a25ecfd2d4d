#include "forecast/tensor_roles.h"
#include "base/text.h"

#include <string.h>

void pace_tensor_roles_free(pace_tensor_roles *roles) { PACE_VEC_FREE(&roles->parameters); }

static bool any_around(const pace_graph *graph, uint32_t node, bool (*is)(const char *name)) {
    for (; node != PACE_NO_NODE; node = graph->nodes.items[node].parent)
        if (is(pace_names_text(&graph->names, graph->nodes.items[node].name))) return true;
    return false;
}

static bool names_update(const char *name) {
    return pace_starts(name, "Optimizer.") || strstr(name, "Optimizer.step") || pace_starts(name, "## optimizer");
}

static bool names_backward(const char *name) {
    return pace_starts(name, "autograd::engine::") || strstr(name, "Backward") || pace_starts(name, "## backward");
}

static bool names_accumulation(const char *name) { return strstr(name, "AccumulateGrad") != NULL; }

bool pace_node_updates(const pace_graph *graph, uint32_t node) {
    return graph->nodes.items[node].stage == PACE_STAGE_UPDATE || any_around(graph, node, names_update);
}

bool pace_node_is_backward(const pace_graph *graph, uint32_t node) {
    return graph->nodes.items[node].stage == PACE_STAGE_BACKWARD || any_around(graph, node, names_backward);
}

bool pace_node_accumulates(const pace_graph *graph, uint32_t node) {
    return any_around(graph, node, names_accumulation);
}

static bool parse(pace_op_shapes *out, const pace_graph *graph, uint32_t node) {
    pace_name text = graph->nodes.items[node].shapes;
    return text && pace_op_shapes_parse(out, pace_names_text(&graph->names, text));
}

static bool has_tensor(const pace_op_shapes *shapes) {
    for (unsigned i = 0; i < shapes->count; i++)
        if (shapes->rank[i]) return true;
    return false;
}

bool pace_node_shapes(pace_op_shapes *out, const pace_graph *graph, uint32_t node) {
    for (; node != PACE_NO_NODE && graph->nodes.items[node].kind == PACE_TASK_OP;
         node = graph->nodes.items[node].parent)
        if (parse(out, graph, node) && has_tensor(out)) return true;
    return false;
}

#define AT(argument) (1U << (argument))

static const struct {
    const char *name; /* a prefix */
    unsigned arguments;
} takes[] = {
    {"torch::autograd::AccumulateGrad", AT(0)},
    {"aten::linear", AT(1) | AT(2)},
    {"aten::addmm", AT(0) | AT(2)},
    {"aten::conv1d", AT(1) | AT(2)},
    {"aten::conv2d", AT(1) | AT(2)},
    {"aten::conv3d", AT(1) | AT(2)},
    {"aten::convolution", AT(1) | AT(2)},
    {"aten::_convolution", AT(1) | AT(2)},
    {"aten::cudnn_convolution", AT(1)},
    {"aten::miopen_convolution", AT(1) | AT(2)},
    {"aten::embedding", AT(0)},
    {"aten::_embedding_bag", AT(0)},
    {"aten::layer_norm", AT(2) | AT(3)},
    {"aten::native_layer_norm", AT(2) | AT(3)},
    {"aten::group_norm", AT(2) | AT(3)},
    {"aten::batch_norm", AT(1) | AT(2) | AT(3) | AT(4)},
    {"aten::native_batch_norm", AT(1) | AT(2) | AT(3) | AT(4)},
    {"aten::cudnn_batch_norm", AT(1) | AT(2) | AT(3) | AT(4)},
};

/* A matrix that everything of more dimensions is multiplied with. */
static unsigned of_matmul(const pace_op_shapes *shapes) {
    return shapes->count > 1 && shapes->rank[0] > 2 && shapes->rank[1] == 2 ? AT(1) : 0;
}

static unsigned parameters_of(const pace_graph *graph, uint32_t node, const pace_op_shapes *shapes) {
    const char *name = pace_names_text(&graph->names, graph->nodes.items[node].name);
    if (pace_starts(name, "aten::matmul")) return of_matmul(shapes);
    for (size_t i = 0; i < PACE_COUNT(takes); i++)
        if (pace_starts(name, takes[i].name) && !strstr(name, "backward")) return takes[i].arguments;
    return 0;
}

static bool equal(const pace_tensor_shape *a, const pace_tensor_shape *b) {
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

static bool turned(const pace_tensor_shape *a, const pace_tensor_shape *b) {
    return a->rank == 2 && b->rank == 2 && a->dims[0] == b->dims[1] && a->dims[1] == b->dims[0];
}

static bool is_parameter(const pace_tensor_roles *roles, const pace_tensor_shape *shape) {
    for (size_t i = 0; i < roles->parameters.count; i++)
        if (equal(&roles->parameters.items[i], shape) || turned(&roles->parameters.items[i], shape)) return true;
    return false;
}

static pace_tensor_shape shape_of(const pace_op_shapes *shapes, unsigned at) {
    pace_tensor_shape shape = {.rank = shapes->rank[at]};
    memcpy(shape.dims, shapes->dims[at], shape.rank * sizeof *shape.dims);
    return shape;
}

static pace_status take(pace_tensor_roles *roles, const pace_op_shapes *shapes, unsigned arguments) {
    for (unsigned i = 0; i < shapes->count && i < 32; i++) {
        pace_tensor_shape shape = shape_of(shapes, i);
        if (!(arguments >> i & 1) || shape.rank == 0 || is_parameter(roles, &shape)) continue;
        PACE_TRY(PACE_PUSH(&roles->parameters, shape));
    }
    return PACE_OK;
}

pace_status pace_tensor_roles_find(pace_tensor_roles *out, const pace_graph *graph) {
    pace_tensor_roles roles = {0};
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        pace_op_shapes shapes;
        /* the backward pass has the same operators with gradients in their places */
        bool accumulates =
            pace_starts(pace_names_text(&graph->names, graph->nodes.items[i].name), "torch::autograd::Acc");
        if (!parse(&shapes, graph, i) || (pace_node_is_backward(graph, i) && !accumulates)) continue;
        pace_status status = take(&roles, &shapes, parameters_of(graph, i, &shapes));
        if (status != PACE_OK) {
            pace_tensor_roles_free(&roles);
            return status;
        }
    }
    *out = roles;
    return PACE_OK;
}

bool pace_tensor_roles_has_matrix(const pace_tensor_roles *roles, double m, double n) {
    pace_tensor_shape shape = {.rank = 2, .dims = {(int64_t)m, (int64_t)n}};
    return is_parameter(roles, &shape);
}

bool pace_tensor_roles_has_vector(const pace_tensor_roles *roles, double elements) {
    pace_tensor_shape shape = {.rank = 1, .dims = {(int64_t)elements}};
    return is_parameter(roles, &shape);
}

bool pace_tensor_roles_only(const pace_tensor_roles *roles, const pace_op_shapes *shapes) {
    unsigned tensors = 0;
    for (unsigned i = 0; i < shapes->count; i++) {
        pace_tensor_shape shape = shape_of(shapes, i);
        if (shape.rank == 0) continue;
        if (!is_parameter(roles, &shape)) return false;
        tensors++;
    }
    return tensors > 0;
}

/*
 * Which tensors are parameters: their sizes do not depend on how many samples there are. Found from what a graph's
 * operators say of their arguments (the weight of a linear layer is its second) and from autograd's accumulation of
 * gradients.
 */
#pragma once

#include "step/graph.h"
#include "step/op_shapes.h"

typedef struct {
    unsigned char rank;
    int64_t dims[6];
} pace_tensor_shape;

typedef struct {
    PACE_VEC(pace_tensor_shape) parameters;
} pace_tensor_roles;

pace_status pace_tensor_roles_find(pace_tensor_roles *out, const pace_graph *graph) PACE_MUST_CHECK;
void pace_tensor_roles_free(pace_tensor_roles *roles);

/** Whether a matrix of m x n, or n x m, is a parameter. */
bool pace_tensor_roles_has_matrix(const pace_tensor_roles *roles, double m, double n);

/** Whether all tensors among the arguments, at least one, are parameters or their gradients. */
bool pace_tensor_roles_only(const pace_tensor_roles *roles, const pace_op_shapes *shapes);

/** Whether the parameters have a vector of so many elements. */
bool pace_tensor_roles_has_vector(const pace_tensor_roles *roles, double elements);

/** Whether the node or one around it is a part of the update. */
bool pace_node_updates(const pace_graph *graph, uint32_t node);

/** Whether the node or one around it is a part of the backward pass. */
bool pace_node_is_backward(const pace_graph *graph, uint32_t node);

/** Whether it, or one around it, accumulates the gradient of a parameter. */
bool pace_node_accumulates(const pace_graph *graph, uint32_t node);

/** The arguments of the nearest operator at or around the node that says any; false when none does. */
bool pace_node_shapes(pace_op_shapes *out, const pace_graph *graph, uint32_t node);

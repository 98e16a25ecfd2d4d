/* The nodes of a PyTorch execution trace as recorded, before they become a graph. Private to source/. */
#pragma once

#include "base/intern.h"
#include "source/json_text.h"

typedef enum { PACE_PLACE_UNKNOWN, PACE_PLACE_HOST, PACE_PLACE_DEVICE } pace_place;

typedef struct {
    int64_t id, storage; /* of the tensor, and of the memory it looks at */
    double elements;
    uint8_t element_bytes;
    uint8_t place; /* pace_place; schema 1.0.0 does not say */
} pace_trace_tensor;

typedef struct {
    int64_t id, parent, forward_parent, sequence, record;
    int64_t thread, forward_thread, scope;
    pace_name name, shapes; /* shapes: the text of op_shapes.h, 0 = no arguments */
    bool has_schema;
    bool triton;
    uint8_t place;                          /* of a device argument */
    uint32_t first_tensor, inputs, outputs; /* in tensors: those read, and behind them those written */
    pace_name collective, dtype, group;     /* of a collective */
    int64_t collective_sequence;            /* of the collective, and of the wait for it; -1 = none */
    int64_t in_elements, group_size;
} pace_trace_node;

typedef struct {
    pace_names names;
    PACE_VEC(pace_trace_node) nodes; /* in order of id once read */
    PACE_VEC(pace_trace_tensor) tensors;
    char schema[64];
} pace_trace_nodes;

/** What one node's members were, kept from node to node for their room. */
typedef struct {
    pace_text values, shapes, types, out_values, out_types, text;
} pace_trace_arguments;

/** Reads the document. Errors name the file and the byte. Free with pace_trace_nodes_free(). */
pace_status pace_trace_nodes_read(pace_trace_nodes *out, pace_input *input) PACE_MUST_CHECK;
void pace_trace_nodes_free(pace_trace_nodes *nodes);

/** Turns captured arguments into the node's shape text, tensors, device argument and collective. */
pace_status pace_trace_arguments_keep(pace_trace_node *node, pace_trace_nodes *nodes,
                                      pace_trace_arguments *arguments) PACE_MUST_CHECK;
void pace_trace_arguments_free(pace_trace_arguments *arguments);

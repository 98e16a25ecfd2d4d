#include "source/traces/chakra_nodes.h"
#include "base/text.h"

#include <stddef.h>

static const struct {
    const char *name;
    size_t at; /* of an int64_t in pace_chakra_node */
} attributes[] = {
    {"is_cpu_op", offsetof(pace_chakra_node, on_host)},
    {"tid", offsetof(pace_chakra_node, thread)},
    {"num_ops", offsetof(pace_chakra_node, operations)},
    {"tensor_size", offsetof(pace_chakra_node, tensor_bytes)},
    {"comm_type", offsetof(pace_chakra_node, collective)},
    {"comm_size", offsetof(pace_chakra_node, bytes)},
    {"comm_src", offsetof(pace_chakra_node, source)},
    {"comm_dst", offsetof(pace_chakra_node, destination)},
    {"comm_tag", offsetof(pace_chakra_node, tag)},
    {"duration_ns", offsetof(pace_chakra_node, exact_ns)},
    {"write_bytes", offsetof(pace_chakra_node, write_bytes)},
    {"group_size", offsetof(pace_chakra_node, group_size)},
    {"group_stride", offsetof(pace_chakra_node, group_stride)},
    {"waits", offsetof(pace_chakra_node, waits)},
};

int64_t *pace_chakra_attribute(pace_chakra_node *node, const char *name, size_t length) {
    for (size_t i = 0; i < PACE_COUNT(attributes); i++)
        if (pace_span_is(name, length, attributes[i].name)) return (int64_t *)((char *)node + attributes[i].at);
    return NULL;
}

/* et_def.proto, CollectiveCommType */
static const char *const collectives[] = {"allreduce", "reduce",   "allgather",     "gather",        "scatter",
                                          "broadcast", "alltoall", "reducescatter", "reducescatter", "barrier"};

const char *pace_chakra_collective(int64_t number) {
    bool known = number >= 0 && number < (int64_t)(PACE_COUNT(collectives));
    return known ? collectives[number] : NULL;
}

int64_t pace_chakra_collective_number(const char *name) {
    return pace_word_number(collectives, PACE_COUNT(collectives), name);
}

void pace_chakra_nodes_free(pace_chakra_nodes *nodes) {
    pace_names_free(&nodes->names);
    PACE_VEC_FREE(&nodes->nodes, &nodes->dependencies);
    *nodes = (pace_chakra_nodes){0};
}

/* Nodes of a Chakra trace as recorded, whichever form they came in. Private to source/. */
#pragma once

#include "base/intern.h"
#include "source/traces/chakra.h"

/* et_def.proto, NodeType */
typedef enum {
    PACE_CHAKRA_INVALID,
    PACE_CHAKRA_METADATA,
    PACE_CHAKRA_MEM_LOAD,
    PACE_CHAKRA_MEM_STORE,
    PACE_CHAKRA_COMP,
    PACE_CHAKRA_SEND,
    PACE_CHAKRA_RECV,
    PACE_CHAKRA_COLL
} pace_chakra_type;

/* What a host node ends after: the device work, or the node of another thread, that the next node of its thread depends
 * on. */
typedef enum { PACE_CHAKRA_WAITS_LAUNCH = 1, PACE_CHAKRA_WAITS_NODE = 2 } pace_chakra_wait;

typedef struct {
    uint64_t id;
    pace_name name, group;
    int64_t type;
    int64_t duration_ns;                                     /* 0 = not said */
    int64_t on_host, thread;                                 /* -1 = not said */
    int64_t operations, tensor_bytes;                        /* of a computation */
    int64_t collective, bytes, source, destination, tag;     /* of an exchange; -1 = not said */
    int64_t exact_ns, write_bytes, group_size, group_stride; /* attributes of our own; -1 = not said */
    int64_t waits;                                           /* of our own: pace_chakra_wait, added up */
    uint32_t first_dependency, dependencies;
} pace_chakra_node;

/* Data dependencies hold; control dependencies of converted traces are parents, which may contradict them. */
typedef struct {
    uint64_t id;
    bool control;
} pace_chakra_dependency;

typedef struct {
    pace_names names;
    PACE_VEC(pace_chakra_node) nodes;
    PACE_VEC(pace_chakra_dependency) dependencies;
} pace_chakra_nodes;

#define PACE_CHAKRA_NODE_NONE              \
    ((pace_chakra_node){.on_host = -1,     \
                        .thread = -1,      \
                        .collective = -1,  \
                        .source = -1,      \
                        .destination = -1, \
                        .tag = -1,         \
                        .exact_ns = -1,    \
                        .write_bytes = -1, \
                        .group_size = -1,  \
                        .group_stride = -1})

/** The int64_t that an attribute of this name fills, or NULL. */
int64_t *pace_chakra_attribute(pace_chakra_node *node, const char *name, size_t length);

/** "allreduce", … of a collective's number, NULL when there is none; and back, -1 when there is none. */
const char *pace_chakra_collective(int64_t number);
int64_t pace_chakra_collective_number(const char *name);

/** The graph of the nodes. */
pace_status pace_chakra_build(pace_graph *out, pace_read_notes *notes, pace_chakra_nodes *nodes,
                              const pace_input *input) PACE_MUST_CHECK;

void pace_chakra_nodes_free(pace_chakra_nodes *nodes);

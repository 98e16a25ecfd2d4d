/*
 * What an exchange is for: which dimension of the parallelism its ranks share, and what its bytes are.
 *
 * Lowering knows both and writes them as fields of graphs; the walk copies them into steps. Trace formats carry only
 * names: pace_graph_add_exchange() maps a group's name to these fields, and nothing else reads names for that.
 */
#pragma once

typedef enum {
    PACE_GROUP_UNKNOWN, /* a trace's name says none of these */
    PACE_GROUP_TENSOR,
    PACE_GROUP_CONTEXT,
    PACE_GROUP_EXPERT,
    PACE_GROUP_DATA,
    PACE_GROUP_EXPERT_DATA, /* replicas of experts, where experts are divided */
    PACE_GROUP_PIPELINE,
    PACE_GROUP_SHARD,        /* hybrid sharding: replicas that hold parts of one copy */
    PACE_GROUP_REPLICA,      /* and those that hold the same part */
    PACE_GROUP_EXPERT_SHARD, /* of PACE_GROUP_SHARD those with parts of the same experts, where these are divided */
    PACE_GROUPS
} pace_group_kind;

typedef enum {
    PACE_ROLE_UNKNOWN,
    PACE_ROLE_ACTIVATION, /* what layers hand on, and the gradients of that */
    PACE_ROLE_GRADIENT,   /* gradients of parameters, summed over data-parallel ranks */
    PACE_ROLE_PULL,       /* parameters that come from servers */
    PACE_ROLE_GATHER      /* parameters that data-parallel ranks hold in parts */
} pace_exchange_role;

/** "tp", "cp", "ep", "dp", "edp", "pp", "fsdp", "hsdp", "efsdp"; "" for PACE_GROUP_UNKNOWN. */
extern const char *const pace_group_names[PACE_GROUPS];

/** The kind whose name this is. */
pace_group_kind pace_group_kind_find(const char *name);

/** What a collective of such a group moves, as far as group and collective tell. */
pace_exchange_role pace_exchange_role_find(pace_group_kind group, const char *collective);

#include "step/groups.h"
#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

const char *const pace_group_names[PACE_GROUPS] = {"", "tp", "cp", "ep", "dp", "edp", "pp", "fsdp", "hsdp", "efsdp"};

pace_group_kind pace_group_kind_find(const char *name) {
    int kind = pace_word_number(pace_group_names, PACE_GROUPS, name);
    return kind > PACE_GROUP_UNKNOWN ? (pace_group_kind)kind : PACE_GROUP_UNKNOWN;
}

static bool is_of_replicas(pace_group_kind group) {
    return group == PACE_GROUP_DATA || group == PACE_GROUP_EXPERT_DATA || group == PACE_GROUP_SHARD ||
           group == PACE_GROUP_REPLICA || group == PACE_GROUP_EXPERT_SHARD;
}

pace_exchange_role pace_exchange_role_find(pace_group_kind group, const char *collective) {
    if (group == PACE_GROUP_UNKNOWN) return PACE_ROLE_UNKNOWN;
    if (!is_of_replicas(group)) return PACE_ROLE_ACTIVATION;
    if (strcmp(collective, "allreduce") == 0) return PACE_ROLE_GRADIENT;
    if (strcmp(collective, "allgather") == 0) return PACE_ROLE_GATHER;
    return strcmp(collective, "pull") == 0 ? PACE_ROLE_PULL : PACE_ROLE_UNKNOWN;
}

#include "source/usage/usage_fields.h"

#include <string.h>

const pace_usage_field_kind pace_usage_fields[PACE_USAGE_FIELDS] = {
#define KIND(id, name, cell) {name, PACE_USAGE_##cell},
    PACE_USAGE_FIELD_LIST(KIND)
#undef KIND
};

const char *const pace_usage_state_names[PACE_STATES] = {"completed", "failed",  "timeout", "node_failed", "cancelled",
                                                         "preempted", "running", "pending", "other"};

pace_usage_field pace_usage_field_named(const char *name) {
    int field = 0;
    while (field < PACE_USAGE_FIELDS && strcmp(pace_usage_fields[field].name, name) != 0) field++;
    return (pace_usage_field)field;
}

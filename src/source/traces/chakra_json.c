/* Chakra's JSON form: {"workload_graph": [{"Id", "Name", "NodeType", "data_deps", "ctrlDeps", "runtime", …}]}. */
#include "source/traces/chakra_nodes.h"
#include "base/json_walk.h"

#include <string.h>

typedef struct {
    pace_chakra_nodes *nodes;
    pace_json *json;
    pace_chakra_node node; /* the one that is read */
    pace_status status;
    bool seen;
} reader;

static pace_json_token fail(reader *r, pace_status status) {
    r->status = status;
    return PACE_JSON_ERROR;
}

static bool is_dependencies(const char *key) {
    return strcmp(key, "data_deps") == 0 || strcmp(key, "ctrlDeps") == 0 || strcmp(key, "ctrl_deps") == 0;
}

static pace_json_token read_dependencies(reader *r, bool control) {
    for (;;) {
        pace_json_token token = pace_json_next(r->json);
        int64_t id;
        if (token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY) token = pace_json_leave(r->json);
        else if (token == PACE_JSON_ARRAY_END) return token;
        else if (token == PACE_JSON_NUMBER && pace_json_int(r->json, &id) && id >= 0) {
            pace_status status = PACE_PUSH(&r->nodes->dependencies, ((pace_chakra_dependency){(uint64_t)id, control}));
            if (status != PACE_OK) return fail(r, status);
        }
        if (pace_json_failed(token)) return token;
    }
}

static pace_status keep_text(reader *r, pace_name *to) {
    size_t length;
    const char *text = pace_json_decoded(r->json, &length);
    return text ? pace_names_add(to, &r->nodes->names, text, length) : PACE_E_MEMORY;
}

/* Attributes have the names of the protobuf form. */
static void keep_number(pace_chakra_node *node, const char *key, int64_t value) {
    int64_t *attribute = pace_chakra_attribute(node, key, strlen(key));
    if (attribute) *attribute = value;
    else if (strcmp(key, "Id") == 0 && value >= 0) node->id = (uint64_t)value;
    else if (strcmp(key, "NodeType") == 0) node->type = value;
    else if (strcmp(key, "runtime") == 0 && value >= 0 && value < INT64_MAX / 4096 / 1000)
        node->duration_ns = value * 1000;
}

static pace_json_token read_member(void *context, const char *key) {
    reader *r = context;
    pace_json_token token = pace_json_next(r->json);
    int64_t value;
    if (token == PACE_JSON_ARRAY && is_dependencies(key)) return read_dependencies(r, key[0] == 'c');
    if (token == PACE_JSON_TRUE || token == PACE_JSON_FALSE) keep_number(&r->node, key, token == PACE_JSON_TRUE);
    else if (token == PACE_JSON_STRING && (strcmp(key, "Name") == 0 || strcmp(key, "pg_name") == 0)) {
        pace_status status = keep_text(r, key[0] == 'N' ? &r->node.name : &r->node.group);
        if (status != PACE_OK) return fail(r, status);
    } else if ((token == PACE_JSON_NUMBER || token == PACE_JSON_STRING) && pace_json_int(r->json, &value))
        keep_number(&r->node, key, value);
    return pace_json_pass(r->json, token);
}

static pace_json_token read_node(void *context) {
    reader *r = context;
    r->node = PACE_CHAKRA_NODE_NONE;
    r->node.first_dependency = (uint32_t)r->nodes->dependencies.count;
    pace_json_token token = pace_json_each_member(r->json, read_member, r);
    if (pace_json_failed(token)) return token;
    if (r->nodes->dependencies.count >= UINT32_MAX / 4 || r->nodes->nodes.count >= UINT32_MAX / 4)
        return fail(r, pace_fail(PACE_E_LIMIT, "more than 1073741823 nodes or dependencies"));
    r->node.dependencies = (uint32_t)r->nodes->dependencies.count - r->node.first_dependency;
    pace_status status = PACE_PUSH(&r->nodes->nodes, r->node);
    return status == PACE_OK ? token : fail(r, status);
}

static pace_json_token read_top(void *context, const char *key) {
    reader *r = context;
    pace_json_token token = pace_json_next(r->json);
    if (token != PACE_JSON_ARRAY || strcmp(key, "workload_graph") != 0) return pace_json_pass(r->json, token);
    r->seen = true;
    return pace_json_each_object(r->json, read_node, r);
}

static pace_status judge(const reader *r, pace_json_token token, const pace_input *input) {
    if (r->status != PACE_OK) return r->status;
    if (pace_json_failed(token)) return pace_json_status(r->json);
    if (r->seen && r->nodes->nodes.count) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: expected a Chakra workload, an object with a list \"workload_graph\" of nodes",
                     pace_input_name(input));
}

pace_status pace_chakra_read_json(pace_graph *out, pace_read_notes *notes, pace_input *input) {
    pace_chakra_nodes nodes = {0};
    *notes = (pace_read_notes){0};
    PACE_TRY(pace_names_init(&nodes.names));
    reader r = {.nodes = &nodes};
    pace_status status = pace_json_open(&r.json, input);
    if (status == PACE_OK) {
        status = judge(&r, pace_json_document(r.json, read_top, &r), input);
        notes->bytes = pace_json_bytes(r.json);
    }
    pace_json_free(r.json);
    if (status == PACE_OK) status = pace_chakra_build(out, notes, &nodes, input);
    pace_chakra_nodes_free(&nodes);
    return status;
}

/* The document of an execution trace: 1.0.0 and 1.0.1 name a node's members one by one, from 1.0.2 on they are inputs,
 * outputs and a list of attributes. Members are told by their names, whatever the schema says it is. */
#include "source/traces/trace_nodes.h"
#include "base/json_walk.h"
#include "base/order.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    pace_trace_nodes *nodes;
    pace_json *json;
    pace_trace_arguments arguments;
    pace_trace_node node;               /* the one that is read */
    char attribute[PACE_JSON_KEY_TEXT]; /* the name of the one that is read */
    bool output;                        /* whose arguments are */
    pace_status status;
    bool nodes_seen;
} reader;

void pace_trace_nodes_free(pace_trace_nodes *nodes) {
    pace_names_free(&nodes->names);
    PACE_VEC_FREE(&nodes->nodes, &nodes->tensors);
    *nodes = (pace_trace_nodes){0};
}

static pace_json_token fail(reader *r, pace_status status) {
    r->status = status;
    return PACE_JSON_ERROR;
}

/* --- a member with a scalar --------------------------------------------------------------------------------------- */

static const struct {
    const char *key;
    size_t at; /* of an int64_t in pace_trace_node */
} numbers[] = {
    {"id", offsetof(pace_trace_node, id)},
    {"parent", offsetof(pace_trace_node, parent)},
    {"ctrl_deps", offsetof(pace_trace_node, parent)},
    {"rf_id", offsetof(pace_trace_node, record)},
    {"fw_parent", offsetof(pace_trace_node, forward_parent)},
    {"seq_id", offsetof(pace_trace_node, sequence)},
    {"scope", offsetof(pace_trace_node, scope)},
    {"tid", offsetof(pace_trace_node, thread)},
    {"fw_tid", offsetof(pace_trace_node, forward_thread)},
    {"in_msg_nelems", offsetof(pace_trace_node, in_elements)},
    {"pg_size", offsetof(pace_trace_node, group_size)},
};

static const struct {
    const char *key;
    size_t at; /* of a pace_name in pace_trace_node */
} words[] = {
    {"name", offsetof(pace_trace_node, name)},
    {"collective_name", offsetof(pace_trace_node, collective)},
    {"dtype", offsetof(pace_trace_node, dtype)},
    {"pg_name", offsetof(pace_trace_node, group)},
};

static pace_status keep_scalar(reader *r, const char *key) {
    pace_trace_node *node = &r->node;
    size_t length;
    (void)pace_json_text(r->json, &length);
    for (size_t i = 0; i < PACE_COUNT(numbers); i++)
        if (strcmp(key, numbers[i].key) == 0) (void)pace_json_int(r->json, (int64_t *)((char *)node + numbers[i].at));
    for (size_t i = 0; i < PACE_COUNT(words); i++) {
        if (strcmp(key, words[i].key) != 0) continue;
        const char *text = pace_json_decoded(r->json, &length);
        if (!text) return PACE_E_MEMORY;
        return pace_names_add((pace_name *)((char *)node + words[i].at), &r->nodes->names, text, length);
    }
    if (strcmp(key, "op_schema") == 0) node->has_schema = length > 0;
    if (strcmp(key, "kernel_backend") == 0) node->triton = pace_json_is(r->json, "triton");
    return PACE_OK;
}

/* --- attributes and arguments ---------------------------------------------------------------------------- */

/* {"name": …, "type": …, "value": …}: the name comes first in every trace; another order loses the value. */
static pace_json_token read_attribute_member(void *context, const char *key) {
    reader *r = context;
    pace_json_token token = pace_json_next(r->json);
    bool scalar = token == PACE_JSON_STRING || token == PACE_JSON_NUMBER;
    if (token == PACE_JSON_STRING && strcmp(key, "name") == 0) pace_json_copy_key(r->attribute, r->json);
    else if (scalar && strcmp(key, "value") == 0 && strcmp(r->attribute, "name") != 0) {
        pace_status status = keep_scalar(r, r->attribute);
        if (status != PACE_OK) return fail(r, status);
    }
    return pace_json_pass(r->json, token);
}

static pace_json_token read_attribute(void *context) {
    reader *r = context;
    r->attribute[0] = '\0';
    return pace_json_each_member(r->json, read_attribute_member, r);
}

/* Of another value than an array nothing is kept. */
static pace_json_token capture(reader *r, pace_text *to, pace_json_token token) {
    pace_status status = PACE_OK;
    token = pace_json_capture_from(to, r->json, token, &status);
    if (status != PACE_OK) return fail(r, status);
    if (!pace_json_failed(token) && token != PACE_JSON_ARRAY) to->count = 0;
    return token;
}

static pace_text *argument_text(reader *r, const char *key, bool output) {
    pace_trace_arguments *a = &r->arguments;
    if (strcmp(key, "values") == 0) return output ? &a->out_values : &a->values;
    if (strcmp(key, "types") == 0) return output ? &a->out_types : &a->types;
    return strcmp(key, "shapes") == 0 && !output ? &a->shapes : NULL;
}

static pace_json_token read_argument(void *context, const char *key) {
    reader *r = context;
    pace_text *text = argument_text(r, key, r->output);
    return text ? capture(r, text, pace_json_next(r->json)) : pace_json_skip(r->json);
}

/* {"values": […], "shapes": […], "types": […]} */
static pace_json_token read_arguments(reader *r, bool output) {
    r->output = output;
    return pace_json_each_member(r->json, read_argument, r);
}

/* The members of 1.0.0 that hold arguments. */
static pace_text *flat_text(reader *r, const char *key) {
    pace_trace_arguments *a = &r->arguments;
    if (strcmp(key, "inputs") == 0) return &a->values;
    if (strcmp(key, "input_shapes") == 0) return &a->shapes;
    if (strcmp(key, "input_types") == 0) return &a->types;
    if (strcmp(key, "outputs") == 0) return &a->out_values;
    return strcmp(key, "output_types") == 0 ? &a->out_types : NULL;
}

/* --- nodes -------------------------------------------------------------------------------------------------------- */

static pace_json_token read_member(void *context, const char *key) {
    reader *r = context;
    pace_text *flat = flat_text(r, key);
    pace_json_token token = pace_json_next(r->json);
    if (flat) flat->count = 0;
    if (token == PACE_JSON_ARRAY && flat) return capture(r, flat, token);
    if (token == PACE_JSON_ARRAY && strcmp(key, "attrs") == 0) return pace_json_each_object(r->json, read_attribute, r);
    if (token == PACE_JSON_OBJECT && strcmp(key, "inputs") == 0) return read_arguments(r, false);
    if (token == PACE_JSON_OBJECT && strcmp(key, "outputs") == 0) return read_arguments(r, true);
    if (token == PACE_JSON_STRING || token == PACE_JSON_NUMBER) {
        pace_status status = keep_scalar(r, key);
        return status == PACE_OK ? token : fail(r, status);
    }
    return pace_json_pass(r->json, token);
}

static void clear(reader *r) {
    pace_trace_arguments *a = &r->arguments;
    a->values.count = a->shapes.count = a->types.count = a->out_values.count = a->out_types.count = 0;
}

static pace_json_token read_node(void *context) {
    reader *r = context;
    r->node = (pace_trace_node){.id = -1, .parent = -1, .sequence = -1, .record = -1, .collective_sequence = -1};
    clear(r);
    pace_json_token token = pace_json_each_member(r->json, read_member, r);
    if (pace_json_failed(token)) return token;
    pace_status status = pace_trace_arguments_keep(&r->node, r->nodes, &r->arguments);
    if (status == PACE_OK && r->nodes->nodes.count >= UINT32_MAX / 4)
        status = pace_fail(PACE_E_LIMIT, "more than 1073741823 nodes in one trace");
    if (status == PACE_OK) status = PACE_PUSH(&r->nodes->nodes, r->node);
    return status == PACE_OK ? token : fail(r, status);
}

static void keep_schema(reader *r) {
    size_t length;
    const char *text = pace_json_text(r->json, &length);
    if (length >= sizeof r->nodes->schema) length = sizeof r->nodes->schema - 1;
    memcpy(r->nodes->schema, text, length);
}

static pace_json_token read_top(void *context, const char *key) {
    reader *r = context;
    pace_json_token token = pace_json_next(r->json);
    if (token == PACE_JSON_ARRAY && strcmp(key, "nodes") == 0) {
        r->nodes_seen = true;
        return pace_json_each_object(r->json, read_node, r);
    }
    if (token == PACE_JSON_STRING && strcmp(key, "schema") == 0) keep_schema(r);
    return pace_json_pass(r->json, token);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static const char *const schemas[] = {
    "1.0.0", "1.0.1", "1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4", "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4"};

/* What comes after "-chakra." says which tool reads it on, not what it holds. */
static bool knows_schema(const char *schema) {
    for (size_t i = 0; i < PACE_COUNT(schemas); i++) {
        size_t version = strcspn(schemas[i], "-");
        if (strncmp(schema, schemas[i], version) == 0 && (schema[version] == '\0' || schema[version] == '-'))
            return true;
    }
    return false;
}

static pace_status judge(const reader *r, pace_json_token token, const pace_input *input) {
    const char *file = pace_input_name(input);
    if (r->status != PACE_OK) return r->status;
    if (pace_json_failed(token)) return pace_json_status(r->json);
    if (!r->nodes_seen)
        return pace_fail(PACE_E_INPUT, "%s: expected an execution trace, an object with \"schema\" and \"nodes\"",
                         file);
    if (!knows_schema(r->nodes->schema))
        return pace_fail(PACE_E_INPUT,
                         "%s: execution trace schema \"%.60s\" is not known; 1.0.0, 1.0.1, 1.0.2, 1.0.3, 1.1.0 and "
                         "1.1.1 are",
                         file, r->nodes->schema);
    if (r->nodes->nodes.count == 0) return pace_fail(PACE_E_INPUT, "%s: expected nodes, found an empty list", file);
    return PACE_OK;
}

PACE_ORDER(by_id, pace_trace_node, PACE_UP(id))

static pace_status check_ids(const pace_trace_nodes *nodes, const pace_input *input) {
    for (size_t i = 0; i < nodes->nodes.count; i++) {
        const pace_trace_node *node = &nodes->nodes.items[i];
        if (node->id < 0)
            return pace_fail(PACE_E_INPUT, "%s: node \"%.80s\": expected an \"id\" of 0 or more",
                             pace_input_name(input), pace_names_text(&nodes->names, node->name));
        if (i > 0 && node[-1].id == node->id)
            return pace_fail(PACE_E_INPUT, "%s: two nodes have the id %" PRId64, pace_input_name(input), node->id);
    }
    return PACE_OK;
}

pace_status pace_trace_nodes_read(pace_trace_nodes *out, pace_input *input) {
    pace_trace_nodes nodes = {0};
    PACE_TRY(pace_names_init(&nodes.names));
    reader r = {.nodes = &nodes};
    pace_status status = pace_json_open(&r.json, input);
    if (status == PACE_OK) status = judge(&r, pace_json_document(r.json, read_top, &r), input);
    pace_json_free(r.json);
    pace_trace_arguments_free(&r.arguments);
    if (status == PACE_OK) {
        PACE_SORT(&nodes.nodes, by_id);
        status = check_ids(&nodes, input);
    }
    return PACE_GIVE(out, nodes, status, pace_trace_nodes_free(&nodes));
}

/* The document of an execution trace: 1.0.0 and 1.0.1 name a node's members one by one, from 1.0.2 on they are inputs,
 * outputs and a list of attributes. Members are told by their names, whatever the schema says it is. */
#include "source/trace_nodes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    pace_trace_nodes *nodes;
    pace_json *json;
    pace_trace_arguments arguments;
    pace_status status;
    bool nodes_seen;
} reader;

void pace_trace_nodes_free(pace_trace_nodes *nodes) {
    pace_names_free(&nodes->names);
    PACE_VEC_FREE(&nodes->nodes);
    PACE_VEC_FREE(&nodes->tensors);
    *nodes = (pace_trace_nodes){0};
}

static pace_json_token fail(reader *r, pace_status status) {
    r->status = status;
    return PACE_JSON_ERROR;
}

static pace_json_token skip_open(reader *r, pace_json_token token) {
    return token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY ? pace_json_leave(r->json) : token;
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

static pace_status keep_scalar(reader *r, pace_trace_node *node, const char *key) {
    size_t length;
    (void)pace_json_text(r->json, &length);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(key, numbers[i].key) == 0) (void)pace_json_int(r->json, (int64_t *)((char *)node + numbers[i].at));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
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

enum { KEY_TEXT = 32 };

static void copy_key(char *key, const pace_json *json) {
    size_t length;
    const char *text = pace_json_text(json, &length);
    if (length >= KEY_TEXT) length = 0;
    memcpy(key, text, length);
    key[length] = '\0';
}

/* {"name": …, "type": …, "value": …}: the name comes first in every trace; another order loses the value. */
static pace_json_token read_attribute(reader *r, pace_trace_node *node) {
    char name[KEY_TEXT] = "";
    for (;;) {
        pace_json_token token = pace_json_next(r->json);
        if (token != PACE_JSON_KEY) return token;
        bool is_name = pace_json_is(r->json, "name"), is_value = pace_json_is(r->json, "value");
        token = pace_json_next(r->json);
        if (token == PACE_JSON_STRING && is_name) copy_key(name, r->json);
        else if ((token == PACE_JSON_STRING || token == PACE_JSON_NUMBER) && is_value && strcmp(name, "name") != 0) {
            pace_status status = keep_scalar(r, node, name);
            if (status != PACE_OK) return fail(r, status);
        } else token = skip_open(r, token);
        if (pace_json_failed(token)) return token;
    }
}

static pace_json_token read_attributes(reader *r, pace_trace_node *node) {
    for (;;) {
        pace_json_token token = pace_json_next(r->json);
        if (token == PACE_JSON_OBJECT) token = read_attribute(r, node);
        else if (token == PACE_JSON_ARRAY) token = pace_json_leave(r->json);
        else if (token == PACE_JSON_ARRAY_END) return token;
        if (pace_json_failed(token)) return token;
    }
}

static pace_json_token capture(reader *r, pace_text *to) {
    pace_status status = PACE_OK;
    pace_json_token token = pace_json_capture(to, r->json, &status);
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

/* {"values": […], "shapes": […], "types": […]} */
static pace_json_token read_arguments(reader *r, bool output) {
    for (;;) {
        pace_json_token token = pace_json_next(r->json);
        if (token != PACE_JSON_KEY) return token;
        char key[KEY_TEXT];
        copy_key(key, r->json);
        pace_text *text = argument_text(r, key, output);
        token = text ? capture(r, text) : pace_json_skip(r->json);
        if (pace_json_failed(token)) return token;
    }
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

/* An array begun: the rest of it is captured by hand, since its bracket is read. */
static pace_json_token capture_rest(reader *r, pace_text *to) {
    pace_text element = {0};
    pace_status status = pace_text_append(to, "[", 1);
    pace_json_token token = PACE_JSON_ARRAY;
    while (status == PACE_OK) {
        token = pace_json_capture(&element, r->json, &status);
        if (pace_json_failed(token) || status != PACE_OK || token == PACE_JSON_ARRAY_END) break;
        if (to->count > 1) status = pace_text_append(to, ",", 1);
        if (status == PACE_OK) status = pace_text_append(to, element.items, element.count);
    }
    if (status == PACE_OK && !pace_json_failed(token)) status = pace_text_append(to, "]", 1);
    PACE_VEC_FREE(&element);
    return status != PACE_OK ? fail(r, status) : token;
}

/* --- nodes
 * ------------------------------------------------------------------------------------------------------------ */

static pace_json_token read_member(reader *r, pace_trace_node *node, const char *key) {
    pace_text *flat = flat_text(r, key);
    pace_json_token token = pace_json_next(r->json);
    if (flat) flat->count = 0;
    if (token == PACE_JSON_ARRAY && flat) return capture_rest(r, flat);
    if (token == PACE_JSON_ARRAY && strcmp(key, "attrs") == 0) return read_attributes(r, node);
    if (token == PACE_JSON_OBJECT && strcmp(key, "inputs") == 0) return read_arguments(r, false);
    if (token == PACE_JSON_OBJECT && strcmp(key, "outputs") == 0) return read_arguments(r, true);
    if (token == PACE_JSON_STRING || token == PACE_JSON_NUMBER) {
        pace_status status = keep_scalar(r, node, key);
        return status == PACE_OK ? token : fail(r, status);
    }
    return skip_open(r, token);
}

static void clear(reader *r) {
    pace_trace_arguments *a = &r->arguments;
    a->values.count = a->shapes.count = a->types.count = a->out_values.count = a->out_types.count = 0;
}

static pace_json_token read_node(reader *r) {
    pace_trace_node node = {.id = -1, .parent = -1, .sequence = -1, .record = -1, .collective_sequence = -1};
    pace_json_token token;
    clear(r);
    while ((token = pace_json_next(r->json)) == PACE_JSON_KEY) {
        char key[KEY_TEXT];
        copy_key(key, r->json);
        token = read_member(r, &node, key);
        if (pace_json_failed(token)) return token;
    }
    if (pace_json_failed(token)) return token;
    pace_status status = pace_trace_arguments_keep(&node, r->nodes, &r->arguments);
    if (status == PACE_OK && r->nodes->nodes.count >= UINT32_MAX / 4)
        status = pace_fail(PACE_E_LIMIT, "more than 1073741823 nodes in one trace");
    if (status == PACE_OK) status = PACE_PUSH(&r->nodes->nodes, node);
    return status == PACE_OK ? token : fail(r, status);
}

static pace_json_token read_list(reader *r) {
    for (;;) {
        pace_json_token token = pace_json_next(r->json);
        if (token == PACE_JSON_OBJECT) token = read_node(r);
        else if (token == PACE_JSON_ARRAY) token = pace_json_leave(r->json);
        else if (token == PACE_JSON_ARRAY_END) return token;
        if (pace_json_failed(token)) return token;
    }
}

static pace_json_token read_document(reader *r) {
    pace_json_token token = pace_json_next(r->json);
    if (token != PACE_JSON_OBJECT) return token;
    while ((token = pace_json_next(r->json)) == PACE_JSON_KEY) {
        bool schema = pace_json_is(r->json, "schema"), nodes = pace_json_is(r->json, "nodes");
        token = pace_json_next(r->json);
        if (token == PACE_JSON_ARRAY && nodes) {
            r->nodes_seen = true;
            token = read_list(r);
        } else if (token == PACE_JSON_STRING && schema) {
            size_t length;
            const char *text = pace_json_text(r->json, &length);
            if (length >= sizeof r->nodes->schema) length = sizeof r->nodes->schema - 1;
            memcpy(r->nodes->schema, text, length);
        } else token = skip_open(r, token);
        if (pace_json_failed(token)) return token;
    }
    return pace_json_failed(token) ? token : pace_json_next(r->json);
}

/* --- the whole
 * --------------------------------------------------------------------------------------------------------- */

static const char *const schemas[] = {
    "1.0.0", "1.0.1", "1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4", "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4"};

/* What comes after "-chakra." says which tool reads it on, not what it holds. */
static bool knows_schema(const char *schema) {
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
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

static int by_id(const void *left, const void *right) {
    const pace_trace_node *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

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
    if (status == PACE_OK) status = judge(&r, read_document(&r), input);
    pace_json_free(r.json);
    pace_trace_arguments_free(&r.arguments);
    if (status == PACE_OK) {
        qsort(nodes.nodes.items, nodes.nodes.count, sizeof *nodes.nodes.items, by_id);
        status = check_ids(&nodes, input);
    }
    if (status != PACE_OK) pace_trace_nodes_free(&nodes);
    else *out = nodes;
    return status;
}

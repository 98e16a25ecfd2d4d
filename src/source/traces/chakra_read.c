/* Chakra's protobuf form: field numbers are those of et_def.proto. */
#include "source/traces/chakra_nodes.h"
#include "base/text.h"
#include "source/traces/wire.h"

#include <inttypes.h>
#include <string.h>

enum { NODE_ID = 1, NODE_NAME, NODE_TYPE, NODE_CTRL_DEPS, NODE_DATA_DEPS, NODE_START, NODE_DURATION, NODE_ATTR = 10 };
enum { ATTR_NAME = 1, ATTR_FIRST_VALUE = 3, ATTR_SINT32 = 15, ATTR_SINT64 = 17, ATTR_BOOL = 27, ATTR_STRING = 29 };
enum { ATTR_DOUBLE = 3, ATTR_FLOAT = 5 };

typedef struct {
    pace_chakra_nodes *nodes;
    pace_wire_stream stream;
    const pace_input *input;
} reader;

static pace_status bad_message(const reader *r, const char *what) {
    return pace_fail(PACE_E_INPUT, "%s: byte %" PRIu64 ": expected %s of a Chakra trace, found other bytes",
                     pace_input_name(r->input), r->stream.offset, what);
}

/* Zigzag where the field says so; floating-point sizes are cut to whole numbers. */
static int64_t number_of(const pace_wire_field *field) {
    if (field->number == ATTR_SINT32 || field->number == ATTR_SINT64)
        return (int64_t)(field->value >> 1) ^ -(int64_t)(field->value & 1);
    if (field->number == ATTR_DOUBLE || field->number == ATTR_FLOAT) {
        double value;
        float single;
        uint32_t low = (uint32_t)field->value;
        memcpy(&value, &field->value, sizeof value);
        memcpy(&single, &low, sizeof single);
        if (field->number == ATTR_FLOAT) value = (double)single;
        return value > -9e18 && value < 9e18 ? (int64_t)value : 0;
    }
    return (int64_t)field->value;
}

static pace_status read_attribute(reader *r, pace_chakra_node *node, const pace_wire_field *message) {
    const unsigned char *at = message->bytes, *end = at + message->length;
    const char *name = "";
    size_t length = 0;
    bool broken = false;
    pace_wire_field field;
    while (pace_wire_field_next(&field, &at, end, &broken)) {
        if (field.number == ATTR_NAME && field.is_bytes) {
            name = (const char *)field.bytes;
            length = field.length;
        } else if (field.number == ATTR_STRING && field.is_bytes && pace_span_is(name, length, "pg_name")) {
            PACE_TRY(pace_names_add(&node->group, &r->nodes->names, (const char *)field.bytes, field.length));
        } else if (field.number >= ATTR_FIRST_VALUE && field.number <= ATTR_BOOL && !field.is_bytes) {
            int64_t *value = pace_chakra_attribute(node, name, length);
            if (value) *value = number_of(&field);
        }
    }
    return broken ? bad_message(r, "an attribute") : PACE_OK;
}

/* One number, or a packed list of them. */
static pace_status read_dependencies(reader *r, const pace_wire_field *field) {
    bool control = field->number == NODE_CTRL_DEPS;
    if (!field->is_bytes) return PACE_PUSH(&r->nodes->dependencies, ((pace_chakra_dependency){field->value, control}));
    const unsigned char *at = field->bytes, *end = at + field->length;
    while (at < end) {
        uint64_t id;
        if (!pace_wire_varint(&id, &at, end)) return bad_message(r, "a list of dependencies");
        PACE_TRY(PACE_PUSH(&r->nodes->dependencies, ((pace_chakra_dependency){id, control})));
    }
    return PACE_OK;
}

static int64_t us_to_ns(uint64_t us) { return us < INT64_MAX / 4096 / 1000 ? (int64_t)us * 1000 : 0; }

static pace_status read_field(reader *r, pace_chakra_node *node, const pace_wire_field *field) {
    switch (field->number) {
    case NODE_ID: node->id = field->value; return PACE_OK;
    case NODE_TYPE: node->type = field->value < 64 ? (int64_t)field->value : -1; return PACE_OK;
    case NODE_DURATION: node->duration_ns = us_to_ns(field->value); return PACE_OK;
    case NODE_CTRL_DEPS:
    case NODE_DATA_DEPS: return read_dependencies(r, field);
    case NODE_NAME:
        if (!field->is_bytes) return bad_message(r, "a name");
        return pace_names_add(&node->name, &r->nodes->names, (const char *)field->bytes, field->length);
    case NODE_ATTR: return field->is_bytes ? read_attribute(r, node, field) : bad_message(r, "an attribute");
    default: return PACE_OK;
    }
}

static pace_status read_node(reader *r, const unsigned char *at, size_t length) {
    const unsigned char *end = at + length;
    pace_chakra_node node = PACE_CHAKRA_NODE_NONE;
    pace_wire_field field;
    bool broken = false;
    node.first_dependency = (uint32_t)r->nodes->dependencies.count;
    while (pace_wire_field_next(&field, &at, end, &broken)) PACE_TRY(read_field(r, &node, &field));
    if (broken) return bad_message(r, "a node");
    if (r->nodes->dependencies.count >= UINT32_MAX / 4 || r->nodes->nodes.count >= UINT32_MAX / 4)
        return pace_fail(PACE_E_LIMIT, "%s: more than 1073741823 nodes or dependencies", pace_input_name(r->input));
    node.dependencies = (uint32_t)r->nodes->dependencies.count - node.first_dependency;
    return PACE_PUSH(&r->nodes->nodes, node);
}

/* GlobalMetadata: a version and attributes, of which nothing is needed. */
static pace_status check_metadata(const reader *r, const unsigned char *at, size_t length) {
    const unsigned char *end = at + length;
    pace_wire_field field;
    bool broken = false;
    while (pace_wire_field_next(&field, &at, end, &broken))
        if (field.number > 2 || !field.is_bytes) return bad_message(r, "the metadata at the start");
    return broken ? bad_message(r, "the metadata at the start") : PACE_OK;
}

static pace_status read_all(reader *r) {
    const unsigned char *message;
    size_t length;
    for (bool first = true;; first = false) {
        PACE_TRY(pace_wire_message(&message, &length, &r->stream));
        if (!message) break;
        if (first) PACE_TRY(check_metadata(r, message, length));
        else PACE_TRY(read_node(r, message, length));
    }
    if (r->nodes->nodes.count) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: expected the nodes of a Chakra trace, found none", pace_input_name(r->input));
}

pace_status pace_chakra_read(pace_graph *out, pace_read_notes *notes, pace_input *input) {
    pace_chakra_nodes nodes = {0};
    *notes = (pace_read_notes){0};
    PACE_TRY(pace_names_init(&nodes.names));
    reader r = {.nodes = &nodes, .input = input};
    pace_wire_open(&r.stream, input);
    pace_status status = read_all(&r);
    notes->bytes = r.stream.read;
    pace_wire_close(&r.stream);
    if (status == PACE_OK) status = pace_chakra_build(out, notes, &nodes, input);
    pace_chakra_nodes_free(&nodes);
    return status;
}

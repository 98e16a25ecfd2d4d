/* The arguments of a node: from the JSON of their values, shapes and types to shapes as Kineto writes them, and to the
 * tensors that are read and written. */
#include "source/traces/trace_nodes.h"
#include "base/text.h"
#include "step/op_shapes.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_VALUE = 96, LONGEST_TEXT = 4096 };

void pace_trace_arguments_free(pace_trace_arguments *arguments) {
    pace_text *all[] = {&arguments->values,     &arguments->shapes,    &arguments->types,
                        &arguments->out_values, &arguments->out_types, &arguments->text};
    for (size_t i = 0; i < PACE_COUNT(all); i++) PACE_VEC_FREE(all[i]);
}

/* "Tensor(" anywhere in a type's text. */
static bool names_tensor(const char *type, size_t length) {
    static const char word[] = "Tensor(";
    for (size_t i = 0; i + sizeof word - 1 <= length; i++)
        if (memcmp(type + i, word, sizeof word - 1) == 0) return true;
    return false;
}

static int64_t read_number(const char **at) {
    char *end;
    long long value = strtoll(*at, &end, 10);
    *at = end;
    return value;
}

/* [tensor, storage, offset, elements, bytes of an element] and, since 1.0.1, the device. */
static pace_status keep_tuple(uint32_t *count, pace_trace_nodes *nodes, const char *at) {
    int64_t numbers[5];
    for (int i = 0; i < 5; i++) {
        if (*at != '-' && (*at < '0' || *at > '9')) return PACE_OK; /* not a tensor */
        numbers[i] = read_number(&at);
        if (*at == ',') at++;
        else if (i < 4) return PACE_OK;
    }
    if (numbers[3] <= 0 || numbers[3] > (int64_t)1 << 48 || numbers[4] <= 0 || numbers[4] > 16) return PACE_OK;
    pace_trace_tensor tensor = {.id = numbers[0],
                                .storage = numbers[1],
                                .elements = (double)numbers[3],
                                .element_bytes = (uint8_t)numbers[4]};
    if (pace_starts(at, "\"cpu")) tensor.place = PACE_PLACE_HOST;
    else if (*at == '"') tensor.place = PACE_PLACE_DEVICE;
    ++*count;
    return PACE_PUSH(&nodes->tensors, tensor);
}

/* All tuples of an argument, which may be a list of tensors, or of such lists. */
static pace_status keep_tensors(uint32_t *count, pace_trace_nodes *nodes, const char *value, size_t length) {
    for (const char *at = value; at < value + length; at++)
        if (at[0] == '[' && at + 1 < value + length && at[1] != '[') PACE_TRY(keep_tuple(count, nodes, at + 1));
    return PACE_OK;
}

static pace_status keep_all_tensors(uint32_t *count, pace_trace_nodes *nodes, const pace_text *values,
                                    const pace_text *types) {
    if (values->count < 2 || types->count < 2) return PACE_OK;
    const char *value_at = values->items + 1, *type_at = types->items + 1, *value, *type;
    size_t value_length, type_length;
    while (pace_json_element(&value_at, &value, &value_length) && pace_json_element(&type_at, &type, &type_length))
        if (names_tensor(type, type_length)) PACE_TRY(keep_tensors(count, nodes, value, value_length));
    return PACE_OK;
}

/* "Tensor(float)" is float; a list of them is TensorList(float); numbers and lists of them are scalars. */
static pace_status append_type(pace_text *text, const char *type, size_t length) {
    const char *open = memchr(type, '(', length);
    if (!names_tensor(type, length)) return pace_text_append(text, "\"Scalar\"", 8);
    bool list = pace_span_starts(type, length, "\"GenericList") || pace_span_starts(type, length, "\"Tuple");
    const char *close = open ? memchr(open, ')', length - (size_t)(open - type)) : NULL;
    if (!close) return pace_text_append(text, "\"\"", 2);
    PACE_TRY(pace_text_append(text, list ? "\"TensorList(" : "\"", list ? 12 : 1));
    PACE_TRY(pace_text_append(text, open + 1, (size_t)(close - open - 1)));
    return pace_text_append(text, list ? ")\"" : "\"", list ? 2 : 1);
}

static bool has_quote(const char *value, size_t length) {
    return memchr(value, '"', length) || memchr(value, '\\', length);
}

/* Numbers, lists of numbers and truth values; "" for tensors, words and what is long. */
static pace_status append_value(pace_text *text, const char *value, size_t length, bool tensor) {
    if (pace_span_is(value, length, "true")) return pace_text_append(text, "\"True\"", 6);
    if (tensor || length > LONGEST_VALUE || has_quote(value, length)) return pace_text_append(text, "\"\"", 2);
    PACE_TRY(pace_text_append(text, "\"", 1));
    PACE_TRY(pace_text_append(text, value, length));
    return pace_text_append(text, "\"", 1);
}

static pace_status append_types(pace_text *text, const pace_trace_arguments *a) {
    const char *at = a->types.items + 1, *type;
    size_t length;
    for (bool first = true; pace_json_element(&at, &type, &length); first = false) {
        if (!first) PACE_TRY(pace_text_append(text, ",", 1));
        PACE_TRY(append_type(text, type, length));
    }
    return PACE_OK;
}

static pace_status append_values(pace_text *text, const pace_trace_arguments *a) {
    const char *at = a->values.items + 1, *value, *type_at = a->types.items + 1, *type;
    size_t length, type_length;
    for (bool first = true; pace_json_element(&at, &value, &length); first = false) {
        if (!pace_json_element(&type_at, &type, &type_length)) break;
        if (!first) PACE_TRY(pace_text_append(text, ",", 1));
        PACE_TRY(append_value(text, value, length, names_tensor(type, type_length)));
    }
    return PACE_OK;
}

static pace_status keep_shapes(pace_trace_node *node, pace_trace_nodes *nodes, pace_trace_arguments *a) {
    pace_text *text = &a->text;
    text->count = 0;
    if (a->shapes.count <= 2 || a->types.count < 2 || a->shapes.count > LONGEST_TEXT) return PACE_OK;
    PACE_TRY(pace_text_append(text, a->shapes.items, a->shapes.count));
    PACE_TRY(pace_text_append(text, "\n[", 2));
    PACE_TRY(append_types(text, a));
    PACE_TRY(pace_text_append(text, "]", 1));
    if (a->values.count >= 2) {
        PACE_TRY(pace_text_append(text, "\n[", 2));
        PACE_TRY(append_values(text, a));
        PACE_TRY(pace_text_append(text, "]", 1));
    }
    return pace_names_add(&node->shapes, &nodes->names, text->items, text->count);
}

/* A device: "cpu", "cuda:0". A collective: its sequence number, then somewhere its name. */
static pace_status keep_words(pace_trace_node *node, pace_trace_nodes *nodes, const pace_trace_arguments *a) {
    const char *at = a->values.items + 1, *value, *type_at = a->types.items + 1, *type;
    size_t length, type_length;
    while (pace_json_element(&at, &value, &length) && pace_json_element(&type_at, &type, &type_length)) {
        if (pace_span_starts(type, type_length, "\"Device") && length > 2)
            node->place = pace_span_starts(value, length, "\"cpu") ? PACE_PLACE_HOST : PACE_PLACE_DEVICE;
        if (pace_span_starts(type, type_length, "\"Int") && node->collective_sequence < 0) {
            const char *number = value;
            node->collective_sequence = read_number(&number);
        }
        if (pace_span_starts(type, type_length, "\"String") && !node->collective && length > 2)
            PACE_TRY(pace_names_add(&node->collective, &nodes->names, value + 1, length - 2));
    }
    return PACE_OK;
}

/* A trace without values keeps shapes and types: each tensor is then memory of its own. */
static pace_status keep_shaped_tensors(pace_trace_node *node, pace_trace_nodes *nodes) {
    pace_op_shapes shapes;
    if (!node->shapes || !pace_op_shapes_parse(&shapes, pace_names_text(&nodes->names, node->shapes))) return PACE_OK;
    for (unsigned k = 0; k < shapes.count; k++) {
        double elements = shapes.list_elements[k] > 0 ? shapes.list_elements[k] : 1;
        for (unsigned d = 0; d < shapes.rank[k]; d++) elements *= (double)shapes.dims[k][d];
        int64_t own = -2 - (int64_t)nodes->tensors.count;
        if (!(elements > 0) || shapes.element_bytes[k] == 0) continue;
        pace_trace_tensor tensor = {own, own, elements, shapes.element_bytes[k], PACE_PLACE_UNKNOWN};
        PACE_TRY(PACE_PUSH(&nodes->tensors, tensor));
        node->inputs++;
    }
    return PACE_OK;
}

pace_status pace_trace_arguments_keep(pace_trace_node *node, pace_trace_nodes *nodes, pace_trace_arguments *a) {
    bool valued = a->values.count >= 2;
    node->first_tensor = (uint32_t)nodes->tensors.count;
    PACE_TRY(keep_shapes(node, nodes, a));
    PACE_TRY(valued ? keep_all_tensors(&node->inputs, nodes, &a->values, &a->types) : keep_shaped_tensors(node, nodes));
    PACE_TRY(keep_all_tensors(&node->outputs, nodes, &a->out_values, &a->out_types));
    pace_trace_tensor *tensors = node->outputs ? &nodes->tensors.items[node->first_tensor] : NULL;
    for (uint32_t k = 0; !valued && tensors && k < node->inputs; k++) tensors[k].place = tensors[node->inputs].place;
    return valued && a->types.count >= 2 ? keep_words(node, nodes, a) : PACE_OK;
}

#include "source/traces/onnx.h"
#include "base/input.h"
#include "base/memory.h"
#include "model/layer.h"
#include "source/traces/wire.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SIZES = 8, MAX_NODE_INPUTS = PACE_LAYER_INPUTS };

/* Field numbers of onnx.proto3. */
enum {
    MODEL_GRAPH = 7,
    GRAPH_NODE = 1,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OP = 4,
    NODE_ATTRIBUTE = 5,
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_INT = 3,
    ATTRIBUTE_TENSOR = 5,
    ATTRIBUTE_INTS = 8,
    TENSOR_DIMS = 1,
    TENSOR_NAME = 8,
    TENSOR_INT64 = 7,
    TENSOR_RAW = 9,
    VALUE_NAME = 1,
    VALUE_TYPE = 2,
    TYPE_TENSOR = 1,
    TYPE_SHAPE = 2,
    SHAPE_DIM = 1,
    DIM_VALUE = 1,
};

typedef struct {
    const unsigned char *at, *end;
} span;

typedef struct {
    int64_t value[MAX_SIZES];
    unsigned count;
} size_list;

/* What a name of the graph means. */
typedef struct {
    enum { VALUE_WEIGHT, VALUE_INPUT, VALUE_LAYER } kind; /* an input has no numbers of its own */
    uint32_t layer;                                       /* whose output it is */
    size_list sizes;                                      /* of a weight */
    size_list numbers;                                    /* in a weight, when they are few whole numbers */
} onnx_value;

typedef struct {
    pace_model *model;
    const char *file;
    pace_names names;            /* of values */
    PACE_VEC(onnx_value) values; /* by name */
    span node;
    char op[48], label[96];
    span inputs[MAX_NODE_INPUTS];
    size_t input_count;
    span output;
} onnx_reader;

static pace_status broken(const onnx_reader *reader, const char *what) {
    return pace_fail(PACE_E_INPUT, "%s: no ONNX model: expected %s, found other bytes", reader->file, what);
}

static span bytes_of(const pace_wire_field *field) { return (span){field->bytes, field->bytes + field->length}; }
static span no_text(void) {
    static const unsigned char text[1];
    return (span){text, text};
}
static size_t length_of(span text) { return (size_t)(text.end - text.at); }

/* Every message is walked with this: `field` is the next one of `rest`; *status says whether the end was one. */
static bool next_field(pace_wire_field *field, span *rest, const onnx_reader *reader, pace_status *status) {
    bool is_broken = false;
    bool more = pace_wire_field_next(field, &rest->at, rest->end, &is_broken);
    *status = is_broken ? broken(reader, "a field of a message") : PACE_OK;
    return more;
}

static void push_size(size_list *list, uint64_t value) {
    if (list->count < MAX_SIZES) list->value[list->count] = (int64_t)value;
    list->count++;
}

/* Repeated whole numbers, packed or one by one. */
static bool take_numbers(size_list *list, const pace_wire_field *field) {
    uint64_t value;
    if (!field->is_bytes) {
        push_size(list, field->value);
        return true;
    }
    span rest = bytes_of(field);
    while (rest.at < rest.end && list->count <= MAX_SIZES) {
        if (!pace_wire_varint(&value, &rest.at, rest.end)) return false;
        push_size(list, value);
    }
    return true;
}

static void take_raw(size_list *list, span raw) {
    if (length_of(raw) % 8 || length_of(raw) > 8 * MAX_SIZES) return;
    for (; raw.at < raw.end; raw.at += 8) {
        uint64_t value = 0;
        for (unsigned i = 0; i < 8; i++) value |= (uint64_t)raw.at[i] << (8 * i);
        push_size(list, value);
    }
}

/* ---- names ---- */

static pace_status value_slot(onnx_value **out, onnx_reader *reader, span name) {
    static const onnx_value none = {.kind = VALUE_WEIGHT};
    pace_name number;
    PACE_TRY(pace_names_add(&number, &reader->names, (const char *)name.at, length_of(name)));
    while (reader->values.count <= number) PACE_TRY(PACE_PUSH(&reader->values, none));
    *out = &reader->values.items[number];
    return PACE_OK;
}

static const onnx_value *input_value(const onnx_reader *reader, size_t index) {
    pace_name number;
    if (index >= reader->input_count) return NULL;
    span name = reader->inputs[index];
    if (!pace_names_find(&number, &reader->names, (const char *)name.at, length_of(name))) return NULL;
    return number < reader->values.count ? &reader->values.items[number] : NULL;
}

static pace_status read_initializer(onnx_reader *reader, span rest) {
    pace_wire_field field;
    pace_status status;
    onnx_value value = {.kind = VALUE_WEIGHT}, *slot;
    span name = no_text(), raw = {0};
    while (next_field(&field, &rest, reader, &status)) {
        bool sound = true;
        if (field.number == TENSOR_DIMS) sound = take_numbers(&value.sizes, &field);
        if (field.number == TENSOR_INT64) sound = take_numbers(&value.numbers, &field);
        if (field.number == TENSOR_NAME && field.is_bytes) name = bytes_of(&field);
        if (field.number == TENSOR_RAW && field.is_bytes) raw = bytes_of(&field);
        if (!sound) return broken(reader, "whole numbers");
    }
    PACE_TRY(status);
    if (value.sizes.count > MAX_SIZES) return broken(reader, "at most 8 sizes of a weight");
    if (value.numbers.count > MAX_SIZES) value.numbers.count = 0; /* no sizes, then */
    if (value.numbers.count == 0) take_raw(&value.numbers, raw);
    PACE_TRY(value_slot(&slot, reader, name));
    *slot = value;
    return PACE_OK;
}

/* The sizes of a graph's input; what has no number (a batch by name) is 0. */
static pace_status read_sizes(size_list *out, const onnx_reader *reader, span rest, const unsigned *path) {
    pace_wire_field field;
    pace_status status;
    while (next_field(&field, &rest, reader, &status)) {
        if (field.number != *path) continue;
        if (!path[1]) {
            if (out->count == 0 || out->count > MAX_SIZES) return broken(reader, "a size");
            if (!field.is_bytes) out->value[out->count - 1] = (int64_t)field.value;
            continue;
        }
        if (!field.is_bytes) return broken(reader, "a shape");
        if (path[0] == SHAPE_DIM && path[1] == DIM_VALUE && !path[2]) push_size(out, 0);
        if (out->count > MAX_SIZES) return broken(reader, "at most 8 sizes");
        PACE_TRY(read_sizes(out, reader, bytes_of(&field), path + 1));
    }
    return status;
}

static pace_status read_input(onnx_reader *reader, span message) {
    static const unsigned path[] = {TYPE_TENSOR, TYPE_SHAPE, SHAPE_DIM, DIM_VALUE, 0};
    pace_wire_field field;
    pace_status status;
    span name = no_text(), rest = message;
    size_list sizes = {0};
    onnx_value *slot;
    while (next_field(&field, &rest, reader, &status)) {
        if (field.number == VALUE_NAME && field.is_bytes) name = bytes_of(&field);
        if (field.number == VALUE_TYPE && field.is_bytes) PACE_TRY(read_sizes(&sizes, reader, bytes_of(&field), path));
    }
    PACE_TRY(status);
    PACE_TRY(value_slot(&slot, reader, name));
    if (slot->sizes.count == 0) *slot = (onnx_value){.kind = VALUE_INPUT, .sizes = sizes};
    return PACE_OK;
}

/* ---- nodes ---- */

static pace_status fail_node(const onnx_reader *reader, pace_status status, const char *what) {
    return pace_fail(status, "%s: node \"%s\" (%s): %s", reader->file, reader->label, reader->op, what);
}

/* The attribute of the node at hand: a list of numbers, or one. *found false: it has none of that name. */
static pace_status find_attribute(size_list *out, bool *found, const onnx_reader *reader, const char *name) {
    pace_wire_field field, inner;
    pace_status status, inner_status;
    span rest = reader->node;
    *found = false;
    *out = (size_list){0};
    while (next_field(&field, &rest, reader, &status)) {
        size_list list = {0};
        bool is_it = false, sound = true;
        if (field.number != NODE_ATTRIBUTE || !field.is_bytes) continue;
        span attribute = bytes_of(&field);
        while (next_field(&inner, &attribute, reader, &inner_status)) {
            if (inner.number == ATTRIBUTE_NAME && inner.is_bytes)
                is_it = inner.length == strlen(name) && memcmp(inner.bytes, name, inner.length) == 0;
            if (inner.number == ATTRIBUTE_INTS || (inner.number == ATTRIBUTE_INT && !inner.is_bytes))
                sound = sound && take_numbers(&list, &inner);
        }
        PACE_TRY(inner_status);
        if (!sound || list.count > MAX_SIZES) return fail_node(reader, PACE_E_INPUT, "an attribute is no short list");
        if (!is_it) continue;
        *found = true;
        *out = list;
    }
    return status;
}

static pace_status set_pair(pace_layer *layer, pace_layer_option option, const onnx_reader *reader, const char *name) {
    size_list list;
    bool found;
    PACE_TRY(find_attribute(&list, &found, reader, name));
    if (!found) return PACE_OK;
    if (list.count != 2) return fail_node(reader, PACE_E_INPUT, "expected two numbers, of an image");
    layer->option[option] = (double)list.value[0];
    layer->option[option + 1] = (double)list.value[1];
    return PACE_OK;
}

/* Before and behind; where they differ, their mean is what counts for sizes. */
static pace_status set_pads(pace_layer *layer, const onnx_reader *reader) {
    size_list list;
    bool found;
    PACE_TRY(find_attribute(&list, &found, reader, "pads"));
    if (!found) return PACE_OK;
    if (list.count != 4) return fail_node(reader, PACE_E_INPUT, "expected four pads, of an image");
    layer->option[PACE_OPTION_PAD] = ((double)list.value[0] + (double)list.value[2]) / 2;
    layer->option[PACE_OPTION_PAD_WIDTH] = ((double)list.value[1] + (double)list.value[3]) / 2;
    return PACE_OK;
}

static pace_status set_number(pace_layer *layer, pace_layer_option option, const onnx_reader *reader,
                              const char *name) {
    size_list list;
    bool found;
    PACE_TRY(find_attribute(&list, &found, reader, name));
    if (found && list.count > 0) layer->option[option] = (double)list.value[0];
    return PACE_OK;
}

static bool has_weight(const onnx_reader *reader, unsigned rank) {
    const onnx_value *value = input_value(reader, 1);
    return value && value->kind != VALUE_LAYER && value->sizes.count == rank;
}

static pace_status set_convolution(pace_layer *layer, const onnx_reader *reader) {
    if (!has_weight(reader, 4)) return fail_node(reader, PACE_E_INPUT, "expected a weight of four sizes");
    const size_list *weight = &input_value(reader, 1)->sizes;
    layer->option[PACE_OPTION_OUT] = (double)weight->value[0];
    layer->option[PACE_OPTION_KERNEL] = (double)weight->value[2];
    layer->option[PACE_OPTION_KERNEL_WIDTH] = (double)weight->value[3];
    layer->option[PACE_OPTION_BIAS] = reader->input_count > 2;
    PACE_TRY(set_pair(layer, PACE_OPTION_STRIDE, reader, "strides"));
    PACE_TRY(set_number(layer, PACE_OPTION_DILATION, reader, "dilations"));
    PACE_TRY(set_number(layer, PACE_OPTION_GROUPS, reader, "group"));
    return set_pads(layer, reader);
}

static pace_status set_pool(pace_layer *layer, const onnx_reader *reader) {
    layer->option[PACE_OPTION_STRIDE] = layer->option[PACE_OPTION_STRIDE_WIDTH] = 1;
    PACE_TRY(set_pair(layer, PACE_OPTION_KERNEL, reader, "kernel_shape"));
    PACE_TRY(set_pair(layer, PACE_OPTION_STRIDE, reader, "strides"));
    PACE_TRY(set_number(layer, PACE_OPTION_CEIL, reader, "ceil_mode"));
    return set_pads(layer, reader);
}

static pace_status set_linear(pace_layer *layer, const onnx_reader *reader) {
    size_list transposed;
    bool found;
    if (!has_weight(reader, 2)) return fail_node(reader, PACE_E_INPUT, "expected a weight of two sizes");
    PACE_TRY(find_attribute(&transposed, &found, reader, "transB"));
    bool rows = found && transposed.count > 0 && transposed.value[0] != 0;
    layer->option[PACE_OPTION_OUT] = (double)input_value(reader, 1)->sizes.value[rows ? 0 : 1];
    layer->option[PACE_OPTION_BIAS] = reader->input_count > 2;
    return PACE_OK;
}

static pace_status set_local_norm(pace_layer *layer, const onnx_reader *reader) {
    PACE_TRY(set_number(layer, PACE_OPTION_KERNEL, reader, "size"));
    layer->option[PACE_OPTION_KERNEL_WIDTH] = layer->option[PACE_OPTION_KERNEL];
    return PACE_OK;
}

static const struct {
    const char *op, *word;
    pace_status (*set)(pace_layer *layer, const onnx_reader *reader);
} operators[] = {
    {"Conv", "conv", set_convolution},
    {"Gemm", "linear", set_linear},
    {"MatMul", "linear", set_linear},
    {"BatchNormalization", "batch_norm", NULL},
    {"LRN", "lrn", set_local_norm},
    {"Relu", "relu", NULL},
    {"Sigmoid", "sigmoid", NULL},
    {"Tanh", "tanh", NULL},
    {"Gelu", "gelu", NULL},
    {"Dropout", "dropout", NULL},
    {"MaxPool", "max_pool", set_pool},
    {"AveragePool", "avg_pool", set_pool},
    {"GlobalAveragePool", "adaptive_pool", NULL},
    {"Reshape", "flatten", NULL},
    {"Flatten", "flatten", NULL},
    {"Squeeze", "flatten", NULL},
    {"Sum", "add", NULL},
    {"Add", "add", NULL},
    {"Mul", "multiply", NULL},
    {"Concat", "concat", NULL},
};

/* The data a node works on: outputs of layers. The graph's own input becomes one when it is first used. */
static pace_status open_input(onnx_reader *reader) {
    pace_name number;
    span name = reader->inputs[0];
    if (!pace_names_find(&number, &reader->names, (const char *)name.at, length_of(name))) return PACE_OK;
    onnx_value *value = &reader->values.items[number];
    if (value->kind != VALUE_INPUT) return PACE_OK;
    const size_list *sizes = &value->sizes;
    if (sizes->count < 2 || sizes->count > 4)
        return fail_node(reader, PACE_E_INPUT, "its data is neither an image nor features of known sizes");
    pace_layer layer = {.kind = PACE_LAYER_INPUT, .word = sizes->count == 2 ? "features" : "image"};
    double size[3] = {1, 1, 1};
    for (unsigned i = 1; i < sizes->count; i++) {
        size[i - 1] = (double)sizes->value[i];
        if (!(size[i - 1] >= 1 && size[i - 1] < 1e9))
            return fail_node(reader, PACE_E_INPUT, "its data has a size of 0");
    }
    layer.shape = (pace_shape){.channels = size[0], .height = size[1], .width = size[2]};
    PACE_TRY(pace_model_append(reader->model, layer, NULL, pace_names_text(&reader->names, number), NULL, 0, NULL));
    value = &reader->values.items[number];
    value->kind = VALUE_LAYER;
    value->layer = (uint32_t)reader->model->layers.count - 1;
    return PACE_OK;
}

static pace_status name_output(onnx_reader *reader, uint32_t layer) {
    onnx_value *slot;
    PACE_TRY(value_slot(&slot, reader, reader->output));
    *slot = (onnx_value){.kind = VALUE_LAYER, .layer = layer};
    return PACE_OK;
}

static pace_status add_node(onnx_reader *reader, const char *word,
                            pace_status (*set)(pace_layer *, const onnx_reader *)) {
    const pace_layer_rule *rule = pace_layer_rule_find(word);
    pace_layer layer = pace_layer_make(rule);
    uint32_t inputs[MAX_NODE_INPUTS];
    size_t count = 0;
    if (reader->input_count == 0) return fail_node(reader, PACE_E_INPUT, "it has no input");
    PACE_TRY(open_input(reader));
    for (size_t i = 0; i < reader->input_count; i++) {
        const onnx_value *value = input_value(reader, i);
        if (value && value->kind == VALUE_LAYER) inputs[count++] = value->layer;
    }
    if (count == 0) return fail_node(reader, PACE_E_INPUT, "none of its inputs was computed before");
    if (count < 2 && (strcmp(word, "add") == 0 || strcmp(word, "multiply") == 0))
        return fail_node(reader, PACE_E_MISSING, "with a constant it is not understood");
    if (set) PACE_TRY(set(&layer, reader));
    if (strcmp(word, "linear") == 0 &&
        reader->model->layers.items[inputs[0]].shape.height * reader->model->layers.items[inputs[0]].shape.width != 1)
        return fail_node(reader, PACE_E_INPUT, "its data is an image; expected it flattened");
    pace_status status = pace_model_append(reader->model, layer, rule, reader->label, inputs, count, NULL);
    if (status == PACE_OK) return name_output(reader, (uint32_t)reader->model->layers.count - 1);
    pace_fail_in(status, reader->label);
    return pace_fail_in(status, reader->file);
}

/* A weight made by the graph: its sizes are numbers of an initializer. */
static pace_status make_weight(onnx_reader *reader) {
    const onnx_value *shape = input_value(reader, 0);
    onnx_value *slot, made = {.kind = VALUE_WEIGHT};
    if (!shape || shape->kind != VALUE_WEIGHT || shape->numbers.count > MAX_SIZES)
        return fail_node(reader, PACE_E_INPUT, "expected sizes that are constants");
    made.sizes = shape->numbers;
    PACE_TRY(value_slot(&slot, reader, reader->output));
    *slot = made;
    return PACE_OK;
}

/* A weight in another shape; one size may be left open. */
static pace_status reshape_weight(onnx_reader *reader) {
    const onnx_value *weight = input_value(reader, 0), *shape = input_value(reader, 1);
    onnx_value *slot, made = {.kind = VALUE_WEIGHT};
    double all = 1, given = 1;
    if (!shape || shape->kind != VALUE_WEIGHT || shape->numbers.count > MAX_SIZES)
        return fail_node(reader, PACE_E_INPUT, "expected sizes that are constants");
    made.sizes = shape->numbers;
    for (unsigned i = 0; i < weight->sizes.count; i++) all *= (double)weight->sizes.value[i];
    for (unsigned i = 0; i < made.sizes.count; i++)
        if (made.sizes.value[i] > 0) given *= (double)made.sizes.value[i];
    for (unsigned i = 0; i < made.sizes.count; i++)
        if (made.sizes.value[i] < 0 && all / given < 1e15) made.sizes.value[i] = (int64_t)(all / given);
    PACE_TRY(value_slot(&slot, reader, reader->output));
    *slot = made;
    return PACE_OK;
}

static pace_status constant(onnx_reader *reader) {
    pace_wire_field field, inner;
    pace_status status, inner_status;
    span rest = reader->node;
    onnx_value *slot;
    PACE_TRY(value_slot(&slot, reader, reader->output));
    size_t at = (size_t)(slot - reader->values.items);
    while (next_field(&field, &rest, reader, &status)) {
        if (field.number != NODE_ATTRIBUTE || !field.is_bytes) continue;
        span attribute = bytes_of(&field);
        while (next_field(&inner, &attribute, reader, &inner_status)) {
            if (inner.number != ATTRIBUTE_TENSOR || !inner.is_bytes) continue;
            PACE_TRY(read_initializer(reader, bytes_of(&inner))); /* under its own name, mostly none */
            pace_name name;
            if (pace_names_find(&name, &reader->names, "", 0) && name < reader->values.count)
                reader->values.items[at] = reader->values.items[name];
        }
        PACE_TRY(inner_status);
    }
    return status;
}

static pace_status read_node(onnx_reader *reader) {
    if (strcmp(reader->op, "ConstantOfShape") == 0) return make_weight(reader);
    if (strcmp(reader->op, "Constant") == 0) return constant(reader);
    const onnx_value *first = input_value(reader, 0);
    if (strcmp(reader->op, "Reshape") == 0 && first && first->kind == VALUE_WEIGHT) return reshape_weight(reader);
    if (strcmp(reader->op, "Identity") == 0 || strcmp(reader->op, "Softmax") == 0)
        return first && first->kind == VALUE_LAYER ? name_output(reader, first->layer)
                                                   : fail_node(reader, PACE_E_INPUT, "its input is no layer's output");
    for (size_t i = 0; i < PACE_COUNT(operators); i++)
        if (strcmp(operators[i].op, reader->op) == 0) return add_node(reader, operators[i].word, operators[i].set);
    return fail_node(reader, PACE_E_MISSING, "this operator is not understood");
}

static void copy_text(char *out, size_t size, span text) {
    snprintf(out, size, "%.*s", (int)(length_of(text) < size ? length_of(text) : size - 1), (const char *)text.at);
}

static pace_status take_node(onnx_reader *reader, span message) {
    pace_wire_field field;
    pace_status status;
    span rest = message, name = no_text(), op = {0};
    reader->node = message;
    reader->input_count = 0;
    reader->output = (span){0};
    while (next_field(&field, &rest, reader, &status)) {
        if (!field.is_bytes) continue;
        span text = bytes_of(&field);
        if (field.number == NODE_INPUT && length_of(text) > 0) {
            if (reader->input_count == MAX_NODE_INPUTS) return broken(reader, "at most 64 inputs of a node");
            reader->inputs[reader->input_count++] = text;
        }
        if (field.number == NODE_OUTPUT && !reader->output.at) reader->output = text;
        if (field.number == NODE_NAME) name = text;
        if (field.number == NODE_OP) op = text;
    }
    PACE_TRY(status);
    if (!op.at || !reader->output.at) return broken(reader, "a node with an operator and an output");
    copy_text(reader->op, sizeof reader->op, op);
    copy_text(reader->label, sizeof reader->label, length_of(name) ? name : reader->output);
    return read_node(reader);
}

/* Calls `take` for the graph's messages of one kind. */
static pace_status each_of(onnx_reader *reader, span graph, uint32_t number, pace_status (*take)(onnx_reader *, span)) {
    pace_wire_field field;
    pace_status status;
    while (next_field(&field, &graph, reader, &status))
        if (field.number == number && field.is_bytes) PACE_TRY(take(reader, bytes_of(&field)));
    return status;
}

static pace_status finish(onnx_reader *reader) {
    pace_model *model = reader->model;
    const pace_layer_rule *rule = pace_layer_rule_find("cross_entropy");
    pace_layer loss = pace_layer_make(rule);
    if (model->layers.count == 0) return broken(reader, "a graph with layers");
    uint32_t last = (uint32_t)model->layers.count - 1;
    loss.training_only = true;
    PACE_TRY(pace_names_add(&model->name, &model->names, reader->file, strlen(reader->file)));
    PACE_TRY(pace_names_add(&model->family, &model->names, "onnx", 4));
    PACE_TRY(pace_names_add(&model->about, &model->names, "An ONNX graph", 13));
    model->source = model->name;
    return pace_model_append(model, loss, rule, "loss", &last, 1, NULL);
}

static pace_status read_graph(onnx_reader *reader, span graph) {
    PACE_TRY(each_of(reader, graph, GRAPH_INITIALIZER, read_initializer));
    PACE_TRY(each_of(reader, graph, GRAPH_INPUT, read_input));
    PACE_TRY(each_of(reader, graph, GRAPH_NODE, take_node));
    return finish(reader);
}

pace_status pace_onnx_parse(pace_model *out, const char *name, const unsigned char *bytes, size_t length) {
    pace_model model = {0};
    onnx_reader reader = {.model = &model, .file = name};
    pace_wire_field field;
    span rest = {bytes, bytes + length}, graph = {0};
    pace_status status = PACE_OK;
    while (next_field(&field, &rest, &reader, &status))
        if (field.number == MODEL_GRAPH && field.is_bytes) graph = bytes_of(&field);
    if (status == PACE_OK && !graph.at) status = broken(&reader, "a graph");
    if (status == PACE_OK) status = pace_names_init(&model.names);
    if (status == PACE_OK) status = pace_names_init(&reader.names);
    if (status == PACE_OK) status = read_graph(&reader, graph);
    pace_names_free(&reader.names);
    PACE_VEC_FREE(&reader.values);
    return PACE_GIVE(out, model, status, pace_model_free(&model));
}

static pace_status parse(void *out, pace_input *input) {
    char *bytes;
    size_t length;
    const char *name = pace_input_name(input);
    PACE_TRY(pace_input_read_all(&bytes, &length, input, (size_t)1 << 31)); /* no protocol buffer is larger */
    pace_status status = length ? pace_onnx_parse(out, name, (const unsigned char *)bytes, length)
                                : pace_fail(PACE_E_INPUT, "%s: no ONNX model: the file is empty", name);
    pace_free(bytes);
    return status;
}

pace_status pace_onnx_read(pace_model *out, const char *path) { return pace_input_read_file(out, path, parse); }

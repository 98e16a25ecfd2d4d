/*
 * YAML into a tree, from libyaml's events. Nodes wait on a stack until that which they are of ends: then they are laid
 * one behind the other. The tree is as deep as MAX_DEPTH at most, so that building it may recurse.
 */
#include "base/yaml_tree.h"
#include "base/order.h"
#include "base/yaml_node.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 64 };

struct pace_yaml {
    char *name;
    const pace_yaml_node *root; /* the first of the tree */
    size_t length;              /* of the tree, bytes */
    void *own;                  /* the tree, where it was parsed */
};

/* While a document is read, `key` and the `at` of scalars are places among the texts, the first of which is empty; the
 * `at` of others is the number of a node. */
typedef struct {
    yaml_parser_t parser;
    const char *name;
    PACE_VEC(pace_yaml_node) open; /* nodes of lists and maps that have not ended */
    PACE_VEC(pace_yaml_node) laid; /* the first is the root's */
    PACE_VEC(char) texts;
    bool has_root;
} yaml_reader;

typedef struct {
    const char *key;
    size_t index;
} key_place;

static pace_status fail_at(const yaml_reader *reader, const yaml_event_t *event, pace_status status, const char *what) {
    return pace_fail(status, "%s:%zu:%zu: %s", reader->name, event->start_mark.line + 1, event->start_mark.column + 1,
                     what);
}

static pace_status fail_parse(const yaml_reader *reader) {
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem ? parser->problem : "malformed YAML";
    if (parser->error == YAML_MEMORY_ERROR)
        return pace_fail(PACE_E_MEMORY, "%s: out of memory in the YAML parser", reader->name);
    yaml_mark_t mark = parser->error == YAML_READER_ERROR ? parser->mark : parser->problem_mark;
    return pace_fail(PACE_E_INPUT, "%s:%zu:%zu: not valid YAML: %s", reader->name, mark.line + 1, mark.column + 1,
                     problem);
}

static pace_status next_event(yaml_reader *reader, yaml_event_t *event) {
    return yaml_parser_parse(&reader->parser, event) ? PACE_OK : fail_parse(reader);
}

static pace_status keep_scalar(int32_t *out, yaml_reader *reader, const yaml_event_t *event) {
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length, at = reader->texts.count, end = at + length + 1;
    if (memchr(text, 0, length)) return fail_at(reader, event, PACE_E_INPUT, "a scalar holds a NUL character");
    PACE_TRY(pace_grow(&reader->texts.items, &reader->texts.capacity, end, 1));
    memcpy(reader->texts.items + at, text, length + 1);
    reader->texts.count = end;
    *out = (int32_t)at;
    return PACE_OK;
}

static const yaml_char_t *anchor_of(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT: return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT: return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT: return event->data.mapping_start.anchor;
    default: return NULL;
    }
}

static pace_status begin_node(pace_yaml_node *out, const yaml_reader *reader, const yaml_event_t *event) {
    if (event->type == YAML_ALIAS_EVENT) return fail_at(reader, event, PACE_E_INPUT, "aliases are not accepted");
    if (anchor_of(event)) return fail_at(reader, event, PACE_E_INPUT, "anchors are not accepted");
    pace_node_kind kind = event->type == YAML_SEQUENCE_START_EVENT  ? PACE_NODE_LIST
                          : event->type == YAML_MAPPING_START_EVENT ? PACE_NODE_MAP
                                                                    : PACE_NODE_SCALAR;
    *out = (pace_yaml_node){.kind = (uint8_t)kind,
                            .line = (uint32_t)event->start_mark.line + 1,
                            .column = (uint32_t)event->start_mark.column + 1};
    return PACE_OK;
}

static pace_status read_node(yaml_reader *reader, const yaml_event_t *event, unsigned depth, pace_yaml_node *out);

static pace_status add_child(yaml_reader *reader, const yaml_event_t *event, unsigned depth, int32_t key) {
    pace_yaml_node child = {0};
    PACE_TRY(read_node(reader, event, depth + 1, &child));
    child.key = key;
    return PACE_PUSH(&reader->open, child);
}

static pace_status read_list(yaml_reader *reader, unsigned depth) {
    for (;;) {
        yaml_event_t event;
        PACE_TRY(next_event(reader, &event));
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        pace_status status = end ? PACE_OK : add_child(reader, &event, depth, 0);
        yaml_event_delete(&event);
        if (end || status != PACE_OK) return status;
    }
}

static pace_status read_key(int32_t *out, yaml_reader *reader, const yaml_event_t *event) {
    if (event->type == YAML_ALIAS_EVENT) return fail_at(reader, event, PACE_E_INPUT, "aliases are not accepted");
    if (event->type != YAML_SCALAR_EVENT) return fail_at(reader, event, PACE_E_INPUT, "a key must be a plain text");
    if (anchor_of(event)) return fail_at(reader, event, PACE_E_INPUT, "anchors are not accepted");
    return keep_scalar(out, reader, event);
}

PACE_ORDER(compare_keys, key_place, PACE_TEXT(key) PACE_UP(index))

static pace_status refuse_duplicates(const yaml_reader *reader, const pace_yaml_node *members, size_t count) {
    if (count < 2) return PACE_OK;
    key_place *keys = pace_alloc(count, sizeof *keys);
    if (!keys) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) keys[i] = (key_place){reader->texts.items + members[i].key, i};
    qsort(keys, count, sizeof *keys, compare_keys);
    pace_status status = PACE_OK;
    for (size_t i = 1; i < count && status == PACE_OK; i++) {
        if (strcmp(keys[i - 1].key, keys[i].key) != 0) continue;
        const pace_yaml_node *value = &members[keys[i].index];
        status = pace_fail(PACE_E_INPUT, "%s:%u:%u: the key \"%s\" occurs twice", reader->name, value->line,
                           value->column, keys[i].key);
    }
    pace_free(keys);
    return status;
}

static pace_status read_member(yaml_reader *reader, unsigned depth, bool *end) {
    yaml_event_t event;
    int32_t key = 0;
    PACE_TRY(next_event(reader, &event));
    *end = event.type == YAML_MAPPING_END_EVENT;
    pace_status status = *end ? PACE_OK : read_key(&key, reader, &event);
    yaml_event_delete(&event);
    if (*end || status != PACE_OK) return status;
    PACE_TRY(next_event(reader, &event));
    status = add_child(reader, &event, depth, key);
    yaml_event_delete(&event);
    return status;
}

static pace_status read_map(yaml_reader *reader, unsigned depth) {
    size_t first = reader->open.count;
    for (bool end = false; !end;) PACE_TRY(read_member(reader, depth, &end));
    return refuse_duplicates(reader, reader->open.items + first, reader->open.count - first);
}

/* The nodes behind `first` are the children of one that ends. */
static pace_status lay_children(yaml_reader *reader, size_t first, pace_yaml_node *parent) {
    size_t count = reader->open.count - first, at = reader->laid.count;
    PACE_TRY(pace_grow(&reader->laid.items, &reader->laid.capacity, at + count, sizeof *parent));
    if (count) memcpy(reader->laid.items + at, reader->open.items + first, count * sizeof *parent);
    if (count) reader->laid.items[at + count - 1].last = true;
    reader->laid.count += count;
    reader->open.count = first;
    parent->at = (int32_t)at;
    parent->count = (uint32_t)count;
    return PACE_OK;
}

static pace_status fill_node(yaml_reader *reader, const yaml_event_t *event, unsigned depth, pace_yaml_node *node) {
    size_t first = reader->open.count;
    node->plain = node->kind == PACE_NODE_SCALAR && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (node->kind == PACE_NODE_SCALAR) return keep_scalar(&node->at, reader, event);
    PACE_TRY(node->kind == PACE_NODE_LIST ? read_list(reader, depth) : read_map(reader, depth));
    return lay_children(reader, first, node);
}

/* `event` opens the node; the caller deletes it. */
static pace_status read_node(yaml_reader *reader, const yaml_event_t *event, unsigned depth, pace_yaml_node *out) {
    if (depth > MAX_DEPTH) return fail_at(reader, event, PACE_E_LIMIT, "nested more than 64 levels deep");
    pace_yaml_node node = {0};
    PACE_TRY(begin_node(&node, reader, event));
    PACE_TRY(fill_node(reader, event, depth, &node));
    *out = node;
    return PACE_OK;
}

static pace_status read_root(yaml_reader *reader, const yaml_event_t *event) {
    pace_yaml_node root = {0};
    PACE_TRY(PACE_PUSH(&reader->texts, '\0'));
    PACE_TRY(PACE_PUSH(&reader->laid, (pace_yaml_node){0}));
    PACE_TRY(read_node(reader, event, 1, &root));
    reader->laid.items[0] = root;
    reader->laid.items[0].last = true;
    reader->has_root = true;
    return PACE_OK;
}

/* One document; a second one is refused rather than dropped. */
static pace_status read_document(yaml_reader *reader) {
    for (;;) {
        yaml_event_t event;
        PACE_TRY(next_event(reader, &event));
        pace_status status = PACE_OK;
        bool end = event.type == YAML_STREAM_END_EVENT;
        bool node = event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_START_EVENT &&
                    event.type != YAML_DOCUMENT_END_EVENT && !end;
        if (event.type == YAML_DOCUMENT_START_EVENT && reader->has_root)
            status = fail_at(reader, &event, PACE_E_INPUT, "more than one document");
        else if (node) status = read_root(reader, &event);
        yaml_event_delete(&event);
        if (end || status != PACE_OK) return status;
    }
}

/* --- the block ---------------------------------------------------------------------------------------------------- */

/* From places to distances. */
static void point_from(pace_yaml_node *nodes, size_t count) {
    const size_t texts = count * sizeof *nodes;
    for (size_t i = 0; i < count; i++) {
        pace_yaml_node *node = &nodes[i];
        size_t own = i * sizeof *node;
        size_t to = node->kind == PACE_NODE_SCALAR ? texts + (size_t)node->at : (size_t)node->at * sizeof *node;
        if (node->key) node->key = (int32_t)(texts + (size_t)node->key - own);
        node->at = (int32_t)((int64_t)to - (int64_t)own);
    }
}

static pace_status is_too_large(const char *name) {
    return pace_fail(PACE_E_LIMIT, "%s: its tree would be larger than 2 GiB", name);
}

static pace_status join(pace_yaml *out, const yaml_reader *reader) {
    size_t nodes = reader->laid.count * sizeof *reader->laid.items, texts = reader->texts.count;
    if (!reader->has_root) return PACE_OK;
    if (nodes + texts > INT32_MAX) return is_too_large(reader->name);
    out->length = (nodes + texts + sizeof(uint32_t) - 1) / sizeof(uint32_t) * sizeof(uint32_t);
    out->own = pace_alloc(out->length, 1);
    if (!out->own) return PACE_E_MEMORY;
    memcpy(out->own, reader->laid.items, nodes);
    memcpy((char *)out->own + nodes, reader->texts.items, texts);
    point_from(out->own, reader->laid.count);
    out->root = out->own;
    return PACE_OK;
}

static pace_status parse(pace_yaml *out, const void *bytes, size_t length) {
    yaml_reader reader = {.name = out->name};
    if (length > INT32_MAX / 2) return is_too_large(out->name); /* texts take less than twice as much */
    if (!yaml_parser_initialize(&reader.parser))
        return pace_fail(PACE_E_MEMORY, "%s: out of memory in the YAML parser", out->name);
    yaml_parser_set_input_string(&reader.parser, length ? bytes : (const void *)"", length);
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    pace_status status = read_document(&reader);
    yaml_parser_delete(&reader.parser);
    if (status == PACE_OK) status = join(out, &reader);
    PACE_VEC_FREE(&reader.open, &reader.laid, &reader.texts);
    return status;
}

static pace_status new_document(pace_yaml **out, const char *name) {
    pace_yaml *yaml = pace_alloc(1, sizeof *yaml);
    if (!yaml) return PACE_E_MEMORY;
    yaml->name = pace_copy_text(name, strlen(name));
    pace_status status = yaml->name ? PACE_OK : PACE_E_MEMORY;
    return PACE_GIVE(out, yaml, status, pace_free(yaml));
}

pace_status pace_yaml_parse(pace_yaml **out, const char *name, const void *bytes, size_t length) {
    pace_yaml *yaml = NULL;
    PACE_TRY(new_document(&yaml, name));
    bool marked = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0; /* a byte order mark */
    if (marked) bytes = (const char *)bytes + 3, length -= 3;
    pace_status status = parse(yaml, bytes, length);
    return PACE_GIVE(out, yaml, status, pace_yaml_free(yaml));
}

pace_status pace_yaml_of_tree(pace_yaml **out, const char *name, const void *tree) {
    pace_yaml *yaml = NULL;
    PACE_TRY(new_document(&yaml, name));
    yaml->root = tree;
    *out = yaml;
    return PACE_OK;
}

void pace_yaml_free(pace_yaml *yaml) {
    if (yaml) PACE_FREE(yaml->own, yaml->name, yaml);
}

const pace_yaml_node *pace_yaml_root(const pace_yaml *yaml) { return yaml ? yaml->root : NULL; }

const char *pace_yaml_name(const pace_yaml *yaml) { return yaml->name; }

const void *pace_yaml_tree(size_t *length, const pace_yaml *yaml) {
    *length = yaml->length;
    return yaml->own;
}

/*
 * YAML into a tree, from libyaml's events. A node owns its children; the tree is as deep as MAX_DEPTH at most, so
 * that building and freeing may recurse.
 */
#include "base/yaml.h"
#include "base/decimal.h"
#include "base/input.h"
#include "base/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 64 };

typedef enum { NODE_SCALAR, NODE_LIST, NODE_MAP } node_kind;

struct pace_yaml_node {
    node_kind kind;
    bool plain; /* a scalar without quotes */
    size_t line, column;
    char *text; /* a scalar's */
    PACE_VEC(char *) keys;
    PACE_VEC(struct pace_yaml_node *) children;
};

struct pace_yaml {
    char *name;
    pace_yaml_node *root;
};

typedef struct {
    yaml_parser_t parser;
    const char *name;
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

/* Only the memory of the tree, not what hangs outside it. */
static void free_node(pace_yaml_node *node) {
    if (!node) return;
    for (size_t i = 0; i < node->keys.count; i++) pace_free(node->keys.items[i]);
    for (size_t i = 0; i < node->children.count; i++) free_node(node->children.items[i]);
    PACE_VEC_FREE(&node->keys, &node->children);
    PACE_FREE(node->text, node);
}

static pace_status copy_scalar(char **out, const yaml_reader *reader, const yaml_event_t *event) {
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, 0, length)) return fail_at(reader, event, PACE_E_INPUT, "a scalar holds a NUL character");
    *out = pace_copy_text(text, length);
    return *out ? PACE_OK : PACE_E_MEMORY;
}

static const yaml_char_t *anchor_of(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT: return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT: return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT: return event->data.mapping_start.anchor;
    default: return NULL;
    }
}

static pace_status new_node(pace_yaml_node **out, const yaml_reader *reader, const yaml_event_t *event) {
    if (event->type == YAML_ALIAS_EVENT) return fail_at(reader, event, PACE_E_INPUT, "aliases are not accepted");
    if (anchor_of(event)) return fail_at(reader, event, PACE_E_INPUT, "anchors are not accepted");
    pace_yaml_node *node = pace_alloc(1, sizeof *node);
    if (!node) return PACE_E_MEMORY;
    node->line = event->start_mark.line + 1;
    node->column = event->start_mark.column + 1;
    node->kind = event->type == YAML_SEQUENCE_START_EVENT  ? NODE_LIST
                 : event->type == YAML_MAPPING_START_EVENT ? NODE_MAP
                                                           : NODE_SCALAR;
    *out = node;
    return PACE_OK;
}

static pace_status read_node(yaml_reader *reader, const yaml_event_t *event, unsigned depth, pace_yaml_node **out);

static pace_status add_child(yaml_reader *reader, const yaml_event_t *event, unsigned depth, pace_yaml_node *parent) {
    pace_yaml_node *child = NULL;
    PACE_TRY(read_node(reader, event, depth + 1, &child));
    return PACE_KEEP(&parent->children, child, free_node(child));
}

static pace_status read_list(yaml_reader *reader, unsigned depth, pace_yaml_node *list) {
    for (;;) {
        yaml_event_t event;
        PACE_TRY(next_event(reader, &event));
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        pace_status status = end ? PACE_OK : add_child(reader, &event, depth, list);
        yaml_event_delete(&event);
        if (end || status != PACE_OK) return status;
    }
}

static pace_status add_key(yaml_reader *reader, const yaml_event_t *event, pace_yaml_node *map) {
    if (event->type == YAML_ALIAS_EVENT) return fail_at(reader, event, PACE_E_INPUT, "aliases are not accepted");
    if (event->type != YAML_SCALAR_EVENT) return fail_at(reader, event, PACE_E_INPUT, "a key must be a plain text");
    if (anchor_of(event)) return fail_at(reader, event, PACE_E_INPUT, "anchors are not accepted");
    char *key = NULL;
    PACE_TRY(copy_scalar(&key, reader, event));
    return PACE_KEEP(&map->keys, key, pace_free(key));
}

PACE_ORDER(compare_keys, key_place, PACE_TEXT(key) PACE_UP(index))

static pace_status refuse_duplicates(const yaml_reader *reader, const pace_yaml_node *map) {
    size_t count = map->keys.count;
    if (count < 2) return PACE_OK;
    key_place *keys = pace_alloc(count, sizeof *keys);
    if (!keys) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) keys[i] = (key_place){map->keys.items[i], i};
    qsort(keys, count, sizeof *keys, compare_keys);
    pace_status status = PACE_OK;
    for (size_t i = 1; i < count && status == PACE_OK; i++) {
        if (strcmp(keys[i - 1].key, keys[i].key) != 0) continue;
        const pace_yaml_node *value = map->children.items[keys[i].index];
        status = pace_fail(PACE_E_INPUT, "%s:%zu:%zu: the key \"%s\" occurs twice", reader->name, value->line,
                           value->column, keys[i].key);
    }
    pace_free(keys);
    return status;
}

static pace_status read_member(yaml_reader *reader, unsigned depth, pace_yaml_node *map, bool *end) {
    yaml_event_t event;
    PACE_TRY(next_event(reader, &event));
    *end = event.type == YAML_MAPPING_END_EVENT;
    pace_status status = *end ? PACE_OK : add_key(reader, &event, map);
    yaml_event_delete(&event);
    if (*end || status != PACE_OK) return status;
    PACE_TRY(next_event(reader, &event));
    status = add_child(reader, &event, depth, map);
    yaml_event_delete(&event);
    return status;
}

static pace_status read_map(yaml_reader *reader, unsigned depth, pace_yaml_node *map) {
    for (bool end = false; !end;) PACE_TRY(read_member(reader, depth, map, &end));
    return refuse_duplicates(reader, map);
}

static pace_status fill_node(yaml_reader *reader, const yaml_event_t *event, unsigned depth, pace_yaml_node *node) {
    if (node->kind == NODE_LIST) return read_list(reader, depth, node);
    if (node->kind == NODE_MAP) return read_map(reader, depth, node);
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return copy_scalar(&node->text, reader, event);
}

/* `event` opens the node; the caller deletes it. */
static pace_status read_node(yaml_reader *reader, const yaml_event_t *event, unsigned depth, pace_yaml_node **out) {
    if (depth > MAX_DEPTH) return fail_at(reader, event, PACE_E_LIMIT, "nested more than 64 levels deep");
    pace_yaml_node *node = NULL;
    PACE_TRY(new_node(&node, reader, event));
    pace_status status = fill_node(reader, event, depth, node);
    return PACE_GIVE(out, node, status, free_node(node));
}

/* One document; a second one is refused rather than dropped. */
static pace_status read_document(yaml_reader *reader, pace_yaml *yaml) {
    for (;;) {
        yaml_event_t event;
        PACE_TRY(next_event(reader, &event));
        pace_status status = PACE_OK;
        bool end = event.type == YAML_STREAM_END_EVENT;
        bool node = event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_START_EVENT &&
                    event.type != YAML_DOCUMENT_END_EVENT && !end;
        if (event.type == YAML_DOCUMENT_START_EVENT && yaml->root)
            status = fail_at(reader, &event, PACE_E_INPUT, "more than one document");
        else if (node) status = read_node(reader, &event, 1, &yaml->root);
        yaml_event_delete(&event);
        if (end || status != PACE_OK) return status;
    }
}

static pace_status new_document(pace_yaml **out, const char *name) {
    pace_yaml *yaml = pace_alloc(1, sizeof *yaml);
    if (!yaml) return PACE_E_MEMORY;
    yaml->name = pace_copy_text(name, strlen(name));
    if (!yaml->name) {
        pace_free(yaml);
        return PACE_E_MEMORY;
    }
    *out = yaml;
    return PACE_OK;
}

pace_status pace_yaml_parse(pace_yaml **out, const char *name, const void *bytes, size_t length) {
    pace_yaml *yaml = NULL;
    PACE_TRY(new_document(&yaml, name));
    bool marked = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0; /* a byte order mark */
    if (marked) bytes = (const char *)bytes + 3, length -= 3;
    yaml_reader reader = {.name = name};
    pace_status status = PACE_OK;
    if (yaml_parser_initialize(&reader.parser)) {
        yaml_parser_set_input_string(&reader.parser, length ? bytes : (const void *)"", length);
        yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
        status = read_document(&reader, yaml);
        yaml_parser_delete(&reader.parser);
    } else {
        status = pace_fail(PACE_E_MEMORY, "%s: out of memory in the YAML parser", name);
    }
    return PACE_GIVE(out, yaml, status, pace_yaml_free(yaml));
}

void pace_yaml_free(pace_yaml *yaml) {
    if (!yaml) return;
    free_node(yaml->root);
    PACE_FREE(yaml->name, yaml);
}

const pace_yaml_node *pace_yaml_root(const pace_yaml *yaml) { return yaml ? yaml->root : NULL; }

bool pace_yaml_is_map(const pace_yaml_node *node) { return node && node->kind == NODE_MAP; }

bool pace_yaml_is_list(const pace_yaml_node *node) { return node && node->kind == NODE_LIST; }

size_t pace_yaml_count(const pace_yaml_node *node) { return node ? node->children.count : 0; }

const pace_yaml_node *pace_yaml_item(const pace_yaml_node *node, size_t index) {
    return index < pace_yaml_count(node) ? node->children.items[index] : NULL;
}

const char *pace_yaml_key(const pace_yaml_node *map, size_t index) {
    return pace_yaml_is_map(map) && index < map->keys.count ? map->keys.items[index] : NULL;
}

const pace_yaml_node *pace_yaml_get(const pace_yaml_node *map, const char *key) {
    if (!pace_yaml_is_map(map)) return NULL;
    for (size_t i = 0; i < map->keys.count; i++)
        if (strcmp(map->keys.items[i], key) == 0) return map->children.items[i];
    return NULL;
}

const char *pace_yaml_text(const pace_yaml_node *node) { return node && node->kind == NODE_SCALAR ? node->text : NULL; }

const char *pace_yaml_text_of(const pace_yaml_node *map, const char *key) {
    return pace_yaml_text(pace_yaml_get(map, key));
}

const char *pace_yaml_place(const pace_yaml *yaml, const pace_yaml_node *node) {
    static _Thread_local char place[512];
    snprintf(place, sizeof place, "%.400s:%zu:%zu", yaml->name, node ? node->line : 1, node ? node->column : 1);
    return place;
}

pace_status pace_yaml_fail(const pace_yaml *yaml, const pace_yaml_node *node, const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    pace_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pace_fail(PACE_E_INPUT, "%s: %s", pace_yaml_place(yaml, node), text);
}

static const char *skip_digits(const char *at) {
    while (*at >= '0' && *at <= '9') at++;
    return at;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit on either side of the point. */
static bool is_plain_number(const char *at) {
    if (*at == '+' || *at == '-') at++;
    const char *whole = at;
    at = skip_digits(at);
    size_t digits = (size_t)(at - whole);
    if (*at == '.') {
        const char *fraction = at + 1;
        at = skip_digits(fraction);
        digits += (size_t)(at - fraction);
    }
    if (digits == 0) return false;
    if (*at == 'e' || *at == 'E') {
        at++;
        if (*at == '+' || *at == '-') at++;
        const char *exponent = at;
        at = skip_digits(at);
        if (at == exponent) return false;
    }
    return *at == '\0';
}

pace_status pace_yaml_number(double *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    const char *text = pace_yaml_text(node);
    if (!text) return pace_yaml_fail(yaml, node, "expected a number");
    if (!node->plain || !is_plain_number(text))
        return pace_yaml_fail(yaml, node, "expected a number, found \"%.80s\"", text);
    if (!pace_number_parse(out, text)) return pace_yaml_fail(yaml, node, "%.80s is out of range", text);
    return PACE_OK;
}

static pace_status read_input(void *out, pace_input *input) {
    enum { MOST = 16 << 20 };
    char *bytes;
    size_t length;
    PACE_TRY(pace_input_read_all(&bytes, &length, input, MOST));
    pace_status status = pace_yaml_parse(out, pace_input_name(input), bytes, length);
    pace_free(bytes);
    return status;
}

pace_status pace_yaml_load(pace_yaml **out, const char *path) { return pace_input_read_file(out, path, read_input); }

pace_status pace_yaml_read_file(void *out, const char *path, pace_status (*read)(void *out, const pace_yaml *yaml)) {
    pace_yaml *yaml;
    PACE_TRY(pace_yaml_load(&yaml, path));
    pace_status status = read(out, yaml);
    pace_yaml_free(yaml);
    return status;
}

#include "base/yaml.h"
#include "base/decimal.h"
#include "base/input.h"
#include "base/yaml_node.h"

#include <stdio.h>
#include <string.h>

static const char *text_at(const pace_yaml_node *node, int32_t distance) { return (const char *)node + distance; }

static const pace_yaml_node *children_of(const pace_yaml_node *node) {
    return (const pace_yaml_node *)((const char *)node + node->at);
}

bool pace_yaml_is_map(const pace_yaml_node *node) { return node && node->kind == PACE_NODE_MAP; }

bool pace_yaml_is_list(const pace_yaml_node *node) { return node && node->kind == PACE_NODE_LIST; }

size_t pace_yaml_count(const pace_yaml_node *node) { return node ? node->count : 0; }

const pace_yaml_node *pace_yaml_item(const pace_yaml_node *node, size_t index) {
    return index < pace_yaml_count(node) ? children_of(node) + index : NULL;
}

const char *pace_yaml_key(const pace_yaml_node *map, size_t index) {
    const pace_yaml_node *member = pace_yaml_is_map(map) ? pace_yaml_item(map, index) : NULL;
    return member ? text_at(member, member->key) : NULL;
}

const pace_yaml_node *pace_yaml_first(const pace_yaml_node *node) { return pace_yaml_item(node, 0); }

const pace_yaml_node *pace_yaml_next(const pace_yaml_node *item) { return item->last ? NULL : item + 1; }

const char *pace_yaml_key_of(const pace_yaml_node *value) { return value->key ? text_at(value, value->key) : NULL; }

const pace_yaml_node *pace_yaml_get(const pace_yaml_node *map, const char *key) {
    if (!pace_yaml_is_map(map)) return NULL;
    const pace_yaml_node *member = children_of(map), *end = member + map->count;
    for (; member < end; member++)
        if (strcmp(text_at(member, member->key), key) == 0) return member;
    return NULL;
}

const char *pace_yaml_text(const pace_yaml_node *node) {
    return node && node->kind == PACE_NODE_SCALAR ? text_at(node, node->at) : NULL;
}

const char *pace_yaml_text_of(const pace_yaml_node *map, const char *key) {
    return pace_yaml_text(pace_yaml_get(map, key));
}

const char *pace_yaml_place(const pace_yaml *yaml, const pace_yaml_node *node) {
    static _Thread_local char place[512];
    snprintf(place, sizeof place, "%.400s:%u:%u", pace_yaml_name(yaml), node ? node->line : 1, node ? node->column : 1);
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

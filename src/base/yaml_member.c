#include "base/yaml_member.h"
#include "base/print.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

pace_status pace_yaml_check_schema(const pace_yaml *yaml, const char *schema, const char *what) {
    const pace_yaml_node *root = pace_yaml_root(yaml);
    const char *found = pace_yaml_text_of(root, "schema");
    if (found && strcmp(found, schema) == 0) return PACE_OK;
    return pace_yaml_fail(yaml, root, "expected %s (\"schema\": \"%s\"), found \"%.40s\"", what, schema,
                          found ? found : "none");
}

pace_status pace_yaml_member(const pace_yaml_node **out, const pace_yaml *yaml, const pace_yaml_node *map,
                             const char *key) {
    const pace_yaml_node *node = pace_yaml_get(map, key);
    if (!node) return pace_yaml_fail(yaml, map, "expected \"%s\"", key);
    *out = node;
    return PACE_OK;
}

static bool is_one_of(const char *key, const char *const *keys) {
    while (*keys && strcmp(*keys, key) != 0) keys++;
    return *keys != NULL;
}

pace_status pace_yaml_only(const pace_yaml *yaml, const pace_yaml_node *map, const char *const *keys,
                           const char *what) {
    char all[600] = "";
    PACE_YAML_EACH (one, map) {
        const char *key = pace_yaml_key_of(one);
        if (key && is_one_of(key, keys)) continue;
        for (size_t i = 0; keys[i]; i++) pace_list(all, sizeof all, !keys[i + 1] ? " or " : ", ", "%s", keys[i]);
        return pace_yaml_fail(yaml, one, "unknown member \"%.60s\" of %s: expected %s", key ? key : "", what, all);
    }
    return PACE_OK;
}

pace_status pace_yaml_list(const pace_yaml_node **out, const pace_yaml *yaml, const pace_yaml_node *map,
                           const char *key) {
    const pace_yaml_node *node = pace_yaml_get(map, key);
    if (!pace_yaml_is_list(node) || pace_yaml_count(node) == 0)
        return pace_yaml_fail(yaml, node ? node : map, "expected a list \"%s\"", key);
    *out = node;
    return PACE_OK;
}

static pace_status number(double *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key) {
    const pace_yaml_node *node = NULL;
    PACE_TRY(pace_yaml_member(&node, yaml, map, key));
    return pace_yaml_number(out, yaml, node);
}

/* Where a member is, or should be. */
static const pace_yaml_node *place(const pace_yaml_node *map, const char *key) {
    const pace_yaml_node *node = pace_yaml_get(map, key);
    return node ? node : map;
}

pace_status pace_yaml_real(double *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key, double least,
                           double most) {
    double value;
    PACE_TRY(number(&value, yaml, map, key));
    if (!(value >= least && value <= most))
        return pace_yaml_fail(yaml, place(map, key), "expected \"%s\" of %g to %g, found %g", key, least, most, value);
    *out = value;
    return PACE_OK;
}

pace_status pace_yaml_positive(double *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key,
                               double most) {
    double value;
    PACE_TRY(number(&value, yaml, map, key));
    if (!(value > 0 && value <= most))
        return pace_yaml_fail(yaml, place(map, key), "expected \"%s\" above 0 and at most %g, found %g", key, most,
                              value);
    *out = value;
    return PACE_OK;
}

pace_status pace_yaml_whole(int *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key, int least,
                            int most) {
    double value;
    PACE_TRY(number(&value, yaml, map, key));
    if (!(value >= least && value <= most) || value != floor(value))
        return pace_yaml_fail(yaml, place(map, key), "expected \"%s\", a whole number of %d to %d, found %g", key,
                              least, most, value);
    *out = (int)value;
    return PACE_OK;
}

pace_status pace_yaml_copy(char *out, size_t size, const pace_yaml *yaml, const pace_yaml_node *map, const char *key) {
    const char *text = pace_yaml_text_of(map, key);
    if (!text || strlen(text) >= size)
        return pace_yaml_fail(yaml, place(map, key), "expected \"%s\", a text of less than %zu bytes", key, size);
    memcpy(out, text, strlen(text) + 1);
    return PACE_OK;
}

pace_status pace_yaml_word(const char **out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key) {
    const pace_yaml_node *node = NULL;
    PACE_TRY(pace_yaml_member(&node, yaml, map, key));
    const char *text = pace_yaml_text(node);
    if (!text || !*text) return pace_yaml_fail(yaml, node, "%s: expected a text", key);
    *out = text;
    return PACE_OK;
}

pace_status pace_yaml_flag(bool *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key) {
    const pace_yaml_node *node = pace_yaml_get(map, key);
    const char *text = node ? pace_yaml_text(node) : "false";
    if (!text || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0))
        return pace_yaml_fail(yaml, node, "%s: expected true or false", key);
    *out = strcmp(text, "true") == 0;
    return PACE_OK;
}

bool pace_word_listed(const pace_yaml_node *list, const char *word) {
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const char *text = pace_yaml_text(pace_yaml_item(list, i));
        if (text && pace_same_word(text, word)) return true;
    }
    return false;
}

int pace_text_place(const pace_yaml_node *list, const char *text) {
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const char *one = pace_yaml_text(pace_yaml_item(list, i));
        if (one && strcmp(one, text) == 0) return (int)i;
    }
    return -1;
}

bool pace_text_listed(const pace_yaml_node *list, const char *text) { return pace_text_place(list, text) >= 0; }

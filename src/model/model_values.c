#include "model/model_values.h"

#include <string.h>

pace_status pace_model_number(double *out, const pace_yaml *yaml, const pace_yaml_node *node, const pace_scope *scope) {
    const char *text = pace_yaml_text(node);
    if (!text) return pace_yaml_fail(yaml, node, "expected a number or an expression");
    pace_status status = pace_expression(out, text, scope);
    return status == PACE_OK ? status : pace_fail_in(status, pace_yaml_place(yaml, node));
}

pace_status pace_number_push(pace_number_list *list, double value) { return PACE_PUSH(list, value); }

/* A list of expressions, the name of a list, or one expression. */
pace_status pace_model_numbers(pace_number_list *out, const pace_yaml *yaml, const pace_yaml_node *node,
                               const pace_scope *scope) {
    const char *text = pace_yaml_text(node);
    const pace_binding *binding = text ? pace_scope_find(scope, text, strlen(text)) : NULL;
    double value = 0;
    if (binding) {
        for (size_t i = 0; i < binding->count; i++) PACE_TRY(pace_number_push(out, binding->values[i]));
        return PACE_OK;
    }
    if (!pace_yaml_is_list(node)) {
        PACE_TRY(pace_model_number(&value, yaml, node, scope));
        return pace_number_push(out, value);
    }
    PACE_YAML_EACH (entry, node) {
        PACE_TRY(pace_model_number(&value, yaml, entry, scope));
        PACE_TRY(pace_number_push(out, value));
    }
    return PACE_OK;
}

static bool is_bound(const pace_scope *scope, const char *name) {
    return PACE_FIND(scope->bindings.items, scope->bindings.count, name, name) != NULL;
}

/* Binds the members of a map in `scope`, their values read in `values`; those bound already stay when `defaults`. */
pace_status pace_model_bind(pace_scope *scope, const pace_yaml *yaml, const pace_yaml_node *map,
                            const pace_scope *values, bool defaults) {
    if (map && !pace_yaml_is_map(map)) return pace_yaml_fail(yaml, map, "expected a map of names and numbers");
    PACE_YAML_EACH (one, map) {
        const char *key = pace_yaml_key_of(one);
        pace_number_list list = {0};
        if (defaults && is_bound(scope, key)) continue;
        pace_status status = pace_model_numbers(&list, yaml, one, values);
        if (status == PACE_OK) status = pace_scope_bind(scope, key, list.items, list.count);
        PACE_VEC_FREE(&list);
        if (status != PACE_OK) return status;
    }
    return PACE_OK;
}

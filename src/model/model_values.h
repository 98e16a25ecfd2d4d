/* Numbers of a model description: scalars of its YAML are expressions over the names of a scope. */
#pragma once

#include "base/yaml.h"
#include "model/expression.h"

typedef PACE_VEC(double) pace_number_list;

pace_status pace_number_push(pace_number_list *list, double value) PACE_MUST_CHECK;

/** One number. Errors name the node's place. */
pace_status pace_model_number(double *out, const pace_yaml *yaml, const pace_yaml_node *node,
                              const pace_scope *scope) PACE_MUST_CHECK;

/** Appends a list of expressions, the numbers of a named list, or one expression's. */
pace_status pace_model_numbers(pace_number_list *out, const pace_yaml *yaml, const pace_yaml_node *node,
                               const pace_scope *scope) PACE_MUST_CHECK;

/** Binds the members of a map in `scope`, their values read in `values`; with `defaults`, those that `scope` itself has
 * already stay. */
pace_status pace_model_bind(pace_scope *scope, const pace_yaml *yaml, const pace_yaml_node *map,
                            const pace_scope *values, bool defaults) PACE_MUST_CHECK;

/*
 * Numbers of a model description as small expressions over named values: "4*hidden", "(size - 1) / 2 + 1".
 * Grammar: + - * / % of numbers, names and brackets; % is the remainder of whole numbers; of sums a > b is 1 or 0.
 */
#pragma once

#include "base/memory.h"

typedef struct {
    char *name;
    double *values; /* a list of numbers; a plain number is a list of one */
    size_t count;
} pace_binding;

/* Names and their values, and the names around them. */
typedef struct pace_scope pace_scope;
struct pace_scope {
    const pace_scope *outer; /* borrowed, may be NULL */
    PACE_VEC(pace_binding) bindings;
};

/** Binds a name, replacing its earlier value in this scope. Copies name and values. */
pace_status pace_scope_bind(pace_scope *scope, const char *name, const double *values, size_t count) PACE_MUST_CHECK;
/** The innermost binding of a name of `length` bytes, or NULL. */
const pace_binding *pace_scope_find(const pace_scope *scope, const char *name, size_t length);
void pace_scope_free(pace_scope *scope);

/** Evaluates `text`. PACE_E_INPUT says what was expected; the caller adds the place. */
pace_status pace_expression(double *out, const char *text, const pace_scope *scope) PACE_MUST_CHECK;

#include "model/expression.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 32 };

pace_status pace_scope_bind(pace_scope *scope, const char *name, const double *values, size_t count) {
    pace_binding binding = {.count = count};
    binding.name = pace_copy_text(name, strlen(name));
    binding.values = pace_alloc(count + 1, sizeof *values);
    if (!binding.name || !binding.values) goto out;
    for (size_t i = 0; i < count; i++) binding.values[i] = values[i];
    PACE_ITEMS (pace_binding, old, &scope->bindings) {
        if (strcmp(old->name, name) != 0) continue;
        PACE_FREE(old->name, old->values);
        *old = binding;
        return PACE_OK;
    }
    if (PACE_PUSH(&scope->bindings, binding) == PACE_OK) return PACE_OK;
out:
    PACE_FREE(binding.name, binding.values);
    return PACE_E_MEMORY;
}

const pace_binding *pace_scope_find(const pace_scope *scope, const char *name, size_t length) {
    for (; scope; scope = scope->outer)
        PACE_ITEMS (const pace_binding, binding, &scope->bindings)
            if (strncmp(binding->name, name, length) == 0 && binding->name[length] == '\0') return binding;
    return NULL;
}

void pace_scope_free(pace_scope *scope) {
    for (size_t i = 0; i < scope->bindings.count; i++) {
        PACE_FREE(scope->bindings.items[i].name, scope->bindings.items[i].values);
    }
    PACE_VEC_FREE(&scope->bindings);
}

typedef struct {
    const char *text, *at;
    const pace_scope *scope;
    unsigned depth;
} expression_reader;

static void skip_blanks(expression_reader *reader) {
    while (*reader->at == ' ' || *reader->at == '\t') reader->at++;
}

static bool take(expression_reader *reader, char c) {
    skip_blanks(reader);
    if (*reader->at != c) return false;
    reader->at++;
    return true;
}

static pace_status expected(const expression_reader *reader, const char *what) {
    return pace_fail(PACE_E_INPUT, "\"%.80s\": expected %s at character %zu", reader->text, what,
                     (size_t)(reader->at - reader->text) + 1);
}

/* digits [. digits] [e [-] digits]; written out, since the C library's depends on the locale. */
static double read_number(expression_reader *reader) {
    double value = 0, scale = 1;
    int exponent = 0, sign = 1;
    while (pace_is_digit(*reader->at)) value = value * 10 + (*reader->at++ - '0');
    if (*reader->at == '.')
        for (reader->at++; pace_is_digit(*reader->at); scale *= 10) value = value * 10 + (*reader->at++ - '0');
    if ((*reader->at == 'e' || *reader->at == 'E') &&
        (pace_is_digit(reader->at[1]) || (reader->at[1] == '-' && pace_is_digit(reader->at[2])))) {
        if (*++reader->at == '-') {
            sign = -1;
            reader->at++;
        }
        while (pace_is_digit(*reader->at) && exponent < 400) exponent = exponent * 10 + (*reader->at++ - '0');
    }
    return value / scale * pow(10, sign * exponent);
}

static pace_status read_comparison(double *out, expression_reader *reader);

static pace_status read_name(double *out, expression_reader *reader) {
    const char *start = reader->at;
    while (pace_is_name(*reader->at)) reader->at++;
    size_t length = (size_t)(reader->at - start);
    const pace_binding *binding = pace_scope_find(reader->scope, start, length);
    if (!binding)
        return pace_fail(PACE_E_INPUT, "\"%.80s\": nothing is named \"%.*s\"", reader->text, (int)length, start);
    if (binding->count != 1)
        return pace_fail(PACE_E_INPUT, "\"%.80s\": \"%s\" is a list, expected a number", reader->text, binding->name);
    *out = binding->values[0];
    return PACE_OK;
}

static pace_status read_factor(double *out, expression_reader *reader) {
    if (reader->depth >= MAX_DEPTH) return expected(reader, "no more than 32 levels of brackets");
    if (take(reader, '-') || take(reader, '(')) {
        bool negated = reader->at[-1] == '-';
        reader->depth++;
        PACE_TRY(negated ? read_factor(out, reader) : read_comparison(out, reader));
        reader->depth--;
        if (negated) *out = -*out;
        else if (!take(reader, ')')) return expected(reader, "a closing bracket");
        return PACE_OK;
    }
    if (!pace_is_name(*reader->at)) return expected(reader, "a number or a name");
    if (!pace_is_digit(*reader->at)) return read_name(out, reader);
    *out = read_number(reader);
    return PACE_OK;
}

static pace_status read_product(double *out, expression_reader *reader) {
    PACE_TRY(read_factor(out, reader));
    for (;;) {
        double right = 0;
        char operation = take(reader, '*') ? '*' : take(reader, '/') ? '/' : take(reader, '%') ? '%' : 0;
        if (!operation) return PACE_OK;
        PACE_TRY(read_factor(&right, reader));
        if (operation != '*' && right == 0) return pace_fail(PACE_E_INPUT, "\"%.80s\": division by 0", reader->text);
        *out = operation == '*' ? *out * right : operation == '/' ? *out / right : fmod(*out, right);
    }
}

static pace_status read_sum(double *out, expression_reader *reader) {
    PACE_TRY(read_product(out, reader));
    for (;;) {
        double right = 0;
        char operation = take(reader, '+') ? '+' : take(reader, '-') ? '-' : 0;
        if (!operation) return PACE_OK;
        PACE_TRY(read_product(&right, reader));
        *out = operation == '+' ? *out + right : *out - right;
    }
}

static pace_status read_comparison(double *out, expression_reader *reader) {
    double right = 0;
    PACE_TRY(read_sum(out, reader));
    if (!take(reader, '>')) return PACE_OK;
    PACE_TRY(read_sum(&right, reader));
    *out = *out > right;
    return PACE_OK;
}

pace_status pace_expression(double *out, const char *text, const pace_scope *scope) {
    expression_reader reader = {text, text, scope, 0};
    double value = 0;
    PACE_TRY(read_comparison(&value, &reader));
    skip_blanks(&reader);
    if (*reader.at) return expected(&reader, "an operator or the end");
    if (!isfinite(value)) return pace_fail(PACE_E_INPUT, "\"%.80s\": out of range", text);
    *out = value;
    return PACE_OK;
}

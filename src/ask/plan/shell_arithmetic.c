#include "ask/plan/shell_arithmetic.h"

#include "base/text.h"

#include <string.h>

enum { DEEPEST = 16 };

static const int64_t most = 1000000000000000;

typedef struct {
    const char *at, *end;
    pace_shell_variable variable;
    const void *context;
    int depth;
    bool failed;
} expression;

static int64_t choice_of(expression *e);

static char next_sign(expression *e) {
    while (e->at < e->end && pace_is_space(*e->at)) e->at++;
    return e->at < e->end ? *e->at : '\0';
}

static bool take(expression *e, char sign) { return next_sign(e) == sign && (e->at++, true); }

static int64_t fail(expression *e) { return e->failed = true, 0; }

/* An expression inside another one: in brackets, or a branch of a choice. Fails where they are DEEPEST deep. */
static int64_t branch_of(expression *e) {
    if (e->failed || e->depth >= DEEPEST) return fail(e);
    e->depth++;
    int64_t value = choice_of(e);
    e->depth--;
    return value;
}

static int64_t number_of(expression *e) {
    int64_t number = 0;
    while (e->at < e->end && pace_is_digit(*e->at) && number < most) number = number * 10 + (*e->at++ - '0');
    return number;
}

/* "N", "$N", "${N}". */
static int64_t variable_of(expression *e) {
    int64_t number;
    bool braces = take(e, '$') && e->at < e->end && *e->at == '{' && (e->at++, true);
    const char *name = e->at;
    while (e->at < e->end && pace_is_name(*e->at)) e->at++;
    size_t length = (size_t)(e->at - name);
    if (length == 0 || (braces && !take(e, '}')) || !e->variable(&number, e->context, name, length)) return fail(e);
    return number;
}

static int64_t factor_of(expression *e) {
    int64_t sign = 1;
    while (take(e, '-')) sign = -sign;
    if (pace_is_digit(next_sign(e))) return sign * number_of(e);
    if (!take(e, '(')) return sign * variable_of(e);
    int64_t inside = branch_of(e);
    return take(e, ')') ? sign * inside : fail(e);
}

static int64_t within(expression *e, double value) {
    return value > -(double)most && value < (double)most ? (int64_t)value : fail(e);
}

static int64_t product_of(expression *e) {
    int64_t left = factor_of(e);
    while (!e->failed && strchr("*/%", next_sign(e)) && e->at < e->end) {
        char sign = *e->at++;
        int64_t right = factor_of(e);
        if (sign == '*') left = within(e, (double)left * (double)right);
        else if (right == 0) return fail(e);
        else left = sign == '/' ? left / right : left % right;
    }
    return left;
}

static int64_t sum_of(expression *e) {
    int64_t left = product_of(e);
    while (!e->failed && strchr("+-", next_sign(e)) && e->at < e->end) {
        char sign = *e->at++;
        int64_t right = product_of(e);
        left = within(e, sign == '+' ? (double)left + (double)right : (double)left - (double)right);
    }
    return left;
}

/* The two signs of a comparison that is next; 0 = none is. */
static int comparison(expression *e) {
    static const char *const signs[] = {"", "==", "!=", "<=", ">=", "<", ">"};
    next_sign(e);
    for (int i = 1; i < 7; i++) {
        size_t length = strlen(signs[i]);
        if ((size_t)(e->end - e->at) < length || memcmp(e->at, signs[i], length) != 0) continue;
        e->at += length;
        return i;
    }
    return 0;
}

static int64_t comparison_of(expression *e) {
    int64_t left = sum_of(e);
    for (int sign; !e->failed && (sign = comparison(e)) != 0;) {
        int64_t right = sum_of(e);
        bool is[] = {false, left == right, left != right, left <= right, left >= right, (left < right), (left > right)};
        left = is[sign];
    }
    return left;
}

/* "TP > 1 ? 8 : 1". */
static int64_t choice_of(expression *e) {
    int64_t chosen = comparison_of(e);
    if (!take(e, '?')) return chosen;
    bool first = chosen != 0;
    int64_t left = branch_of(e);
    if (!take(e, ':')) return fail(e);
    int64_t right = branch_of(e);
    return first ? left : right;
}

bool pace_shell_arithmetic(int64_t *out, const char *text, size_t length, pace_shell_variable variable,
                           const void *context) {
    expression e = {.at = text, .end = text + length, .variable = variable, .context = context};
    *out = choice_of(&e);
    return !e.failed && next_sign(&e) == '\0';
}

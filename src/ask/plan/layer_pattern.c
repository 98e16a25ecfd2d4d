#include "ask/plan/layer_pattern.h"

#include "base/text.h"

#include <string.h>

enum { LAYERS_MOST = 1000, DEEPEST = 8 };

typedef struct {
    const char *at;
    int depth, count;
    bool has[LAYERS_MOST]; /* experts, by layer */
    bool failed;
} expression;

static void sum_of(expression *e);

static bool take(expression *e, char sign) {
    while (pace_is_space(*e->at)) e->at++;
    return *e->at == sign && (e->at++, true);
}

static int number_of(expression *e) {
    int number = 0;
    while (pace_is_space(*e->at)) e->at++;
    if (!pace_is_digit(*e->at)) e->failed = true;
    while (pace_is_digit(*e->at) && number <= LAYERS_MOST) number = number * 10 + (*e->at++ - '0');
    return number;
}

static void list_of(expression *e) {
    do {
        int value = number_of(e);
        if (value > 1 || e->count == LAYERS_MOST) e->failed = true;
        if (!e->failed) e->has[e->count++] = value;
    } while (take(e, ',') && !e->failed);
    if (!take(e, ']')) e->failed = true;
}

/* Appends what was added from `first` on until it is there `times` times. */
static void repeat(expression *e, int first, int times) {
    int length = e->count - first;
    if (times < 1 || first + length * times > LAYERS_MOST) e->failed = true;
    for (int i = 1; i < times && !e->failed; i++)
        for (int k = 0; k < length; k++) e->has[e->count++] = e->has[first + k];
}

/* A list or a sum in parentheses, and how often. */
static void product_of(expression *e) {
    int first = e->count;
    if (take(e, '[')) list_of(e);
    else if (take(e, '(') && e->depth < DEEPEST) {
        e->depth++;
        sum_of(e);
        e->depth--;
        if (!take(e, ')')) e->failed = true;
    } else e->failed = true;
    while (!e->failed && take(e, '*')) repeat(e, first, number_of(e));
}

static void sum_of(expression *e) {
    do product_of(e);
    while (!e->failed && take(e, '+'));
}

/* Behind the dense layers, each so many-th of all layers has experts, counted from one. */
static bool follows(const expression *e, const pace_layer_pattern *pattern) {
    for (int i = pattern->dense; i < e->count; i++)
        if (e->has[i] != ((i + 1) % pattern->every == 0)) return false;
    return true;
}

bool pace_layer_pattern_read(pace_layer_pattern *out, const char *text) {
    expression e = {.at = text};
    pace_layer_pattern found = {0, 1};
    sum_of(&e);
    while (pace_is_space(*e.at)) e.at++;
    if (e.failed || *e.at) return false;
    while (found.dense < e.count && !e.has[found.dense]) found.dense++;
    if (found.dense == e.count) return false;
    if (!follows(&e, &found)) found = (pace_layer_pattern){0, found.dense + 1};
    *out = found;
    return follows(&e, &found);
}

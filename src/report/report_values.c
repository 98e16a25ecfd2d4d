/*
 * The values of a report, for programs: visited, or asked for by path.
 */
#include "report/report_node.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    pace_value_fn visit;
    void *context;
    int ended;
} visitor;

static bool show_integer(visitor *v, const char *path, pace_value_kind kind, int64_t integer) {
    pace_value value = {.path = path, .kind = kind, .integer = integer, .real = (double)integer};
    return (v->ended = v->visit(v->context, &value)) == 0;
}

static bool show_text(visitor *v, const char *path, const char *text) {
    pace_value value = {.path = path, .kind = text ? PACE_VALUE_TEXT : PACE_VALUE_NOTHING, .real = NAN, .text = text};
    return (v->ended = v->visit(v->context, &value)) == 0;
}

/* A number that is none is null in JSON too. */
static bool show_real(visitor *v, const char *path, double real) {
    pace_value value = {.path = path, .kind = isfinite(real) ? PACE_VALUE_REAL : PACE_VALUE_NOTHING, .real = real};
    return (v->ended = v->visit(v->context, &value)) == 0;
}

static bool show_matrix(visitor *v, const char *path, const pace_held_matrix *matrix) {
    size_t width = matrix->columns.count;
    for (size_t i = 0; i < matrix->rows.count * width; i++) {
        char cell[1600];
        snprintf(cell, sizeof cell, "%s.%.250s.%.250s_ns", path, matrix->rows.items[i / width],
                 matrix->columns.items[i % width]);
        if (!show_integer(v, cell, PACE_VALUE_INTEGER, matrix->cells[i])) return false;
    }
    return true;
}

static bool show_node(void *context, const char *path, const pace_node *node) {
    visitor *v = context;
    switch (node->kind) {
    case PACE_NODE_INT: return show_integer(v, path, PACE_VALUE_INTEGER, node->integer);
    case PACE_NODE_BOOL: return show_integer(v, path, PACE_VALUE_BOOL, node->flag);
    case PACE_NODE_REAL: return show_real(v, path, node->real);
    case PACE_NODE_TEXT: return show_text(v, path, node->text);
    case PACE_NODE_NULL: return show_text(v, path, NULL);
    case PACE_NODE_MATRIX: return show_matrix(v, path, node->matrix);
    default: return true;
    }
}

int pace_report_visit_values(const pace_report *report, pace_value_fn visit, void *context) {
    visitor v = {.visit = visit, .context = context};
    pace_report_walk(report, show_node, &v);
    return v.ended;
}

/* --- one value ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *wanted;
    double found;
    char closest[1600];
    size_t edits;
} value_search;

static int match_value(void *context, const pace_value *value) {
    value_search *search = context;
    if (strcmp(value->path, search->wanted) == 0) {
        search->found = value->real;
        return 1;
    }
    size_t edits = pace_word_edits(value->path, search->wanted);
    if (!*search->closest || edits < search->edits) {
        snprintf(search->closest, sizeof search->closest, "%s", value->path);
        search->edits = edits;
    }
    return 0;
}

pace_status pace_report_value(const pace_report *report, double *out, const char *path) {
    value_search search = {.wanted = path};
    bool found = pace_report_visit_values(report, match_value, &search) != 0;
    if (!found)
        return pace_fail(PACE_E_USAGE, "no value \"%.200s\" in this answer (the closest is \"%.200s\")", path,
                         search.closest);
    if (!isfinite(search.found)) return pace_fail(PACE_E_USAGE, "the value \"%.200s\" is no number here", path);
    *out = search.found;
    return PACE_OK;
}

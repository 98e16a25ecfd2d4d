/* pace_compare(): two traces side by side. */
#include "report/analyze_parts.h"
#include "ask/context.h"

#include "insight/operators.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    const pace_operator_row *a, *b;
} pair;

static int by_name(const void *left, const void *right) {
    return strcmp(((const pair *)left)->name, ((const pair *)right)->name);
}

static int64_t change(const pair *p) { return (p->b ? p->b->time_ns : 0) - (p->a ? p->a->time_ns : 0); }

static int by_change(const void *left, const void *right) {
    int64_t a = llabs(change(left)), b = llabs(change(right));
    if (a != b) return a > b ? -1 : 1;
    return by_name(left, right);
}

/* Operators of both sides by name; a name only one side has stands alone. */
static size_t match(pair *pairs, const pace_rank *rank_a, const pace_operator_rows *a, const pace_rank *rank_b,
                    const pace_operator_rows *b) {
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < a->count; i++)
        pairs[count++] = (pair){pace_names_text(&rank_a->step.names, a->items[i].name), &a->items[i], NULL};
    for (size_t i = 0; i < b->count; i++)
        pairs[count++] = (pair){pace_names_text(&rank_b->step.names, b->items[i].name), NULL, &b->items[i]};
    qsort(pairs, count, sizeof *pairs, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept && strcmp(pairs[kept - 1].name, pairs[i].name) == 0) {
            if (pairs[i].a) pairs[kept - 1].a = pairs[i].a;
            if (pairs[i].b) pairs[kept - 1].b = pairs[i].b;
        } else {
            pairs[kept++] = pairs[i];
        }
    }
    qsort(pairs, kept, sizeof *pairs, by_change);
    return kept;
}

static void put_side(pace_node *table, const pace_operator_row *row, double per_step) {
    if (!row) {
        pace_table_none(table);
        pace_table_none(table);
        return;
    }
    pace_table_real(table, (double)row->calls / per_step);
    pace_table_int(table, (int64_t)((double)row->time_ns / per_step));
}

static pace_status put_operators(pace_node *root, const pace_rank *a, const pace_rank *b, double steps_a,
                                 double steps_b) {
    static const pace_column columns[] = {
        {"name", "operator", PACE_SHOW_TEXT}, {"a_calls", "A calls", PACE_SHOW_REAL},
        {"a_ns", "A time", PACE_SHOW_NS},     {"b_calls", "B calls", PACE_SHOW_REAL},
        {"b_ns", "B time", PACE_SHOW_NS},     {"change_ns", "B - A", PACE_SHOW_NS},
        {"ratio", "B / A", PACE_SHOW_REAL},
    };
    pace_operator_rows rows_a = {0}, rows_b = {0};
    pair *pairs = NULL;
    pace_status status = pace_operators_sum(&rows_a, a, PACE_BY_OPERATOR);
    if (status == PACE_OK) status = pace_operators_sum(&rows_b, b, PACE_BY_OPERATOR);
    if (status == PACE_OK) {
        pairs = pace_alloc(rows_a.count + rows_b.count, sizeof *pairs);
        if (!pairs) status = PACE_E_MEMORY;
    }
    if (status == PACE_OK) {
        size_t count = match(pairs, a, &rows_a, b, &rows_b);
        pace_node *table = pace_node_table(root, "operators", "Operators, largest change first (per step)",
                                           PACE_FOR_ALL, columns, 7, 20);
        for (size_t i = 0; i < count; i++) {
            double ta = pairs[i].a ? (double)pairs[i].a->time_ns / steps_a : 0;
            double tb = pairs[i].b ? (double)pairs[i].b->time_ns / steps_b : 0;
            pace_table_row(table);
            pace_table_text(table, pairs[i].name[0] ? pairs[i].name : "(none)");
            put_side(table, pairs[i].a, steps_a);
            put_side(table, pairs[i].b, steps_b);
            pace_table_int(table, (int64_t)(tb - ta));
            if (ta > 0 && tb > 0) pace_table_real(table, tb / ta);
            else pace_table_none(table);
        }
    }
    pace_free(pairs);
    PACE_VEC_FREE(&rows_a);
    PACE_VEC_FREE(&rows_b);
    return status;
}

/* The matrix of a side: of its mean step, or of the whole trace where steps are not known. */
static double side_matrix(pace_matrix *out, const pace_rank *rank) {
    size_t steps = pace_mean_matrix(out, rank);
    if (steps == 0) *out = pace_matrix_of(&rank->tiles, rank->work.window.first_ns, rank->work.window.last_ns);
    return steps ? (double)steps : 1;
}

static void put_resources(pace_node *root, const pace_matrix *a, const pace_matrix *b) {
    static const pace_column columns[] = {{"resource", "resource", PACE_SHOW_TEXT},
                                          {"a_ns", "A", PACE_SHOW_NS},
                                          {"b_ns", "B", PACE_SHOW_NS},
                                          {"change_ns", "B - A", PACE_SHOW_NS}};
    pace_node *table =
        pace_node_table(root, "resources", "Where the time went, by resource", PACE_FOR_ALL, columns, 4, 0);
    for (int r = 0; r < PACE_RESOURCES; r++) {
        int64_t sa = 0, sb = 0;
        for (int s = 0; s < PACE_STAGES; s++) sa += a->cell_ns[s][r], sb += b->cell_ns[s][r];
        pace_table_row(table);
        pace_table_text(table, pace_resource_names[r]);
        pace_table_int(table, sa);
        pace_table_int(table, sb);
        pace_table_int(table, sb - sa);
    }
}

static pace_status build(pace_report *report, const pace_rank *a, const pace_rank *b) {
    pace_node *root = pace_report_root(report);
    pace_matrix ma, mb, difference;
    double steps_a = side_matrix(&ma, a), steps_b = side_matrix(&mb, b);
    for (int s = 0; s < PACE_STAGES; s++)
        for (int r = 0; r < PACE_RESOURCES; r++) difference.cell_ns[s][r] = mb.cell_ns[s][r] - ma.cell_ns[s][r];
    double ta = (double)pace_matrix_total(&ma), tb = (double)pace_matrix_total(&mb);
    if (ta > 0 && tb > 0)
        pace_node_sentence(root, true, "A takes %.3f ms a step, B %.3f ms: %+.3f ms (x%.3f).", ta / 1e6, tb / 1e6,
                           (tb - ta) / 1e6, tb / ta);
    else
        pace_node_sentence(root, true, "There is nothing to compare: %s.",
                           ta > 0   ? "B holds no work"
                           : tb > 0 ? "A holds no work"
                                    : "neither A nor B holds any work");
    if (a->work.host_is_device != b->work.host_is_device)
        pace_node_note(root,
                       "%s has no device work: its operators, by self time, stand against the other's device work.",
                       a->work.host_is_device ? "A" : "B");
    pace_node_int(root, "a_step_ns", (int64_t)ta);
    pace_node_int(root, "b_step_ns", (int64_t)tb);
    put_resources(root, &ma, &mb);
    pace_put_matrix(root, "a_matrix", "A: stage by resource", PACE_FOR_ALL, &ma);
    pace_put_matrix(root, "b_matrix", "B: stage by resource", PACE_FOR_ALL, &mb);
    pace_put_matrix(root, "change_matrix", NULL, PACE_FOR_JSON, &difference);
    PACE_TRY(put_operators(root, a, b, steps_a, steps_b));
    return pace_report_status(report);
}

/* Of several ranks or devices one is compared. */
static void put_which(pace_node *root, const char *side, const pace_analysis *analysis) {
    char name[PACE_RANK_NAME];
    const pace_rank *rank = pace_analysis_slowest(analysis);
    if (analysis->ranks.count < 2) return;
    pace_rank_name(name, rank);
    pace_node_note(root, "%s is the slowest of %zu: %s.", side, analysis->ranks.count,
                   name[0] == '-' ? rank->path : name);
}

pace_status pace_compare(pace_report **out, const char *path_a, const char *path_b,
                         const pace_analyze_options *options) {
    pace_analysis a, b;
    PACE_TRY(pace_analysis_load(&a, options->context->catalog, &path_a, 1, options));
    pace_status status = pace_analysis_load(&b, options->context->catalog, &path_b, 1, options);
    if (status != PACE_OK) {
        pace_analysis_free(&a);
        return status;
    }
    const pace_analysis *const both[] = {&a, &b};
    pace_report *report;
    status = pace_new_report(&report, "compare", "Two traces side by side", both, 2, options);
    if (status == PACE_OK) {
        put_which(pace_report_root(report), "A", &a);
        put_which(pace_report_root(report), "B", &b);
        status = build(report, pace_analysis_slowest(&a), pace_analysis_slowest(&b));
        if (status != PACE_OK) pace_report_free(report);
        else *out = report;
    }
    pace_analysis_free(&a);
    pace_analysis_free(&b);
    return status;
}

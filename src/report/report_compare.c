/* pace_compare(): two traces side by side. */
#include "insight/operator_pairs.h"
#include "report/analyze_parts.h"
#include "report/engines.h"
#include "ask/context.h"
#include "report/table.h"

#include <math.h>

typedef struct {
    const char *name;
    double a_calls, b_calls; /* NAN: the side has no such operator */
    int64_t a_ns, b_ns, change_ns;
    double ratio;
} operator_row;

static const pace_table operators = {"operators", "Operators per step, largest change first", PACE_FOR_ALL, 20,
                                     PACE_CELLS({"name", "operator", PACE_SHOW_TEXT, PACE_OF(operator_row, name)},
                                                {"a_calls", "A calls", PACE_SHOW_REAL, PACE_OF(operator_row, a_calls)},
                                                {"a_ns", "A time", PACE_SHOW_NS, PACE_OF(operator_row, a_ns)},
                                                {"b_calls", "B calls", PACE_SHOW_REAL, PACE_OF(operator_row, b_calls)},
                                                {"b_ns", "B time", PACE_SHOW_NS, PACE_OF(operator_row, b_ns)},
                                                {"change_ns", "B - A", PACE_SHOW_NS, PACE_OF(operator_row, change_ns)},
                                                {"ratio", "B / A", PACE_SHOW_REAL, PACE_OF(operator_row, ratio)})};

static void put_pair(pace_node *table, const pace_operator_pair *pair, double steps_a, double steps_b) {
    const pace_operator_row *a = pair->a, *b = pair->b;
    double ta = a ? (double)a->time_ns / steps_a : 0, tb = b ? (double)b->time_ns / steps_b : 0;
    pace_table_put(table, &(operator_row){.name = *pair->name ? pair->name : "(no operator recorded)",
                                          .a_calls = a ? (double)a->calls / steps_a : NAN,
                                          .b_calls = b ? (double)b->calls / steps_b : NAN,
                                          .a_ns = a ? (int64_t)ta : PACE_NO_INT,
                                          .b_ns = b ? (int64_t)tb : PACE_NO_INT,
                                          .change_ns = (int64_t)(tb - ta),
                                          .ratio = ta > 0 && tb > 0 ? tb / ta : NAN});
}

static pace_status put_operators(pace_node *root, const pace_rank *a, const pace_rank *b, double steps_a,
                                 double steps_b) {
    pace_operator_pairs pairs;
    PACE_TRY(pace_operator_pairs_of(&pairs, a, b));
    pace_node *table = pace_open_table(root, &operators, 0);
    for (size_t i = 0; i < pairs.count; i++) put_pair(table, &pairs.items[i], steps_a, steps_b);
    pace_operator_pairs_free(&pairs);
    return PACE_OK;
}

typedef struct {
    const char *resource;
    int64_t a_ns, b_ns, change_ns;
} resource_row;

static const pace_table resources = {
    "resources", "Where the time went, by resource", PACE_FOR_ALL, 0,
    PACE_CELLS({"resource", "resource", PACE_SHOW_TEXT, PACE_OF(resource_row, resource)},
               {"a_ns", "A", PACE_SHOW_NS, PACE_OF(resource_row, a_ns)},
               {"b_ns", "B", PACE_SHOW_NS, PACE_OF(resource_row, b_ns)},
               {"change_ns", "B - A", PACE_SHOW_NS, PACE_OF(resource_row, change_ns)})};

static void put_resources(pace_node *root, const pace_matrix *a, const pace_matrix *b) {
    pace_node *table = pace_open_table(root, &resources, 0);
    for (int r = 0; r < PACE_RESOURCES; r++) {
        int64_t sa = 0, sb = 0;
        for (int s = 0; s < PACE_STAGES; s++) sa += a->cell_ns[s][r], sb += b->cell_ns[s][r];
        pace_table_put(table, &(resource_row){pace_resource_names[r], sa, sb, sb - sa});
    }
}

static pace_status build(pace_report *report, const pace_rank *a, const pace_rank *b) {
    pace_node *root = pace_report_root(report);
    pace_mean_step mean_a = pace_mean_step_of(a), mean_b = pace_mean_step_of(b);
    pace_matrix ma = mean_a.matrix, mb = mean_b.matrix, difference;
    for (int s = 0; s < PACE_STAGES; s++)
        for (int r = 0; r < PACE_RESOURCES; r++) difference.cell_ns[s][r] = mb.cell_ns[s][r] - ma.cell_ns[s][r];
    double ta = (double)pace_matrix_total(&ma), tb = (double)pace_matrix_total(&mb);
    if (ta > 0 && tb > 0)
        pace_node_sentence(root, true, "A step takes %.3f ms in A and %.3f ms in B: %+.3f ms (x%.3f).", ta / 1e6,
                           tb / 1e6, (tb - ta) / 1e6, tb / ta);
    else
        pace_node_sentence(root, true, "Nothing to compare: %s.",
                           ta > 0   ? "B contains no work"
                           : tb > 0 ? "A contains no work"
                                    : "neither A nor B contains any work");
    if (a->work.host_is_device != b->work.host_is_device)
        pace_node_note(
            root,
            "%s has no device work: the self time of its operators is compared with the device work of the other.",
            a->work.host_is_device ? "A" : "B");
    pace_node_int(root, "a_step_ns", (int64_t)ta);
    pace_node_int(root, "b_step_ns", (int64_t)tb);
    put_resources(root, &ma, &mb);
    pace_put_matrix(root, "a_matrix", "A: stage by resource", PACE_FOR_ALL, &ma);
    pace_put_matrix(root, "b_matrix", "B: stage by resource", PACE_FOR_ALL, &mb);
    pace_put_matrix(root, "change_matrix", NULL, PACE_FOR_JSON, &difference);
    PACE_TRY(put_operators(root, a, b, fmax(1, (double)mean_a.steps), fmax(1, (double)mean_b.steps)));
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

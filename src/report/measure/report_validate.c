/* The report of `paceline validate`: figures of merit against their bars, and against the ledger they are kept in. */
#include "ask/validate/validation.h"
#include "report/engines.h"
#include "report/table.h"
#include "base/print.h"

PACE_TABLE(figure_table, "figures", "Figures", PACE_FOR_ALL, 0,
           {"case", "Case", PACE_SHOW_TEXT, PACE_OF(pace_validation_figure, name)},
           {"metric", "Metric", PACE_SHOW_TEXT, PACE_OF(pace_validation_figure, metric)},
           {"n", "Rows", PACE_SHOW_INT, PACE_OF(pace_validation_figure, rows)},
           {"value", "Value", PACE_SHOW_REAL, PACE_OF(pace_validation_figure, value)},
           {"ledger_value", "Ledger", PACE_SHOW_REAL, PACE_OF(pace_validation_figure, before)},
           {"bar", "Bar", PACE_SHOW_TEXT, PACE_OF(pace_validation_figure, bar)},
           {"holds", NULL, PACE_SHOW_TEXT, PACE_OF(pace_validation_figure, holds)},
           {"verdict", "Verdict", PACE_SHOW_TEXT, PACE_OF(pace_validation_figure, verdict)},
           {"note", NULL, PACE_SHOW_TEXT, PACE_OF(pace_validation_figure, note)});

static void say_kept(pace_node *root, const pace_validation *v) {
    size_t live = pace_validation_kept(v, "live"), held = pace_validation_kept(v, "held");
    pace_node_int(root, "not_recomputed", (int64_t)(live + held));
    if (live + held == 0) return;
    pace_node_sentence(
        root, false,
        "Not recomputed: %zu of the ledger's lines. Speeds and sizes of this program, measured on the machine "
        "and day that their notes name: %zu; bounds that the tests named as their source hold: %zu.",
        live + held, live, held);
}

/* Once for each case. */
static void say_worse(pace_node *root, const pace_validation *v) {
    char names[1000] = "";
    for (size_t i = 0; i < v->worse.count; i++) {
        if (i > 0 && v->worse.items[i] == v->worse.items[i - 1]) continue;
        pace_list(names, sizeof names, ", ", "%s", v->worse.items[i]);
    }
    pace_node_int(root, "worse", (int64_t)v->worse.count);
    if (*names) pace_node_sentence(root, true, "Worse than in the ledger: %s.", names);
}

static void describe(pace_report *report, const pace_validation *v) {
    pace_node *root = pace_report_root(report);
    pace_node_sentence(root, true, "%zu of %zu bars hold.", v->figures.count - v->missed, v->figures.count);
    pace_node_int(root, "missed", (int64_t)v->missed);
    say_worse(root, v);
    if (v->failed) pace_node_sentence(root, true, "%zu case%s failed.", v->failed, v->failed == 1 ? "" : "s");
    pace_node_int(root, "failed", (int64_t)v->failed);
    say_kept(root, v);
    pace_put_table(root, &figure_table, v->figures.items, v->figures.count, sizeof *v->figures.items);
}

static void warn(pace_report *report, const pace_validation *v) {
    PACE_ITEMS (const pace_validation_run, r, &v->runs) {
        if (r->missing)
            pace_report_warn(report, PACE_WARN_CASE_SKIPPED, r->one->name, "case %s: %s is not in %s", r->one->name,
                             r->missing, v->options->data_path);
        if (r->status != PACE_OK)
            pace_report_warn(report, PACE_WARN_CASE_FAILED, r->one->name, "case %s failed: %s", r->one->name,
                             r->message);
    }
}

static pace_status build(pace_report *report, void *context) {
    warn(report, context);
    describe(report, context);
    return PACE_OK;
}

pace_status pace_validate(pace_report **out, size_t *missed, const pace_validate_options *options) {
    pace_validation v;
    PACE_TRY(pace_validation_run_all(&v, options));
    pace_status status = pace_report_build(out, "validate", "Validation", build, &v);
    if (status == PACE_OK) *missed = v.missed + v.worse.count + v.failed;
    pace_validation_free(&v);
    return status;
}

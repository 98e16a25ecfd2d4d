/* `paceline fit --kind profiler`: what the profiler costs per event, from steps timed with and without it. */
#include "report/fit_kinds.h"
#include "report/report.h"
#include "ask/profiler_rows.h"

static pace_status describe(pace_report **out, const pace_profiler_rows *rows, const pace_profiler_cost *cost,
                            const char *const *paths, size_t path_count, const pace_rows_options *options) {
    pace_report *report;
    PACE_TRY(pace_report_new(&report, "fit", "Fit"));
    pace_report_set_command(report, options->command, options->command_count);
    pace_node *root = pace_report_root(report);
    for (size_t i = 0; i < path_count; i++) pace_report_add_input(report, paths[i], path_count == 1 ? rows->bytes : 0);
    pace_node_int(root, "rows", (int64_t)rows->items.count);
    pace_node_sentence(root, true,
                       "The profiler costs %.2f us per recorded event (%.2f to %.2f): take it off with 'analyze "
                       "--profiler-us %.2f'.",
                       cost->event_ns / 1e3, cost->low_ns / 1e3, cost->high_ns / 1e3, cost->event_ns / 1e3);
    pace_node_sentence(
        root, true,
        "Profiled steps are off by %.1f %% on average; less this cost, fitted to the other rows, by %.1f %%.",
        100 * cost->uncorrected, 100 * cost->error);
    pace_node *node = pace_node_object(root, "profiler", NULL, PACE_FOR_JSON);
    pace_node_real(node, "event_ns", cost->event_ns);
    pace_node_real(node, "low_ns", cost->low_ns);
    pace_node_real(node, "high_ns", cost->high_ns);
    pace_node_real(node, "mean_error", cost->error);
    pace_node_real(node, "uncorrected_error", cost->uncorrected);
    pace_status status = pace_report_status(report);
    if (status != PACE_OK) pace_report_free(report);
    else *out = report;
    return status;
}

pace_status pace_fit_profiler(pace_report **out, const char *const *paths, size_t path_count,
                              const pace_rows_options *options) {
    pace_profiler_rows rows = {0};
    pace_profiler_cost cost;
    pace_status status = PACE_OK;
    if (options->fit_path)
        return pace_fail(PACE_E_USAGE, "--kind profiler: its answer is one figure: expected no --output");
    for (size_t i = 0; status == PACE_OK && i < path_count; i++) status = pace_profiler_rows_read(&rows, paths[i]);
    if (status == PACE_OK) status = pace_profiler_fit(&cost, &rows);
    if (status == PACE_OK) status = describe(out, &rows, &cost, paths, path_count, options);
    pace_profiler_rows_free(&rows);
    return status;
}

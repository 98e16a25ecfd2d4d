/* `paceline fit --kind overhead`: pools host overheads of workloads, and says how well a model's are known from
 * others'. */
#include "cost/host_transfer.h"
#include "report/fit_kinds.h"
#include "report/report.h"
#include "ask/overhead_rows.h"

#include <math.h>

static const char *const kind_labels[PACE_TRANSFERS] = {"pooled mean", "other models", "other models, own scale"};
static const char *const kind_keys[PACE_TRANSFERS] = {"pooled", "others", "scaled"};

static void put_error(pace_node *table, pace_overhead_type type, const pace_transfer_score *score, int kind) {
    pace_table_row(table);
    pace_table_text(table, pace_overhead_names[type]);
    pace_table_text(table, kind_labels[kind]);
    pace_table_int(table, (int64_t)score->pairs);
    pace_table_real(table, score->error[kind].mean);
    pace_table_real(table, score->error[kind].median);
    pace_table_real(table, score->error[kind].signed_mean);
    pace_table_real(table, score->error[kind].largest);
    if (isnan(score->error[kind].within)) pace_table_none(table);
    else pace_table_real(table, score->error[kind].within);
}

static void put_table(pace_node *root, const pace_transfer_score scores[PACE_OVERHEAD_TYPES]) {
    static const pace_column columns[] = {
        {"type", "Type", PACE_SHOW_TEXT},        {"from", "From", PACE_SHOW_TEXT},
        {"pairs", "Pairs", PACE_SHOW_INT},       {"mape", "Mean |error|", PACE_SHOW_SHARE},
        {"median", "Median", PACE_SHOW_SHARE},   {"signed_mean", "Signed mean", PACE_SHOW_SHARE},
        {"largest", "Largest", PACE_SHOW_SHARE}, {"coverage", "In 90 % interval", PACE_SHOW_SHARE},
    };
    pace_node *table = pace_node_table(root, "transfer", "A model's overheads from those of other models", PACE_FOR_ALL,
                                       PACE_COLUMNS(columns), 0);
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        for (int kind = 0; scores[type].pairs && kind < PACE_TRANSFERS; kind++)
            put_error(table, (pace_overhead_type)type, &scores[type], kind);
    pace_node_note(root, "A pair is an operator in a workload, whose model is left out whole: its figure is taken from "
                         "other models' workloads of like batch size. How is chosen by leaving out one more model of "
                         "those that are left. With its own scale, the workload's other operators are used too.");
}

static void put_json(pace_node *root, const pace_transfer_score scores[PACE_OVERHEAD_TYPES]) {
    pace_node *object = pace_node_object(root, "by_type", NULL, PACE_FOR_JSON);
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) {
        const pace_transfer_score *score = &scores[type];
        pace_node *node = pace_node_object(object, pace_overhead_names[type], NULL, PACE_FOR_JSON);
        pace_node_int(node, "pairs", (int64_t)score->pairs);
        for (int kind = 0; kind < PACE_TRANSFERS; kind++)
            pace_node_real(node, kind_keys[kind], score->pairs ? score->error[kind].mean : NAN);
        pace_node_int(node, "of_one_model", (int64_t)score->alone);
        pace_node_real(node, "of_one_model_from_class", score->class_error);
        pace_node_real(node, "log_spread", score->pairs ? score->spread : NAN);
    }
}

static pace_status describe(pace_report **out, const pace_host_samples *samples,
                            const pace_transfer_score scores[PACE_OVERHEAD_TYPES], const char *const *paths,
                            const uint64_t *bytes, size_t path_count, const pace_rows_options *options) {
    pace_report *report;
    PACE_TRY(pace_report_new(&report, "fit", "Fit"));
    pace_report_set_command(report, options->command, options->command_count);
    pace_node *root = pace_report_root(report);
    for (size_t i = 0; i < path_count; i++) pace_report_add_input(report, paths[i], bytes[i]);
    pace_node_int(root, "rows", (int64_t)samples->items.count);
    pace_node_int(root, "workloads", (int64_t)samples->workloads.count);
    pace_node_text(root, "file", options->fit_path);
    pace_node_sentence(root, true, "Host overheads of %zu workloads%s%s.", samples->workloads.count,
                       options->fit_path ? ", written to " : "", options->fit_path ? options->fit_path : "");
    put_table(root, scores);
    put_json(root, scores);
    pace_status status = pace_report_status(report);
    if (status != PACE_OK) pace_report_free(report);
    else *out = report;
    return status;
}

static pace_status fit_samples(pace_report **out, pace_host_samples *samples, uint64_t *bytes, const char *const *paths,
                               size_t path_count, const pace_rows_options *options) {
    pace_transfer_score scores[PACE_OVERHEAD_TYPES];
    for (size_t i = 0; i < path_count; i++) PACE_TRY(pace_overhead_rows_read(samples, &bytes[i], paths[i]));
    pace_host_samples_finish(samples);
    PACE_TRY(pace_transfer_measure(scores, samples));
    if (options->fit_path) PACE_TRY(pace_overhead_rows_write(samples, options->fit_path));
    return describe(out, samples, scores, paths, bytes, path_count, options);
}

pace_status pace_fit_overheads(pace_report **out, const char *const *paths, size_t path_count,
                               const pace_rows_options *options) {
    pace_host_samples samples;
    PACE_TRY(pace_host_samples_init(&samples));
    uint64_t *bytes = pace_alloc(path_count, sizeof *bytes);
    pace_status status = bytes ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) status = fit_samples(out, &samples, bytes, paths, path_count, options);
    pace_free(bytes);
    pace_host_samples_free(&samples);
    return status;
}

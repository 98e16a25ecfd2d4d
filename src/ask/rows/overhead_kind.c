/* The row kind "overhead": what one operator costs the host in one workload. */
#include "ask/rows/left_out.h"
#include "ask/rows/overhead_rows.h"
#include "ask/rows/row_kind.h"
#include "cost/host_transfer.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    const pace_rows_options *options;
    pace_host_samples samples;
    pace_row_files files;
    pace_transfer_score scores[PACE_OVERHEAD_TYPES];
} overheads;

static void close_overheads(void *state) {
    overheads *o = state;
    pace_row_files_free(&o->files);
    pace_host_samples_free(&o->samples);
}

static pace_status open_overheads(void *state, const pace_rows_options *options) {
    overheads *o = state;
    o->options = options;
    return pace_host_samples_init(&o->samples);
}

static pace_status read_table(void *state, pace_input *input) {
    overheads *o = state;
    PACE_TRY(pace_overhead_rows_read(&o->samples, o->options->context->catalog, input));
    return pace_row_files_add(&o->files, input);
}

static pace_row_table table_of(const void *state, size_t table) {
    return ((const overheads *)state)->files.items[table];
}

static pace_status learn(void *state, pace_row_keep keep, void *context) {
    overheads *o = state;
    (void)keep, (void)context;
    pace_host_samples_finish(&o->samples);
    return pace_transfer_measure(o->scores, &o->samples);
}

static pace_status save(const void *state, const char *path) {
    return pace_overhead_rows_write(&((const overheads *)state)->samples, path);
}

static void put_score(pace_findings *out, pace_overhead_type type, const pace_transfer_score *score, int kind) {
    static const char *const labels[PACE_TRANSFERS] = {"pooled mean", "other models", "other models, own scale"};
    pace_found_cell_text(out, pace_overhead_names[type]);
    pace_found_cell_text(out, labels[kind]);
    PACE_FOUND_NUMBERS(out, (double)score->pairs, score->error[kind].mean, score->error[kind].median,
                       score->error[kind].signed_mean, score->error[kind].largest, score->error[kind].within);
}

static void put_scores(pace_findings *out, const pace_transfer_score scores[PACE_OVERHEAD_TYPES]) {
    static const pace_column columns[] = {
        {"type", "Type", PACE_SHOW_TEXT},        {"from", "From", PACE_SHOW_TEXT},
        {"pairs", "Pairs", PACE_SHOW_INT},       {"mape", "Mean |error|", PACE_SHOW_SHARE},
        {"median", "Median", PACE_SHOW_SHARE},   {"signed_mean", "Signed mean", PACE_SHOW_SHARE},
        {"largest", "Largest", PACE_SHOW_SHARE}, {"coverage", "In 90 % interval", PACE_SHOW_SHARE},
    };
    pace_found_table(out, "transfer", "A model's overheads from those of other models", PACE_COLUMNS(columns));
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        for (int kind = 0; scores[type].pairs && kind < PACE_TRANSFERS; kind++)
            put_score(out, (pace_overhead_type)type, &scores[type], kind);
}

static void put_figure(pace_findings *out, int type, const char *key, double value) {
    char path[64];
    snprintf(path, sizeof path, "by_type.%s.%s", pace_overhead_names[type], key);
    pace_found_real(out, path, value);
}

static void put_type(pace_findings *out, int type, const pace_transfer_score *score) {
    static const char *const keys[PACE_TRANSFERS] = {"pooled", "others", "scaled"};
    char path[64];
    snprintf(path, sizeof path, "by_type.%s.pairs", pace_overhead_names[type]);
    pace_found_int(out, path, score->pairs);
    for (int kind = 0; kind < PACE_TRANSFERS; kind++)
        put_figure(out, type, keys[kind], score->pairs ? score->error[kind].mean : NAN);
    snprintf(path, sizeof path, "by_type.%s.of_one_model", pace_overhead_names[type]);
    pace_found_int(out, path, score->alone);
    put_figure(out, type, "of_one_model_from_class", score->class_error);
    put_figure(out, type, "log_spread", score->pairs ? score->spread : NAN);
}

static pace_status describe(pace_findings *out, const void *state) {
    const overheads *o = state;
    const char *written = o->options->fit_path;
    pace_found_int(out, "rows", o->samples.items.count);
    pace_found_int(out, "workloads", o->samples.workloads.count);
    pace_found_text(out, "file", written);
    pace_found_say(out, PACE_FOUND_ANSWER, "Host overheads of %zu workload%s%s%s.", o->samples.workloads.count,
                   pace_plural(o->samples.workloads.count), written ? ", written to " : "", written ? written : "");
    put_scores(out, o->scores);
    pace_found_say(out, PACE_FOUND_NOTE,
                   "A pair is an operator in a workload, whose model is left out whole: its figure is taken from "
                   "other models' workloads of like batch size. How is chosen by leaving out one more model of "
                   "those that are left. With its own scale, the workload's other operators are used too.");
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) put_type(out, type, &o->scores[type]);
    return PACE_OK;
}

const pace_row_kind pace_overhead_kind = {.name = "overhead",
                                          .size = sizeof(overheads),
                                          .open = open_overheads,
                                          .close = close_overheads,
                                          .read = read_table,
                                          .table = table_of,
                                          .learn = learn,
                                          .save = save,
                                          .describe = describe};

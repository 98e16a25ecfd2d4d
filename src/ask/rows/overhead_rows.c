#include "ask/rows/overhead_rows.h"
#include "base/print.h"
#include "base/whole_file.h"
#include "ask/rows/wanted_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const pace_csv *csv;
    int type, op, model, batch, count, mean, std; /* columns; -1 = not there */
    double mean_s, std_s;                         /* the unit of these columns */
} table;

static pace_status find_columns(table *out, pace_catalog *catalog, const pace_csv *csv) {
    const pace_wanted_column wanted[] = {{.key = "type", .column = &out->type, .needed = true},
                                         {.key = "op", .column = &out->op, .needed = true},
                                         {.key = "model", .column = &out->model, .needed = true},
                                         {.key = "batch", .column = &out->batch},
                                         {.key = "count", .column = &out->count},
                                         {.key = "mean", .column = &out->mean, .unit_s = &out->mean_s, .needed = true},
                                         {.key = "std", .column = &out->std, .unit_s = &out->std_s}};
    out->csv = csv;
    return pace_wanted_columns_find(catalog, "overhead", csv, wanted, PACE_COUNT(wanted));
}

static pace_status read_row(pace_host_samples *samples, const table *t, size_t row) {
    const char *type = pace_csv_cell(t->csv, row, (size_t)t->type);
    pace_host_cost figure;
    double batch;
    int number = 0;
    while (number < PACE_OVERHEAD_TYPES && strcmp(pace_overhead_names[number], type) != 0) number++;
    if (number == PACE_OVERHEAD_TYPES)
        return pace_fail(PACE_E_INPUT, "%s: line %u: expected a type, t1 to t5, found \"%.40s\"", t->csv->name,
                         t->csv->lines.items[row], type);
    PACE_TRY(pace_csv_figure(&figure.mean_ns, t->csv, row, t->mean, NAN));
    PACE_TRY(pace_csv_figure(&figure.std_ns, t->csv, row, t->std, 0));
    PACE_TRY(pace_csv_figure(&figure.count, t->csv, row, t->count, 1));
    PACE_TRY(pace_csv_figure(&batch, t->csv, row, t->batch, 0));
    figure.mean_ns *= t->mean_s * 1e9;
    figure.std_ns *= t->std_s * 1e9;
    return pace_host_samples_add(samples, pace_csv_cell(t->csv, row, (size_t)t->model), batch,
                                 (pace_overhead_type)number, pace_csv_cell(t->csv, row, (size_t)t->op), figure);
}

static pace_status read_table(pace_host_samples *samples, pace_catalog *catalog, pace_input *input) {
    pace_csv csv;
    table t;
    PACE_TRY(pace_csv_read(&csv, input));
    pace_status status = find_columns(&t, catalog, &csv);
    for (size_t row = 0; status == PACE_OK && row < csv.rows; row++) status = read_row(samples, &t, row);
    pace_csv_free(&csv);
    return status;
}

typedef struct {
    pace_host_samples *samples;
    const char *path;
} document;

static pace_status take_figure(void *context, const char *workload, pace_overhead_type type, const char *name,
                               pace_host_cost figure) {
    const document *d = context;
    return pace_host_samples_add(d->samples, *workload ? workload : d->path, 0, type, name, figure);
}

pace_status pace_overhead_rows_read(pace_host_samples *samples, pace_catalog *catalog, pace_input *input) {
    document d = {samples, pace_input_name(input)};
    return strstr(d.path, ".json") ? pace_host_costs_scan(input, take_figure, &d) : read_table(samples, catalog, input);
}

static void write_sample(pace_jsonw *json, const pace_host_samples *samples, const pace_host_sample *sample) {
    const pace_host_workload *workload = &samples->workloads.items[sample->workload];
    char label[1024];
    snprintf(label, sizeof label, "%s", pace_names_text(&samples->names, workload->model));
    if (workload->batch > 0) pace_append(label, sizeof label, " %g", workload->batch);
    pace_jsonw_compact(json);
    pace_jsonw_object(json);
    pace_jsonw_key_text(json, "workload", label);
    pace_jsonw_key_text(json, "type", pace_overhead_names[sample->type]);
    pace_jsonw_key_text(json, "name", sample->op ? pace_names_text(&samples->names, sample->op) : NULL);
    pace_jsonw_key_real(json, "kept", sample->figure.count);
    pace_jsonw_key_real(json, "mean_ns", sample->figure.mean_ns);
    pace_jsonw_key_real(json, "std_ns", sample->figure.std_ns);
    pace_jsonw_object_end(json);
}

static pace_status write_document(pace_sink *sink, void *context) {
    const pace_host_samples *samples = context;
    pace_jsonw json;
    pace_jsonw_document(&json, sink, 1, "paceline.overheads/1");
    pace_jsonw_key_array(&json, "rows");
    for (size_t i = 0; i < samples->items.count; i++) write_sample(&json, samples, &samples->items.items[i]);
    pace_jsonw_array_end(&json);
    pace_jsonw_document_end(&json);
    return PACE_OK;
}

pace_status pace_overhead_rows_write(const pace_host_samples *samples, const char *path) {
    pace_host_samples *unchanged = (pace_host_samples *)samples; /* write_document() only reads */
    return pace_whole_file_write(path, write_document, unchanged);
}

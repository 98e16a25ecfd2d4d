#include "ask/rows/scaling_rows.h"
#include "forecast/scaling.h"
#include "ask/rows/column_finder.h"
#include "ask/rows/counted_steps.h"
#include "ask/rows/wanted_columns.h"
#include "base/print.h"
#include "base/yaml_member.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    pace_scaling_rows *rows;
    const pace_yaml *yaml;
    const char *usual_machine;
    int machine, device, model, approach, settings, precision, workers, batch, nodes, placement, servers, one_worker;
    int measured[PACE_SCALING_MEASURES];
    const pace_yaml_node *spread, *packed; /* words for workers that sit on nodes of their own, or fill nodes */
} reader;

void pace_scaling_rows_free(pace_scaling_rows *rows) {
    pace_csv_free(&rows->csv);
    PACE_VEC_FREE(&rows->rows);
    pace_texts_free(&rows->settings);
}

static pace_status find_columns(reader *r, pace_catalog *catalog, const pace_yaml_node *names) {
    pace_csv *csv = &r->rows->csv;
    const pace_wanted_column wanted[] = {
        {.key = "machine", .column = &r->machine, .needed = !r->usual_machine, .or_field = "on"},
        {.key = "model", .column = &r->model, .needed = true},
        {.key = "workers", .column = &r->workers, .needed = true},
        {.key = "device", .column = &r->device},
        {.key = "approach", .column = &r->approach},
        {.key = "settings", .column = &r->settings},
        {.key = "precision", .column = &r->precision},
        {.key = "batch", .column = &r->batch},
        {.key = "nodes", .column = &r->nodes},
        {.key = "placement", .column = &r->placement},
        {.key = "servers", .column = &r->servers},
        {.key = "one_worker", .column = &r->one_worker}};
    static const char *const measures[PACE_SCALING_MEASURES] = {"rate", "steps_per_s", "step_s", "step_ms", "step_us"};
    PACE_TRY(pace_wanted_columns_find(catalog, "scaling", csv, wanted, PACE_COUNT(wanted)));
    for (int i = 0; i < PACE_SCALING_MEASURES; i++)
        r->measured[i] = pace_find_column_whole(csv, pace_yaml_get(names, measures[i]));
    r->spread = pace_yaml_get(names, "spread_words");
    r->packed = pace_yaml_get(names, "packed_words");
    for (int i = PACE_SCALING_MEASURES; i-- > 0;)
        if (r->measured[i] >= 0) r->rows->measure = i, r->rows->measured = r->measured[i];
    return PACE_OK;
}

/* "" for a column that is not there. */
static void refuse(pace_scaling_row *row, const char *what, const char *expected, const char *found) {
    if (!*row->status)
        snprintf(row->status, sizeof row->status, "%s: expected %s, found \"%.40s\"", what, expected, found);
}

static void whole(double *out, pace_scaling_row *row, const char *what, const char *text, double fallback,
                  double most) {
    *out = fallback;
    if (!*text && fallback >= 0) return;
    if (!pace_csv_number(out, text) || !(*out >= 1 && *out <= most) || *out != floor(*out))
        refuse(row, what, "a whole number from 1", text);
}

static void rate(double *out, pace_scaling_row *row, const char *what, const char *text, double fallback) {
    *out = fallback;
    if (*text && (!pace_csv_number(out, text) || !pace_scaling_rate_can_be(*out))) {
        *out = fallback;
        refuse(row, what, "samples/s from 1e-6 to 1e12", text);
    }
}

/* In samples/s, steps taken for those of all workers together; NAN for what cannot be. */
static double measured_of(const reader *r, pace_scaling_row *row, const char *text) {
    double value, samples = row->batch * row->workers, unit_s = pace_scaling_measure_unit_s(r->rows->measure);
    bool rate = !(unit_s > 0);
    pace_measured_cell told =
        rate ? pace_measured_rate(&value, text) : pace_measured_time(&value, r->yaml, text, unit_s);
    if (told == PACE_CELL_SILENT) return NAN;
    if (told == PACE_CELL_MEASURED) {
        if (!rate) value = samples / value;
        else if (r->rows->measure == PACE_SCALING_STEPS) value *= samples;
        if (pace_scaling_rate_can_be(value)) return value;
    }
    pace_measured_refuse(row->unmeasured, pace_csv_name(&r->rows->csv, (size_t)r->rows->measured), rate, text);
    return NAN;
}

/* A row that was not measured gains nothing, as if it took no less time. */
static double gain(const void *table, size_t from, size_t to) {
    const pace_scaling_row *rows = table, *few = &rows[from], *many = &rows[to];
    bool same = strcmp(few->machine, many->machine) == 0 && strcmp(few->device, many->device) == 0 &&
                strcmp(few->model, many->model) == 0 && strcmp(few->settings, many->settings) == 0 &&
                strcmp(few->approach, many->approach) == 0 && few->batch == many->batch;
    if (!same || !(many->workers > few->workers)) return 0;
    double times = many->measured / many->workers / (few->measured / few->workers);
    return times > 0 ? times : 1;
}

static void count_steps(pace_scaling_rows *rows) {
    rows->steps_of_each =
        rows->measure == PACE_SCALING_STEPS && pace_counts_each_step(rows->rows.count, gain, rows->rows.items);
    for (size_t i = 0; rows->steps_of_each && i < rows->rows.count; i++)
        rows->rows.items[i].measured /= rows->rows.items[i].workers;
}

const char *const pace_scaling_measure_names[PACE_SCALING_MEASURES] = {"samples/s", "steps/s", "s", "ms", "us"};

double pace_scaling_measure_unit_s(int measure) {
    switch (measure) {
    case PACE_SCALING_SECONDS: return 1;
    case PACE_SCALING_MILLISECONDS: return 1e-3;
    case PACE_SCALING_MICROSECONDS: return 1e-6;
    default: return 0;
    }
}

double pace_scaling_measure(const pace_scaling_rows *rows, const pace_scaling_row *row, double step_s) {
    switch (rows->measure) {
    case PACE_SCALING_SECONDS:
    case PACE_SCALING_MILLISECONDS:
    case PACE_SCALING_MICROSECONDS: return step_s / pace_scaling_measure_unit_s(rows->measure);
    case PACE_SCALING_STEPS: return (rows->steps_of_each ? row->workers : 1) / step_s;
    default: return row->batch * row->workers / step_s;
    }
}

/* A number of nodes counts before a word; workers fill nodes unless a word spreads them. */
static void place(pace_scaling_row *row, const reader *r, size_t number) {
    const char *word = pace_csv_at(&r->rows->csv, number, r->placement);
    bool spread = pace_word_listed(r->spread, word);
    if (spread && r->nodes < 0) row->nodes = row->workers;
    bool followed = spread ? row->nodes == row->workers : pace_word_listed(r->packed, word);
    row->unused_placement = followed ? "" : word;
}

/* A precision in a column of its own is one more setting. */
static pace_status set_settings(pace_scaling_row *row, reader *r, size_t number) {
    const char *precision = pace_csv_at(&r->rows->csv, number, r->precision);
    char text[256];
    row->settings = pace_csv_at(&r->rows->csv, number, r->settings);
    if (!*precision) return PACE_OK;
    pace_snprintf(text, sizeof text, "%.180s%sprecision=%.40s", row->settings, *row->settings ? " " : "", precision);
    PACE_TRY(pace_texts_add(&r->rows->settings, text));
    row->settings = r->rows->settings.items[r->rows->settings.count - 1];
    return PACE_OK;
}

static pace_status add_row(reader *r, size_t number) {
    pace_scaling_row row = {.row = (uint32_t)number};
    row.machine = pace_csv_at(&r->rows->csv, number, r->machine);
    if (!*row.machine && r->usual_machine) row.machine = r->usual_machine;
    row.model = pace_csv_at(&r->rows->csv, number, r->model);
    row.approach = pace_csv_at(&r->rows->csv, number, r->approach);
    PACE_TRY(set_settings(&row, r, number));
    if (!*row.machine) refuse(&row, "machine", "a machine", row.machine);
    if (!*row.model) refuse(&row, "model", "a model", row.model);
    whole(&row.workers, &row, "workers", pace_csv_at(&r->rows->csv, number, r->workers), -1, 1 << 20);
    row.batch_open = !*pace_csv_at(&r->rows->csv, number, r->batch);
    whole(&row.batch, &row, "batch", pace_csv_at(&r->rows->csv, number, r->batch), 1, 1e9);
    if (!row.batch_open && strstr(row.settings, "micro_batch="))
        refuse(&row, "settings", "no micro_batch beside a batch of the row's own", row.settings);
    whole(&row.servers, &row, "servers", pace_csv_at(&r->rows->csv, number, r->servers), 0, 1 << 20);
    rate(&row.one_worker, &row, "one_worker", pace_csv_at(&r->rows->csv, number, r->one_worker), 0);
    row.device = pace_csv_at(&r->rows->csv, number, r->device);
    whole(&row.nodes, &row, "nodes", pace_csv_at(&r->rows->csv, number, r->nodes), 0, 1 << 20);
    place(&row, r, number);
    row.measured = measured_of(r, &row, pace_csv_at(&r->rows->csv, number, r->rows->measured));
    return PACE_PUSH(&r->rows->rows, row);
}

static pace_status read_rows(pace_scaling_rows *rows, pace_catalog *catalog, const char *machine) {
    reader r = {.rows = rows, .usual_machine = machine};
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "columns.yaml"));
    r.yaml = yaml;
    pace_status status = find_columns(&r, catalog, pace_yaml_get(pace_yaml_root(yaml), "scaling"));
    for (size_t i = 0; status == PACE_OK && i < rows->csv.rows; i++) status = add_row(&r, i);
    if (status == PACE_OK) count_steps(rows);
    return status;
}

pace_status pace_scaling_rows_read(pace_scaling_rows *out, pace_catalog *catalog, pace_input *input,
                                   const char *machine) {
    pace_scaling_rows rows = {.measured = -1};
    PACE_TRY(pace_csv_read(&rows.csv, input));
    pace_status status = read_rows(&rows, catalog, machine);
    return PACE_GIVE(out, rows, status, pace_scaling_rows_free(&rows));
}

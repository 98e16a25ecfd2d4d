#include "ask/rows/iteration_rows.h"
#include "ask/rows/wanted_columns.h"
#include "base/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    pace_csv csv;
    int worker, node, time, iteration; /* columns; -1 = not there */
    double scale;                      /* of the time */
    PACE_VEC(uint32_t) slots;          /* name -> place in workers + 1 */
    PACE_VEC(size_t) seen;             /* rows of each worker so far */
} table;

typedef struct {
    double label;
    size_t worker, row;
    double time;
} entry;

/* A time without a unit is in the table's own. */
static pace_status find_columns(table *t, pace_iteration_rows *rows, pace_catalog *catalog) {
    int plain;
    const pace_wanted_column wanted[] = {{.key = "worker", .column = &t->worker, .needed = true},
                                         {.key = "node", .column = &t->node},
                                         {.key = "iteration", .column = &t->iteration},
                                         {.key = "time", .column = &t->time, .unit_s = &t->scale},
                                         {.key = "time_without_unit", .column = &plain}};
    PACE_TRY(pace_wanted_columns_find(catalog, "iteration", &t->csv, wanted, PACE_COUNT(wanted)));
    snprintf(rows->unit, sizeof rows->unit, "%s", t->time >= 0 ? "s" : "unit");
    if (t->time >= 0) return PACE_OK;
    t->time = plain;
    t->scale = 1;
    if (plain >= 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT,
                     "%s: expected a column \"batch_time_s\" (one row per worker and iteration), found none",
                     t->csv.name);
}

static pace_status add_node(table *t, pace_iteration_rows *rows, size_t row) {
    if (t->node < 0) return PACE_OK;
    const char *text = pace_csv_cell(&t->csv, row, (size_t)t->node);
    pace_name name;
    PACE_TRY(pace_names_add(&name, &rows->names, text, strlen(text)));
    return PACE_PUSH(&rows->nodes, name);
}

static pace_status worker_of(size_t *out, table *t, pace_iteration_rows *rows, size_t row) {
    const char *text = pace_csv_cell(&t->csv, row, (size_t)t->worker);
    pace_name name;
    PACE_TRY(pace_names_add(&name, &rows->names, text, strlen(text)));
    while (t->slots.count <= name) PACE_TRY(PACE_PUSH(&t->slots, 0));
    if (t->slots.items[name] == 0) {
        PACE_TRY(PACE_PUSH(&rows->workers, name));
        PACE_TRY(PACE_PUSH(&t->seen, 0));
        PACE_TRY(add_node(t, rows, row));
        t->slots.items[name] = (uint32_t)rows->workers.count;
    }
    *out = t->slots.items[name] - 1;
    return PACE_OK;
}

static pace_status read_entry(entry *out, table *t, pace_iteration_rows *rows, size_t row) {
    PACE_TRY(worker_of(&out->worker, t, rows, row));
    PACE_TRY(pace_csv_figure(&out->time, &t->csv, row, t->time, NAN));
    out->time *= t->scale;
    out->row = row;
    if (!(out->time > 0))
        return pace_fail(PACE_E_INPUT, "%s:%u: %s: expected a time above 0", t->csv.name, t->csv.lines.items[row],
                         pace_csv_name(&t->csv, (size_t)t->time));
    out->label = (double)t->seen.items[out->worker]++;
    if (t->iteration >= 0) PACE_TRY(pace_csv_figure(&out->label, &t->csv, row, t->iteration, NAN));
    return PACE_OK;
}

PACE_ORDER(by_label, entry, PACE_UP(label) PACE_UP(row))

/* A table of iterations and workers must fit in memory. */
static pace_status check_size(const table *t, size_t iterations, size_t workers) {
    if (iterations <= 64 * (t->csv.rows + 1) / workers + 1) return PACE_OK;
    return pace_fail(PACE_E_LIMIT, "%s: %zu iterations of %zu workers, but %zu rows: are the columns the right ones?",
                     t->csv.name, iterations, workers, t->csv.rows);
}

static pace_status arrange(pace_iteration_rows *rows, const table *t, entry *entries) {
    size_t workers = rows->workers.count;
    qsort(entries, t->csv.rows, sizeof *entries, by_label);
    for (size_t i = 0; i < t->csv.rows; i++)
        if (i == 0 || entries[i].label != entries[i - 1].label) PACE_TRY(PACE_PUSH(&rows->labels, entries[i].label));
    PACE_TRY(check_size(t, rows->labels.count, workers));
    PACE_TRY(pace_grow(&rows->times.items, &rows->times.capacity, rows->labels.count * workers + 1, sizeof(double)));
    rows->times.count = rows->labels.count * workers;
    for (size_t i = 0; i < rows->times.count; i++) rows->times.items[i] = NAN;
    for (size_t i = 0, iteration = 0; i < t->csv.rows; i++) {
        iteration += i > 0 && entries[i].label != entries[i - 1].label;
        double *time = &rows->times.items[iteration * workers + entries[i].worker];
        if (!isnan(*time))
            return pace_fail(PACE_E_INPUT, "%s:%u: worker \"%.40s\" is in iteration %g twice", t->csv.name,
                             t->csv.lines.items[entries[i].row],
                             pace_csv_cell(&t->csv, entries[i].row, (size_t)t->worker), entries[i].label);
        *time = entries[i].time;
    }
    return PACE_OK;
}

static pace_status read_table(pace_iteration_rows *rows, table *t, pace_catalog *catalog) {
    PACE_TRY(find_columns(t, rows, catalog));
    if (t->csv.rows == 0) return pace_fail(PACE_E_INPUT, "%s: expected rows, found none", t->csv.name);
    entry *entries = pace_alloc(t->csv.rows, sizeof *entries);
    if (!entries) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    for (size_t row = 0; status == PACE_OK && row < t->csv.rows; row++)
        status = read_entry(&entries[row], t, rows, row);
    if (status == PACE_OK) status = arrange(rows, t, entries);
    pace_free(entries);
    return status;
}

static pace_status list_unread(pace_iteration_rows *rows, const pace_csv *csv) {
    for (size_t c = 0; c < csv->columns; c++) {
        bool looked = csv->looked[c], says = false;
        for (size_t row = 0; !looked && !says && row < csv->rows; row++) says = *pace_csv_cell(csv, row, c) != '\0';
        if (says && *pace_csv_name(csv, c)) PACE_TRY(pace_texts_add(&rows->unread, pace_csv_name(csv, c)));
    }
    return PACE_OK;
}

pace_status pace_iteration_rows_read(pace_iteration_rows *out, pace_catalog *catalog, pace_input *input) {
    pace_iteration_rows rows = {0};
    table t = {0};
    PACE_TRY(pace_csv_read(&t.csv, input));
    rows.bytes = t.csv.bytes;
    pace_status status = pace_names_init(&rows.names);
    if (status == PACE_OK) status = read_table(&rows, &t, catalog);
    if (status == PACE_OK) status = list_unread(&rows, &t.csv);
    pace_csv_free(&t.csv);
    PACE_VEC_FREE(&t.slots, &t.seen);
    return PACE_GIVE(out, rows, status, pace_iteration_rows_free(&rows));
}

void pace_iteration_rows_free(pace_iteration_rows *rows) {
    pace_names_free(&rows->names);
    pace_texts_free(&rows->unread);
    PACE_VEC_FREE(&rows->workers, &rows->nodes, &rows->labels, &rows->times);
    *rows = (pace_iteration_rows){0};
}

/* The report of `paceline validate`: figures of merit against their bars; and the ledger they are kept in. */
#include "base/decimal.h"
#include "report/engines.h"
#include "base/print.h"
#include "base/whole_file.h"
#include "ask/context.h"
#include "report/table.h"
#include "ask/csv.h"
#include "ask/row_kinds.h"
#include "ask/validate.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const ledger_names[] = {"case", "source", "split", "metric", "unit",
                                           "n",    "value",  "bar",   "holds",  "note"};
enum { LEDGER = sizeof ledger_names / sizeof *ledger_names };

/* One line of the ledger, as text. */
typedef struct {
    char *cell[LEDGER];
} figure;

typedef PACE_VEC(figure) figures;

static void free_figures(figures *f) {
    for (size_t i = 0; i < f->count; i++)
        for (int k = 0; k < LEDGER; k++) pace_free(f->items[i].cell[k]);
    PACE_VEC_FREE(f);
}

static pace_status add_figure(figures *f, const char *const cells[LEDGER]) {
    figure one = {{0}};
    for (int k = 0; k < LEDGER; k++) {
        one.cell[k] = pace_copy_text(cells[k] ? cells[k] : "", cells[k] ? strlen(cells[k]) : 0);
        if (!one.cell[k]) {
            while (k-- > 0) pace_free(one.cell[k]);
            return PACE_E_MEMORY;
        }
    }
    pace_status status = PACE_PUSH(f, one);
    for (int k = 0; status != PACE_OK && k < LEDGER; k++) pace_free(one.cell[k]);
    return status;
}

static pace_status add_case(figures *f, size_t *missed, const pace_case *one, pace_case_score *score) {
    for (unsigned i = 0; i < one->bar_count; i++) {
        const pace_bar *bar = &one->bars[i];
        double value;
        size_t rows;
        char count[24], text[24];
        PACE_TRY(pace_case_metric(&value, &rows, score, one, bar->metric));
        bool holds = pace_bar_holds(bar, value);
        *missed += !holds;
        snprintf(count, sizeof count, "%zu", rows);
        pace_snprintf(text, sizeof text, "%.4f", value);
        const char *source = strncmp(one->files[0], "../", 3) == 0 ? one->files[0] + 3 : one->files[0];
        const char *const cells[LEDGER] = {one->name,   source,    one->part ? one->part : "test",
                                           bar->metric, "share",   count,
                                           text,        bar->text, holds ? "yes" : "no",
                                           one->note};
        PACE_TRY(add_figure(f, cells));
    }
    return PACE_OK;
}

enum { CASE = 0, METRIC = 3, ROWS = 5, VALUE, BAR, HOLDS, NOTE };

/* The place of a case's first figure, or of its figure of a metric; `count` = none. */
static size_t find_figure(const figures *f, const char *name, const char *metric) {
    size_t i = 0;
    while (i < f->count &&
           (strcmp(f->items[i].cell[CASE], name) != 0 || (metric && strcmp(f->items[i].cell[METRIC], metric) != 0)))
        i++;
    return i;
}

/* A line of the ledger as it is, anew, or not at all when its case no longer has that metric. */
static pace_status keep_line(figures *all, const figures *fresh, const char *const cells[LEDGER]) {
    size_t anew = find_figure(fresh, cells[CASE], cells[METRIC]);
    if (anew < fresh->count) return add_figure(all, (const char *const *)fresh->items[anew].cell);
    return find_figure(fresh, cells[CASE], NULL) < fresh->count ? PACE_OK : add_figure(all, cells);
}

/* Every line keeps its place; figures that are new follow. */
static pace_status merge(figures *all, const figures *fresh, const char *path) {
    pace_csv csv;
    PACE_TRY(pace_csv_open(&csv, path));
    pace_status status = PACE_OK;
    if (csv.columns != LEDGER || strcmp(pace_csv_name(&csv, 0), ledger_names[0]) != 0)
        status = pace_fail(PACE_E_INPUT, "%s: expected a ledger: case,source,split,…", path);
    for (size_t r = 0; status == PACE_OK && r < csv.rows; r++) {
        const char *cells[LEDGER];
        for (size_t k = 0; k < LEDGER; k++) cells[k] = pace_csv_cell(&csv, r, k);
        status = keep_line(all, fresh, cells);
    }
    for (size_t i = 0; status == PACE_OK && i < fresh->count; i++)
        if (find_figure(all, fresh->items[i].cell[CASE], fresh->items[i].cell[METRIC]) == all->count)
            status = add_figure(all, (const char *const *)fresh->items[i].cell);
    pace_csv_free(&csv);
    return status;
}

static void put_cell(pace_sink *sink, const char *cell) {
    if (!strpbrk(cell, ",\"\n")) {
        pace_sink_text(sink, cell);
        return;
    }
    pace_sink_text(sink, "\"");
    for (; *cell; cell++) {
        if (*cell == '"') pace_sink_text(sink, "\"");
        pace_sink_bytes(sink, cell, 1);
    }
    pace_sink_text(sink, "\"");
}

static pace_status put_ledger(pace_sink *sink, void *context) {
    const figures *all = context;
    for (int k = 0; k < LEDGER; k++) pace_sink_format(sink, "%s%s", k ? "," : "", ledger_names[k]);
    for (size_t i = 0; i < all->count; i++) {
        for (int k = 0; k < LEDGER; k++) {
            pace_sink_text(sink, k ? "," : "\n");
            put_cell(sink, all->items[i].cell[k]);
        }
    }
    pace_sink_text(sink, "\n");
    return PACE_OK;
}

static pace_status keep(const figures *fresh, const char *path) {
    figures all = {0};
    pace_status status = merge(&all, fresh, path);
    if (status == PACE_OK) status = pace_whole_file_write(path, put_ledger, &all);
    free_figures(&all);
    return status;
}

static bool files_there(const pace_case *one, const char *folder) {
    char path[4096];
    for (unsigned i = 0; i < one->file_count; i++) {
        if (pace_case_path(path, sizeof path, one, folder, i) != PACE_OK || access(path, R_OK) != 0) return false;
    }
    return true;
}

static pace_status run_case(figures *fresh, size_t *missed, pace_context *context, const pace_case *one,
                            const char *folder) {
    pace_case_score score;
    PACE_TRY(pace_validate_case(&score, context, one, &pace_all_row_kinds, folder));
    pace_status status = add_case(fresh, missed, one, &score);
    pace_case_score_free(&score);
    return status;
}

static pace_status run_cases(figures *fresh, size_t *missed, pace_report *report, const pace_cases *cases,
                             const pace_validate_options *options) {
    size_t matched = 0;
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < cases->items.count; i++) {
        const pace_case *one = &cases->items.items[i];
        if (options->glob && fnmatch(options->glob, one->name, 0) != 0) continue;
        matched++;
        if (options->progress) options->progress(options->progress_context, one->name, i, cases->items.count);
        if (!files_there(one, options->data_path)) {
            pace_report_warn(report, "case %s: %s is not in %s", one->name, one->files[0], options->data_path);
            continue;
        }
        status = run_case(fresh, missed, options->context, one, options->data_path);
    }
    if (status == PACE_OK && matched == 0)
        status = pace_fail(PACE_E_USAGE, "no case is named like \"%.80s\"", options->glob ? options->glob : "*");
    return status;
}

typedef struct {
    const char *name, *metric, *bar, *holds, *note;
    int64_t rows;
    double value;
} figure_row;

static const pace_table figure_table = {"figures", "Figures", PACE_FOR_ALL, 0,
                                        PACE_CELLS({"case", "Case", PACE_SHOW_TEXT, PACE_OF(figure_row, name)},
                                                   {"metric", "Metric", PACE_SHOW_TEXT, PACE_OF(figure_row, metric)},
                                                   {"n", "Rows", PACE_SHOW_INT, PACE_OF(figure_row, rows)},
                                                   {"value", "Value", PACE_SHOW_REAL, PACE_OF(figure_row, value)},
                                                   {"bar", "Bar", PACE_SHOW_TEXT, PACE_OF(figure_row, bar)},
                                                   {"holds", "Holds", PACE_SHOW_TEXT, PACE_OF(figure_row, holds)},
                                                   {"note", "Note", PACE_SHOW_TEXT, PACE_OF(figure_row, note)})};

static void describe(pace_report *report, const figures *fresh, size_t missed) {
    pace_node *root = pace_report_root(report);
    pace_node_sentence(root, true, "%zu of %zu bars hold.", fresh->count - missed, fresh->count);
    pace_node_int(root, "missed", (int64_t)missed);
    pace_node *table = pace_open_table(root, &figure_table, 0);
    for (size_t i = 0; i < fresh->count; i++) {
        char *const *cell = fresh->items[i].cell;
        double value;
        pace_table_put(table, &(figure_row){.name = cell[CASE],
                                            .metric = cell[METRIC],
                                            .rows = strtoll(cell[ROWS], NULL, 10),
                                            .value = pace_number_parse(&value, cell[VALUE]) ? value : (double)NAN,
                                            .bar = cell[BAR],
                                            .holds = cell[HOLDS],
                                            .note = cell[NOTE]});
    }
}

pace_status pace_validate(pace_report **out, size_t *missed, const pace_validate_options *options) {
    pace_cases cases;
    pace_report *report;
    figures fresh = {0};
    size_t below = 0;
    PACE_TRY(pace_cases_load(&cases, options->cases_path ? options->cases_path : "accuracy/cases.yaml"));
    pace_status status = pace_report_new(&report, "validate", "Validation");
    if (status == PACE_OK) {
        status = run_cases(&fresh, &below, report, &cases, options);
        if (status == PACE_OK && options->ledger_path) status = keep(&fresh, options->ledger_path);
        if (status == PACE_OK) {
            describe(report, &fresh, below);
            status = pace_report_status(report);
        }
        if (status != PACE_OK) pace_report_free(report);
    }
    free_figures(&fresh);
    pace_cases_free(&cases);
    if (status != PACE_OK) return status;
    *out = report;
    *missed = below;
    return PACE_OK;
}

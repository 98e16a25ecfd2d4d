#include "ask/validate/ledger.h"
#include "base/csv.h"
#include "base/numbers.h"
#include "base/whole_file.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {"case", "source", "split", "metric", "unit", "n", "value", "bar", "holds", "note"};

static void free_line(pace_ledger_line *line) {
    for (int k = 0; k < PACE_LEDGER_COLUMNS; k++) pace_free(line->cell[k]);
}

void pace_ledger_free(pace_ledger *ledger) { PACE_VEC_FREE_EACH(&ledger->lines, free_line); }

pace_status pace_ledger_add(pace_ledger *ledger, const char *const cells[PACE_LEDGER_COLUMNS]) {
    pace_ledger_line line = {{0}};
    pace_status status = PACE_OK;
    for (int k = 0; status == PACE_OK && k < PACE_LEDGER_COLUMNS; k++) {
        const char *cell = cells[k] ? cells[k] : "";
        line.cell[k] = pace_copy_text(cell, strlen(cell));
        if (!line.cell[k]) status = PACE_E_MEMORY;
    }
    if (status == PACE_OK) status = PACE_PUSH(&ledger->lines, line);
    if (status != PACE_OK) free_line(&line);
    return status;
}

size_t pace_ledger_find(const pace_ledger *ledger, const char *name, const char *metric) {
    size_t i = 0;
    for (; i < ledger->lines.count; i++) {
        char *const *cell = ledger->lines.items[i].cell;
        if (strcmp(cell[PACE_LEDGER_CASE], name) != 0) continue;
        if (!metric || strcmp(cell[PACE_LEDGER_METRIC], metric) == 0) break;
    }
    return i;
}

static pace_status read_lines(pace_ledger *out, const pace_csv *csv) {
    if (csv->columns != PACE_LEDGER_COLUMNS || strcmp(pace_csv_name(csv, 0), names[0]) != 0)
        return pace_fail(PACE_E_INPUT, "%s: expected a ledger: case,source,split,…", csv->name);
    for (size_t row = 0; row < csv->rows; row++) {
        const char *cells[PACE_LEDGER_COLUMNS];
        for (size_t k = 0; k < PACE_LEDGER_COLUMNS; k++) cells[k] = pace_csv_cell(csv, row, k);
        PACE_TRY(pace_ledger_add(out, cells));
    }
    return PACE_OK;
}

pace_status pace_ledger_read(pace_ledger *out, const char *path) {
    pace_csv csv;
    pace_ledger ledger = {0};
    PACE_TRY(pace_csv_open(&csv, path));
    pace_status status = read_lines(&ledger, &csv);
    pace_csv_free(&csv);
    return PACE_GIVE(out, ledger, status, pace_ledger_free(&ledger));
}

/* What is not there yet begins empty. */
static pace_status read_old(pace_ledger *out, const char *path) {
    *out = (pace_ledger){0};
    return access(path, F_OK) == 0 ? pace_ledger_read(out, path) : PACE_OK;
}

pace_status pace_ledger_check(const char *path) {
    pace_ledger old;
    if (!path) return PACE_OK;
    PACE_TRY(read_old(&old, path));
    pace_ledger_free(&old);
    return PACE_OK;
}

static pace_status add_line(pace_ledger *all, const pace_ledger_line *line) {
    return pace_ledger_add(all, (const char *const *)line->cell);
}

/* A line as it is, anew, or not at all when its case no longer has that metric. */
static pace_status keep_line(pace_ledger *all, const pace_ledger *fresh, const pace_ledger_line *line) {
    const char *name = line->cell[PACE_LEDGER_CASE];
    size_t anew = pace_ledger_find(fresh, name, line->cell[PACE_LEDGER_METRIC]);
    if (anew < fresh->lines.count) return add_line(all, &fresh->lines.items[anew]);
    return pace_ledger_find(fresh, name, NULL) < fresh->lines.count ? PACE_OK : add_line(all, line);
}

static pace_status merge(pace_ledger *all, const pace_ledger *old, const pace_ledger *fresh) {
    for (size_t i = 0; i < old->lines.count; i++) PACE_TRY(keep_line(all, fresh, &old->lines.items[i]));
    PACE_ITEMS (const pace_ledger_line, line, &fresh->lines) {
        size_t there = pace_ledger_find(all, line->cell[PACE_LEDGER_CASE], line->cell[PACE_LEDGER_METRIC]);
        if (there == all->lines.count) PACE_TRY(add_line(all, line));
    }
    return PACE_OK;
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
    const pace_ledger *all = context;
    for (int k = 0; k < PACE_LEDGER_COLUMNS; k++) pace_sink_format(sink, "%s%s", k ? "," : "", names[k]);
    for (size_t i = 0; i < all->lines.count; i++) {
        for (int k = 0; k < PACE_LEDGER_COLUMNS; k++) {
            pace_sink_text(sink, k ? "," : "\n");
            put_cell(sink, all->lines.items[i].cell[k]);
        }
    }
    pace_sink_text(sink, "\n");
    return PACE_OK;
}

pace_status pace_ledger_update(const char *path, const pace_ledger *fresh) {
    pace_ledger old, all = {0};
    PACE_TRY(read_old(&old, path));
    pace_status status = merge(&all, &old, fresh);
    if (status == PACE_OK) status = pace_whole_file_write(path, put_ledger, &all);
    pace_ledger_free(&all);
    pace_ledger_free(&old);
    return status;
}

/* Another compiler rounds otherwise, and a tree may split elsewhere. */
static const double ROUNDING = 0.004;

/* The less the better: how far a figure is on the wrong side of its bar, or towards it. */
static double badness(const pace_bar *bar, double value) {
    if (isinf(bar->least)) return value;
    if (isinf(bar->most)) return -value;
    return pace_most(0, pace_most(bar->least - value, value - bar->most));
}

pace_figure_change pace_ledger_change(const pace_ledger *ledger, const char *name, const pace_bar *bar, double value) {
    size_t place = pace_ledger_find(ledger, name, bar->metric);
    double was;
    if (place == ledger->lines.count || !pace_csv_number(&was, ledger->lines.items[place].cell[PACE_LEDGER_VALUE]))
        return PACE_FIGURE_NEW;
    double step = ROUNDING * pace_most(1, fabs(was)), change = badness(bar, value) - badness(bar, was);
    if (change > step || (pace_bar_holds(bar, was) && !pace_bar_holds(bar, value))) return PACE_FIGURE_WORSE;
    if (change < -step) return PACE_FIGURE_BETTER;
    return fabs(value - was) > step ? PACE_FIGURE_MOVED : PACE_FIGURE_KEPT;
}

#include "source/results_store.h"
#include "source/database.h"
#include "base/order.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

enum { PATIENCE_MS = 10000, MOST_FIGURES = 1 << 26 };

static const char tables[] = "CREATE TABLE IF NOT EXISTS paceline_runs (id INTEGER PRIMARY KEY, at_s INTEGER NOT NULL, "
                             "verb TEXT NOT NULL, series TEXT NOT NULL, label TEXT NOT NULL, command TEXT NOT NULL);"
                             "CREATE TABLE IF NOT EXISTS paceline_figures (run INTEGER NOT NULL REFERENCES "
                             "paceline_runs (id), path TEXT NOT NULL, value REAL NOT NULL);"
                             "CREATE INDEX IF NOT EXISTS paceline_figures_of_run ON paceline_figures (run);";

typedef struct {
    const char *path;
    sqlite3 *handle;
} store;

static pace_status fail(const store *s, int code) {
    const char *reason = s->handle ? sqlite3_errmsg(s->handle) : sqlite3_errstr(code);
    if (code == SQLITE_NOMEM) return pace_fail(PACE_E_MEMORY, "out of memory");
    return pace_fail(code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? PACE_E_INPUT : PACE_E_IO,
                     "store: %s: cannot be written: %s", s->path, reason);
}

static int put_run(sqlite3 *handle, const pace_stored_run *run) {
    sqlite3_stmt *row = NULL;
    int code =
        sqlite3_prepare_v2(handle,
                           "INSERT INTO paceline_runs (at_s, verb, series, label, command) VALUES (?, ?, ?, ?, ?)", -1,
                           &row, NULL);
    if (code != SQLITE_OK) return code;
    sqlite3_bind_int64(row, 1, run->at_s);
    sqlite3_bind_text(row, 2, run->verb, -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 3, run->series, -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 4, run->label, -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 5, run->command, -1, SQLITE_STATIC);
    code = sqlite3_step(row);
    sqlite3_finalize(row);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int put_figures(sqlite3 *handle, const pace_stored_figure *figures, size_t count) {
    sqlite3_stmt *row = NULL;
    sqlite3_int64 run = sqlite3_last_insert_rowid(handle);
    int code =
        sqlite3_prepare_v2(handle, "INSERT INTO paceline_figures (run, path, value) VALUES (?, ?, ?)", -1, &row, NULL);
    for (size_t i = 0; code == SQLITE_OK && i < count; i++) {
        sqlite3_bind_int64(row, 1, run);
        sqlite3_bind_text(row, 2, figures[i].path, -1, SQLITE_STATIC);
        sqlite3_bind_double(row, 3, figures[i].value);
        code = sqlite3_step(row) == SQLITE_DONE ? sqlite3_reset(row) : sqlite3_errcode(handle);
    }
    sqlite3_finalize(row);
    return code;
}

static int put_all(sqlite3 *handle, const pace_stored_run *run, const pace_stored_figure *figures, size_t count) {
    sqlite3_busy_timeout(handle, PATIENCE_MS);
    int code = sqlite3_exec(handle, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_exec(handle, tables, NULL, NULL, NULL);
    if (code == SQLITE_OK) code = put_run(handle, run);
    if (code == SQLITE_OK) code = put_figures(handle, figures, count);
    return code == SQLITE_OK ? sqlite3_exec(handle, "COMMIT", NULL, NULL, NULL) : code;
}

pace_status pace_results_add(const char *path, const pace_stored_run *run, const pace_stored_figure *figures,
                             size_t count) {
    store s = {.path = path};
    int code = sqlite3_open_v2(path, &s.handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK) code = put_all(s.handle, run, figures, count);
    pace_status status = code == SQLITE_OK ? PACE_OK : fail(&s, code);
    sqlite3_close(s.handle); /* rolls back what was not committed */
    return status;
}

static pace_status copy_text(char **out, pace_rows *rows, size_t column) {
    size_t length = 0;
    const char *text = pace_row_text(rows, column, &length);
    *out = pace_copy_text(text ? text : "", text ? length : 0);
    return *out ? PACE_OK : PACE_E_MEMORY;
}

static void free_run(pace_stored_run *run) { PACE_FREE(run->verb, run->series, run->label, run->command); }

/* Of one file: the ids of its runs, and how many runs other files had before. */
typedef struct {
    PACE_VEC(int64_t) ids;
    size_t first;
} file_runs;

static pace_status read_run(pace_results *results, file_runs *own, pace_rows *rows) {
    pace_stored_run run = {.at_s = pace_row_int(rows, 1, 0)};
    pace_status status = copy_text(&run.verb, rows, 2);
    if (status == PACE_OK) status = copy_text(&run.series, rows, 3);
    if (status == PACE_OK) status = copy_text(&run.label, rows, 4);
    if (status == PACE_OK) status = copy_text(&run.command, rows, 5);
    if (status == PACE_OK) status = PACE_PUSH(&own->ids, pace_row_int(rows, 0, 0));
    if (status == PACE_OK) status = PACE_PUSH(&results->runs, run);
    if (status != PACE_OK) free_run(&run);
    return status;
}

/* Runs stand by ascending id. */
static size_t find_run(const file_runs *own, int64_t id) {
    size_t low = 0;
    PACE_SEARCH(low, own->ids.count, middle, own->ids.items[middle] < id);
    return low < own->ids.count && own->ids.items[low] == id ? own->first + low : SIZE_MAX;
}

static pace_status read_figure(pace_results *results, const file_runs *own, pace_rows *rows) {
    pace_stored_figure figure = {.run = find_run(own, pace_row_int(rows, 0, 0)), .value = pace_row_real(rows, 2)};
    if (figure.run == SIZE_MAX || isnan(figure.value) || isinf(figure.value)) return PACE_OK;
    if (results->figures.count == MOST_FIGURES)
        return pace_fail(PACE_E_LIMIT, "expected at most %d figures in all runs, found more", MOST_FIGURES);
    PACE_TRY(copy_text(&figure.path, rows, 1));
    pace_status status = PACE_PUSH(&results->figures, figure);
    if (status != PACE_OK) pace_free(figure.path);
    return status;
}

static pace_status read_table(pace_results *results, file_runs *own, pace_database *database, bool runs) {
    static const char *const of_runs[] = {"!id", "!at_s", "!verb", "!series", "!label", "!command"};
    static const char *const of_figures[] = {"!run", "!path", "!value"};
    pace_rows *rows;
    bool more = true;
    PACE_TRY(pace_rows_open(&rows, database, runs ? "paceline_runs" : "paceline_figures", runs ? of_runs : of_figures,
                            runs ? 6 : 3, runs ? "ORDER BY id" : "ORDER BY rowid"));
    pace_status status = pace_rows_next(&more, rows);
    while (status == PACE_OK && more) {
        status = runs ? read_run(results, own, rows) : read_figure(results, own, rows);
        if (status == PACE_OK) status = pace_rows_next(&more, rows);
    }
    pace_rows_free(rows);
    return status;
}

static pace_status read_file(pace_results *results, const char *path) {
    pace_database *database;
    file_runs own = {.first = results->runs.count};
    PACE_TRY(pace_database_open(&database, path));
    pace_status status = PACE_OK;
    if (!pace_database_has(database, "paceline_runs") || !pace_database_has(database, "paceline_figures"))
        status = pace_fail(PACE_E_INPUT,
                           "%s: expected results that " PACE_FIELD "store wrote, found no table paceline_runs", path);
    if (status == PACE_OK) status = read_table(results, &own, database, true);
    if (status == PACE_OK) status = read_table(results, &own, database, false);
    pace_database_free(database);
    PACE_VEC_FREE(&own.ids);
    return status;
}

/* A run, and where it stood before the files' runs were put in order. */
typedef struct {
    pace_stored_run run;
    int64_t at_s;
    size_t was;
} moved_run;

PACE_ORDER(by_time, moved_run, PACE_UP(at_s) PACE_UP(was))
PACE_ORDER(by_run, pace_stored_figure, PACE_UP(run) PACE_TEXT(path))

static pace_status order_by_time(pace_results *results) {
    size_t count = results->runs.count;
    moved_run *moved = pace_alloc(count + 1, sizeof *moved);
    size_t *now = pace_alloc(count + 1, sizeof *now);
    pace_status status = moved && now ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < count; i++)
        moved[i] = (moved_run){results->runs.items[i], results->runs.items[i].at_s, i};
    if (status == PACE_OK) {
        qsort(moved, count, sizeof *moved, by_time);
        for (size_t i = 0; i < count; i++) results->runs.items[i] = moved[i].run, now[moved[i].was] = i;
        for (size_t i = 0; i < results->figures.count; i++)
            results->figures.items[i].run = now[results->figures.items[i].run];
        PACE_SORT(&results->figures, by_run);
    }
    PACE_FREE(moved, now);
    return status;
}

pace_status pace_results_read(pace_results *out, const char *const *paths, size_t count) {
    pace_results results = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < count; i++) status = read_file(&results, paths[i]);
    if (status == PACE_OK && count > 1) status = order_by_time(&results);
    return PACE_GIVE(out, results, status, pace_results_free(&results));
}

void pace_results_free(pace_results *results) {
    PACE_VEC_FREE_EACH(&results->runs, free_run);
    for (size_t i = 0; i < results->figures.count; i++) pace_free(results->figures.items[i].path);
    PACE_VEC_FREE(&results->figures);
}

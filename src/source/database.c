#include "source/database.h"
#include "base/input.h"
#include "base/texts.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

/* A table read once costs some steps of SQLite's machine for each byte of the file. */
enum {
    HEAD = 512,
    LONGEST_VALUE = 1 << 26,
    STEPS_BETWEEN_CHECKS = 10000,
    STEPS_ANYWAY = 100000000,
    STEPS_PER_BYTE = 50
};

struct pace_database {
    sqlite3 *handle;
    char *path;
    pace_texts tables;          /* names of ordinary ones, in the order of the file */
    uint64_t steps, most_steps; /* of SQLite's machine, and bytes of text; done so far and allowed */
    bool is_short;
};

struct pace_rows {
    pace_database *database;
    sqlite3_stmt *statement;
    char *table;
    bool have[PACE_MOST_COLUMNS];
};

static bool is_spent(const pace_database *database) { return database->steps > database->most_steps; }

static pace_status fail_spent(const pace_database *database, const char *table) {
    return pace_fail(PACE_E_LIMIT,
                     "%s: table %s: expected a table that is read in at most %" PRIu64
                     " steps, found one that takes more (no index, or values that fill no file of this size?)",
                     database->path, table, database->most_steps);
}

static pace_status read_head(void *out, pace_input *input) {
    size_t got;
    return pace_input_read(input, out, HEAD, &got);
}

/* A file that cannot be read, or that no reader takes, says so better than SQLite does. */
static pace_status fail_to_open(const char *path, pace_status status, const char *reason) {
    char head[HEAD];
    PACE_TRY(pace_input_read_file(head, path, read_head));
    return pace_fail(status, "%s: expected an SQLite database, found another format (%s)", path, reason);
}

static pace_status fail(const pace_database *database, const char *table, int code) {
    if (is_spent(database)) return fail_spent(database, table ? table : "sqlite_master");
    pace_status status = code == SQLITE_NOMEM                             ? PACE_E_MEMORY
                         : code == SQLITE_CANTOPEN || code == SQLITE_PERM ? PACE_E_IO
                                                                          : PACE_E_INPUT;
    const char *reason = database->handle ? sqlite3_errmsg(database->handle) : sqlite3_errstr(code);
    if (!table && database->is_short)
        return pace_fail(status, "%s: expected an SQLite database, found one that breaks off before its tables",
                         database->path);
    if (!table) return fail_to_open(database->path, status, reason);
    return pace_fail(status, "%s: table %s: cannot be read: %s", database->path, table, reason);
}

/* Called by SQLite now and then during a query; other than 0 ends it. */
static int spend(void *context) {
    pace_database *database = context;
    database->steps += STEPS_BETWEEN_CHECKS;
    return is_spent(database);
}

/* Tables are read, and nothing else: no view, whatever the schema calls it, and no query that calls itself. */
static int allow(void *context, int action, const char *a, const char *b, const char *c, const char *view) {
    (void)context, (void)a, (void)b, (void)c;
    bool reads = action == SQLITE_SELECT || action == SQLITE_READ;
    return reads && !view ? SQLITE_OK : SQLITE_DENY;
}

static void set_budget(pace_database *database) {
    struct stat about;
    database->most_steps = STEPS_ANYWAY;
    if (stat(database->path, &about) == 0 && about.st_size > 0)
        database->most_steps += (uint64_t)about.st_size * STEPS_PER_BYTE;
    sqlite3_progress_handler(database->handle, STEPS_BETWEEN_CHECKS, spend, database);
}

/* The file is others': what its schema says is not run, and pages are checked before they are believed. */
static void distrust(sqlite3 *handle) {
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_exec(handle, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
}

static int read_schema(sqlite3 *handle) {
    return sqlite3_exec(handle, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
}

/* SQLite refuses a file that is shorter than its header says, unless its schema may be written. */
static int read_short(pace_database *database) {
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    sqlite3_exec(database->handle, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    database->is_short = true;
    return read_schema(database->handle);
}

static pace_status each_name(pace_database *database, const char *query, const char *table, pace_database_name_fn take,
                             void *context) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database->handle, query, -1, &statement, NULL);
    pace_status status = PACE_OK;
    if (code == SQLITE_OK && table) sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    while (code == SQLITE_OK && status == PACE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const unsigned char *name = sqlite3_column_text(statement, 0);
        status = name ? take(context, (const char *)name) : PACE_OK;
        code = SQLITE_OK;
    }
    if (status == PACE_OK && code != SQLITE_DONE) status = fail(database, table, code);
    sqlite3_finalize(statement);
    return status;
}

static pace_status add_name(void *context, const char *name) { return pace_texts_add(context, name); }

/* Entries of the schema that alone have their name and are ordinary tables: views and virtual tables are not read. */
static pace_status list_tables(pace_database *database) {
    static const char query[] =
        "SELECT name FROM sqlite_master WHERE type <> 'index' AND type <> 'trigger' GROUP BY name COLLATE NOCASE "
        "HAVING count(*) = 1 AND min(type = 'table' AND sql LIKE 'CREATE TABLE %') ORDER BY min(rowid)";
    return each_name(database, query, NULL, add_name, &database->tables);
}

pace_status pace_database_open(pace_database **out, const char *path) {
    pace_database *database = pace_alloc(1, sizeof *database);
    if (!database) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    database->path = pace_copy_text(path, strlen(path));
    if (!database->path) status = PACE_E_MEMORY;
    if (status == PACE_OK) {
        int code = sqlite3_open_v2(path, &database->handle, SQLITE_OPEN_READONLY, NULL);
        if (code == SQLITE_OK) {
            set_budget(database);
            distrust(database->handle);
            code = read_schema(database->handle);
            if (code == SQLITE_CORRUPT) code = read_short(database);
            if (code == SQLITE_OK) /* all queries see one state, and lock once */
                sqlite3_exec(database->handle, "BEGIN", NULL, NULL, NULL);
        }
        status = code == SQLITE_OK ? list_tables(database) : fail(database, NULL, code);
    }
    return PACE_GIVE(out, database, status, pace_database_free(database));
}

void pace_database_free(pace_database *database) {
    if (!database) return;
    sqlite3_close(database->handle);
    pace_texts_free(&database->tables);
    PACE_FREE(database->path, database);
}

bool pace_database_is_short(const pace_database *database) { return database->is_short; }

bool pace_database_has(pace_database *database, const char *table) {
    for (size_t i = 0; i < database->tables.count; i++)
        if (pace_strcasecmp(database->tables.items[i], table) == 0) return true;
    return false;
}

pace_status pace_database_tables(pace_database *database, pace_database_name_fn take, void *context) {
    for (size_t i = 0; i < database->tables.count; i++)
        if (pace_strncasecmp(database->tables.items[i], "sqlite_", 7) != 0)
            PACE_TRY(take(context, database->tables.items[i]));
    return PACE_OK;
}

pace_status pace_database_columns(pace_database *database, const char *table, pace_database_name_fn take,
                                  void *context) {
    return each_name(database, "SELECT name FROM pragma_table_info(?1) ORDER BY cid", table, take, context);
}

/* The first of the column's names that the table has; its length is 0 if it has none. */
static const char *choose(size_t *length, const pace_texts *there, const char *names) {
    for (; *names; names += *length + (names[*length] == '|')) {
        *length = strcspn(names, "|");
        for (size_t i = 0; i < there->count; i++)
            if (pace_strncasecmp(there->items[i], names, *length) == 0 && !there->items[i][*length]) return names;
    }
    *length = 0;
    return names;
}

static pace_status word_query(sqlite3_str *query, pace_rows *rows, const pace_texts *there, const char *const *columns,
                              size_t count, const char *tail) {
    sqlite3_str_appendall(query, "SELECT ");
    for (size_t i = 0; i < count; i++) {
        bool needed = columns[i][0] == '!';
        size_t length;
        const char *name = choose(&length, there, columns[i] + needed);
        rows->have[i] = length > 0;
        if (needed && !rows->have[i])
            return pace_fail(PACE_E_INPUT, "%s: table %s: expected a column \"%s\", found none", rows->database->path,
                             rows->table, columns[i] + needed);
        if (i) sqlite3_str_appendall(query, ", ");
        if (rows->have[i]) sqlite3_str_appendf(query, "\"%.*w\"", (int)length, name);
        else sqlite3_str_appendall(query, "NULL");
    }
    sqlite3_str_appendf(query, " FROM \"%w\" %s", rows->table, tail);
    return PACE_OK;
}

static pace_status prepare(pace_rows *rows, const char *const *columns, size_t count, const char *tail) {
    sqlite3 *handle = rows->database->handle;
    sqlite3_str *query = sqlite3_str_new(handle);
    pace_texts there = {0};
    pace_status status = pace_database_columns(rows->database, rows->table, add_name, &there);
    if (status == PACE_OK) status = word_query(query, rows, &there, columns, count, tail);
    char *text = sqlite3_str_finish(query);
    pace_texts_free(&there);
    if (status == PACE_OK) {
        sqlite3_set_authorizer(handle, allow, NULL);
        int code = text ? sqlite3_prepare_v2(handle, text, -1, &rows->statement, NULL) : SQLITE_NOMEM;
        sqlite3_set_authorizer(handle, NULL, NULL);
        if (code != SQLITE_OK) status = fail(rows->database, rows->table, code);
    }
    sqlite3_free(text);
    return status;
}

pace_status pace_rows_open(pace_rows **out, pace_database *database, const char *table, const char *const *columns,
                           size_t count, const char *tail) {
    pace_rows *rows = pace_alloc(1, sizeof *rows);
    if (!rows) return PACE_E_MEMORY;
    rows->database = database;
    rows->table = pace_copy_text(table, strlen(table));
    pace_status status = rows->table ? prepare(rows, columns, count, tail) : PACE_E_MEMORY;
    return PACE_GIVE(out, rows, status, pace_rows_free(rows));
}

void pace_rows_free(pace_rows *rows) {
    if (!rows) return;
    sqlite3_finalize(rows->statement);
    PACE_FREE(rows->table, rows);
}

void pace_rows_ask(pace_rows *rows, int64_t value) {
    sqlite3_reset(rows->statement);
    sqlite3_bind_int64(rows->statement, 1, value);
}

pace_status pace_rows_next(bool *more, pace_rows *rows) {
    if (is_spent(rows->database)) return fail_spent(rows->database, rows->table);
    int code = sqlite3_step(rows->statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) return fail(rows->database, rows->table, code);
    *more = code == SQLITE_ROW;
    return PACE_OK;
}

bool pace_rows_have(const pace_rows *rows, size_t column) { return rows->have[column]; }

bool pace_row_is_null(pace_rows *rows, size_t column) {
    return sqlite3_column_type(rows->statement, (int)column) == SQLITE_NULL;
}

bool pace_row_is_text(pace_rows *rows, size_t column) {
    return sqlite3_column_type(rows->statement, (int)column) == SQLITE_TEXT;
}

int64_t pace_row_int(pace_rows *rows, size_t column, int64_t otherwise) {
    int type = sqlite3_column_type(rows->statement, (int)column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_int64(rows->statement, (int)column)
                                                          : otherwise;
}

double pace_row_real(pace_rows *rows, size_t column) {
    int type = sqlite3_column_type(rows->statement, (int)column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(rows->statement, (int)column)
                                                          : (double)NAN;
}

const char *pace_row_text(pace_rows *rows, size_t column, size_t *length) {
    const unsigned char *text = sqlite3_column_text(rows->statement, (int)column);
    *length = text ? (size_t)sqlite3_column_bytes(rows->statement, (int)column) : 0;
    rows->database->steps += *length;
    return (const char *)text;
}

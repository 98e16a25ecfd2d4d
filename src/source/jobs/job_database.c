/* Job tables in SQLite files. */
#include "base/decimal.h"
#include "source/database.h"
#include "source/jobs/job_rounds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_PER_BLOCK = 4096, MOST_NAME = 128 };

typedef struct {
    pace_job_rounds *rounds;
    pace_database *database;
    char table[MOST_NAME];
    size_t tables;
    bool chosen;
    pace_texts names;          /* of the table's columns */
    int place[PACE_JOB_ROLES]; /* role -> column of the query */
    pace_rows *rows;
    bool over;
} reader;

static pace_status take_table(void *context, const char *name) {
    reader *r = context;
    r->tables++;
    if (!r->chosen && strlen(name) < sizeof r->table) memcpy(r->table, name, strlen(name) + 1);
    if (pace_word_edits(name, "jobs") == 0) r->chosen = true;
    return PACE_OK;
}

static pace_status choose_table(reader *r) {
    const char *wanted = r->rounds->options->table;
    if (wanted) {
        if (strlen(wanted) >= sizeof r->table || !pace_database_has(r->database, wanted))
            return pace_fail(PACE_E_INPUT, "%s: no table \"%.60s\"", r->rounds->name, wanted);
        memcpy(r->table, wanted, strlen(wanted) + 1);
        return PACE_OK;
    }
    PACE_TRY(pace_database_tables(r->database, take_table, r));
    if (r->tables == 0 || !*r->table)
        return pace_fail(PACE_E_INPUT, "%s: expected a table of jobs, found none", r->rounds->name);
    if (!r->chosen && r->tables > 1)
        return pace_fail(PACE_E_INPUT,
                         "%s: which of its %zu tables? expected one named \"jobs\", or " PACE_FIELD
                         "database_table NAME",
                         r->rounds->name, r->tables);
    return PACE_OK;
}

static pace_status take_column(void *context, const char *name) {
    return pace_texts_add(&((reader *)context)->names, name);
}

/* In a list of columns, '!' and '|' have a meaning of their own. */
static pace_status check_name(const reader *r, const char *name) {
    if (strlen(name) < MOST_NAME && !strpbrk(name, "!|")) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: table %s: cannot read a column named \"%.60s\"", r->rounds->name, r->table,
                     name);
}

static pace_status open_rows(reader *r) {
    const char *columns[PACE_JOB_ROLES];
    size_t count = 0;
    PACE_TRY(pace_database_columns(r->database, r->table, take_column, r));
    PACE_TRY(pace_job_layout_find(&r->rounds->layout, &r->rounds->reading->remarks, r->rounds->options->catalog,
                                  r->rounds->name, (const char *const *)r->names.items, r->names.count,
                                  r->rounds->options->columns));
    for (int role = 0; role < PACE_JOB_ROLES; role++) {
        int place = r->rounds->layout.place[role];
        r->place[role] = place < 0 ? -1 : (int)count;
        if (place < 0) continue;
        PACE_TRY(check_name(r, r->names.items[place]));
        columns[count++] = r->names.items[place];
    }
    return pace_rows_open(&r->rows, r->database, r->table, columns, count, "");
}

/* A number, or text that is one. */
static double number(reader *r, size_t column) {
    size_t length;
    double value = pace_row_real(r->rows, column);
    if (!isnan(value) || !pace_row_is_text(r->rows, column)) return value;
    const char *text = pace_row_text(r->rows, column, &length);
    return text && pace_decimal_read(&value, text, text + length) == text + length ? value : (double)NAN;
}

static void take_values(pace_job_row *row, reader *r, pace_job_block *block) {
    for (int role = 0; role < PACE_JOB_COLUMNS; role++) {
        if (r->place[role] < 0) continue;
        double value = number(r, (size_t)r->place[role]) * r->rounds->layout.factor[r->rounds->layout.place[role]];
        row->values[role] = value;
        if (value > block->greatest[role]) block->greatest[role] = value;
        if (isnan(value) && !*row->fault.why &&
            (role < PACE_JOB_REQUIRED || !pace_row_is_null(r->rows, (size_t)r->place[role])))
            snprintf(row->fault.why, sizeof row->fault.why, "%s: expected a number, found none",
                     pace_job_role_name(role));
    }
    for (int role = PACE_JOB_ID; role < PACE_JOB_ROLES; role++) {
        pace_job_text *text = &row->texts[role - PACE_JOB_ID];
        if (r->place[role] >= 0) text->data = pace_row_text(r->rows, (size_t)r->place[role], &text->length);
    }
}

static pace_status fill_block(reader *r, pace_job_block *block) {
    pace_job_block_clear(block);
    while (block->lines < ROWS_PER_BLOCK) {
        bool more;
        PACE_TRY(pace_rows_next(&more, r->rows));
        r->over = !more;
        if (!more) return PACE_OK;
        pace_job_row row = {.fault = {.line = block->lines, .text = ""}};
        pace_job_values_clear(row.values);
        take_values(&row, r, block);
        PACE_TRY(pace_job_block_add(block, &r->rounds->limits, &row));
        block->lines++;
    }
    return PACE_OK;
}

static pace_status read_rows(reader *r) {
    PACE_TRY(choose_table(r));
    PACE_TRY(open_rows(r));
    r->rounds->line = 1;
    while (!r->over) {
        for (r->rounds->used = 0; !r->over && r->rounds->used < r->rounds->block_count; r->rounds->used++)
            PACE_TRY(fill_block(r, &r->rounds->blocks[r->rounds->used]));
        PACE_TRY(pace_job_rounds_run(r->rounds, NULL, NULL, NULL));
    }
    if (pace_database_is_short(r->database))
        return pace_warn(&r->rounds->reading->remarks, PACE_WARN_FILE_CUT_OFF, NULL,
                         "%s: shorter than it says; read as far as it goes", r->rounds->name);
    return PACE_OK;
}

pace_status pace_job_database_read(pace_job_rounds *rounds, const char *path) {
    reader r = {.rounds = rounds};
    PACE_TRY(pace_database_open(&r.database, path));
    pace_status status = read_rows(&r);
    pace_rows_free(r.rows);
    pace_database_free(r.database);
    pace_texts_free(&r.names);
    return status;
}

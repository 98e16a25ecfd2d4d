/* Tables of an SQLite file as rows of named columns; read only. Private to source/. */
#pragma once

#include "base/status.h"

#include <stddef.h>

typedef struct pace_database pace_database;
typedef struct pace_rows pace_rows;

enum { PACE_MOST_COLUMNS = 20 };

/** Opens a file. One that is shorter than it says is read as far as it goes. PACE_E_INPUT when it is no database;
 * PACE_E_IO. Ordinary tables alone are read, views never. All reading of a file together takes a bounded number of
 * steps, in proportion to its size: past it, functions fail with PACE_E_LIMIT. */
pace_status pace_database_open(pace_database **out, const char *path) PACE_MUST_CHECK;
void pace_database_free(pace_database *database);

/** Whether the file is shorter than it says. */
bool pace_database_is_short(const pace_database *database);

/** Whether it holds a table of that name. */
bool pace_database_has(pace_database *database, const char *table);

/** Calls `take` with each table's name, in the order of the file, or with each column's of one table. */
typedef pace_status (*pace_database_name_fn)(void *context, const char *name);
pace_status pace_database_tables(pace_database *database, pace_database_name_fn take, void *context) PACE_MUST_CHECK;
pace_status pace_database_columns(pace_database *database, const char *table, pace_database_name_fn take,
                                  void *context) PACE_MUST_CHECK;

/** Starts reading a table. A column is a name, or names of which the first that is there counts ("memory|total"); '!'
 * in front: must be there, else PACE_E_INPUT names it. Others that are not there are null in every row. At most
 * PACE_MOST_COLUMNS. `tail` follows the table's name ("ORDER BY …", "WHERE id = ?"), or "". */
pace_status pace_rows_open(pace_rows **out, pace_database *database, const char *table, const char *const *columns,
                           size_t count, const char *tail) PACE_MUST_CHECK;
void pace_rows_free(pace_rows *rows);

/** Starts anew with the one '?' of `tail` bound. */
void pace_rows_ask(pace_rows *rows, int64_t value);

/** Steps to the next row; *more is false behind the last one. PACE_E_INPUT where the file is damaged. */
pace_status pace_rows_next(bool *more, pace_rows *rows) PACE_MUST_CHECK;

/** Whether the table has the column. */
bool pace_rows_have(const pace_rows *rows, size_t column);

bool pace_row_is_null(pace_rows *rows, size_t column);
bool pace_row_is_text(pace_rows *rows, size_t column);

/** A whole number; `otherwise` for null. */
int64_t pace_row_int(pace_rows *rows, size_t column, int64_t otherwise);

/** A number; NAN for null and for text that is none. */
double pace_row_real(pace_rows *rows, size_t column);

/** Text, borrowed until the next row; NULL for null. */
const char *pace_row_text(pace_rows *rows, size_t column, size_t *length);

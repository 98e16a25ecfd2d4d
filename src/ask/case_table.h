/* The tables of a case: rows picked by the words of their cells, columns renamed, set and translated. */
#ifndef PACE_ASK_CASE_TABLE_H
#define PACE_ASK_CASE_TABLE_H

#include "ask/cases.h"
#include "ask/csv.h"

/** Whether the row's cells say one of the words of each column; NULL or empty `where`: yes. A word is "100..200",
 * "100.." or "..200" (a number in that range), "=word" (the whole cell), "!word" (a cell that does not start with it),
 * "" (an empty cell), or what the cell starts with, whatever the case. PACE_E_INPUT for a column that is not there. */
pace_status pace_case_matches(bool *out, const pace_csv *csv, size_t row, const pace_yaml_node *where) PACE_MUST_CHECK;

/** Whether a cell says the word. */
bool pace_case_says(const char *cell, const char *word);

/** Gives the file `path` to `read` as the case has it: as it is, or with only its `rows`, and its `columns` made.
 * Errors: those of pace_csv_open() and of `read`, PACE_E_INPUT for a column that is not there. */
pace_status pace_case_table_read(const pace_case *one, const char *path,
                                 pace_status (*read)(void *context, pace_input *input), void *context) PACE_MUST_CHECK;

#endif

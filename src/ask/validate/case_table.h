/* The tables of a case: rows picked by the words of their cells, columns renamed, set and translated. */
#pragma once

#include "ask/validate/cases.h"
#include "base/csv.h"

/** Whether the row's cells say one of the words of each column; NULL or empty `where`: yes. A word is "100..200",
 * "100.." or "..200" (a number in that range), "=word" (the whole cell), "" (an empty cell), a pattern with "*", or
 * what the cell starts with, whatever the case; "!WORD" means that WORD does not hold. PACE_E_INPUT for a column that
 * is not there. */
pace_status pace_case_matches(bool *out, const pace_csv *csv, size_t row, const pace_yaml_node *where) PACE_MUST_CHECK;

/** Whether a cell says the word. */
bool pace_case_says(const char *cell, const char *word);

/* The groups of a table's rows that are looked at apart: cells with "|" between them, in order of appearance. */
typedef struct {
    PACE_VEC(char *) items;
} pace_case_groups;

/** Adds the groups of the file `path` that are not there yet. */
pace_status pace_case_groups_add(pace_case_groups *groups, const pace_case *one, const char *path) PACE_MUST_CHECK;
void pace_case_groups_free(pace_case_groups *groups);

/** The text of the first key that is the cell, or a pattern with "*" that it matches; NULL = none. */
const char *pace_case_word_for(const pace_yaml_node *words, const char *cell);

/** Gives the file `path` to `read` as the case has it: as it is, or with only its `rows`, and its `columns` made.
 * Errors: those of pace_csv_open() and of `read`, PACE_E_INPUT for a column that is not there. */
pace_status pace_case_table_read(const pace_case *one, const char *path,
                                 pace_status (*read)(void *context, pace_input *input), void *context) PACE_MUST_CHECK;

/** The same as a table of its own; of a case without files, the combinations of `over`. */
pace_status pace_case_table_make(pace_csv *out, const pace_case *one, const char *path) PACE_MUST_CHECK;

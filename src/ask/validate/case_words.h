/* Words of a case with names in braces: "--set dp={dp}" becomes a question of each row. */
#pragma once

#include "ask/validate/cases.h"
#include "base/csv.h"

/* Where names are looked up. */
typedef struct {
    const pace_case *one;
    const char *folder;  /* {data} */
    const char *written; /* {before}: the file of the question asked before; NULL = none */
    const char *table;   /* {table}: a file that holds the rows of `before`; NULL = none */
    const pace_csv *csv; /* {COLUMN}; NULL = none */
    size_t row;
} pace_case_place;

enum { PACE_CASE_WORDS = 4096 };

/** Writes `text` with what its names stand for: {COLUMN} the row's cell, {data} the folder of data, {cases} that of the
 * file of cases. *whole: none of them is an empty cell. PACE_E_INPUT for a name that is not there. */
pace_status pace_case_fill(char out[PACE_CASE_WORDS], bool *whole, const pace_case_place *at,
                           const char *text) PACE_MUST_CHECK;

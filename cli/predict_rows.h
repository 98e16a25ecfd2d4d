/* `paceline predict --rows FILE`: one question a row. */
#ifndef PACE_CLI_PREDICT_ROWS_H
#define PACE_CLI_PREDICT_ROWS_H

#include "output.h"

typedef struct {
    const char *path; /* NULL: no rows were asked for */
    pace_rows_options options;
    cli_list fits;
} cli_rows;

/* The rows of the option table that only questions in tables have. */
#define CLI_ROWS_OPTIONS(rows)                                                                                     \
    {"--rows", 'r', OPTION_TEXT, "FILE", "a table: one question a row, given back with its answer", &(rows).path}, \
        {"--kind",                                                                                                 \
         'k',                                                                                                      \
         OPTION_TEXT,                                                                                              \
         "KIND",                                                                                                   \
         "what is asked: kernel (default of --rows) or exchange",                                                  \
         &(rows).options.kind},                                                                                    \
    {                                                                                                              \
        "--fit", 0, OPTION_LIST, "FILE", "use what 'paceline fit' learned", &(rows).fits                           \
    }

/** Answers the table and returns the exit status. CSV unless somebody looks or asks for another format. */
int cli_predict_rows(const cli_rows *rows, cli_output *output);

#endif

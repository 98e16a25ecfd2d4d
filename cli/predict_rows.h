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
         "kernel, exchange, step, scaling or job (default: by columns)",                                           \
         &(rows).options.kind},                                                                                    \
    {                                                                                                              \
        "--fit", 0, OPTION_LIST, "FILE", "use what 'paceline fit' learned", &(rows).fits                           \
    }

/* The rows of the option table that questions about jobs have. */
#define CLI_JOB_OPTIONS(assume)                                                                                        \
    {                                                                                                                  \
        "--overlap",      0, OPTION_TEXT, "HOW", "of input, computation and weights: none, ideal or 0 to 1",           \
        &(assume).overlap},                                                                                            \
        {"--contention",      0, OPTION_TEXT, "WHOSE", "input that shares the host link: none, projected or all",      \
         &(assume).contention},                                                                                        \
        {"--nvlink", 0, OPTION_TEXT, "HOW", "the rate of one link or the aggregate", &(assume).nvlink}, {              \
        "--efficiency", 0, OPTION_TEXT, "SHARES", "of the peaks: 0.5 or compute=0.5,memory=0.03", &(assume).efficiency \
    }

/** Answers the table and returns the exit status. CSV unless somebody looks or asks for another format. */
int cli_predict_rows(const cli_rows *rows, cli_output *output);

#endif

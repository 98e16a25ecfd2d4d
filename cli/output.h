/* Where a report goes: format, file, warnings, exit status. Shared by all verbs. */
#ifndef PACE_CLI_OUTPUT_H
#define PACE_CLI_OUTPUT_H

#include "options.h"
#include "verbs.h"

#include "paceline/paceline.h"

typedef struct {
    const char *format, *path, *table;
    bool quiet;
} cli_output;

/* The rows of the option table every verb shares. */
#define CLI_OUTPUT_OPTIONS(output)                                                                              \
    {"--format", 'f', OPTION_TEXT, "FORMAT", "table (default), json, csv, html or perfetto", &(output).format}, \
        {"--output", 'o', OPTION_TEXT, "FILE", "write there; the suffix chooses the format", &(output).path},   \
        {"--table", 't', OPTION_TEXT, "KEY", "csv: which table", &(output).table}, {                            \
        "--quiet", 'q', OPTION_FLAG, NULL, "no warnings, no progress", &(output).quiet                          \
    }

/** Checks --format and the suffix before any work is done. False after a message. */
bool cli_output_format(pace_format *out, const char *verb, const cli_output *output);

/** Whether writing to `path` (may be NULL), a word of the command line, leaves the files as they are that its other
 * words name, alone or within ("A=B", "FILE.yaml:NAME"), and the traces of directories among the operands. False after
 * a message. */
bool cli_spares_inputs(const char *verb, const char *path, const cli_arguments *arguments, int operands);

/** Writes the report and prints its warnings; frees it; returns the exit status. */
int cli_output_report(const char *verb, pace_report *report, pace_format format, const cli_output *output);

/** Writes to a FILE: a pace_write_fn. What fails because the reader of a pipe has gone is not an error to speak of. */
int cli_write(void *file, const void *bytes, size_t length);

/** The exit status of a failed call. */
int cli_exit_status(pace_status status);

/** The same, its message printed. */
int cli_fail(const char *verb, pace_status status);

/** Progress on a terminal; NULL when piped or quiet. */
pace_progress_fn cli_progress(const cli_output *output);
void cli_progress_end(void);

#endif

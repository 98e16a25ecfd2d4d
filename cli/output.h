/* Where a report goes: format, file, warnings, exit status. Shared by all verbs. */
#ifndef PACE_CLI_OUTPUT_H
#define PACE_CLI_OUTPUT_H

#include "options.h"

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

/** Whether writing to `path` (may be NULL) leaves the inputs as they are. False after a message. */
bool cli_spares_inputs(const char *verb, const char *path, const char *const *inputs, int count);

/** Writes the report and prints its warnings; frees it; returns the exit status. */
int cli_output_report(const char *verb, pace_report *report, pace_format format, const cli_output *output);

/** The exit status of a failed call, its message printed. */
int cli_fail(const char *verb, pace_status status);

/** Progress on a terminal; NULL when piped or quiet. */
pace_progress_fn cli_progress(const cli_output *output);
void cli_progress_end(void);

#endif

/* Where an answer goes: format, file, warnings, exit status. */
#pragma once

#include "arguments.h"

/** Whether the suffix of --output names the format of --format. False after a message. */
bool cli_output_agrees(const char *verb, const cli_output *output);

/** Checks --format and the suffix before any work is done. False after a message. */
bool cli_output_format(pace_format *out, const char *verb, const cli_output *output);

/** Whether writing to `path` (may be NULL), a word of the command line, leaves the files as they are that its other
 * words name, alone or within ("A=B", "FILE.yaml:NAME"), and the traces of directories among the operands. False after
 * a message. */
bool cli_spares_inputs(const char *path, const cli_arguments *arguments);

/** Writes the answer and prints its warnings; returns the exit status. */
int cli_output_answer(const char *verb, const pace_answer *answer, pace_format format, const cli_output *output);

/** The exit status of an answer: of --strict, doubt comes before the answer "no". Prints the codes that --strict
 * counts. */
int cli_judge(const char *verb, const pace_answer *answer, bool strict);

/** The exit status of a failed call. */
int cli_exit_status(pace_status status);

/** The same, its message printed; a field that it begins with is shown as the option it is. */
int cli_fail(const char *verb, pace_status status);

/** Progress on a terminal; NULL when piped or quiet. */
pace_progress_fn cli_progress(const cli_output *output);

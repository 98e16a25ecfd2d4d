/*
 * The words of a command line: what they say is put into a question, by the library's table of options.
 */
#pragma once

#include "paceline/paceline.h"

#include <stdbool.h>

enum { CLI_DONE = 0, CLI_NO = 1, CLI_USAGE = 2, CLI_INPUT = 3, CLI_MISSING = 4, CLI_MEMORY = 5, CLI_READER_GONE = 141 };

/* How the answer is shown. */
typedef struct {
    const char *format, *path, *table;
    bool quiet, strict;
} cli_output;

/* What follows the verb. */
typedef struct {
    const pace_verb *verb;
    const char **words; /* operands are moved to the front */
    int count, operands;
    const char *const *command; /* the whole command line, to be echoed */
    int command_count;
    cli_output output;
    const char *written[8];           /* files that asking writes; words of the command line */
    const pace_option *written_by[8]; /* which option names each */
    int written_count;
    bool helped; /* help was asked for, and printed */
} cli_arguments;

/** Reads the words into the question and the output. False after a usage message. */
bool cli_parse(cli_arguments *arguments, pace_question *question);

/** An option's name as it is typed: "--drop-overhead". The buffer is the caller's. */
const char *cli_option_name(char out[64], const pace_option *option);

/** Whether `word` is so like `name` that it may be a slip of the fingers. */
bool cli_is_slip(const char *word, const char *name);

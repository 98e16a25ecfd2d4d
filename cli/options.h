/*
 * The option table: one row per option drives parsing and help.
 */
#ifndef PACE_CLI_OPTIONS_H
#define PACE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_DONE = 0, CLI_NO = 1, CLI_USAGE = 2, CLI_INPUT = 3, CLI_MISSING = 4 };

/* A heading is no option: help prints its name above those that follow. */
typedef enum { OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER, OPTION_LIST, OPTION_HEADING } option_type;

/* The values of an option that may be given several times. */
enum { CLI_LIST = 64 };
typedef struct {
    const char *items[CLI_LIST];
    size_t count;
} cli_list;

typedef struct {
    const char *name; /* "--format" */
    char letter;      /* 'f' for -f; 0 = none */
    option_type type;
    const char *argument; /* shown in help: "FILE" */
    const char *help;
    void *target; /* bool *, const char **, double * or cli_list * */
} cli_option;

#define CLI_HEADING(text) \
    { text, 0, OPTION_HEADING, NULL, NULL, NULL }

/** Parses `words` after the verb. Operands are gathered in place at the front of `words`; their number is returned,
 * or -1 after a usage message on stderr. --help prints help and sets *helped. */
int cli_parse(const char *verb, const char *operands, const char *summary, const cli_option *options, size_t count,
              const char **words, int word_count, bool *helped);

/** Whether `word` is so like `name` that it may be a slip of the fingers. */
bool cli_is_slip(const char *word, const char *name);

#endif

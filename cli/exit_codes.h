/* What the program returns, and the environment it reads: for --help, the manual and docs/cli.md, which a test
 * compares. */
#pragma once

typedef struct {
    int code;
    const char *means;
} cli_exit_code;
typedef struct {
    const char *name, *means;
} cli_variable;

extern const cli_exit_code cli_exit_codes[]; /* ends with a code of -1 */
extern const cli_variable cli_variables[];   /* ends with a name of NULL */

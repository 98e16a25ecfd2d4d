/* Whether a script takes a branch: "[ $AC = full ] && [ $TP -gt 1 ]", its known variables replaced. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum { PACE_SHELL_NO, PACE_SHELL_YES, PACE_SHELL_UNKNOWN } pace_shell_truth;

/** Whether the script sets a variable of that name, to whichever value. */
typedef bool (*pace_shell_is_set)(const void *context, const char *name, size_t length);

/** Comparisons of words and numbers between brackets, -z and -n, "!", "&&" and "||"; all else is unknown, and so is
 * what has a variable left in it. A variable that the script never sets counts as empty for -z and -n, as in
 * ${NAME:-value}. */
pace_shell_truth pace_shell_test(const char *text, pace_shell_is_set is_set, const void *context);

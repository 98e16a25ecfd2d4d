/* POSIX extended regular expressions, as users write them. */
#pragma once

#include "base/status.h"

#include <regex.h>

/** Compiles an expression that is only asked whether it matches; free with regfree(). PACE_E_USAGE: the message is
 * `what`, the expression and the reason. An expression is refused that is longer than 1,000 characters, nested deeper
 * than 32 groups, more than 2,000 characters with its repetitions written out, or that refers back to a group: the C
 * library takes time and memory without bound for these. */
pace_status pace_pattern_compile(regex_t *out, const char *what, const char *expression) PACE_MUST_CHECK;

/** Whether it matches anywhere in a text. */
bool pace_pattern_fits(const regex_t *pattern, const char *text);

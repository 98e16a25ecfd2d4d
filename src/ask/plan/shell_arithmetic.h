/* "$((GPUS * NODES))" of a shell script. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The number that a variable of that name holds; false where nobody knows. */
typedef bool (*pace_shell_variable)(int64_t *out, const void *context, const char *name, size_t length);

/** Whole numbers, names ("N", "$N", "${N}"), + - * / % == != < > <= >= ?: and parentheses, as POSIX's arithmetic
 * expansion takes them. False for what is none of these, for a division by zero, and for numbers beyond 10^15. */
bool pace_shell_arithmetic(int64_t *out, const char *text, size_t length, pace_shell_variable variable,
                           const void *context);

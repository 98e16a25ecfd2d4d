/* What tells long names of kernels apart: private to shorten.c. */
#pragma once

#include <stddef.h>

/** Takes out of the clean name of a kernel, in place, what says least of it, until it fits `width` columns: the lambdas
 * and parameters within a C++ function's template arguments; then arguments that are numbers, plain types or helpers;
 * then wrappers around the one argument that tells. Of a kernel that a compiler fused, the operators that only view. */
void pace_function_reduce(char *text, size_t width);

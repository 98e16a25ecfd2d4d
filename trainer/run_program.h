/* A program that trains, as a process of its own. */
#pragma once

#include <stddef.h>

/** Runs it with these words, NULL behind the last; what it says goes into a file. Its exit status, 128 after a signal,
 * -1 where it could not be started. */
int pace_program_run(const char *const *words, const char *said);

/** Why it failed: the first line of that file that "paceline train:" begins, without these words. */
void pace_program_reason(char *out, size_t size, const char *said);

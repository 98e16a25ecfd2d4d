/* What is said on standard error. */
#pragma once

/** Writes "paceline: ..." as one line, whatever the words in it are: control characters of names and values, which
 * could break the line or steer a terminal, become "?". */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

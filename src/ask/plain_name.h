/* Names of columns and words of cells, told apart from how they are written: case, spaces, brackets, camels. */
#ifndef PACE_ASK_PLAIN_NAME_H
#define PACE_ASK_PLAIN_NAME_H

#include "base/yaml.h"

#include <stdbool.h>
#include <stddef.h>

enum { PACE_PLAIN_NAME = 64 };

/** "Avg Time [ms]", "avgTimeMs" and "avg-time/ms" are all "avg_time_ms": words in small letters with one "_" between
 * them. What does not fit is cut. */
void pace_plain_name(char out[PACE_PLAIN_NAME], const char *name);

/** Whether two words are the same but for case, "_", "-", "." and spaces. */
bool pace_same_word(const char *a, const char *b);
bool pace_same_word_span(const char *a, size_t length, const char *b);

/** Whether a list of a document has the word. */
bool pace_word_listed(const pace_yaml_node *list, const char *word);

#endif

/*
 * Members that a map must have, checked as they are read: every reader of a file of our own says what it expects in the
 * same words, behind the place "name:line:column". All fail with PACE_E_INPUT; outs are written only on success.
 */
#pragma once

#include "base/yaml.h"

/** The document's "schema" is this one; `what` says what was expected, "a fit of steps". */
pace_status pace_yaml_check_schema(const pace_yaml *yaml, const char *schema, const char *what) PACE_MUST_CHECK;

pace_status pace_yaml_member(const pace_yaml_node **out, const pace_yaml *yaml, const pace_yaml_node *map,
                             const char *key) PACE_MUST_CHECK;

/** The map has no other members than `keys`, with NULL behind the last; `what` is the map, "a case". */
pace_status pace_yaml_only(const pace_yaml *yaml, const pace_yaml_node *map, const char *const *keys,
                           const char *what) PACE_MUST_CHECK;

/** A list of at least one item. */
pace_status pace_yaml_list(const pace_yaml_node **out, const pace_yaml *yaml, const pace_yaml_node *map,
                           const char *key) PACE_MUST_CHECK;

/** A number of `least` to `most`. */
pace_status pace_yaml_real(double *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key, double least,
                           double most) PACE_MUST_CHECK;

/** A number above 0 of at most `most`. */
pace_status pace_yaml_positive(double *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key,
                               double most) PACE_MUST_CHECK;

/** A whole number of `least` to `most`. */
pace_status pace_yaml_whole(int *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key, int least,
                            int most) PACE_MUST_CHECK;

/** A text that `out` holds with its zero. */
pace_status pace_yaml_copy(char *out, size_t size, const pace_yaml *yaml, const pace_yaml_node *map,
                           const char *key) PACE_MUST_CHECK;

/** A text of at least one byte, borrowed from the document. */
pace_status pace_yaml_word(const char **out, const pace_yaml *yaml, const pace_yaml_node *map,
                           const char *key) PACE_MUST_CHECK;

/** "true" or "false"; false where the map lacks the member. */
pace_status pace_yaml_flag(bool *out, const pace_yaml *yaml, const pace_yaml_node *map,
                           const char *key) PACE_MUST_CHECK;

/** Whether a list has the word, however it is spelled. */
bool pace_word_listed(const pace_yaml_node *list, const char *word);
/** The place of this text in a list, letter by letter, and whether it has one; -1 = none. */
int pace_text_place(const pace_yaml_node *list, const char *text);
bool pace_text_listed(const pace_yaml_node *list, const char *text);

/* A document of YAML in one block of memory: parsed, or taken as a program holds it. It is read with base/yaml.h. */
#pragma once

#include "base/memory.h"

typedef struct pace_yaml pace_yaml;           /* a document */
typedef struct pace_yaml_node pace_yaml_node; /* borrowed from it */

/** Parses bytes; `name` is for messages. */
pace_status pace_yaml_parse(pace_yaml **out, const char *name, const void *bytes, size_t length) PACE_MUST_CHECK;
void pace_yaml_free(pace_yaml *yaml);

/** NULL of an empty document. */
const pace_yaml_node *pace_yaml_root(const pace_yaml *yaml);
const char *pace_yaml_name(const pace_yaml *yaml);

/** What pace_yaml_of_tree() takes, on a machine of the same order of bytes; borrowed. */
const void *pace_yaml_tree(size_t *length, const pace_yaml *yaml);

/** The document of such a tree, which must be aligned as a uint32_t is and outlives it; NULL = an empty document. */
pace_status pace_yaml_of_tree(pace_yaml **out, const char *name, const void *tree) PACE_MUST_CHECK;

/*
 * YAML (and so JSON) configuration, read whole with libyaml into a small tree (base/yaml_tree.h). Aliases, anchors on
 * nodes and duplicate keys are refused; every error has line:column. Scalars stay text: typing is the reader's.
 */
#pragma once

#include "base/yaml_tree.h"

/** Parses a file or standard input ("-"), plain or compressed, of at most 16 MiB. PACE_E_IO when it cannot be read. */
pace_status pace_yaml_load(pace_yaml **out, const char *path) PACE_MUST_CHECK;
/** Loads `path` for read(out, yaml), which keeps nothing of the document. */
pace_status pace_yaml_read_file(void *out, const char *path,
                                pace_status (*read)(void *out, const pace_yaml *yaml)) PACE_MUST_CHECK;

bool pace_yaml_is_map(const pace_yaml_node *node);
bool pace_yaml_is_list(const pace_yaml_node *node);
/** Members of a map or items of a list. NULL nodes count as empty. */
size_t pace_yaml_count(const pace_yaml_node *node);
const pace_yaml_node *pace_yaml_item(const pace_yaml_node *node, size_t index);
const char *pace_yaml_key(const pace_yaml_node *map, size_t index);
/** The key of a map's value. */
const char *pace_yaml_key_of(const pace_yaml_node *value);
/** A loop over the items of a list or the values of a map: PACE_YAML_EACH (entry, list) PACE_TRY(read(out, entry)); */
#define PACE_YAML_EACH(name, node) \
    for (const pace_yaml_node *name = pace_yaml_first(node); name; name = pace_yaml_next(name))
const pace_yaml_node *pace_yaml_first(const pace_yaml_node *node);
const pace_yaml_node *pace_yaml_next(const pace_yaml_node *item);
/** The member's value, or NULL. */
const pace_yaml_node *pace_yaml_get(const pace_yaml_node *map, const char *key);
/** A scalar's text, or NULL for maps, lists and NULL. */
const char *pace_yaml_text(const pace_yaml_node *node);
/** The same of a member. */
const char *pace_yaml_text_of(const pace_yaml_node *map, const char *key);
/** "name:line:column" of a node, for messages of readers. Thread-local buffer. */
const char *pace_yaml_place(const pace_yaml *yaml, const pace_yaml_node *node);
/** Fails with PACE_E_INPUT and a message behind the node's place. */
pace_status pace_yaml_fail(const pace_yaml *yaml, const pace_yaml_node *node, const char *format, ...)
    PACE_PRINTF(3, 4);
/** A scalar as a double; plain numbers only, independent of the locale. Fails with the place. */
pace_status pace_yaml_number(double *out, const pace_yaml *yaml, const pace_yaml_node *node) PACE_MUST_CHECK;

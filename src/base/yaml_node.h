/* How the tree of a document lies in memory: nodes, then texts, in one block without addresses, so that a program may
 * hold it ready-made. Private to yaml_tree.c, which makes it, and yaml.c, which reads it. */
#pragma once

#include <stdint.h>

typedef enum { PACE_NODE_SCALAR, PACE_NODE_LIST, PACE_NODE_MAP } pace_node_kind;

/* `key` and `at` are bytes from the node itself. The children of a node lie one behind the other. */
struct pace_yaml_node {
    uint8_t kind, plain; /* plain: a scalar without quotes */
    uint16_t last;       /* of its parent's children; fills the word, so that equal documents are equal bytes */
    int32_t key;         /* to the text of its name in the map it is of; 0 = it is of none */
    int32_t at;          /* to a scalar's text, or to the first child */
    uint32_t count;      /* children */
    uint32_t line, column;
};

/* The order in which a tree is read aloud: each node before what is below it. */
#pragma once

#include "base/status.h"

#include <stddef.h>

/** Brings the nodes of a tree, and the parents they name, into depth-first order, of siblings the one of larger weight
 * first (equal ones by number): `parent_at` is where a node holds its parent's number (uint32_t). Node 0 is the root;
 * the parent of each other one stands before it. */
pace_status pace_tree_arrange(void *nodes, size_t count, size_t size, size_t parent_at,
                              double (*weight)(const void *node)) PACE_MUST_CHECK;

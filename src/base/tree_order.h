/* The order in which a tree is read aloud: each node before what is below it. */
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/** Numbers the nodes of a tree depth first, of siblings the one of larger weight first (equal ones by number):
 * place[node]. Node 0 is the root; parent[node] < node for all others. */
pace_status pace_tree_order(uint32_t *place, const uint32_t *parent, const double *weight,
                            size_t count) PACE_MUST_CHECK;

/** Brings nodes into this order, and the parents they name with them: `parent_at` is where a node holds its parent's
 * number (uint32_t), weight(node) says which of siblings goes first. */
pace_status pace_tree_arrange(void *nodes, size_t count, size_t size, size_t parent_at,
                              double (*weight)(const void *node)) PACE_MUST_CHECK;

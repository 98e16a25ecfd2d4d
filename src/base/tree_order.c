#include "base/tree_order.h"

#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>

typedef struct {
    uint32_t node, parent;
    double weight;
} sibling;

PACE_ORDER(by_parent, sibling, PACE_UP(parent) PACE_DOWN(weight) PACE_UP(node))

/* A parent's number is below its children's, so its place is known when theirs are asked for. */
static void number_nodes(uint32_t *place, const sibling *siblings, const uint32_t *size, size_t count) {
    uint32_t next = 0;
    place[0] = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        const sibling *at = &siblings[i];
        if (i == 0 || at->parent != siblings[i - 1].parent) next = place[at->parent] + 1;
        place[at->node] = next;
        next += size[at->node];
    }
}

pace_status pace_tree_order(uint32_t *place, const uint32_t *parent, const double *weight, size_t count) {
    sibling *siblings = pace_alloc(count, sizeof *siblings);
    uint32_t *size = pace_alloc(count, sizeof *size);
    pace_status status = siblings && size ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK && count) {
        for (size_t i = 0; i < count; i++) size[i] = 1;
        for (size_t i = count - 1; i > 0; i--) {
            size[parent[i]] += size[i];
            siblings[i - 1] = (sibling){(uint32_t)i, parent[i], weight[i]};
        }
        qsort(siblings, count - 1, sizeof *siblings, by_parent);
        number_nodes(place, siblings, size, count);
    }
    pace_free(siblings);
    pace_free(size);
    return status;
}

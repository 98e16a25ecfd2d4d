#include "base/tree_order.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct {
    uint32_t node, parent;
    double weight;
} sibling;

static int by_parent(const void *left, const void *right) {
    const sibling *a = left, *b = right;
    if (a->parent != b->parent) return a->parent < b->parent ? -1 : 1;
    if (a->weight < b->weight || a->weight > b->weight) return a->weight > b->weight ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

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

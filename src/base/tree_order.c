#include "base/tree_order.h"
#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

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

/* place[node] in that order. */
static pace_status find_places(uint32_t *place, const uint32_t *parent, const double *weight, size_t count) {
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
    PACE_FREE(siblings, size);
    return status;
}

static uint32_t *parent_in(void *nodes, size_t at, size_t size, size_t parent_at) {
    return (uint32_t *)(void *)((char *)nodes + at * size + parent_at);
}

pace_status pace_tree_arrange(void *nodes, size_t count, size_t size, size_t parent_at,
                              double (*weight)(const void *node)) {
    uint32_t *place = pace_alloc(count, sizeof *place), *parent = pace_alloc(count, sizeof *parent);
    double *weights = pace_alloc(count, sizeof *weights);
    char *arranged = pace_alloc(count, size), *from = nodes;
    pace_status status = place && parent && weights && arranged ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < count; i++) {
        parent[i] = *parent_in(nodes, i, size, parent_at);
        weights[i] = weight(from + i * size);
    }
    if (status == PACE_OK) status = find_places(place, parent, weights, count);
    for (size_t i = 0; status == PACE_OK && i < count; i++) {
        memcpy(arranged + place[i] * size, from + i * size, size);
        *parent_in(arranged, place[i], size, parent_at) = place[parent[i]];
    }
    if (status == PACE_OK) memcpy(nodes, arranged, count * size);
    PACE_FREE(place, parent, weights, arranged);
    return status;
}

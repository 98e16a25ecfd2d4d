#include "cost/nearest.h"

#include <string.h>

static float coordinate(const pace_nearest *tree, uint32_t point, unsigned axis) {
    return tree->points[(size_t)point * PACE_NEAREST_AXES + axis];
}

static bool before(const pace_nearest *tree, uint32_t a, uint32_t b, unsigned axis) {
    float x = coordinate(tree, a, axis), y = coordinate(tree, b, axis);
    return x < y || (x == y && a < b);
}

/* Puts the element of rank `middle` of [low, high) in its place (Hoare's selection). */
static void select_middle(pace_nearest *tree, size_t low, size_t high, size_t middle, unsigned axis) {
    uint32_t *order = tree->order;
    high--;
    while (low < high) {
        uint32_t pivot = order[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;; i++, j--) {
            while (before(tree, order[i], pivot, axis)) i++;
            while (before(tree, pivot, order[j], axis)) j--;
            if (i >= j) break;
            uint32_t swap = order[i];
            order[i] = order[j], order[j] = swap;
        }
        if (middle <= j) high = j;
        else low = j + 1;
    }
}

static unsigned widest_axis(const pace_nearest *tree, size_t low, size_t high) {
    unsigned best = 0;
    float widest = -1;
    for (unsigned axis = 0; axis < tree->axes; axis++) {
        float least = coordinate(tree, tree->order[low], axis), most = least;
        for (size_t i = low + 1; i < high; i++) {
            float here = coordinate(tree, tree->order[i], axis);
            if (here < least) least = here;
            if (here > most) most = here;
        }
        if (most - least > widest) widest = most - least, best = axis;
    }
    return best;
}

static void split(pace_nearest *tree, size_t low, size_t high) {
    while (high - low > 1) {
        unsigned axis = widest_axis(tree, low, high);
        size_t middle = low + (high - low) / 2;
        select_middle(tree, low, high, middle, axis);
        tree->axis[middle] = (uint8_t)axis;
        split(tree, low, middle);
        low = middle + 1;
    }
}

pace_status pace_nearest_build(pace_nearest *out, const float *points, const uint32_t *groups, size_t count,
                               unsigned axes) {
    pace_nearest tree = {points, groups, NULL, NULL, count, axes};
    tree.order = pace_alloc(count ? count : 1, sizeof *tree.order);
    tree.axis = pace_alloc(count ? count : 1, 1);
    if (!tree.order || !tree.axis) {
        pace_nearest_free(&tree);
        return PACE_E_MEMORY;
    }
    for (size_t i = 0; i < count; i++) tree.order[i] = (uint32_t)i;
    split(&tree, 0, count);
    *out = tree;
    return PACE_OK;
}

void pace_nearest_free(pace_nearest *tree) {
    PACE_FREE(tree->order, tree->axis);
    *tree = (pace_nearest){0};
}

typedef struct {
    const pace_nearest *tree;
    const float *at;
    const double *scale;
    uint32_t but, *indices;
    double *distances;
    unsigned most, found;
} search;

static void consider(search *s, uint32_t point) {
    if (s->but != UINT32_MAX && s->tree->groups && s->tree->groups[point] == s->but) return;
    double distance = 0;
    for (unsigned i = 0; i < s->tree->axes; i++) {
        double d = s->scale[i] * ((double)s->at[i] - coordinate(s->tree, point, i));
        distance += d * d;
    }
    unsigned place = s->found;
    while (place > 0 && (distance < s->distances[place - 1] ||
                         (distance == s->distances[place - 1] && point < s->indices[place - 1])))
        place--;
    if (place == s->most) return;
    if (s->found < s->most) s->found++;
    memmove(s->indices + place + 1, s->indices + place, (s->found - 1 - place) * sizeof *s->indices);
    memmove(s->distances + place + 1, s->distances + place, (s->found - 1 - place) * sizeof *s->distances);
    s->indices[place] = point;
    s->distances[place] = distance;
}

static void visit(search *s, size_t low, size_t high) {
    if (low >= high) return;
    size_t middle = low + (high - low) / 2;
    uint32_t point = s->tree->order[middle];
    consider(s, point);
    if (high - low == 1) return;
    unsigned axis = s->tree->axis[middle];
    double apart = s->scale[axis] * ((double)s->at[axis] - coordinate(s->tree, point, axis));
    bool left = apart < 0;
    if (left) visit(s, low, middle);
    else visit(s, middle + 1, high);
    if (s->found == s->most && apart * apart > s->distances[s->found - 1]) return;
    if (left) visit(s, middle + 1, high);
    else visit(s, low, middle);
}

unsigned pace_nearest_find(uint32_t *indices, double *distances, const pace_nearest *tree, const float *at,
                           const double *scale, uint32_t but, unsigned most) {
    search s = {tree, at, scale, but, indices, distances, most < PACE_NEAREST_MOST ? most : PACE_NEAREST_MOST, 0};
    if (s.most > 0) visit(&s, 0, tree->count);
    return s.found;
}

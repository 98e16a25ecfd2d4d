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

static uint32_t group_of(const pace_nearest *tree, uint32_t point) {
    return tree->groups ? tree->groups[point] : PACE_NEAREST_MIXED;
}

static pace_nearest_range widened(pace_nearest_range range, pace_nearest_range by) {
    if (by.least < range.least) range.least = by.least;
    if (by.group != range.group) range.group = PACE_NEAREST_MIXED;
    return range;
}

/* What a search may know of [low, high) without going through it. */
static pace_nearest_range describe(pace_nearest *tree, size_t low, size_t high) {
    size_t middle = low + (high - low) / 2;
    uint32_t point = tree->order[middle];
    pace_nearest_range range = {point, group_of(tree, point)};
    if (low < middle) range = widened(range, describe(tree, low, middle));
    if (middle + 1 < high) range = widened(range, describe(tree, middle + 1, high));
    tree->ranges[middle] = range;
    return range;
}

pace_status pace_nearest_build(pace_nearest *out, const float *points, const uint32_t *groups, size_t count,
                               unsigned axes) {
    pace_nearest tree = {.points = points, .groups = groups, .count = count, .axes = axes};
    if (!PACE_MAKE(tree.order, count ? count : 1) || !PACE_MAKE(tree.axis, count ? count : 1) ||
        !PACE_MAKE(tree.ranges, count ? count : 1)) {
        pace_nearest_free(&tree);
        return PACE_E_MEMORY;
    }
    for (size_t i = 0; i < count; i++) tree.order[i] = (uint32_t)i;
    split(&tree, 0, count);
    if (count > 0) describe(&tree, 0, count);
    *out = tree;
    return PACE_OK;
}

void pace_nearest_free(pace_nearest *tree) {
    PACE_FREE(tree->order, tree->axis, tree->ranges);
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
    if (s->but != PACE_NEAREST_MIXED && group_of(s->tree, point) == s->but) return;
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

/* Whether points at least so far away (squared) may be among the nearest. Of many points in one place, the search
 * visits those with the least indices. */
static bool may_hold(const search *s, size_t low, size_t high, double distance) {
    if (low >= high) return false;
    pace_nearest_range range = s->tree->ranges[low + (high - low) / 2];
    if (s->but != PACE_NEAREST_MIXED && range.group == s->but) return false;
    if (s->found < s->most) return true;
    double worst = s->distances[s->found - 1];
    return distance < worst || (distance == worst && range.least < s->indices[s->found - 1]);
}

static void visit(search *s, size_t low, size_t high, double distance) {
    if (!may_hold(s, low, high, distance)) return;
    size_t middle = low + (high - low) / 2;
    uint32_t point = s->tree->order[middle];
    consider(s, point);
    if (high - low == 1) return;
    unsigned axis = s->tree->axis[middle];
    double apart = s->scale[axis] * ((double)s->at[axis] - coordinate(s->tree, point, axis));
    double across = apart * apart > distance ? apart * apart : distance;
    bool left = apart <= 0;
    visit(s, left ? low : middle + 1, left ? middle : high, distance);
    visit(s, left ? middle + 1 : low, left ? high : middle, across);
}

unsigned pace_nearest_find(uint32_t *indices, double *distances, const pace_nearest *tree, const float *at,
                           const double *scale, uint32_t but, unsigned most) {
    search s = {tree, at, scale, but, indices, distances, most < PACE_NEAREST_MOST ? most : PACE_NEAREST_MOST, 0};
    if (s.most > 0) visit(&s, 0, tree->count, 0);
    return s.found;
}

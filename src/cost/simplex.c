#include "cost/simplex.h"

#include <string.h>

enum { MOST = PACE_SIMPLEX_MOST };

typedef struct {
    double x[MOST], value;
} vertex;

/* Ascending by value; few and almost sorted. */
static void sort(vertex *v, unsigned count) {
    for (unsigned i = 1; i < count; i++) {
        vertex here = v[i];
        unsigned at = i;
        for (; at > 0 && here.value < v[at - 1].value; at--) v[at] = v[at - 1];
        v[at] = here;
    }
}

/* The centre of all but the worst, moved away from the worst by `by` times its distance. */
static vertex away(const vertex *v, unsigned count, double by, pace_simplex_fn function, void *context) {
    vertex moved = {0};
    for (unsigned i = 0; i < count; i++) {
        double centre = 0;
        for (unsigned k = 0; k < count; k++) centre += v[k].x[i] / count;
        moved.x[i] = centre + by * (centre - v[count].x[i]);
    }
    moved.value = function(moved.x, context);
    return moved;
}

static unsigned shrink(vertex *v, unsigned count, pace_simplex_fn function, void *context) {
    for (unsigned k = 1; k <= count; k++) {
        for (unsigned i = 0; i < count; i++) v[k].x[i] = 0.5 * (v[k].x[i] + v[0].x[i]);
        v[k].value = function(v[k].x, context);
    }
    return count;
}

/* One move; returns the evaluations it took. */
static unsigned improve(vertex *v, unsigned count, pace_simplex_fn function, void *context) {
    vertex reflected = away(v, count, 1, function, context);
    if (reflected.value < v[0].value) {
        vertex further = away(v, count, 2, function, context);
        v[count] = further.value < reflected.value ? further : reflected;
        return 2;
    }
    if (reflected.value < v[count - 1].value) {
        v[count] = reflected;
        return 1;
    }
    vertex nearer = away(v, count, reflected.value < v[count].value ? 0.5 : -0.5, function, context);
    if (nearer.value < v[count].value) {
        v[count] = nearer;
        return 2;
    }
    return 2 + shrink(v, count, function, context);
}

double pace_simplex(double *x, unsigned count, double step, unsigned evaluations, pace_simplex_fn function,
                    void *context) {
    vertex v[MOST + 1] = {0};
    for (unsigned k = 0; k <= count; k++) {
        memcpy(v[k].x, x, count * sizeof *x);
        if (k > 0) v[k].x[k - 1] += step;
        v[k].value = function(v[k].x, context);
    }
    for (unsigned used = count + 1; used < evaluations;) {
        sort(v, count + 1);
        used += improve(v, count, function, context);
    }
    sort(v, count + 1);
    memcpy(x, v[0].x, count * sizeof *x);
    return v[0].value;
}

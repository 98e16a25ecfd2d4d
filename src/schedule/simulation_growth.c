#include "schedule/simulation_growth.h"

#include <math.h>

enum { POINTS_OF_LINE = 4 };

double pace_growth_along(pace_exchange_growth growth, uint32_t nodes) {
    return growth == PACE_GROWS_WITH_LEVELS ? ceil(log2(nodes)) : nodes;
}

double pace_growth_at(double *spread, const pace_growth *growth, double x) {
    size_t first = growth->count > POINTS_OF_LINE ? growth->count - POINTS_OF_LINE : 0;
    double n = (double)(growth->count - first), mean_x = 0, mean_y = 0, xx = 0, xy = 0, rest = 0;
    for (size_t i = first; i < growth->count; i++) mean_x += growth->x[i] / n, mean_y += growth->y[i] / n;
    for (size_t i = first; i < growth->count; i++) {
        xx += (growth->x[i] - mean_x) * (growth->x[i] - mean_x);
        xy += (growth->x[i] - mean_x) * (growth->y[i] - mean_y);
    }
    double slope = xx > 0 ? xy / xx : 0;
    for (size_t i = first; i < growth->count; i++) {
        double off = growth->y[i] - mean_y - slope * (growth->x[i] - mean_x);
        rest += off * off;
    }
    if (spread) *spread = n > 2 ? sqrt(rest / (n - 2) * (1 + 1 / n + (x - mean_x) * (x - mean_x) / xx)) : 0;
    return mean_y + slope * (x - mean_x);
}

#include "ask/rows/held_out.h"
#include "base/estimate.h"
#include "base/memory.h"
#include "base/normal.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

double pace_held_out_mape(const double *errors, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs(exp(errors[i]) - 1) / (double)count;
    return sum;
}

double pace_held_out_gain(const double *a, const double *b, const unsigned *unit, size_t count, bool surely) {
    double sums[PACE_HELD_OUT_UNITS] = {0}, rows[PACE_HELD_OUT_UNITS] = {0};
    double mean = 0, squares = 0, units = 0, total = (double)count;
    for (size_t i = 0; i < count; i++) {
        sums[unit[i]] += fmin(fabs(a[i]), log(2)) - fmin(fabs(b[i]), log(2));
        rows[unit[i]]++;
    }
    for (int u = 0; u < PACE_HELD_OUT_UNITS; u++) {
        mean += sums[u] / total;
        units += rows[u] > 0;
    }
    if (units < 2) return -1;
    for (int u = 0; u < PACE_HELD_OUT_UNITS; u++) squares += pow(sums[u] - mean * rows[u], 2);
    double errors = surely ? pace_student_reach(units - 1) : 1;
    return mean - errors * sqrt(squares * units / (units - 1)) / total;
}

pace_status pace_held_out_summarize(pace_held_out *out, double *spread, const double *errors, size_t count,
                                    size_t units) {
    pace_held_out score = {.rows = out->rows, .formula_mape = out->formula_mape};
    double *sizes = pace_alloc(count, sizeof *sizes), share, within = 0;
    if (!sizes) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        share = exp(errors[i]) - 1;
        score.signed_mean += share / (double)count;
        if (fabs(share) > fabs(score.largest)) score.largest = share;
        sizes[i] = fabs(errors[i]);
    }
    score.mape = pace_held_out_mape(errors, count);
    qsort(sizes, count, sizeof *sizes, pace_ascending);
    double nine_of_ten = sizes[(size_t)(0.9 * (double)(count - 1) + 0.5)] / PACE_NORMAL_90;
    *spread = fmax(0.02, nine_of_ten * (1 + 1 / sqrt(units > 0 ? (double)units : 1)));
    for (size_t i = 0; i < count; i++) within += fabs(errors[i]) <= PACE_NORMAL_90 * *spread;
    score.coverage = within / (double)count;
    pace_free(sizes);
    *out = score;
    return PACE_OK;
}

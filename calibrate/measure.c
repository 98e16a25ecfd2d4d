#include "measure.h"

#include "base/clock.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_BATCHES = 3, MOST_BATCHES = 200 };

static double median_of(double *values, unsigned count) {
    qsort(values, count, sizeof *values, pace_ascending);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Standard deviation of ln(time): 1.4826 times the median absolute deviation, as if normal. */
static double log_spread(const double *seconds, unsigned count, double median) {
    double deviation[MOST_BATCHES];
    for (unsigned i = 0; i < count; i++) deviation[i] = fabs(log(seconds[i] / median));
    return 1.4826 * median_of(deviation, count);
}

static void summarize(pace_point_time *out, const double *seconds, unsigned count, unsigned runs) {
    double sorted[MOST_BATCHES];
    for (unsigned i = 0; i < count; i++) sorted[i] = seconds[i];
    out->median_s = median_of(sorted, count);
    out->best_s = sorted[0];
    out->spread = log_spread(seconds, count, out->median_s);
    out->batches = count;
    out->runs = runs;
}

/* The standard error of a median is 1.2533 standard deviations over the root of the count. */
static bool settled(const pace_point_time *m, double tolerance) {
    return 1.2533 * m->spread <= tolerance * sqrt(m->batches);
}

/* Runs in a batch: enough for the clock. The first run of all, which pays for pages and code, says nothing; the
 * doubling warms clocks and caches up on the way. */
static pace_probe_status find_runs(unsigned *out, const pace_measure_limits *limits, pace_time_runs_fn time_runs,
                                   void *state, char *message) {
    double least = fmax(1000 * limits->timer_s, limits->batch_s), seconds = 0;
    pace_probe_status status = time_runs(&seconds, state, 1, message);
    for (unsigned runs = 1; status == PACE_PROBE_OK; runs *= 2) {
        status = time_runs(&seconds, state, runs, message);
        *out = runs;
        if (seconds >= least || runs >= 1u << 24) break;
    }
    return status;
}

pace_probe_status pace_measure(pace_point_time *out, const pace_measure_limits *limits, pace_time_runs_fn time_runs,
                               void *state, char *message) {
    double seconds[MOST_BATCHES], batch_s, spent = 0;
    unsigned runs = 1, count = 0, most = limits->batches < MOST_BATCHES ? limits->batches : MOST_BATCHES;
    pace_probe_status status = find_runs(&runs, limits, time_runs, state, message);
    if (status != PACE_PROBE_OK) return status;
    pace_point_time now = {0};
    while (count < LEAST_BATCHES || (count < most && spent < limits->point_s && !settled(&now, limits->tolerance))) {
        status = time_runs(&batch_s, state, runs, message);
        if (status != PACE_PROBE_OK) return status;
        spent += batch_s;
        seconds[count++] = fmax(batch_s, limits->timer_s) / runs;
        if (count >= LEAST_BATCHES) summarize(&now, seconds, count, runs);
    }
    *out = now;
    return PACE_PROBE_OK;
}

double pace_timer_resolution(void) {
    double best = 1;
    for (int i = 0; i < 200; i++) {
        double start = pace_clock_s(), end = start;
        while (end == start) end = pace_clock_s();
        if (end - start < best) best = end - start;
    }
    return best;
}

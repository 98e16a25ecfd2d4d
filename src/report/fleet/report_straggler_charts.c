/* Workers that hold up a job, drawn: their times over the run, and what more of them would cost. */
#include "base/print.h"
#include "report/fleet/fleet_parts.h"

#include <math.h>
#include <stdio.h>

enum { MOST_JOBS = 16, MOST_WORKERS = 24, MOST_POINTS = 600, MOST_BANDS = 8, MOST_SLOW = 8 };

/* Of many iterations the slowest of each stretch: what holds a job up stays to be seen. */
static void draw_worker(pace_node *chart, const pace_straggler_job *j, size_t worker, pace_curve_look look) {
    pace_iterations data = pace_iteration_rows_data(&j->rows);
    size_t stretch = (data.iterations + MOST_POINTS - 1) / MOST_POINTS;
    pace_chart_curve(chart, look, "worker %.140s", pace_straggler_name(j, worker));
    for (size_t first = 0; first < data.iterations; first += stretch) {
        size_t slowest = SIZE_MAX;
        for (size_t i = first; i < first + stretch && i < data.iterations; i++) {
            double time = data.times[i * data.workers + worker];
            if (!isnan(time) && (slowest == SIZE_MAX || time > data.times[slowest * data.workers + worker]))
                slowest = i;
        }
        if (slowest != SIZE_MAX)
            pace_chart_point(chart, j->rows.labels.items[slowest], data.times[slowest * data.workers + worker]);
    }
}

static void draw_spells(pace_node *chart, const pace_straggler_job *j) {
    for (size_t i = 0; i < j->found.spells.count && i < MOST_BANDS; i++) {
        const pace_slow_spell *s = &j->found.spells.items[i];
        char name[200];
        pace_snprintf(name, sizeof name, "worker %.140s: %.2f times its usual", pace_straggler_name(j, s->worker),
                      s->slowdown);
        pace_chart_band(chart, j->rows.labels.items[s->first], j->rows.labels.items[s->last], name);
    }
}

/* The worker of the worst spell stands out, and the slowest group, or without one the steadily slow worker. */
static bool stands_out(const pace_straggler_job *j, size_t worker) {
    size_t last = j->groups.groups.count - 1;
    if (j->found.spells.count > 0 && j->found.spells.items[0].worker == worker) return true;
    return last > 0 ? pace_slow_group_of(&j->groups, worker) == last
                    : worker == j->steady.worker && !j->steady.by_chance;
}

static void draw_workers(pace_node *chart, const pace_straggler_job *j, size_t every) {
    size_t workers = j->rows.workers.count, shown[MOST_SLOW], count = 0;
    for (size_t w = 0; w < workers && count < MOST_SLOW; w++)
        if (stands_out(j, w)) shown[count++] = w;
    for (size_t i = 0; i < count; i++) draw_worker(chart, j, shown[i], PACE_CURVE_LINE);
    for (size_t w = 0; w < workers; w += every)
        if (!stands_out(j, w)) draw_worker(chart, j, w, PACE_CURVE_PALE);
}

static void draw_times(pace_node *section, const pace_straggler_job *j) {
    size_t workers = j->rows.workers.count, every = (workers + MOST_WORKERS - 1) / MOST_WORKERS;
    char title[256], axis[96];
    snprintf(title, sizeof title, "%.120s: time of each worker%s", j->name, every > 1 ? ", of some of them" : "");
    snprintf(axis, sizeof axis, "iteration; time%s%s%s", j->rows.unit[0] == 's' ? " in s" : "",
             j->found.spells.count > 0 ? "; slow spells are marked" : "",
             j->rows.labels.count > MOST_POINTS ? "; slowest of each stretch" : "");
    pace_node *chart = pace_node_chart(section, title, axis, 0);
    draw_spells(chart, j);
    draw_workers(chart, j, every);
}

typedef double (*slowdown_figure)(const pace_slowdown *);
static double expected(const pace_slowdown *s) { return s->expected; }
static double low(const pace_slowdown *s) { return s->low; }
static double high(const pace_slowdown *s) { return s->high; }
static double measured(const pace_slowdown *s) { return s->measured; }

static void draw_figure(pace_node *chart, const pace_straggler_job *j, const char *name, slowdown_figure figure,
                        pace_curve_look look) {
    pace_chart_curve(chart, look, "%s", name);
    for (size_t i = 0; i < j->sizes; i++)
        if (!isnan(figure(&j->slowdown[i])))
            pace_chart_point(chart, (double)j->slowdown[i].workers, figure(&j->slowdown[i]));
}

static void draw_slowdown(pace_node *section, const pace_straggler_job *j) {
    char title[256];
    snprintf(title, sizeof title, "%.120s: slow-down by number of workers", j->name);
    pace_node *chart = pace_node_chart(section, title, "workers; times a mean worker's iteration", PACE_CHART_LOG_X);
    draw_figure(chart, j, "expected", expected, PACE_CURVE_LINE);
    draw_figure(chart, j, "measured", measured, PACE_CURVE_LINE);
    draw_figure(chart, j, "90 % from", low, PACE_CURVE_PALE);
    draw_figure(chart, j, "to", high, PACE_CURVE_PALE);
}

void pace_put_straggler_charts(pace_node *root, const pace_straggler_job *jobs, size_t count) {
    pace_node *section = pace_node_object(root, "pictures", "Pictures", PACE_FOR_PEOPLE);
    for (size_t i = 0; i < count && i < MOST_JOBS; i++) {
        draw_times(section, &jobs[i]);
        draw_slowdown(section, &jobs[i]);
    }
    if (count > MOST_JOBS) pace_node_note(section, "The charts show the first %d of %zu jobs.", MOST_JOBS, count);
}

/* The parts of a report about stragglers. Private to report/. */
#ifndef PACE_REPORT_STRAGGLER_PARTS_H
#define PACE_REPORT_STRAGGLER_PARTS_H

#include "report/report.h"
#include "ask/iteration_rows.h"

enum { PACE_STRAGGLER_SIZES = 12 };

/* One job: what was read, found and expected. */
typedef struct {
    const char *path, *name; /* name: without folders */
    pace_iteration_rows rows;
    pace_variability found;
    pace_slowdown slowdown[PACE_STRAGGLER_SIZES];
    size_t sizes;
} pace_straggler_job;

const char *pace_straggler_name(const pace_straggler_job *job, size_t worker);
/** The worker that cost most outside its spells, and what: the steadily slow one. */
size_t pace_steadily_slow(const pace_straggler_job *job, double *lost);

void pace_put_straggler_charts(pace_node *root, const pace_straggler_job *jobs, size_t count);

#endif

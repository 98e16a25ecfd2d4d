#include "insight/ranks/late_reason.h"

#include "base/sort.h"
#include "insight/steps/mean_step.h"
#include "insight/tables/operators.h"

#include <math.h>
#include <string.h>

static bool is_own(pace_resource resource) {
    return resource != PACE_IDLE_RANK && resource != PACE_EXPOSED_COMMUNICATION && resource != PACE_IDLE_OTHER;
}

static void find_cell(pace_late_reason *out, const pace_mean_step *all, size_t count, size_t latest, double *scratch) {
    for (int s = 0; s < PACE_STAGES; s++)
        for (int r = 0; r < PACE_RESOURCES; r++) {
            size_t others = 0;
            for (size_t i = 0; i < count; i++)
                if (i != latest) scratch[others++] = (double)all[i].matrix.cell_ns[s][r];
            int64_t excess = all[latest].matrix.cell_ns[s][r] - llround(pace_median(scratch, others));
            if (!is_own((pace_resource)r) || excess <= out->excess_ns) continue;
            *out = (pace_late_reason){.known = true,
                                      .stage = (pace_stage)s,
                                      .resource = (pace_resource)r,
                                      .excess_ns = excess};
        }
}

static const pace_operator_row *row_named(const pace_operator_rows *rows, const pace_rank *rank, const char *name) {
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(pace_names_text(&rank->step.names, rows->items[i].name), name) == 0) return &rows->items[i];
    return NULL;
}

typedef struct {
    const pace_analysis *analysis;
    pace_operator_rows *rows; /* kernels of each rank, of a usual step's kind: the whole trace */
    size_t *steps;
    double *times, *calls; /* scratch */
} kernel_finder;

static double per_step(const kernel_finder *f, size_t rank, double sum) {
    return sum / (double)(f->steps[rank] ? f->steps[rank] : 1);
}

/* One kernel of the latest rank against the median of the others that have it. */
static void judge_kernel(pace_late_reason *out, const kernel_finder *f, size_t latest, const pace_operator_row *own) {
    const pace_rank *rank = f->analysis->ranks.items[latest];
    const char *name = pace_names_text(&rank->step.names, own->name);
    size_t others = 0;
    for (size_t r = 0; r < f->analysis->ranks.count; r++) {
        const pace_operator_row *row = r == latest ? NULL : row_named(&f->rows[r], f->analysis->ranks.items[r], name);
        if (!row) continue;
        f->times[others] = per_step(f, r, (double)row->time_ns);
        f->calls[others++] = per_step(f, r, (double)row->calls);
    }
    double time = per_step(f, latest, (double)own->time_ns), usual = others ? pace_median(f->times, others) : 0;
    if (time - usual <= (double)(out->kernel_ns - out->others_kernel_ns)) return;
    out->kernel = name;
    out->kernel_ns = llround(time);
    out->others_kernel_ns = llround(usual);
    out->kernel_calls = per_step(f, latest, (double)own->calls);
    out->others_calls = others ? pace_median(f->calls, others) : 0;
}

/* Whether work of a kernel may stand in the cell: exchanges last as long as others are late. */
static bool is_work(const pace_kernel_classes *classes, const char *name) {
    return !pace_kernel_classify(classes, name).communication;
}

static pace_status find_kernel(pace_late_reason *out, kernel_finder *f, size_t latest) {
    size_t count = f->analysis->ranks.count;
    const pace_rank *rank = f->analysis->ranks.items[latest];
    pace_status status = PACE_OK;
    for (size_t r = 0; status == PACE_OK && r < count; r++) {
        const pace_rank *one = f->analysis->ranks.items[r];
        size_t marks = one->marks.items.count;
        int64_t from = marks ? one->marks.items.items[0].from_ns : INT64_MIN;
        int64_t to = marks ? one->marks.items.items[marks - 1].to_ns : INT64_MAX;
        f->steps[r] = marks;
        status = pace_operators_sum_within(&f->rows[r], one, PACE_BY_KERNEL, from, to);
    }
    for (size_t i = 0; status == PACE_OK && i < f->rows[latest].count; i++)
        if (is_work(f->analysis->classes, pace_names_text(&rank->step.names, f->rows[latest].items[i].name)))
            judge_kernel(out, f, latest, &f->rows[latest].items[i]);
    return status;
}

static pace_status explain(pace_late_reason *out, const pace_analysis *analysis, size_t latest) {
    size_t count = analysis->ranks.count;
    pace_mean_step *all = pace_alloc(count, sizeof *all);
    double *scratch = pace_alloc(2 * count, sizeof *scratch);
    kernel_finder f = {analysis, pace_alloc(count, sizeof *f.rows), pace_alloc(count, sizeof *f.steps), scratch,
                       scratch ? scratch + count : NULL};
    pace_status status = all && scratch && f.rows && f.steps ? PACE_OK : PACE_E_MEMORY;
    for (size_t r = 0; status == PACE_OK && r < count; r++)
        status = pace_usual_step_of(&all[r], analysis->ranks.items[r]);
    if (status == PACE_OK) find_cell(out, all, count, latest, scratch);
    bool works = out->known && out->resource <= PACE_COPY;
    if (status == PACE_OK && works) status = find_kernel(out, &f, latest);
    for (size_t r = 0; f.rows && r < count; r++) PACE_VEC_FREE(&f.rows[r]);
    PACE_FREE(f.rows, f.steps, all, scratch);
    return status;
}

pace_status pace_late_reason_find(pace_late_reason *out, const pace_analysis *analysis) {
    pace_late_reason reason = {.known = false};
    pace_status status = PACE_OK;
    size_t latest = 0;
    if (analysis->latest.rank && analysis->ranks.count > 1) {
        while (analysis->ranks.items[latest] != analysis->latest.rank) latest++;
        status = explain(&reason, analysis, latest);
    }
    if (status == PACE_OK) *out = reason;
    return status;
}

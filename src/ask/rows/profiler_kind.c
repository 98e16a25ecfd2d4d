/* The row kind "profiler": a step timed with and without a profiler. */
#include "ask/rows/profiler_rows.h"
#include "ask/rows/row_kind.h"

typedef struct {
    const pace_rows_options *options;
    pace_profiler_rows rows;
    pace_row_files files;
    pace_profiler_cost cost;
} profiles;

static void close_profiles(void *state) {
    profiles *p = state;
    pace_row_files_free(&p->files);
    pace_profiler_rows_free(&p->rows);
}

static pace_status open_profiles(void *state, const pace_rows_options *options) {
    profiles *p = state;
    p->options = options;
    if (!options->fit_path) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     PACE_FIELD "kind profiler: its answer is one figure: expected no " PACE_FIELD "output");
}

static pace_status read_table(void *state, pace_input *input) {
    profiles *p = state;
    PACE_TRY(pace_profiler_rows_read(&p->rows, p->options->context->catalog, input));
    return pace_row_files_add(&p->files, input);
}

static pace_row_table table_of(const void *state, size_t table) {
    return ((const profiles *)state)->files.items[table];
}

static pace_status learn(void *state, pace_row_keep keep, void *context) {
    profiles *p = state;
    (void)keep, (void)context;
    return pace_profiler_fit(&p->cost, &p->rows);
}

static pace_status describe(pace_findings *out, const void *state) {
    const profiles *p = state;
    const pace_profiler_cost *cost = &p->cost;
    pace_found_int(out, "rows", p->rows.items.count);
    pace_found_say(out, PACE_FOUND_ANSWER,
                   "The profiler costs %.2f µs per recorded event (%.2f to %.2f): take it off with 'analyze "
                   "--profiler-us %.2f'.",
                   cost->event_ns / 1e3, cost->low_ns / 1e3, cost->high_ns / 1e3, cost->event_ns / 1e3);
    pace_found_say(
        out, PACE_FOUND_ANSWER,
        "Profiled steps are off by %.1f %% on average; less this cost, fitted to the other rows, by %.1f %%.",
        100 * cost->uncorrected, 100 * cost->error);
    pace_found_real(out, "profiler.event_ns", cost->event_ns);
    pace_found_real(out, "profiler.low_ns", cost->low_ns);
    pace_found_real(out, "profiler.high_ns", cost->high_ns);
    pace_found_real(out, "profiler.mean_error", cost->error);
    pace_found_real(out, "profiler.uncorrected_error", cost->uncorrected);
    return PACE_OK;
}

const pace_row_kind pace_profiler_kind = {.name = "profiler",
                                          .size = sizeof(profiles),
                                          .open = open_profiles,
                                          .close = close_profiles,
                                          .read = read_table,
                                          .table = table_of,
                                          .learn = learn,
                                          .describe = describe};

#include "insight/tables/counters.h"

#include "base/index.h"
#include "base/order.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

typedef struct {
    const pace_step *step;
    pace_counters sums;
    pace_index kernel_of, row_of; /* by name; by kernel and counter */
    uint32_t *launches;           /* calls that launch kernels, by time */
    size_t launch_count;
} summer;

/* --- counters of instructions ------------------------------------------------------------------------------------- */

static const char counted_prefix[] = "smsp__sass_thread_inst_executed_op_";

/* "…_op_ffma_pred_on.sum": h, f or d, then the operation; a fused multiply-add counts twice. 0 = no such counter. */
static double flop_of(pace_counted *precision, const char *counter) {
    static const char letters[] = "hfd";
    if (!pace_starts(counter, counted_prefix) || !pace_ends(counter, "_pred_on.sum")) return 0;
    const char *what = counter + sizeof counted_prefix - 1, *letter = what[0] ? strchr(letters, what[0]) : NULL;
    if (!letter) return 0;
    *precision = (pace_counted)(letter - letters);
    if (pace_starts(what + 1, "fma_")) return 2;
    return pace_starts(what + 1, "add_") || pace_starts(what + 1, "mul_") ? 1 : 0;
}

static bool adds_up(const char *counter) { return pace_ends(counter, ".sum"); }

/* --- launches ----------------------------------------------------------------------------------------------------- */

static bool launches_kernel(const pace_step *step, uint32_t task) {
    const char *name = pace_step_name(step, task);
    return step->kind[task] == PACE_TASK_CALL && strstr(name, "LaunchKernel") != NULL;
}

typedef struct {
    int64_t at_ns;
    uint32_t call;
} launch;

PACE_ORDER(by_time, launch, PACE_UP(at_ns) PACE_UP(call))

static pace_status find_launches(summer *s) {
    PACE_VEC(launch) found = {0};
    pace_status status = PACE_OK;
    for (uint32_t task = 0; status == PACE_OK && task < s->step->count; task++)
        if (launches_kernel(s->step, task)) status = PACE_PUSH(&found, ((launch){s->step->start_ns[task], task}));
    if (status == PACE_OK) PACE_SORT(&found, by_time);
    if (status == PACE_OK) s->launches = pace_alloc(found.count, sizeof *s->launches);
    if (status == PACE_OK && !s->launches) status = PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < found.count; i++) s->launches[i] = found.items[i].call;
    s->launch_count = found.count;
    PACE_VEC_FREE(&found);
    return status;
}

/* The operator that launched a range; 0 = unknown. */
static pace_name operator_of(const summer *s, uint32_t range) {
    uint32_t at = s->sums.launches_match ? s->launches[range] : PACE_NO_TASK;
    while (at != PACE_NO_TASK && !pace_task_is_operator(s->step, at)) at = pace_task_parent(s->step, at);
    return at == PACE_NO_TASK ? 0 : s->step->name[at];
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

static pace_status kernel_of(uint32_t *out, summer *s, const pace_counter *counter) {
    uint32_t next = (uint32_t)s->sums.kernels.count;
    PACE_TRY(pace_index_find(out, &s->kernel_of, counter->range, next));
    if (*out != next) return PACE_OK;
    return PACE_PUSH(&s->sums.kernels, ((pace_counted_kernel){.range = counter->range,
                                                              .op = operator_of(s, counter->number),
                                                              .flop = {NAN, NAN, NAN}}));
}

static pace_status add_row(summer *s, const pace_counter *counter) {
    uint32_t at, next = (uint32_t)s->sums.rows.count;
    PACE_TRY(pace_index_find(&at, &s->row_of, PACE_KEY_OF(counter->range, counter->counter), next));
    if (at == next)
        PACE_TRY(PACE_PUSH(&s->sums.rows, ((pace_counter_row){.range = counter->range,
                                                              .counter = counter->counter,
                                                              .least = INFINITY,
                                                              .most = -INFINITY})));
    pace_counter_row *row = &s->sums.rows.items[at];
    row->ranges++;
    row->value += counter->value;
    row->least = fmin(row->least, counter->value);
    row->most = fmax(row->most, counter->value);
    return PACE_OK;
}

static pace_status add_counter(summer *s, size_t i) {
    const pace_counter *counter = &s->step->counters.items[i];
    pace_counted precision = PACE_COUNTED_HALF;
    uint32_t at;
    double flop = flop_of(&precision, pace_names_text(&s->step->names, counter->counter));
    PACE_TRY(kernel_of(&at, s, counter));
    pace_counted_kernel *kernel = &s->sums.kernels.items[at];
    if (i == 0 || s->step->counters.items[i - 1].number != counter->number) {
        kernel->ranges++;
        if (kernel->op != operator_of(s, counter->number)) kernel->op = 0; /* several operators launch it */
    }
    if (flop > 0) {
        double *sum = &kernel->flop[precision];
        *sum = (isnan(*sum) ? 0 : *sum) + flop * counter->value;
        s->sums.counts_flop = true;
    }
    return add_row(s, counter);
}

static double all_flop(const pace_counted_kernel *kernel) {
    double sum = 0;
    for (int p = 0; p < PACE_COUNTED_PRECISIONS; p++) sum += isnan(kernel->flop[p]) ? 0 : kernel->flop[p];
    return sum;
}

PACE_ORDER(by_flop, pace_counted_kernel, PACE_DOWN_OF(all_flop) PACE_DOWN(ranges) PACE_UP(range))

PACE_ORDER(by_kernel, pace_counter_row, PACE_UP(kernel) PACE_UP(counter))

/* The most important kernel first; the rows of each together. */
static pace_status order(summer *s) {
    uint32_t *place = pace_alloc(pace_names_count(&s->step->names), sizeof *place);
    if (!place) return PACE_E_MEMORY;
    PACE_SORT(&s->sums.kernels, by_flop);
    for (size_t i = 0; i < s->sums.kernels.count; i++) place[s->sums.kernels.items[i].range] = (uint32_t)i;
    for (size_t i = 0; i < s->sums.rows.count; i++) s->sums.rows.items[i].kernel = place[s->sums.rows.items[i].range];
    PACE_SORT(&s->sums.rows, by_kernel);
    pace_free(place);
    return PACE_OK;
}

static pace_status sum(summer *s) {
    size_t count = s->step->counters.count;
    PACE_TRY(find_launches(s));
    s->sums.launches_match = s->launch_count == s->step->counters.items[count - 1].number + (size_t)1;
    for (size_t i = 0; i < count; i++) PACE_TRY(add_counter(s, i));
    PACE_ITEMS (pace_counter_row, row, &s->sums.rows) {
        row->sum = adds_up(pace_names_text(&s->step->names, row->counter));
        if (!row->sum) row->value /= (double)row->ranges;
    }
    return order(s);
}

pace_status pace_counters_sum(pace_counters *out, const pace_rank *rank) {
    summer s = {.step = &rank->step};
    pace_status status = rank->step.counters.count ? sum(&s) : PACE_OK;
    pace_index_free(&s.kernel_of);
    pace_index_free(&s.row_of);
    pace_free(s.launches);
    return PACE_GIVE(out, s.sums, status, pace_counters_free(&s.sums));
}

void pace_counters_free(pace_counters *counters) { PACE_VEC_FREE(&counters->kernels, &counters->rows); }

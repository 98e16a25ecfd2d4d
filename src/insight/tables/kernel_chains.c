#include "insight/tables/kernel_chains.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 16 };

typedef struct {
    const pace_step *step;
    const pace_kernel_classes *classes;
    const pace_work_choice *choice;
    uint8_t *fuses; /* name -> 1 = no, 2 = yes, 0 = not looked up */
    pace_kernel_chains chains;
    pace_names lists;       /* of the names of chains' kernels */
    uint32_t open[LONGEST]; /* kernels of the chain at hand */
    size_t length;
} finder;

static bool is_simple(finder *f, uint32_t task) {
    static const char *const simple[] = {"elementwise", "normalization", "softmax", "copy", "loss"};
    uint8_t *known = &f->fuses[f->step->name[task]];
    if (*known == 0) {
        const char *family = pace_kernel_classify(f->classes, pace_step_name(f->step, task)).family;
        *known = 1;
        for (size_t i = 0; i < PACE_COUNT(simple); i++)
            if (strcmp(family, simple[i]) == 0) *known = 2;
    }
    return *known == 2;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* The row of a list of names, which is interned as the text of its bytes: the first list is text 1. */
static pace_status row_of(pace_kernel_chain **out, finder *f, const pace_name *names, size_t count) {
    pace_name list;
    PACE_TRY(pace_names_add(&list, &f->lists, (const char *)names, count * sizeof *names));
    if (list > f->chains.rows.count) {
        pace_kernel_chain row = {.first = f->chains.names.count, .kernels = count};
        for (size_t i = 0; i < count; i++) PACE_TRY(PACE_PUSH(&f->chains.names, names[i]));
        for (size_t i = 0; i < count; i++) PACE_TRY(PACE_PUSH(&f->chains.tasks, f->open[i]));
        PACE_TRY(PACE_PUSH(&f->chains.rows, row));
    }
    *out = &f->chains.rows.items[list - 1];
    return PACE_OK;
}

/* --- chains ------------------------------------------------------------------------------------------------------- */

static pace_status end_chain(finder *f) {
    size_t count = f->length;
    pace_name names[LONGEST];
    pace_kernel_chain *row;
    f->length = 0;
    if (count < 2) return PACE_OK;
    for (size_t i = 0; i < count; i++) names[i] = f->step->name[f->open[i]];
    PACE_TRY(row_of(&row, f, names, count));
    int64_t time_ns = 0, gap_ns = 0;
    for (size_t i = 0; i < count; i++) {
        time_ns += pace_task_ns(f->step, f->open[i]);
        int64_t gap = i ? f->step->start_ns[f->open[i]] - pace_step_end_ns(f->step, f->open[i - 1]) : 0;
        if (gap > 0) gap_ns += gap;
    }
    uint32_t *example = f->chains.tasks.items + row->first;
    bool better =
        pace_task_cause(f->step, *example) == PACE_NO_TASK && pace_task_cause(f->step, f->open[0]) != PACE_NO_TASK;
    if (better) memcpy(example, f->open, count * sizeof *example); /* one whose operators are known */
    row->times++;
    row->time_ns += time_ns;
    row->gap_ns += gap_ns;
    f->chains.time_ns += time_ns;
    f->chains.gap_ns += gap_ns;
    f->chains.kernels += count;
    return PACE_OK;
}

static pace_status add_task(finder *f, uint32_t task) {
    const pace_step *step = f->step;
    uint8_t stage = step->stage[task] == PACE_STAGE_NONE ? (uint8_t)PACE_STAGE_OTHER : step->stage[task];
    const pace_work_item item = {.start_ns = step->start_ns[task], .stage = stage};
    bool fuses = step->kind[task] == PACE_TASK_KERNEL && pace_work_is_chosen(&item, f->choice) && is_simple(f, task);
    if (!fuses || f->length == LONGEST) PACE_TRY(end_chain(f));
    if (fuses) f->open[f->length++] = task;
    return PACE_OK;
}

static pace_status walk_lane(finder *f, const pace_lane *lane) {
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++)
        if (pace_task_on_device(f->step->kind[task])) PACE_TRY(add_task(f, task));
    return end_chain(f);
}

#define TIME(chain) ((chain)->time_ns + (chain)->gap_ns)
PACE_ORDER(by_time, pace_kernel_chain, PACE_DOWN_OF(TIME) PACE_UP(first))

static void keep_repeated(pace_kernel_chains *chains) {
    size_t kept = 0;
    for (size_t i = 0; i < chains->rows.count; i++)
        if (chains->rows.items[i].times > 1) chains->rows.items[kept++] = chains->rows.items[i];
    chains->rows.count = kept;
    if (kept) qsort(chains->rows.items, kept, sizeof *chains->rows.items, by_time);
}

pace_status pace_kernel_chains_find(pace_kernel_chains *out, const pace_rank *rank, const pace_kernel_classes *classes,
                                    const pace_work_choice *choice) {
    finder f = {.step = &rank->step, .classes = classes, .choice = choice};
    f.fuses = pace_alloc(pace_names_count(&rank->step.names), sizeof *f.fuses);
    pace_status status = f.fuses ? pace_names_init(&f.lists) : PACE_E_MEMORY;
    for (size_t i = 0; i < rank->step.lanes.count && status == PACE_OK; i++) {
        const pace_lane *lane = &rank->step.lanes.items[i];
        if (lane->device && (!rank->trace || lane->device_id == rank->device_id)) status = walk_lane(&f, lane);
    }
    keep_repeated(&f.chains);
    pace_free(f.fuses);
    pace_names_free(&f.lists);
    return PACE_GIVE(out, f.chains, status, pace_kernel_chains_free(&f.chains));
}

void pace_kernel_chains_free(pace_kernel_chains *chains) {
    PACE_VEC_FREE(&chains->names, &chains->tasks, &chains->rows);
}

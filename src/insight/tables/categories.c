#include "insight/tables/categories.h"

#include "base/order.h"
#include "cost/roofline.h"

#include <string.h>

typedef struct {
    const pace_rank *rank;
    const pace_kernel_classes *classes;
    uint8_t *row_of_name;  /* name of a kernel -> row + 1, 0 = not looked up */
    unsigned char *priced; /* operator -> its flop and bytes are counted */
    pace_op_cache cache;
    pace_category_rows rows;
} summer;

/* What copies, joins, splits and changes layouts is one kind of work, whichever engine does it. */
static const char *category_of(pace_op_family family) {
    bool moves = family == PACE_OP_COPY || family == PACE_OP_TRANSPOSE || family == PACE_OP_TRIL;
    return moves || family == PACE_OP_TRANSFER ? "data_movement" : pace_op_family_name(family);
}

static pace_status row_named(uint8_t *out, summer *s, const char *name) {
    size_t row = 0;
    while (row < s->rows.count && strcmp(s->rows.items[row].name, name) != 0) row++;
    if (row == s->rows.count) PACE_TRY(PACE_PUSH(&s->rows, ((pace_category_row){.name = name})));
    *out = (uint8_t)row;
    return PACE_OK;
}

/* By the kernel's name. */
static pace_status row_of_kernel(uint8_t *out, summer *s, const pace_work_item *item) {
    const pace_step *step = &s->rank->step;
    uint8_t *known = &s->row_of_name[step->name[item->task]];
    if (*known == 0) {
        bool moves = step->kind[item->task] == PACE_TASK_COPY || step->kind[item->task] == PACE_TASK_MEMSET;
        const char *family = moves ? pace_op_family_name(PACE_OP_TRANSFER)
                                   : pace_kernel_classify(s->classes, pace_step_name(step, item->task)).family;
        pace_op_family listed = pace_op_family_find(family);
        uint8_t row = 0;
        PACE_TRY(row_named(&row, s, listed < PACE_OP_FAMILIES ? category_of(listed) : family));
        *known = (uint8_t)(row + 1);
    }
    *out = (uint8_t)(*known - 1);
    return PACE_OK;
}

static pace_status add_item(summer *s, const pace_work_item *item) {
    const pace_step *step = &s->rank->step;
    uint32_t op = item->class == PACE_WORK_COMMUNICATION ? PACE_NO_TASK : pace_operator_of(step, &s->cache, item->task);
    pace_op_amount amount;
    bool modelled =
        op != PACE_NO_TASK && pace_operator_amount(&amount, s->rank, &s->cache, op) && amount.family != PACE_OP_UNKNOWN;
    uint8_t number = 0;
    PACE_TRY(modelled ? row_named(&number, s, category_of(amount.family)) : row_of_kernel(&number, s, item));
    pace_category_row *row = &s->rows.items[number];
    int64_t duration_ns = item->end_ns - item->start_ns;
    row->kernels++;
    row->time_ns += duration_ns;
    if (item->class == PACE_WORK_COMPUTE_BOUND) row->compute_bound_ns += duration_ns;
    if (item->class == PACE_WORK_MEMORY_BOUND) row->memory_bound_ns += duration_ns;
    if (!modelled) return PACE_OK;
    row->modelled_ns += (double)duration_ns;
    if (s->priced[op]) return PACE_OK;
    s->priced[op] = 1;
    row->flop += amount.flop;
    row->bytes += amount.bytes;
    if (s->rank->device) row->roofline_s += pace_roofline_s(s->rank->device, &amount);
    return PACE_OK;
}

PACE_ORDER(by_time, pace_category_row, PACE_DOWN(time_ns) PACE_TEXT(name))

static pace_status sum(summer *s, const pace_work_choice *choice) {
    const pace_work *work = &s->rank->work;
    for (size_t i = 0; i < work->items.count; i++)
        if (pace_work_is_chosen(&work->items.items[i], choice)) PACE_TRY(add_item(s, &work->items.items[i]));
    PACE_SORT(&s->rows, by_time);
    return PACE_OK;
}

pace_status pace_categories_sum(pace_category_rows *out, const pace_rank *rank, const pace_kernel_classes *classes,
                                const pace_work_choice *choice) {
    summer s = {.rank = rank, .classes = classes};
    s.row_of_name = pace_alloc(pace_names_count(&rank->step.names), sizeof *s.row_of_name);
    s.priced = pace_alloc(rank->step.count, sizeof *s.priced);
    pace_op_cache_init(&s.cache, &rank->step);
    pace_status status = s.row_of_name && s.priced ? sum(&s, choice) : PACE_E_MEMORY;
    pace_op_cache_free(&s.cache);
    PACE_FREE(s.row_of_name, s.priced);
    return PACE_GIVE(out, s.rows, status, PACE_VEC_FREE(&s.rows));
}

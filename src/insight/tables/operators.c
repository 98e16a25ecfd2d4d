#include "insight/tables/operators.h"

#include "base/id_set.h"
#include "base/index.h"
#include "base/numbers.h"
#include "base/order.h"
#include "base/pattern.h"
#include "base/text.h"
#include "cost/roofline.h"
#include "step/op_shapes.h"

uint32_t pace_operator_of(const pace_step *step, pace_op_cache *cache, uint32_t task) {
    if (step->kind[task] == PACE_TASK_OP) return task;
    uint32_t at = pace_task_made_for(step, task), innermost = PACE_NO_TASK;
    for (; at != PACE_NO_TASK; at = pace_task_parent(step, at)) {
        if (step->kind[at] != PACE_TASK_OP) continue;
        if (innermost == PACE_NO_TASK) innermost = at;
        pace_op_amount amount;
        if (pace_op_cache_amount(&amount, cache, step, at)) return at;
    }
    return innermost;
}

uint32_t pace_module_of(const pace_step *step, uint32_t task) {
    uint32_t at = step->kind[task] == PACE_TASK_OP ? task : pace_task_made_for(step, task);
    uint32_t annotation = PACE_NO_TASK;
    const pace_gradient *gradient = pace_step_gradient_around(step, at);
    if (gradient) at = gradient->forward;
    for (; at != PACE_NO_TASK; at = pace_task_parent(step, at)) {
        if (step->kind[at] == PACE_TASK_PYTHON && pace_starts(pace_step_name(step, at), "nn.Module")) return at;
        bool step_mark = pace_task_marks_step(step, at);
        if (step->kind[at] == PACE_TASK_ANNOTATION && !step_mark && annotation == PACE_NO_TASK) annotation = at;
    }
    return annotation;
}

typedef struct {
    const pace_rank *rank;
    pace_grouping grouping;
    pace_index row_of;  /* by name and shapes */
    pace_id_set priced; /* tasks of operators */
    pace_op_cache cache;
    pace_operator_rows rows;
} summer;

static pace_status row_at(pace_operator_row **row, summer *s, pace_name name, pace_name shapes) {
    uint32_t at, next = (uint32_t)s->rows.count;
    PACE_TRY(pace_index_find(&at, &s->row_of, PACE_KEY_OF(name, shapes), next));
    if (at == next) PACE_TRY(PACE_PUSH(&s->rows, ((pace_operator_row){.name = name, .shapes = shapes})));
    *row = &s->rows.items[at];
    return PACE_OK;
}

/* On the host an operator's self time is not the time of what it computes when an operator within computes it. */
static bool is_composite(const pace_step *step, pace_op_cache *cache, uint32_t op) {
    pace_op_amount amount;
    int64_t end_ns = pace_step_end_ns(step, op);
    const pace_lane *lane = &step->lanes.items[pace_task_lane(step, op)];
    for (uint32_t at = op + 1; at < lane->first + lane->count && step->start_ns[at] < end_ns; at++)
        if (pace_op_cache_amount(&amount, cache, step, at)) return true;
    return false;
}

bool pace_operator_amount(pace_op_amount *out, const pace_rank *rank, pace_op_cache *cache, uint32_t op) {
    if (!pace_op_cache_amount(out, cache, &rank->step, op)) return false;
    return !rank->work.host_is_device || !is_composite(&rank->step, cache, op);
}

static pace_status add_item(summer *s, const pace_work_item *item) {
    const pace_step *step = &s->rank->step;
    bool by_operator = s->grouping == PACE_BY_OPERATOR || s->grouping == PACE_BY_SHAPES;
    uint32_t op = s->grouping == PACE_BY_MODULE ? pace_module_of(step, item->task)
                  : by_operator                 ? pace_operator_of(step, &s->cache, item->task)
                                                : PACE_NO_TASK;
    pace_name name = s->grouping == PACE_BY_KERNEL ? step->name[item->task] : op == PACE_NO_TASK ? 0 : step->name[op];
    bool has_shapes = s->grouping == PACE_BY_SHAPES && op != PACE_NO_TASK && step->kind[op] == PACE_TASK_OP;
    pace_operator_row *row;
    PACE_TRY(row_at(&row, s, name, has_shapes ? step->detail[op] : 0));
    int64_t duration = item->end_ns - item->start_ns;
    row->time_ns += duration;
    bool first = op == PACE_NO_TASK || !by_operator || !pace_id_set_has(&s->priced, op);
    row->calls += first;
    if (op != PACE_NO_TASK && by_operator) PACE_TRY(pace_id_set_add(&s->priced, op));
    pace_op_amount amount;
    if (!by_operator || op == PACE_NO_TASK || !pace_operator_amount(&amount, s->rank, &s->cache, op)) return PACE_OK;
    row->modelled_ns += (double)duration;
    if (!first) return PACE_OK;
    row->flop += amount.flop;
    row->bytes += amount.bytes;
    if (s->rank->device) row->roofline_s += pace_roofline_s(s->rank->device, &amount);
    return PACE_OK;
}

PACE_ORDER(by_time, pace_operator_row, PACE_DOWN(time_ns) PACE_UP(name) PACE_UP(shapes))

static pace_status sum(pace_operator_rows *out, const pace_rank *rank, pace_grouping grouping,
                       const pace_work_choice *choice) {
    summer s = {.rank = rank, .grouping = grouping};
    pace_op_cache_init(&s.cache, &rank->step);
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < rank->work.items.count; i++) {
        const pace_work_item *item = &rank->work.items.items[i];
        if (pace_work_is_chosen(item, choice)) status = add_item(&s, item);
    }
    pace_index_free(&s.row_of);
    pace_id_set_free(&s.priced);
    pace_op_cache_free(&s.cache);
    PACE_SORT(&s.rows, by_time);
    return PACE_GIVE(out, s.rows, status, PACE_VEC_FREE(&s.rows));
}

static pace_status keep_matching(pace_operator_rows *rows, const pace_names *names, const char *expression) {
    regex_t pattern;
    size_t kept = 0;
    PACE_TRY(pace_pattern_compile(&pattern, "filter:", expression));
    for (size_t i = 0; i < rows->count; i++)
        if (pace_pattern_fits(&pattern, pace_names_text(names, rows->items[i].name)))
            rows->items[kept++] = rows->items[i];
    rows->count = kept;
    regfree(&pattern);
    return PACE_OK;
}

pace_status pace_operators_sum_chosen(pace_operator_rows *out, const pace_rank *rank, pace_grouping grouping,
                                      const pace_work_choice *choice) {
    pace_operator_rows rows;
    PACE_TRY(sum(&rows, rank, grouping, choice));
    pace_status status = choice->name ? keep_matching(&rows, &rank->step.names, choice->name) : PACE_OK;
    return PACE_GIVE(out, rows, status, PACE_VEC_FREE(&rows));
}

pace_status pace_operators_sum_within(pace_operator_rows *out, const pace_rank *rank, pace_grouping grouping,
                                      int64_t start_ns, int64_t end_ns) {
    return sum(out, rank, grouping,
               &(pace_work_choice){.start_ns = start_ns, .end_ns = end_ns, .stage = PACE_STAGE_NONE});
}

pace_status pace_operators_sum(pace_operator_rows *out, const pace_rank *rank, pace_grouping grouping) {
    return pace_operators_sum_within(out, rank, grouping, INT64_MIN, INT64_MAX);
}

pace_work_rates pace_work_rates_of(double flop, double bytes, double modelled_ns, double roofline_s) {
    double seconds = modelled_ns * 1e-9;
    return (pace_work_rates){pace_known_rate(flop, seconds), pace_known_rate(bytes, seconds),
                             pace_known_rate(flop, bytes), pace_known_rate(roofline_s, seconds)};
}

pace_unlinked_work pace_unlinked_work_of(const pace_rank *rank) {
    pace_unlinked_work found = {0};
    for (size_t i = 0; i < rank->work.items.count && !rank->work.host_is_device; i++) {
        const pace_work_item *item = &rank->work.items.items[i];
        bool unlinked = pace_task_cause(&rank->step, item->task) == PACE_NO_TASK;
        found.count += unlinked;
        found.all_ns += item->end_ns - item->start_ns;
        if (unlinked) found.time_ns += item->end_ns - item->start_ns;
    }
    return found;
}

int pace_main_element_bytes(const pace_rank *rank) {
    double flop[9] = {0};
    const pace_step *step = &rank->step;
    pace_op_cache cache;
    pace_op_cache_init(&cache, step);
    for (uint32_t task = 0; task < step->count; task++) {
        pace_op_amount amount;
        if (!pace_op_cache_amount(&amount, &cache, step, task)) continue;
        if (amount.element_bytes > 0 && amount.element_bytes <= 8) flop[amount.element_bytes] += amount.flop;
    }
    pace_op_cache_free(&cache);
    int most = 4;
    for (int bytes = 1; bytes <= 8; bytes++)
        if (flop[bytes] > flop[most]) most = bytes;
    return most;
}

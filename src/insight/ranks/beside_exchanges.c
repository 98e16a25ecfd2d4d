#include "insight/ranks/beside_exchanges.h"

#include "base/numbers.h"
#include "base/order.h"
#include "base/sort.h"

/* Of which none is longer, four of five kernels that run alone last the same within this share of their median. */
#define ALIKE 0.2

/* Older traces count in whole microseconds. */
#define LEAST_NS 10000

enum { LEAST_ALONE = 3, LEAST_BESIDE = 2, MOST_KERNELS = 1 << 18 };

/* Kernels that do the same: of one name, grid and block, for an operator of the same shapes. */
typedef struct {
    pace_name name, launch, shapes;
    uint32_t number; /* in order of appearance; 0 = of none */
} likeness;

PACE_ORDER(by_likeness, likeness, PACE_UP(name) PACE_UP(launch) PACE_UP(shapes))

typedef struct {
    pace_names numbers; /* of likenesses, known by their bytes */
    PACE_VEC(likeness) all;
    PACE_VEC(uint32_t) part; /* per kernel: 2 * number of its likeness, and 1 more where it ran beside an exchange */
    PACE_VEC(int64_t) length_ns; /* per kernel */
    size_t *first;               /* part -> the first of its lengths in `sorted_ns`; one more at the end */
    int64_t *sorted_ns;
} kernels;

static void free_kernels(kernels *k) {
    pace_names_free(&k->numbers);
    PACE_VEC_FREE(&k->all, &k->part, &k->length_ns);
    PACE_FREE(k->first, k->sorted_ns);
}

static pace_name shapes_of(const pace_step *step, uint32_t task) {
    for (uint32_t at = pace_task_made_for(step, task); at != PACE_NO_TASK; at = pace_task_parent(step, at))
        if (step->kind[at] == PACE_TASK_OP) return step->detail[at];
    return 0;
}

static bool computes(const pace_rank *rank, const pace_work_item *item) {
    return (item->class == PACE_WORK_COMPUTE_BOUND || item->class == PACE_WORK_MEMORY_BOUND) &&
           rank->step.kind[item->task] == PACE_TASK_KERNEL && item->end_ns > item->start_ns;
}

static pace_status add(kernels *out, likeness like, bool beside, int64_t length_ns) {
    const pace_name key[] = {like.name, like.launch, like.shapes};
    size_t known = pace_names_count(&out->numbers);
    PACE_TRY(pace_names_add(&like.number, &out->numbers, (const char *)key, sizeof key));
    if (like.number == known) PACE_TRY(PACE_PUSH(&out->all, like));
    PACE_TRY(PACE_PUSH(&out->part, 2 * like.number + beside));
    return PACE_PUSH(&out->length_ns, length_ns);
}

static pace_status collect(kernels *out, const pace_rank *rank, int64_t from_ns, int64_t to_ns) {
    const pace_work *work = &rank->work;
    for (size_t i = 0; i < work->items.count && out->part.count < MOST_KERNELS; i++) {
        const pace_work_item *item = &work->items.items[i];
        if (!computes(rank, item) || item->start_ns < from_ns || item->end_ns > to_ns) continue;
        int64_t length_ns = item->end_ns - item->start_ns;
        int64_t covered_ns = pace_intervals_within(&work->communication, item->start_ns, item->end_ns);
        if (covered_ns && 2 * covered_ns < length_ns) continue;
        likeness like = {.name = rank->step.name[item->task],
                         .launch = pace_step_launch(&rank->step, item->task),
                         .shapes = shapes_of(&rank->step, item->task)};
        PACE_TRY(add(out, like, covered_ns > 0, length_ns));
    }
    return PACE_OK;
}

/* Lengths part by part, ascending; likenesses in their order. */
static pace_status order(kernels *k) {
    size_t parts = 2 * pace_names_count(&k->numbers), count = k->part.count;
    if (!PACE_MAKE(k->first, parts + 2) || !PACE_MAKE(k->sorted_ns, count + 1)) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) k->first[k->part.items[i] + 2]++;
    for (size_t i = 2; i < parts + 2; i++) k->first[i] += k->first[i - 1];
    for (size_t i = 0; i < count; i++) k->sorted_ns[k->first[k->part.items[i] + 1]++] = k->length_ns.items[i];
    for (size_t i = 0; i < parts; i++)
        pace_sort_ns(k->sorted_ns + k->first[i], k->length_ns.items, k->first[i + 1] - k->first[i]);
    PACE_SORT(&k->all, by_likeness);
    return PACE_OK;
}

/* Kernels of one likeness, by length. */
static void judge(pace_beside_exchanges *out, int64_t *lost_ns, const kernels *k, uint32_t number) {
    const size_t *first = &k->first[2 * (size_t)number];
    const int64_t *alone_ns = k->sorted_ns + first[0], *beside_ns = k->sorted_ns + first[1];
    size_t alone = first[1] - first[0], beside = first[2] - first[1];
    int64_t time_ns = 0;
    for (size_t i = 0; i < beside; i++) time_ns += beside_ns[i];
    int64_t median_ns = alone ? alone_ns[alone / 2] : 0;
    double spread_ns = alone ? (double)(alone_ns[alone - 1 - alone / 10] - alone_ns[alone / 10]) : 0;
    if (median_ns < LEAST_NS || alone < LEAST_ALONE || beside < LEAST_BESIDE || spread_ns > ALIKE * (double)median_ns) {
        out->unmatched_ns += time_ns;
        return;
    }
    int64_t all_alone_ns = median_ns * (int64_t)beside;
    out->kernels += beside;
    out->time_ns += time_ns;
    out->alone_ns += all_alone_ns;
    *lost_ns += time_ns - all_alone_ns;
}

static void compare(pace_beside_exchanges *out, const pace_rank *rank, const kernels *k) {
    int64_t lost_ns = 0;
    for (size_t i = 0; i < k->all.count; i++) {
        size_t kernels_before = out->kernels;
        if (i && k->all.items[i].name != k->all.items[i - 1].name) lost_ns = 0;
        judge(out, &lost_ns, k, k->all.items[i].number);
        if (out->kernels > kernels_before && lost_ns > out->worst_ns) {
            out->worst_ns = lost_ns;
            out->worst = pace_names_text(&rank->step.names, k->all.items[i].name);
        }
    }
}

static void sum_up(pace_beside_exchanges *found) {
    found->slowdown = pace_part_of((double)found->time_ns, (double)found->alone_ns);
    double lost_ns = (double)(found->time_ns + found->unmatched_ns) * (1 - 1 / found->slowdown);
    found->matters = found->slowdown >= 1.1 && 100 * lost_ns >= (double)found->steps_ns;
}

pace_status pace_beside_exchanges_find(pace_beside_exchanges *out, const pace_rank *rank) {
    pace_beside_exchanges found = {0};
    const pace_marks *marks = &rank->marks;
    int64_t from_ns = rank->work.window.first_ns, to_ns = rank->work.window.last_ns;
    if (marks->items.count) {
        from_ns = marks->items.items[0].from_ns;
        to_ns = marks->items.items[marks->items.count - 1].to_ns;
    }
    found.steps_ns = to_ns - from_ns;
    kernels all = {0};
    pace_status status = pace_names_init(&all.numbers);
    if (status == PACE_OK && !rank->work.host_is_device && rank->work.window.overlapped_ns > 0)
        status = collect(&all, rank, from_ns, to_ns);
    if (status == PACE_OK) status = order(&all);
    if (status == PACE_OK) compare(&found, rank, &all);
    sum_up(&found);
    free_kernels(&all);
    if (status == PACE_OK) *out = found;
    return status;
}

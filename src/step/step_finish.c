/* Finishing a step: tasks are sorted by lane and time, nested, and linked to what launched them. */
#include "base/order.h"
#include "step/step_links.h"

#include <stdlib.h>
#include <string.h>

/* --- finishing: sort by lane and time ------------------------------------------------------------------- */

/* Of tasks that start together the longer one encloses the shorter; of equally long ones an operator encloses the call
 * it makes (times of whole microseconds). */
static int64_t nesting_of(const pace_step *step, uint32_t task) {
    return -2 * pace_task_ns(step, task) + (step->kind[task] == PACE_TASK_CALL);
}

static bool stands_before(const pace_step *step, uint32_t a, uint32_t b) {
    if (step->start_ns[a] != step->start_ns[b]) return step->start_ns[a] < step->start_ns[b];
    return nesting_of(step, a) <= nesting_of(step, b);
}

/* Behind the ascending run that begins at `from`. */
static size_t run_end(const pace_step *step, const uint32_t *order, size_t from, size_t count) {
    for (from++; from < count && stands_before(step, order[from - 1], order[from]);) from++;
    return from;
}

static void merge_two(const pace_step *step, const uint32_t *left, size_t left_count, const uint32_t *right,
                      size_t right_count, uint32_t *out) {
    while (left_count && right_count) {
        bool takes_left = stands_before(step, *left, *right);
        *out++ = takes_left ? *left : *right;
        left += takes_left, left_count -= takes_left;
        right += !takes_left, right_count -= !takes_left;
    }
    memcpy(out, left_count ? left : right, (left_count + right_count) * sizeof *out);
}

/* Joins runs in pairs; returns how many are left. */
static size_t merge_runs(const pace_step *step, const uint32_t *from, uint32_t *to, size_t count) {
    size_t runs = 0;
    for (size_t at = 0; at < count; runs++) {
        size_t middle = run_end(step, from, at, count);
        size_t end = middle < count ? run_end(step, from, middle, count) : count;
        merge_two(step, from + at, middle - at, from + middle, end - middle, to + at);
        at = end;
    }
    return runs;
}

/* A profiler lists what it recorded kind by kind, each in order: a lane is a few runs, and merging them needs no other
 * memory than what the columns are moved with. */
static void sort_lane(const pace_step *step, uint32_t *order, size_t count, uint32_t *scratch) {
    uint32_t *from = order, *to = scratch;
    if (count == 0 || run_end(step, order, 0, count) == count) return;
    for (size_t runs = 2; runs > 1;) {
        runs = merge_runs(step, from, to, count);
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order) memcpy(order, from, count * sizeof *order);
}

/* By the id that no two tasks of a lane share: of a launch, or of an operator. Ranges have none: one within another of
 * the same name and times says nothing more. */
static bool shares_id(const pace_step *step, uint32_t a, uint32_t b) {
    const uint32_t *ids = step->kind[a] == PACE_TASK_OP ? step->external : step->correlation;
    bool device = pace_task_on_device(step->kind[a]), range = step->kind[a] == PACE_TASK_ANNOTATION;
    bool known = device || range || step->kind[a] == PACE_TASK_OP || step->kind[a] == PACE_TASK_CALL;
    return known && (device || !step->numbered) && (range || (ids[a] != 0 && ids[a] == ids[b]));
}

/* A record that was written twice has the same times, name and id. */
static bool is_repeated(const pace_step *step, uint32_t before, uint32_t task) {
    return step->name[task] == step->name[before] && step->kind[task] == step->kind[before] &&
           shares_id(step, task, before) && step->duration[task] != 0 &&
           pace_task_ns(step, task) == pace_task_ns(step, before);
}

/* Among those before it in its lane that begin with it; others may take as long. */
static bool stands_there(const pace_step *step, const uint32_t *order, uint32_t first, uint32_t count, uint32_t task) {
    enum { LOOKED_AT = 8 };
    for (uint32_t i = count; i > first && count - i < LOOKED_AT; i--) {
        if (step->start_ns[order[i - 1]] != step->start_ns[task]) return false;
        if (is_repeated(step, order[i - 1], task)) return true;
    }
    return false;
}

/* Closes the gaps that repeated records leave; the records are dropped. */
static void drop_repeated(pace_step *step, uint32_t *order) {
    uint32_t count = 0;
    PACE_ITEMS (pace_lane, lane, &step->lanes) {
        uint32_t from = lane->first, end = from + lane->count;
        lane->first = count;
        for (; from < end; from++) {
            if (stands_there(step, order, lane->first, count, order[from])) step->kind_count[step->kind[order[from]]]--;
            else order[count++] = order[from];
        }
        lane->count = count - lane->first;
    }
    step->repeated_count = step->count - count;
    step->count = count;
}

/* Lane ranges by counting, then each lane by time: order[new place] = old place. */
static void make_order(pace_step *step, uint32_t *order, uint32_t *scratch) {
    for (size_t i = 0; i < step->lanes.count; i++) step->lanes.items[i].count = 0;
    for (size_t i = 0; i < step->count; i++) step->lanes.items[step->lane[i]].count++;
    uint32_t first = 0;
    PACE_ITEMS (pace_lane, lane, &step->lanes) {
        lane->first = first;
        first += lane->count;
        lane->count = 0;
    }
    for (size_t i = 0; i < step->count; i++) {
        pace_lane *lane = &step->lanes.items[step->lane[i]];
        order[lane->first + lane->count++] = (uint32_t)i;
    }
    for (size_t i = 0; i < step->lanes.count; i++)
        sort_lane(step, order + step->lanes.items[i].first, step->lanes.items[i].count, scratch);
}

/* A column in the new order; the old one is the next one's room, if that is as wide. */
#define PERMUTE(column, order, count, room)                                      \
    do {                                                                         \
        __typeof__(column) to_ = (room);                                         \
        for (size_t i_ = 0; i_ < (count); i_++) to_[i_] = (column)[(order)[i_]]; \
        (room) = (void *)(column);                                               \
        (column) = to_;                                                          \
    } while (0)

PACE_ORDER(by_task, pace_exchange_record, PACE_UP(task))

/* order[new place] = old place; the records and long tasks name old places. */
static void move_records(pace_step *step, const uint32_t *order, uint32_t *place_of) {
    if (step->records.count + step->long_tasks.count == 0) return;
    memset(place_of, 0xff, (step->count + step->repeated_count) * sizeof *place_of);
    for (uint32_t i = 0; i < step->count; i++) place_of[order[i]] = i;
    size_t kept = 0;
    PACE_ITEMS (const pace_exchange_record, record, &step->records)
        if (place_of[record->task] != PACE_NO_TASK)
            step->records.items[kept++] = (pace_exchange_record){place_of[record->task], record->exchange};
    step->records.count = kept;
    kept = 0;
    PACE_ITEMS (const pace_long_task, one, &step->long_tasks)
        if (place_of[one->task] != PACE_NO_TASK)
            step->long_tasks.items[kept++] = (pace_long_task){place_of[one->task], one->duration_ns};
    step->long_tasks.count = kept;
    if (step->records.count) qsort(step->records.items, step->records.count, sizeof *step->records.items, by_task);
    pace_step_order_long_tasks(step);
}

static pace_status sort_tasks(pace_step *step) {
    size_t count = step->count;
    if (count == 0) return PACE_OK;
    uint32_t *order = pace_resize(NULL, count, sizeof *order); /* of each all is written before it is read */
    void *of_eight = pace_resize(NULL, step->capacity, 8), *of_four = pace_resize(NULL, step->capacity, 4);
    void *of_one = pace_resize(NULL, step->capacity, 1);
    pace_status status = order && of_eight && of_four && of_one ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) {
        make_order(step, order, of_four);
        drop_repeated(step, order);
        count = step->count;
        pace_free(step->lane);
        step->lane = NULL;
        PERMUTE(step->start_ns, order, count, of_eight);
        PERMUTE(step->duration, order, count, of_four);
        PERMUTE(step->name, order, count, of_four);
        PERMUTE(step->detail, order, count, of_four);
        PERMUTE(step->kind, order, count, of_one);
        PERMUTE(step->stage, order, count, of_one);
        if (step->stage_given) PERMUTE(step->stage_given, order, count, of_one);
        PERMUTE(step->correlation, order, count, of_four);
        PERMUTE(step->external, order, count, of_four);
        move_records(step, order, of_four);
    }
    PACE_FREE(order, of_eight, of_four, of_one);
    return status;
}

/* The enclosing task is the last one begun that has not ended. Microsecond traces round, so a child may seem to
 * end a little after its parent: it still belongs to it. A task that outlives its parent by more than that is a
 * sibling that overlaps (asynchronous ranges), and hangs on the nearest one that holds it. So does a task at
 * PACE_STEP_DEPTH: many questions walk from a task to the outermost one around it, for every task. */
static void nest_lane(pace_step *step, const pace_lane *lane) {
    const int64_t rounding_ns = 2000;
    uint32_t open = PACE_NO_TASK;
    unsigned depth = 0; /* tasks around and with `open` */
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++) {
        while (
            open != PACE_NO_TASK && pace_step_end_ns(step, open) <= step->start_ns[task] &&
            !(step->duration[open] == 0 && step->duration[task] == 0 && step->start_ns[open] == step->start_ns[task])) {
            open = step->above[open];
            depth--;
        }
        uint32_t parent = open;
        for (; parent != PACE_NO_TASK && pace_step_end_ns(step, parent) + rounding_ns < pace_step_end_ns(step, task);
             depth--)
            parent = step->above[parent];
        if (depth == PACE_STEP_DEPTH) {
            parent = step->above[parent];
            depth--;
            step->flattened_count++;
        }
        step->above[task] = parent;
        open = task;
        depth++;
    }
}

/* --- finishing: causes ---------------------------------------------------------------------------------- */

typedef struct {
    uint32_t *slots; /* task + 1 */
    size_t mask;
    bool each_its_own; /* no id is above the mask: it is its slot */
} link_table;

static size_t slot_of(const link_table *table, uint32_t id) {
    return (table->each_its_own ? id : (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & table->mask;
}

/* Whether two host tasks are of different processes: their lanes' keys differ before the thread. */
static bool of_two_processes(const pace_step *step, size_t a, size_t b) {
    const char *one = pace_names_text(&step->names, step->lanes.items[pace_task_lane(step, (uint32_t)a)].key);
    const char *other = pace_names_text(&step->names, step->lanes.items[pace_task_lane(step, (uint32_t)b)].key);
    size_t length = strcspn(one, "/");
    return length != strcspn(other, "/") || strncmp(one, other, length) != 0;
}

/* `*shared` = tasks whose id one of another process has, too. */
static pace_status make_links(link_table *table, uint64_t *shared, const pace_step *step, const uint32_t *ids,
                              pace_task_kind kind) {
    size_t slots = 64, count = 0;
    uint32_t most = 0;
    for (size_t task = 0; task < step->count; task++) {
        if (step->kind[task] != kind) continue;
        count += ids[task] != 0;
        if (ids[task] > most) most = ids[task];
    }
    while (slots < count * 2) slots *= 2;
    *table = (link_table){pace_alloc(slots, sizeof *table->slots), slots - 1, most < slots};
    if (!table->slots) return PACE_E_MEMORY;
    for (size_t task = 0; count > 0 && task < step->count; task++) {
        if (step->kind[task] != kind || ids[task] == 0) continue;
        size_t slot = slot_of(table, ids[task]);
        while (table->slots[slot] && ids[table->slots[slot] - 1] != ids[task]) slot = (slot + 1) & table->mask;
        if (!table->slots[slot]) table->slots[slot] = (uint32_t)task + 1; /* the first with an id keeps it */
        else *shared += of_two_processes(step, table->slots[slot] - 1, task);
    }
    return PACE_OK;
}

static uint32_t find_link(const link_table *table, const uint32_t *ids, uint32_t id) {
    if (id == 0 || (table->each_its_own && id > table->mask)) return PACE_NO_TASK;
    for (size_t slot = slot_of(table, id); table->slots[slot]; slot = (slot + 1) & table->mask)
        if (ids[table->slots[slot] - 1] == id) return table->slots[slot] - 1;
    return PACE_NO_TASK;
}

/* A device task was caused by the call of the same correlation; failing that, by the operator of the same external id,
 * which in a numbered step is another thing. A synchronisation record belongs to the call of the same correlation. */
static pace_status link_causes(pace_step *step) {
    link_table calls = {0}, ops = {0};
    uint64_t shared_ops = 0;
    pace_status status = make_links(&calls, &step->shared_calls, step, step->correlation, PACE_TASK_CALL);
    if (status == PACE_OK) status = make_links(&ops, &shared_ops, step, step->external, PACE_TASK_OP);
    for (size_t task = 0; status == PACE_OK && task < step->count; task++) {
        if (step->kind[task] == PACE_TASK_SYNC && step->detail[task])
            step->syncs.items[step->detail[task] - 1].call =
                find_link(&calls, step->correlation, step->correlation[task]);
        if (!pace_task_on_device(step->kind[task])) continue;
        uint32_t cause = find_link(&calls, step->correlation, step->correlation[task]);
        if (cause != PACE_NO_TASK && step->kind[task] == PACE_TASK_KERNEL) step->linked_kernels++;
        if (cause == PACE_NO_TASK && !step->numbered) cause = find_link(&ops, step->external, step->external[task]);
        step->above[task] = cause;
    }
    PACE_FREE(calls.slots, ops.slots);
    return status;
}

static int64_t first_start(const pace_step *step) {
    int64_t first = INT64_MAX;
    PACE_ITEMS (const pace_lane, lane, &step->lanes)
        if (lane->count && step->start_ns[lane->first] < first) first = step->start_ns[lane->first];
    return first == INT64_MAX ? 0 : first;
}

typedef struct {
    int64_t by_ns;
    uint32_t event;
} sort_key;

PACE_ORDER(by_key, sort_key, PACE_UP(by_ns) PACE_UP(event))

/* Events of one instant keep the order they were read in: what is taken and given back at once must not swap. */
static pace_status sort_memory(pace_step *step) {
    size_t count = step->memory.count, sorted = 1;
    while (sorted < count && step->memory.items[sorted - 1].at_ns <= step->memory.items[sorted].at_ns) sorted++;
    if (sorted >= count) return PACE_OK;
    sort_key *keys = pace_alloc(count, sizeof *keys);
    pace_memory_event *events = pace_alloc(count, sizeof *events);
    if (keys && events) {
        for (size_t i = 0; i < count; i++) keys[i] = (sort_key){step->memory.items[i].at_ns, (uint32_t)i};
        qsort(keys, count, sizeof *keys, by_key);
        for (size_t i = 0; i < count; i++) events[i] = step->memory.items[keys[i].event];
        memcpy(step->memory.items, events, count * sizeof *events);
    }
    pace_status status = keys && events ? PACE_OK : PACE_E_MEMORY;
    PACE_FREE(keys, events);
    return status;
}

pace_status pace_step_finish(pace_step *step) {
    pace_step_order_long_tasks(step);
    PACE_TRY(sort_tasks(step));
    step->begins_ns = first_start(step);
    PACE_TRY(sort_memory(step));
    step->above = pace_resize(NULL, step->count, sizeof *step->above);
    if (!step->above) return PACE_E_MEMORY;
    if (step->count) memset(step->above, 0xff, step->count * sizeof *step->above);
    for (size_t i = 0; i < step->lanes.count; i++)
        if (!step->lanes.items[i].device) nest_lane(step, &step->lanes.items[i]);
    PACE_TRY(link_causes(step));
    if (step->numbered) PACE_TRY(pace_step_link_numbers(step));
    PACE_TRY(pace_step_link_waits(step));
    PACE_TRY(pace_step_link_gradients(step));
    PACE_FREE(step->external, step->correlation);
    step->external = step->correlation = NULL;
    return PACE_OK;
}

#include "insight/steps/recurring_steps.h"

#include "base/order.h"
#include "base/text.h"

#include <string.h>

static const char *past_zeros(const char *at) {
    while (at[0] == '0' && pace_is_digit(at[1])) at++;
    return at;
}

static size_t digits_of(const char *at) {
    size_t count = 0;
    while (pace_is_digit(at[count])) count++;
    return count;
}

/* Names as texts and numbers in turn; `numbers` = the first number that differs decides, else all are equal. */
static int compare(const char *a, const char *b, bool numbers) {
    for (;; a++, b++) {
        if (pace_is_digit(*a) && pace_is_digit(*b)) {
            a = past_zeros(a);
            b = past_zeros(b);
            size_t own = digits_of(a), other = digits_of(b);
            int order = own != other ? (own < other ? -1 : 1) : strncmp(a, b, own);
            if (numbers && order) return order;
            a += own;
            b += other;
        }
        if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        if (*a == '\0') return 0;
    }
}

int pace_name_family_order(const char *a, const char *b) { return compare(a, b, false); }

/* Parts of a step, or what holds many: they recur too. */
static bool names_no_step(const pace_stage_words *words, const char *name) {
    return pace_word_of_part(words, name) || strstr(name, "::") || pace_name_wraps_compiled(name) ||
           pace_name_is_label(name);
}

/* --- families ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *last; /* its first name and the one before */
    uint32_t first;          /* task */
    size_t count;
    int64_t end_ns, time_ns; /* of the last; of all */
    bool ascends, same, overlaps;
} family;

typedef PACE_VEC(family) families;

typedef struct {
    int64_t start_ns;
    uint32_t task;
} entry;

PACE_ORDER(by_start, entry, PACE_UP(start_ns) PACE_UP(task))

static bool may_be_step(const pace_step *step, const pace_stage_words *words, uint32_t task) {
    return step->kind[task] == PACE_TASK_ANNOTATION && pace_task_ns(step, task) > 0 &&
           !names_no_step(words, pace_step_name(step, task));
}

static family *family_of(families *all, const char *name) {
    for (size_t i = 0; i < all->count; i++)
        if (pace_name_family_order(all->items[i].name, name) == 0) return &all->items[i];
    return NULL;
}

static pace_status add_entry(families *all, const pace_step *step, const entry *at) {
    enum { MOST_FAMILIES = 256 };
    const char *name = pace_step_name(step, at->task);
    int64_t end_ns = pace_step_end_ns(step, at->task);
    family *own = family_of(all, name);
    if (!own && all->count == MOST_FAMILIES) return PACE_OK;
    if (!own) {
        family fresh = {
            .name = name, .last = name, .first = at->task, .count = 1, .end_ns = end_ns, .ascends = true, .same = true};
        fresh.time_ns = end_ns - at->start_ns;
        return PACE_PUSH(all, fresh);
    }
    if (end_ns <= own->end_ns) return PACE_OK; /* inside the one before */
    own->overlaps |= at->start_ns < own->end_ns;
    int order = compare(own->last, name, true);
    own->ascends &= order < 0;
    own->same &= order == 0;
    own->count++;
    own->time_ns += end_ns - at->start_ns;
    own->end_ns = end_ns;
    own->last = name;
    return PACE_OK;
}

static pace_status find_families(families *all, const pace_step *step, const pace_stage_words *words) {
    PACE_VEC(entry) entries = {0};
    pace_status status = PACE_OK;
    for (uint32_t task = 0; status == PACE_OK && task < step->count; task++)
        if (may_be_step(step, words, task)) status = PACE_PUSH(&entries, ((entry){step->start_ns[task], task}));
    PACE_SORT(&entries, by_start);
    for (size_t i = 0; status == PACE_OK && i < entries.count; i++) status = add_entry(all, step, &entries.items[i]);
    PACE_VEC_FREE(&entries);
    return status;
}

/* --- which of them ------------------------------------------------------------------------------------------------ */

PACE_ORDER(by_time, family, PACE_DOWN(time_ns) PACE_UP(first))

static bool recurs(const family *own, const pace_stage_words *words) {
    size_t least = pace_word_of_step(words, own->name) ? 2 : 3;
    return own->count >= least && !own->overlaps && (own->ascends || own->same);
}

typedef struct {
    int64_t start_ns, end_ns;
} window;

static bool is_within(const window *windows, size_t count, int64_t at_ns) {
    size_t low = 0;
    PACE_SEARCH(low, count, middle, windows[middle].start_ns <= at_ns);
    return low && at_ns < windows[low - 1].end_ns;
}

static bool fetches(const pace_step *step, uint32_t task) {
    for (uint32_t at = pace_task_parent(step, task); at != PACE_NO_TASK; at = pace_task_parent(step, at))
        if (pace_starts(pace_step_name(step, at), "enumerate(DataLoader)")) return true;
    return false;
}

/* Three quarters of the operators from the first step to the last, and half of all. */
static bool holds_most(const pace_step *step, const family *own, const window *windows, size_t count) {
    size_t all = 0, between = 0, inside = 0;
    for (uint32_t task = 0; task < step->count; task++) {
        if (!pace_task_is_operator(step, task) || fetches(step, task)) continue;
        int64_t at_ns = step->start_ns[task];
        all++;
        between += at_ns >= windows[0].start_ns && at_ns < own->end_ns;
        inside += is_within(windows, count, at_ns);
    }
    return inside > 0 && 4 * inside >= 3 * between && 2 * inside >= all;
}

PACE_ORDER(by_window, window, PACE_UP(start_ns))

static bool belongs(const pace_step *step, uint32_t task, const family *own) {
    return step->kind[task] == PACE_TASK_ANNOTATION &&
           pace_name_family_order(pace_step_name(step, task), own->name) == 0;
}

static pace_status judge(bool *fits, const pace_step *step, const family *own) {
    PACE_VEC(window) windows = {0};
    pace_status status = PACE_OK;
    for (uint32_t task = 0; status == PACE_OK && task < step->count; task++)
        if (belongs(step, task, own))
            status = PACE_PUSH(&windows, ((window){step->start_ns[task], pace_step_end_ns(step, task)}));
    PACE_SORT(&windows, by_window);
    *fits = status == PACE_OK && windows.count && holds_most(step, own, windows.items, windows.count);
    PACE_VEC_FREE(&windows);
    return status;
}

static pace_status choose(const family **chosen, families *all, const pace_step *step, const pace_stage_words *words) {
    enum { MOST_TRIED = 8 };
    PACE_SORT(all, by_time);
    for (size_t i = 0, tried = 0; i < all->count && tried < MOST_TRIED; i++) {
        bool fits;
        if (!recurs(&all->items[i], words)) continue;
        tried++;
        PACE_TRY(judge(&fits, step, &all->items[i]));
        if (!fits) continue;
        *chosen = &all->items[i];
        return PACE_OK;
    }
    return PACE_OK;
}

pace_status pace_recurring_steps_find(pace_name *basis, char *known, char value, const pace_step *step,
                                      const pace_stage_words *words) {
    families all = {0};
    const family *chosen = NULL;
    pace_status status = find_families(&all, step, words);
    if (status == PACE_OK) status = choose(&chosen, &all, step, words);
    *basis = chosen ? step->name[chosen->first] : 0;
    for (uint32_t task = 0; chosen && task < step->count; task++)
        if (belongs(step, task, chosen)) known[step->name[task]] = value;
    PACE_VEC_FREE(&all);
    return status;
}

#include "fleet/usage_advice.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>

const char *const pace_usage_change_names[PACE_USAGE_CHANGES] = {"end_idle", "share",       "feed",      "fail_early",
                                                                 "limits",   "node_faults", "preemption"};

const char *const pace_usage_change_texts[PACE_USAGE_CHANGES] = {
    "end runs that hold GPUs and do not use them",
    "share GPUs among runs that use little of one",
    "find what busy runs wait for (paceline analyze)",
    "fail early: test before the long run, save progress",
    "save progress before the time limit, ask for more",
    "save progress often, take faulty nodes out",
    "save progress when preempted",
};

/* What a run could give back, and to which change; false = nothing that the records show. */
static bool change_of(pace_usage_change_kind *kind, double *hours, const pace_usage_run *run,
                      const pace_usage_rules *rules) {
    if (!(run->gpu_hours > 0)) return false;
    *hours = isnan(run->busy) ? 0 : run->judged * (1 - run->busy);
    if (run->busy < rules->held_busy && run->judged >= rules->held_hours * run->gpus) *kind = PACE_CHANGE_HELD;
    else if (pace_usage_is_lost(run)) {
        *hours = run->gpu_hours;
        *kind = run->state == PACE_STATE_TIMEOUT       ? PACE_CHANGE_TIMEOUT
                : run->state == PACE_STATE_NODE_FAILED ? PACE_CHANGE_NODE
                : run->state == PACE_STATE_PREEMPTED   ? PACE_CHANGE_PREEMPTED
                                                       : PACE_CHANGE_FAILED;
    } else if (isnan(run->busy)) return false;
    else *kind = run->busy < rules->shared_busy && run->each <= 1 ? PACE_CHANGE_SHARED : PACE_CHANGE_FED;
    return true;
}

static void add(pace_usage_change *change, double hours, double price) {
    change->gpu_hours += hours;
    if (isnan(price)) return;
    change->priced_gpu_hours += hours;
    change->cost += hours * price;
}

PACE_ORDER(most_first, pace_usage_change, PACE_DOWN(gpu_hours) PACE_UP(kind))

/* Who has most of a change's GPU-hours. `hours` is by change and number of a user, `users` the numbers by name. */
static void find_users(pace_usage_changes *out, const pace_usage *usage, const double *hours, const uint32_t *users,
                       size_t count) {
    for (size_t i = 0; i < usage->runs.count; i++) {
        pace_name user = usage->runs.items[i].by[PACE_BY_USER];
        for (size_t k = 0; user && k < PACE_USAGE_CHANGES; k++) {
            double his = hours[k * count + users[user]];
            if (his <= out->items[k].user_gpu_hours) continue;
            out->items[k].user = user;
            out->items[k].user_gpu_hours = his;
        }
    }
}

static void add_all(pace_usage_changes *out, const pace_usage *usage, const double *prices,
                    const pace_usage_rules *rules, double *hours, const uint32_t *users, size_t count) {
    pace_usage_change_kind kind;
    double back;
    PACE_ITEMS (const pace_usage_run, run, &usage->runs) {
        if (!change_of(&kind, &back, run, rules)) continue;
        out->items[kind].runs += !run->split;
        add(&out->items[kind], back, prices[run->by[PACE_BY_GPU]]);
        hours[(size_t)kind * count + users[run->by[PACE_BY_USER]]] += back;
    }
}

pace_status pace_usage_changes_of(pace_usage_changes *out, const pace_usage *usage, const double *prices,
                                  const pace_usage_rules *rules) {
    uint32_t *users;
    size_t count;
    PACE_TRY(pace_usage_number_names(&users, &count, usage, PACE_BY_USER));
    double *hours = pace_alloc((count + 1) * PACE_USAGE_CHANGES, sizeof *hours);
    *out = (pace_usage_changes){.count = 0};
    for (int k = 0; k < PACE_USAGE_CHANGES; k++) out->items[k].kind = (pace_usage_change_kind)k;
    if (hours) {
        add_all(out, usage, prices, rules, hours, users, count);
        find_users(out, usage, hours, users, count);
    }
    PACE_FREE(users, hours);
    if (!hours) return PACE_E_MEMORY;
    qsort(out->items, PACE_USAGE_CHANGES, sizeof *out->items, most_first);
    while (out->count < PACE_USAGE_CHANGES && out->items[out->count].gpu_hours > 0) out->count++;
    return PACE_OK;
}

#include "fleet/usage_figures.h"

#include "base/estimate.h"
#include "base/normal.h"
#include "base/order.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of runs by their GPUs. */
static const char *const size_names[] = {"part of one", "1", "2 to 7", "8", "9 to 63", "64 and more"};

const char *const pace_usage_limit_names[PACE_USAGE_LIMITS] = {NULL, "waiting", "matrix units", "memory"};

static int size_of(double gpus) {
    return gpus < 1 ? 0 : gpus < 2 ? 1 : gpus < 8 ? 2 : gpus < 9 ? 3 : gpus < 64 ? 4 : 5;
}

bool pace_usage_is_lost(const pace_usage_run *run) {
    return run->has_state && (run->state == PACE_STATE_FAILED || run->state == PACE_STATE_TIMEOUT ||
                              run->state == PACE_STATE_NODE_FAILED || run->state == PACE_STATE_PREEMPTED);
}

static const char *text_of(const pace_usage *usage, int by, pace_name name) {
    if (by == PACE_BY_SIZE) return size_names[name];
    if (name == 0) return "(not said)";
    return by == PACE_BY_STATE ? pace_usage_state_names[name - 1] : pace_usage_name(usage, name);
}

static double size_of_run(const pace_usage *usage, const pace_usage_run *run) {
    return usage->counted ? run->each : run->gpus > 0 ? run->gpus : run->asked;
}

static pace_name key_of(const pace_usage *usage, const pace_usage_run *run, int by) {
    if (by == PACE_BY_STATE) return run->has_state ? (pace_name)run->state + 1 : 0;
    if (by == PACE_BY_SIZE) return (pace_name)size_of(size_of_run(usage, run));
    return run->by[by];
}

/* --- adding up ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_usage *usage;
    const double *prices;
    const pace_usage_rates *rates;
    uint32_t *order;    /* runs by job */
    uint32_t *place_of; /* by key: group + 1 */
} adding;

static double price_of(const adding *a, const pace_usage_run *run) { return a->prices[run->by[PACE_BY_GPU]]; }

/* Of runs in the order of their jobs: a job is counted once. */
static void count_job(pace_usage_group *g, const pace_usage_run *run) {
    bool same_run = g->last_row == run->row;
    g->runs += !same_run;
    g->jobs += run->job ? g->last_job != run->job : !same_run;
    g->last_job = run->job;
    g->last_row = run->row;
    if (run->gpu_hours <= 0) return; /* a run whose time is not known held GPUs */
    g->held_jobs += run->job ? g->last_held_job != run->job : g->last_held_row != run->row;
    g->last_held_job = run->job;
    g->last_held_row = run->row;
}

static void add_counters(pace_usage_group *g, const pace_usage_run *run) {
    for (int c = 0; c < PACE_USAGE_COUNTERS; c++) {
        double value = (double)run->counters[c];
        if (isnan(value)) continue;
        g->counter_hours[c] += run->judged;
        g->counters[c] += run->judged * value;
    }
}

/* What a run's GPUs did a second, where their model is known: a counter's share of time is that of the rate. */
static void add_rates(pace_usage_group *g, const adding *a, const pace_usage_run *run) {
    double tensor = (double)run->counters[pace_usage_counter(PACE_USAGE_TENSOR)];
    double memory = (double)run->counters[pace_usage_counter(PACE_USAGE_DRAM)];
    const pace_usage_rates *rates = a->rates ? &a->rates[run->by[PACE_BY_GPU]] : NULL;
    if (rates && !isnan(tensor * rates->flop_per_s_low)) {
        g->flop_hours += run->judged;
        g->flop_per_s_low += run->judged * tensor * rates->flop_per_s_low;
        g->flop_per_s_high += run->judged * tensor * rates->flop_per_s_high;
    }
    if (rates && !isnan(memory * rates->memory_bytes_per_s)) {
        g->memory_hours += run->judged;
        g->memory_bytes_per_s += run->judged * memory * rates->memory_bytes_per_s;
    }
}

static void add_run(pace_usage_group *g, const adding *a, const pace_usage_run *run) {
    double hours = run->gpu_hours, price = price_of(a, run);
    count_job(g, run);
    if (isnan(hours)) return;
    g->gpu_hours += hours;
    if (!isnan(price)) {
        g->priced_gpu_hours += hours;
        g->cost += hours * price;
    }
    if (!isnan(run->busy)) {
        g->judged_gpu_hours += run->judged;
        double idle = run->judged * (1 - run->busy);
        g->idle_gpu_hours += idle;
        if (!isnan(price)) g->idle_cost += idle * price, g->priced_idle_gpu_hours += idle;
        add_counters(g, run);
        add_rates(g, a, run);
    }
    if (!pace_usage_is_lost(run)) return;
    g->lost_gpu_hours += hours;
    if (!isnan(price)) g->lost_cost += hours * price, g->priced_lost_gpu_hours += hours;
}

static const pace_usage_group empty = {.wait_mean_s = NAN, .wait_median_s = NAN, .wait_p90_s = NAN};

static pace_status group_of(pace_usage_group **out, pace_usage_groups *groups, const adding *a, int by, pace_name key) {
    if (a->place_of[key] == 0) {
        pace_usage_group group = empty;
        group.name = key;
        group.text = text_of(a->usage, by, key);
        PACE_TRY(PACE_PUSH(groups, group));
        a->place_of[key] = (uint32_t)groups->count;
    }
    *out = &groups->items[a->place_of[key] - 1];
    return PACE_OK;
}

/* --- waits -------------------------------------------------------------------------------------------------------- */

static double at_share(const double *sorted, size_t count, double share) {
    size_t place = (size_t)ceil(share * (double)count);
    return sorted[place > 0 ? place - 1 : 0];
}

static void settle_waits(pace_usage_group *g, double *waits, size_t count) {
    if (count == 0) return;
    double sum = 0;
    qsort(waits, count, sizeof *waits, pace_ascending);
    for (size_t i = 0; i < count; i++) sum += waits[i];
    g->wait_mean_s = sum / (double)count;
    g->wait_median_s = at_share(waits, count, 0.5);
    g->wait_p90_s = at_share(waits, count, 0.9);
}

static const pace_usage_run *run_of(const pace_usage *usage, const pace_usage_wait *wait) {
    return &usage->runs.items[wait->run];
}

/* The waits of each group side by side: counted, then put in their places. */
static pace_status add_waits(pace_usage_groups *groups, const adding *a, int by) {
    const pace_usage *usage = a->usage;
    size_t count = usage->waits.count, at = 0;
    double *waits = pace_alloc(count + 1, sizeof *waits);
    size_t *from = pace_alloc(groups->count + 1, sizeof *from);
    pace_status status = waits && from ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < count; i++) {
        const pace_usage_run *run = run_of(usage, &usage->waits.items[i]);
        pace_usage_group *g = &groups->items[a->place_of[key_of(usage, run, by)] - 1];
        g->waits++;
        g->wait_gpu_hours += run->gpus * usage->waits.items[i].seconds / 3600;
    }
    for (size_t g = 0; status == PACE_OK && g < groups->count; at += groups->items[g++].waits) from[g] = at;
    for (size_t i = 0; status == PACE_OK && i < count; i++) {
        uint32_t g = a->place_of[key_of(usage, run_of(usage, &usage->waits.items[i]), by)] - 1;
        waits[from[g]++] = usage->waits.items[i].seconds;
    }
    for (size_t g = 0; status == PACE_OK && g < groups->count; g++)
        settle_waits(&groups->items[g], waits + from[g] - groups->items[g].waits, groups->items[g].waits);
    PACE_FREE(from, waits);
    return status;
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

/* The largest of what was idle, on matrix units and in memory: shares of time that may overlap. */
static pace_usage_limit limit_of(const pace_usage_group *g) {
    double tensor = g->counters[pace_usage_counter(PACE_USAGE_TENSOR)];
    double memory = g->counters[pace_usage_counter(PACE_USAGE_DRAM)];
    double idle = g->idle_gpu_hours / g->judged_gpu_hours;
    if (!(g->judged_gpu_hours > 0) || isnan(tensor) || isnan(memory)) return PACE_USAGE_LIMIT_NONE;
    if (idle >= tensor && idle >= memory) return PACE_USAGE_LIMIT_IDLE;
    return tensor >= memory ? PACE_USAGE_LIMIT_MATRIX : PACE_USAGE_LIMIT_MEMORY;
}

static void finish_counters(pace_usage_group *g) {
    g->flop_per_s_low = g->flop_hours > 0 ? g->flop_per_s_low / g->flop_hours : NAN;
    g->flop_per_s_high = g->flop_hours > 0 ? g->flop_per_s_high / g->flop_hours : NAN;
    g->memory_bytes_per_s = g->memory_hours > 0 ? g->memory_bytes_per_s / g->memory_hours : NAN;
    for (int c = 0; c < PACE_USAGE_COUNTERS; c++)
        g->counters[c] = g->counter_hours[c] > 0 ? g->counters[c] / g->counter_hours[c] : NAN;
    g->limit = limit_of(g);
}

PACE_ORDER(most_hours_first, pace_usage_group, PACE_DOWN(gpu_hours) PACE_DOWN(runs) PACE_TEXT(text))

static pace_status group_runs(pace_usage_groups *groups, adding *a, int by) {
    pace_usage_group *g;
    memset(a->place_of, 0, (pace_names_count(&a->usage->names) + PACE_STATES) * sizeof *a->place_of);
    for (size_t i = 0; i < a->usage->runs.count; i++) {
        const pace_usage_run *run = &a->usage->runs.items[a->order[i]];
        PACE_TRY(group_of(&g, groups, a, by, key_of(a->usage, run, by)));
        add_run(g, a, run);
    }
    PACE_TRY(add_waits(groups, a, by));
    for (size_t i = 0; i < groups->count; i++) finish_counters(&groups->items[i]);
    PACE_SORT(groups, most_hours_first);
    return PACE_OK;
}

static pace_status group_all(pace_usage_figures *out, adding *a) {
    const pace_usage *usage = a->usage;
    double *waits = pace_alloc(usage->waits.count + 1, sizeof *waits);
    if (!waits) return PACE_E_MEMORY;
    out->all = empty;
    for (size_t i = 0; i < usage->runs.count; i++) add_run(&out->all, a, &usage->runs.items[a->order[i]]);
    for (size_t i = 0; i < usage->waits.count; i++) {
        waits[i] = usage->waits.items[i].seconds;
        out->all.wait_gpu_hours += run_of(usage, &usage->waits.items[i])->gpus * waits[i] / 3600;
    }
    out->all.waits = usage->waits.count;
    settle_waits(&out->all, waits, usage->waits.count);
    finish_counters(&out->all);
    pace_free(waits);
    return PACE_OK;
}

/* Runs in the order of their jobs' names, which are numbers: counted, then put in their places. */
static pace_status order_by_job(uint32_t **out, const pace_usage *usage) {
    size_t names = pace_names_count(&usage->names), at = 0;
    uint32_t *order = pace_alloc(usage->runs.count + 1, sizeof *order);
    size_t *from = pace_alloc(names + 1, sizeof *from);
    if (!order || !from) {
        PACE_FREE(order, from);
        return PACE_E_MEMORY;
    }
    for (size_t i = 0; i < usage->runs.count; i++) from[usage->runs.items[i].job]++;
    for (size_t n = 0; n < names; n++) {
        size_t count = from[n];
        from[n] = at;
        at += count;
    }
    for (size_t i = 0; i < usage->runs.count; i++) order[from[usage->runs.items[i].job]++] = (uint32_t)i;
    pace_free(from);
    *out = order;
    return PACE_OK;
}

/* --- what no counter saw ------------------------------------------------------------------------------------------ */

/* Judged runs of a type of work. */
typedef struct {
    double jobs, hours, idle, squares, idle_squares; /* squares: of hours; idle_squares: hours times share squared */
    double blind, blind_squares, blind_cost;         /* runs without counters */
} sample;

static void add_sample(sample *s, const pace_usage_run *run, double price) {
    if (isnan(run->gpu_hours)) return;
    double hours = run->judged, share = 1 - run->busy, blind = run->gpu_hours - run->judged;
    s->blind += blind;
    s->blind_squares += blind * blind;
    s->blind_cost += blind > 0 ? blind * price : 0;
    if (isnan(share)) return;
    s->jobs++;
    s->hours += hours;
    s->squares += hours * hours;
    s->idle += hours * share;
    s->idle_squares += hours * share * share;
}

/* The variance of an idle share, times what few jobs know less of it: as many as their hours make equal ones. One that
 * was not seen may be half as far from the mean as a share can be. */
static double variance_of_share(const sample *seen, double share) {
    double equal = seen->hours * seen->hours / seen->squares, freedom = fmax(equal - 1, 1);
    double spread = fmax(0, seen->idle_squares / seen->hours - share * share) * (freedom + 1) / freedom;
    return (spread + pow(fmax(share, 1 - share) / 2, 2) / (freedom + 2)) *
           pow(pace_student_reach(freedom) / PACE_NORMAL_90, 2);
}

/* The idle share of runs that no counter saw is a mean of draws from those that counters saw. */
static void estimate(pace_usage_estimate *out, double *variance, const sample *blind, const sample *seen) {
    double share = seen->idle / seen->hours;
    double error = variance_of_share(seen, share) *
                   (blind->blind_squares + blind->blind * blind->blind * seen->squares / (seen->hours * seen->hours));
    out->gpu_hours += blind->blind;
    out->idle += blind->blind * share;
    out->cost_share += blind->blind_cost * share;
    *variance += error;
}

static void settle_estimate(pace_usage_estimate *e, double variance) {
    double reach = PACE_NORMAL_90 * sqrt(variance);
    e->low = fmax(0, e->idle - reach);
    e->high = fmin(e->gpu_hours, e->idle + reach);
    e->cost_share = e->idle > 0 ? e->cost_share / e->idle : NAN;
}

static void add_samples(sample *all, sample *types, const adding *a, const uint32_t *number) {
    PACE_ITEMS (const pace_usage_run, run, &a->usage->runs) {
        add_sample(all, run, price_of(a, run));
        add_sample(&types[number[run->by[PACE_BY_TYPE]]], run, price_of(a, run));
    }
}

static pace_status estimate_unjudged(pace_usage_figures *out, const adding *a, size_t fewest) {
    uint32_t *number;
    size_t count;
    sample all = {0};
    double variance = 0;
    PACE_TRY(pace_usage_number_names(&number, &count, a->usage, PACE_BY_TYPE));
    sample *types = pace_alloc(count + 1, sizeof *types);
    if (types) add_samples(&all, types, a, number);
    pace_free(number);
    if (!types) return PACE_E_MEMORY;
    out->unjudged.judged_jobs = (size_t)all.jobs;
    for (size_t n = 0; n < count; n++) {
        const sample *seen = types[n].jobs >= (double)fewest ? &types[n] : &all;
        if (types[n].blind > 0 && seen->jobs >= (double)fewest && seen->hours > 0)
            estimate(&out->unjudged, &variance, &types[n], seen);
    }
    settle_estimate(&out->unjudged, variance);
    pace_free(types);
    return PACE_OK;
}

/* --- what is odd -------------------------------------------------------------------------------------------------- */

static void count_odd(pace_usage_figures *out, const pace_usage *usage) {
    out->span_s = usage->last_s >= usage->first_s ? usage->last_s - usage->first_s : NAN;
    PACE_ITEMS (const pace_usage_run, run, &usage->runs) {
        bool pending = run->has_state && run->state == PACE_STATE_PENDING;
        if (isnan(run->gpu_hours)) {
            out->without_time += !run->split;
            out->without_time_gpus += run->gpus;
            continue;
        }
        if (run->has_state && run->state < PACE_STATE_RUNNING) out->stated_gpu_hours += run->gpu_hours;
        if (run->open) out->open_runs += !run->split, out->open_gpu_hours += run->gpu_hours;
        if (!pending) continue;
        out->pending_runs += (uint64_t)run->tasks;
        out->pending_gpus += run->tasks * (isnan(run->asked) ? run->gpus : run->asked);
        if (!isnan(run->submit_s)) out->pending_longest_s = fmax(out->pending_longest_s, usage->last_s - run->submit_s);
    }
}

static void count_judged(pace_usage_figures *out, const adding *a) {
    pace_name last = 0;
    bool any = false;
    for (size_t i = 0; i < a->usage->runs.count; i++) {
        const pace_usage_run *run = &a->usage->runs.items[a->order[i]];
        if (isnan(run->busy) || isnan(run->gpu_hours)) continue;
        out->judged_jobs += !any || !run->job || run->job != last;
        last = run->job;
        any = true;
    }
}

static pace_status fill(pace_usage_figures *out, adding *a, size_t fewest) {
    PACE_TRY(order_by_job(&a->order, a->usage));
    if (!(a->place_of = pace_alloc(pace_names_count(&a->usage->names) + PACE_STATES, sizeof *a->place_of)))
        return PACE_E_MEMORY;
    PACE_TRY(group_all(out, a));
    for (int by = 0; by < PACE_USAGE_BYS; by++) PACE_TRY(group_runs(&out->by[by], a, by));
    PACE_TRY(estimate_unjudged(out, a, fewest));
    count_judged(out, a);
    count_odd(out, a->usage);
    return PACE_OK;
}

pace_status pace_usage_figures_of(pace_usage_figures *out, const pace_usage *usage, const double *prices,
                                  const pace_usage_rates *rates, size_t fewest) {
    *out = (pace_usage_figures){0};
    adding a = {.usage = usage, .prices = prices, .rates = rates};
    pace_status status = fill(out, &a, fewest);
    PACE_FREE(a.order, a.place_of);
    return status;
}

void pace_usage_figures_free(pace_usage_figures *figures) {
    for (int by = 0; by < PACE_USAGE_BYS; by++) PACE_VEC_FREE(&figures->by[by]);
}

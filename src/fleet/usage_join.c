/* Runs, facts and counters put together. */
#include "fleet/usage.h"
#include "base/order.h"

#include <math.h>
#include <string.h>

static pace_usage_fact *fact_of(const pace_usage *usage, pace_name name) {
    uint32_t number = name && name < usage->fact_of.count ? usage->fact_of.items[name] : 0;
    return number ? &usage->facts.items[number - 1] : NULL;
}

/* The fact about a part of a job, or NULL. */
static pace_usage_fact *fact_of_part(const pace_usage *usage, const pace_usage_run *run, char *text, size_t size) {
    pace_name name;
    if (!run->part) return NULL;
    int length =
        pace_snprintf(text, size, "\x1d%s\x1d%s", pace_usage_name(usage, run->job), pace_usage_name(usage, run->part));
    if (length < 0 || (size_t)length >= size || !pace_names_find(&name, &usage->names, text, (size_t)length))
        return NULL;
    return fact_of(usage, name);
}

static void fill_names(pace_usage_run *run, const pace_usage_fact *fact) {
    for (int b = 0; b < PACE_BY_STATE; b++)
        if (!run->by[b]) run->by[b] = fact->by[b];
}

/* The share of a run's GPUs that its workers kept busy. */
static double busy_share(const pace_usage_run *run, const pace_usage_fact *fact) {
    if (!fact || fact->busy_count == 0 || !(run->each > 0)) return NAN;
    return fmin(1, fact->busy_sum / fact->busy_count / run->each);
}

/* Of the counters that say whether a GPU worked the first that is there. */
static double busy_of(const float counters[PACE_USAGE_COUNTERS]) {
    static const pace_usage_field tell[] = {PACE_USAGE_ACTIVE, PACE_USAGE_GPU_UTIL, PACE_USAGE_SM};
    for (size_t i = 0; i < PACE_COUNT(tell); i++) {
        double value = (double)counters[pace_usage_counter(tell[i])];
        if (!isnan(value)) return value;
    }
    return NAN;
}

static void take_counters(pace_usage_run *run, const double *seconds, const double *sums) {
    for (int c = 0; c < PACE_USAGE_COUNTERS; c++)
        run->counters[c] = seconds[c] > 0 ? (float)(sums[c] / seconds[c]) : NAN;
    double busy = busy_of(run->counters);
    if (!isnan(busy)) run->busy = fmin(1, busy);
}

/* What counters saw of a run: of a job's GPU-hours the part that its GPUs' counters cover, or its workers' figures. */
static double judged_hours(const pace_usage_run *run, const pace_usage_fact *job, const pace_usage_fact *part) {
    if (isnan(run->busy) || !(run->gpu_hours > 0)) return 0;
    double seconds = 0;
    for (int c = 0; job && c < PACE_USAGE_COUNTERS; c++) seconds = fmax(seconds, job->seconds[c]);
    if (seconds > 0) return run->gpu_hours * fmin(1, seconds / 3600 / job->gpu_hours);
    const pace_usage_fact *told = part ? part : job;
    return told ? run->gpu_hours * fmin(1, told->busy_count * run->each / run->gpus) : 0;
}

static void apply_facts(pace_usage *usage, pace_usage_run *run) {
    enum { LONGEST = 1024 };
    char text[LONGEST];
    const pace_usage_fact *job = fact_of(usage, run->job), *part = fact_of_part(usage, run, text, sizeof text);
    for (int c = 0; c < PACE_USAGE_COUNTERS; c++) run->counters[c] = NAN;
    if (job) {
        fill_names(run, job);
        if (isnan(run->submit_s)) run->submit_s = job->submit_s;
        const pace_usage_fact *linked = fact_of(usage, job->link);
        if (linked) fill_names(run, linked);
        take_counters(run, job->seconds, job->sums);
    }
    if (isnan(run->busy)) run->busy = busy_share(run, part ? part : job);
}

/* Behind the last run: how much of each counters saw. */
static void settle_judged(const pace_usage *usage, pace_usage_run *run) {
    enum { LONGEST = 1024 };
    char text[LONGEST];
    run->judged = judged_hours(run, fact_of(usage, run->job), fact_of_part(usage, run, text, sizeof text));
    if (!(run->judged > 0)) run->busy = NAN;
}

/* How long a run held its GPUs. One that runs on counts up to the last time of all records. */
static void settle_time(const pace_usage *usage, pace_usage_run *run) {
    bool runs = run->state == PACE_STATE_RUNNING && isnan(run->end_s) && !isnan(run->start_s);
    if (isnan(run->elapsed_s)) run->elapsed_s = run->end_s - run->start_s;
    run->open = runs && isnan(run->elapsed_s);
    if (run->open) run->elapsed_s = fmax(0, usage->last_s - run->start_s);
    if (!(run->gpus > 0) || run->state == PACE_STATE_PENDING) run->elapsed_s = 0;
    run->gpu_hours = run->gpus * run->elapsed_s / 3600;
}

/* --- counters ----------------------------------------------------------------------------------------------------- */

/* Of the counter that was seen longest. */
static int longest_of(const pace_usage_gauge *gauge) {
    int longest = 0;
    for (int c = 1; c < PACE_USAGE_COUNTERS; c++)
        if (gauge->seconds[c] > gauge->seconds[longest]) longest = c;
    return longest;
}

static double seconds_of(const pace_usage_gauge *gauge) { return gauge->seconds[longest_of(gauge)]; }

/* Between its first value and its last no value stands for so long. */
static double unseen_of(const pace_usage_gauge *gauge) {
    int c = longest_of(gauge);
    return fmax(0, gauge->last_s[c] - gauge->first_s[c] - pace_covered_length(&gauge->covered[c]));
}

static double hours_of(const pace_usage_gauge *gauge) { return gauge->share * seconds_of(gauge) / 3600; }

/* A GPU's power is read whole where it is cut: each part has the mean of it. */
static void take_from_whole(pace_usage_gauge *part, const pace_usage_gauge *whole) {
    double seconds = seconds_of(part);
    for (int c = 0; c < PACE_USAGE_COUNTERS; c++) {
        if (part->seconds[c] > 0 || !(whole->seconds[c] > 0)) continue;
        part->seconds[c] = seconds;
        part->sums[c] = seconds * whole->sums[c] / whole->seconds[c];
    }
}

/* Counters of a GPU and of its parts (MIG) are of the same hours: those of the parts count. */
static pace_status merge_parts(pace_usage *usage) {
    uint32_t *whole = pace_alloc(pace_names_count(&usage->names), sizeof *whole);
    if (!whole) return PACE_E_MEMORY;
    for (size_t i = 0; i < usage->gauges.count; i++)
        if (!usage->gauges.items[i].part) whole[usage->gauges.items[i].gpu] = (uint32_t)(i + 1);
    bool *cut = pace_alloc(pace_names_count(&usage->names), sizeof *cut);
    for (size_t i = 0; cut && i < usage->gauges.count; i++) {
        pace_usage_gauge *gauge = &usage->gauges.items[i];
        if (!gauge->part) continue;
        cut[gauge->gpu] = true;
        if (whole[gauge->gpu]) take_from_whole(gauge, &usage->gauges.items[whole[gauge->gpu] - 1]);
    }
    for (size_t i = 0; cut && i < usage->gauges.count; i++)
        if (!usage->gauges.items[i].part && cut[usage->gauges.items[i].gpu]) usage->gauges.items[i].share = 0;
    pace_status status = cut ? PACE_OK : PACE_E_MEMORY;
    pace_free(whole);
    pace_free(cut);
    return status;
}

/* Without a table of jobs a GPU's counters are a part of a run: as long as the job was seen on it. Parts of one job
 * have one row, and `each` has all its GPUs. */
static pace_status run_of_gauge(pace_usage *usage, const pace_usage_gauge *gauge) {
    pace_usage_fact *fact = fact_of(usage, gauge->job);
    pace_usage_run run = {.job = gauge->job,
                          .gpus = gauge->share,
                          .each = fact ? fact->most_gpus : gauge->share,
                          .asked = NAN,
                          .state = PACE_STATE_OTHER,
                          .submit_s = NAN,
                          .start_s = NAN,
                          .end_s = NAN,
                          .elapsed_s = seconds_of(gauge),
                          .busy = NAN};
    memcpy(run.by, gauge->by, sizeof run.by);
    run.row = gauge->job ? gauge->job : (uint32_t)pace_names_count(&usage->names) + ++usage->rows;
    run.gpu_hours = hours_of(gauge);
    take_counters(&run, gauge->seconds, gauge->sums);
    run.judged = isnan(run.busy) ? 0 : run.gpu_hours;
    return run.gpu_hours > 0 ? PACE_PUSH(&usage->runs, run) : PACE_OK;
}

static bool any_has_job(const pace_usage *usage) {
    for (size_t i = 0; i < usage->gauges.count; i++)
        if (usage->gauges.items[i].job) return true;
    return false;
}

/* How many GPUs counters show of a job. */
static pace_status count_job_gauges(pace_usage *usage) {
    pace_usage_fact *fact;
    PACE_ITEMS (const pace_usage_gauge, gauge, &usage->gauges) {
        if (!gauge->job || !(seconds_of(gauge) > 0)) continue;
        PACE_TRY(pace_usage_fact_named(&fact, usage, gauge->job));
        fact->most_gpus += gauge->share;
    }
    return PACE_OK;
}

static pace_status count_gauges(pace_usage *usage) {
    bool jobs = any_has_job(usage);
    usage->counted = true;
    PACE_TRY(count_job_gauges(usage));
    PACE_ITEMS (const pace_usage_gauge, gauge, &usage->gauges) {
        if (jobs && !gauge->job) usage->unheld_hours += hours_of(gauge);
        else PACE_TRY(run_of_gauge(usage, gauge));
        if (!jobs || gauge->job) usage->unseen_hours += gauge->share * unseen_of(gauge) / 3600;
    }
    return PACE_OK;
}

/* By name: what is a job of a table, and what a node of which counters name their jobs. */
typedef struct {
    bool *is_job, *is_told;
} marks;

static pace_status mark(marks *out, const pace_usage *usage) {
    size_t count = pace_names_count(&usage->names);
    *out = (marks){pace_alloc(count, sizeof *out->is_job), pace_alloc(count, sizeof *out->is_told)};
    if (!out->is_job || !out->is_told) return PACE_E_MEMORY;
    for (size_t i = 0; i < usage->runs.count; i++) out->is_job[usage->runs.items[i].job] = true;
    PACE_ITEMS (const pace_usage_gauge, gauge, &usage->gauges)
        if (gauge->job && gauge->node && !gauge->by_node) out->is_told[gauge->node] = true;
    return PACE_OK;
}

static pace_status give_to_job(pace_usage *usage, const pace_usage_gauge *gauge) {
    pace_usage_fact *fact;
    PACE_TRY(pace_usage_fact_named(&fact, usage, gauge->job));
    if (gauge->by_node && fact->node_gauges > fact->most_gpus) { /* of which GPUs it held, nobody knows */
        usage->shared_hours += hours_of(gauge);
        return PACE_OK;
    }
    if (!fact->by[PACE_BY_GPU]) fact->by[PACE_BY_GPU] = gauge->by[PACE_BY_GPU];
    for (int c = 0; c < PACE_USAGE_COUNTERS; c++) {
        fact->seconds[c] += gauge->share * gauge->seconds[c];
        fact->sums[c] += gauge->share * gauge->sums[c];
    }
    return PACE_OK;
}

/* How many GPUs counters show on a job's nodes, and how many its largest run held. */
static pace_status count_node_gauges(pace_usage *usage) {
    pace_usage_fact *fact;
    PACE_ITEMS (const pace_usage_gauge, gauge, &usage->gauges) {
        if (!gauge->by_node || !gauge->job) continue;
        PACE_TRY(pace_usage_fact_named(&fact, usage, gauge->job));
        fact->node_gauges += gauge->share;
    }
    double gpus = 0;
    PACE_ITEMS (const pace_usage_run, run, &usage->runs) {
        gpus = run->split ? gpus + run->gpus : run->gpus;
        if ((fact = fact_of(usage, run->job))) fact->most_gpus = fmax(fact->most_gpus, gpus);
    }
    return PACE_OK;
}

/* With a table of jobs: counters that name no job are of free GPUs only where others name theirs, of a node first. */
static pace_status give_gauges(pace_usage *usage) {
    marks of;
    bool named = any_has_job(usage);
    pace_status status = mark(&of, usage);
    if (status == PACE_OK) status = count_node_gauges(usage);
    for (size_t i = 0; status == PACE_OK && i < usage->gauges.count; i++) {
        const pace_usage_gauge *gauge = &usage->gauges.items[i];
        double hours = hours_of(gauge);
        if (gauge->by_node && of.is_told[gauge->node]) usage->unheld_hours += hours;
        else if (gauge->job && of.is_job[gauge->job]) status = give_to_job(usage, gauge);
        else if (gauge->shared) usage->shared_hours += hours;
        else if (gauge->job) usage->unmatched_hours += hours;
        else if (named || gauge->by_node) usage->unheld_hours += hours;
        else usage->unnamed_hours += hours;
    }
    PACE_FREE(of.is_job, of.is_told);
    return status;
}

/* --- waits -------------------------------------------------------------------------------------------------------- */

typedef struct {
    pace_name job;
    size_t run;
    double submit_s, start_s;
} start;

/* By job and time of submission, the first start first. */
PACE_ORDER(by_job, start, PACE_UP(job) PACE_UP(submit_s) PACE_UP(start_s) PACE_UP(run))

/* Of a run that was cancelled while it waited, records give the end as its start. */
static bool has_started(const pace_usage_run *run) {
    bool never = run->has_state && (run->state == PACE_STATE_PENDING || run->state == PACE_STATE_CANCELLED);
    return !isnan(run->start_s) && run->gpus > 0 && !(never && run->elapsed_s <= 0);
}

/* A job waits once for each time it was submitted, up to its first start; runs without an id wait each. How long one
 * waited that started before it was submitted (a clock was set back) is not known. */
static pace_status find_waits(pace_usage *usage) {
    PACE_VEC(start) starts = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < usage->runs.count; i++) {
        const pace_usage_run *run = &usage->runs.items[i];
        if (run->split || isnan(run->submit_s) || !has_started(run)) continue;
        const pace_usage_fact *fact = fact_of(usage, run->job);
        double start_s = fact ? fmin(fact->start_s, run->start_s) : run->start_s;
        status = PACE_PUSH(&starts, ((start){run->job, i, run->submit_s, start_s}));
    }
    PACE_SORT(&starts, by_job);
    for (size_t i = 0; status == PACE_OK && i < starts.count; i++) {
        const start *one = &starts.items[i];
        if (i > 0 && one->job && one->job == one[-1].job && one->submit_s == one[-1].submit_s) continue;
        if (one->start_s < one->submit_s) usage->backwards++;
        else status = PACE_PUSH(&usage->waits, ((pace_usage_wait){one->run, one->start_s - one->submit_s}));
    }
    PACE_VEC_FREE(&starts);
    return status;
}

/* Steps that turned out to be those of all counters count as any. */
static pace_status take_wide(pace_usage *usage) {
    PACE_ITEMS (pace_usage_gauge, gauge, &usage->gauges)
        PACE_ITEMS (const pace_usage_between, between, &gauge->wide) PACE_TRY(pace_usage_cover(usage, gauge, between));
    return PACE_OK;
}

pace_status pace_usage_join(pace_usage *usage) {
    PACE_TRY(pace_usage_drop_earlier(usage));
    PACE_TRY(pace_usage_take_kept(usage));
    PACE_TRY(take_wide(usage));
    if (usage->gauges.count) PACE_TRY(merge_parts(usage));
    if (usage->runs.count == 0) PACE_TRY(count_gauges(usage));
    else if (usage->gauges.count) PACE_TRY(give_gauges(usage));
    for (size_t i = 0; !usage->counted && i < usage->runs.count; i++) {
        pace_usage_run *run = &usage->runs.items[i];
        apply_facts(usage, run);
        settle_time(usage, run);
        usage->longest_s = fmax(usage->longest_s, run->elapsed_s);
        pace_usage_fact *fact = fact_of(usage, run->job);
        if (fact && run->gpu_hours > 0) fact->gpu_hours += run->gpu_hours;
    }
    for (size_t i = 0; !usage->counted && i < usage->runs.count; i++) settle_judged(usage, &usage->runs.items[i]);
    if (!usage->counted) PACE_TRY(pace_usage_find_overlaps(usage));
    return find_waits(usage);
}

pace_status pace_usage_number_names(uint32_t **out, size_t *count, const pace_usage *usage, pace_usage_by by) {
    uint32_t *numbers = pace_alloc(pace_names_count(&usage->names), sizeof *numbers);
    uint32_t next = 0;
    if (!numbers) return PACE_E_MEMORY;
    for (size_t i = 0; i < usage->runs.count; i++) {
        pace_name name = usage->runs.items[i].by[by];
        if (numbers[name] == 0) numbers[name] = ++next;
    }
    for (size_t n = 0; n < pace_names_count(&usage->names); n++) numbers[n] -= numbers[n] > 0;
    *out = numbers;
    *count = next;
    return PACE_OK;
}

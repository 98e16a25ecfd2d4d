/* What an operator reads first: how much was held, how much could be judged, what was idle, who waits, what to do. */
#include "report/show.h"
#include "report/fleet/fleet_parts.h"

#include <math.h>

/* Between values: who asks for longer steps is told what they are. */
enum { LONG_STEP_S = 600 };

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

typedef struct {
    char text[96];
} words;

/* "1 job", "2 jobs". */
static words count_of(uint64_t count, const char *one) {
    words out;
    pace_snprintf(out.text, sizeof out.text, "%s %s%s", pace_show_int((int64_t)count).text, one, count == 1 ? "" : "s");
    return out;
}

/* ", worth 12,345 USD", or nothing without a price; where a part of the GPU-hours has none, that is said. */
static words worth(const pace_usage_asked *a, double cost, double hours, double priced_hours) {
    words out = {""};
    bool partly = priced_hours < hours * (1 - 1e-9);
    if (priced_hours > 0 && !isnan(cost))
        pace_snprintf(out.text, sizeof out.text, ", worth %s%s%s",
                      cost < 100 ? pace_show_fixed(cost, 2).text : pace_show_int((int64_t)llround(cost)).text,
                      a->prices.sources.count ? " USD" : "", partly ? " as far as they have a price" : "");
    return out;
}

static words hours_of(double hours) {
    words out;
    if (hours < 100) pace_snprintf(out.text, sizeof out.text, "%.3g", hours);
    else pace_snprintf(out.text, sizeof out.text, "%s", pace_show_int((int64_t)llround(hours)).text);
    return out;
}

static words time_of(double seconds) {
    words out;
    if (seconds < 120) pace_snprintf(out.text, sizeof out.text, "%.0f s", seconds);
    else if (seconds < 7200) pace_snprintf(out.text, sizeof out.text, "%.0f min", seconds / 60);
    else if (seconds < 172800) pace_snprintf(out.text, sizeof out.text, "%.1f h", seconds / 3600);
    else pace_snprintf(out.text, sizeof out.text, "%.1f days", seconds / 86400);
    return out;
}

/* Counters alone, which name no job: GPUs are what is counted. */
static bool knows_no_job(const pace_usage_asked *a) { return a->usage.counted && a->usage.runs.items[0].job == 0; }

static void say_held(pace_node *root, const pace_usage_asked *a) {
    const pace_usage_group *all = &a->figures.all;
    bool timed = a->figures.span_s > 0;
    const char *were = all->held_jobs == 1 ? "was watched for" : "were watched for";
    pace_node_sentence(root, true, "%s %s %s GPU-hours%s%s%s.",
                       count_of(all->held_jobs, knows_no_job(a) ? "GPU" : "job").text, knows_no_job(a) ? were : "held",
                       hours_of(all->gpu_hours).text, timed ? " in " : "", timed ? time_of(a->figures.span_s).text : "",
                       worth(a, all->cost, all->gpu_hours, all->priced_gpu_hours).text);
    if (all->jobs > all->held_jobs)
        pace_node_sentence(root, false, "%s held no GPU for any time: not started yet, or ended at once.",
                           count_of(all->jobs - all->held_jobs, "more job").text);
    if (all->priced_gpu_hours < all->gpu_hours * (1 - 1e-9))
        pace_node_sentence(root, false, "%s of the GPU-hours have no price: say one with --price.",
                           pace_show_share(1 - share(all->priced_gpu_hours, all->gpu_hours)).text);
}

static void say_judged(pace_node *root, const pace_usage_asked *a) {
    const pace_usage_figures *f = &a->figures;
    if (f->all.judged_gpu_hours <= 0) {
        pace_node_sentence(
            root, true,
            "Whether GPUs were idle cannot be said without their counters (DCGM, by job). How runs ended "
            "is known of %s of the GPU-hours, how long they waited of %s.",
            pace_show_share(share(f->stated_gpu_hours, f->all.gpu_hours)).text,
            count_of(f->all.waits, "submission").text);
        return;
    }
    pace_node_sentence(
        root, true,
        "What GPUs did is known of %s of the jobs and %s of the GPU-hours (counters); how runs ended of %s "
        "of the GPU-hours; how long they waited of %s.",
        pace_show_share(share((double)f->judged_jobs, (double)f->all.held_jobs)).text,
        pace_show_share(share(f->all.judged_gpu_hours, f->all.gpu_hours)).text,
        pace_show_share(share(f->stated_gpu_hours, f->all.gpu_hours)).text, count_of(f->all.waits, "submission").text);
}

static void say_estimate(pace_node *root, const pace_usage_asked *a) {
    const pace_usage_estimate *e = &a->figures.unjudged;
    const pace_usage_group *all = &a->figures.all;
    double blind = all->gpu_hours - all->judged_gpu_hours;
    if (e->gpu_hours > 0)
        pace_node_sentence(
            root, false,
            "Of %s GPU-hours without counters %s (%s to %s) are estimated to be idle, as jobs of the same "
            "type with counters are.",
            hours_of(e->gpu_hours).text, hours_of(e->idle).text, hours_of(e->low).text, hours_of(e->high).text);
    else if (all->judged_gpu_hours > 0 && blind > all->gpu_hours * 1e-9)
        pace_node_sentence(root, false,
                           "Whether the other %s GPU-hours were idle cannot be said: give the GPUs' counters, too "
                           "(DCGM, by job).",
                           hours_of(blind).text);
}

static void say_idle(pace_node *root, const pace_usage_asked *a) {
    const pace_usage_group *all = &a->figures.all;
    if (all->judged_gpu_hours > 0)
        pace_node_sentence(root, true, "%s of the judged GPU-hours were idle: %s GPU-hours%s.",
                           pace_show_share(share(all->idle_gpu_hours, all->judged_gpu_hours)).text,
                           hours_of(all->idle_gpu_hours).text,
                           worth(a, all->idle_cost, all->idle_gpu_hours, all->priced_idle_gpu_hours).text);
    say_estimate(root, a);
    if (a->usage.unheld_hours > 0)
        pace_node_sentence(root, false, "GPUs were watched for %s GPU-hours more while no job held them.",
                           hours_of(a->usage.unheld_hours).text);
}

static void say_lost(pace_node *root, const pace_usage_asked *a) {
    const pace_usage_group *all = &a->figures.all;
    if (all->lost_gpu_hours > 0)
        pace_node_sentence(root, true,
                           "Runs that failed, timed out, were preempted or lost their node held %s GPU-hours (%s)%s.",
                           hours_of(all->lost_gpu_hours).text,
                           pace_show_share(share(all->lost_gpu_hours, all->gpu_hours)).text,
                           worth(a, all->lost_cost, all->lost_gpu_hours, all->priced_lost_gpu_hours).text);
}

static void say_biggest(pace_node *root, const pace_usage_asked *a) {
    static const pace_usage_by bys[] = {PACE_BY_USER, PACE_BY_QUEUE, PACE_BY_TYPE};
    static const char *const texts[] = {"user", "queue", "type"};
    for (size_t b = 0; b < PACE_COUNT(bys); b++) {
        const pace_usage_groups *groups = &a->figures.by[bys[b]];
        if (groups->count < 2 || !groups->items[0].name) continue;
        pace_node_sentence(root, false, "Most GPU-hours by %s: %.60s, %s of all.", texts[b], groups->items[0].text,
                           pace_show_share(share(groups->items[0].gpu_hours, a->figures.all.gpu_hours)).text);
    }
}

/* The queue whose jobs wait longest, of those with a tenth of all waits. */
static const pace_usage_group *slowest_queue(const pace_usage_asked *a) {
    const pace_usage_group *slowest = NULL;
    const pace_usage_groups *groups = &a->figures.by[PACE_BY_QUEUE];
    PACE_ITEMS (const pace_usage_group, g, groups) {
        if (g->name && g->waits * 10 >= a->figures.all.waits && g->waits &&
            (!slowest || g->wait_p90_s > slowest->wait_p90_s))
            slowest = g;
    }
    return slowest;
}

static void say_waits(pace_node *root, const pace_usage_asked *a) {
    const pace_usage_group *all = &a->figures.all, *slowest = slowest_queue(a);
    if (all->waits)
        pace_node_sentence(root, true, "Jobs waited %s (median), one in ten %s and more.",
                           time_of(all->wait_median_s).text, time_of(all->wait_p90_s).text);
    if (slowest && a->figures.by[PACE_BY_QUEUE].count > 1)
        pace_node_sentence(
            root, false, "The longest waits are in the queue %.60s: one in ten %s and more, half of them %s and less.",
            slowest->text, time_of(slowest->wait_p90_s).text, time_of(slowest->wait_median_s).text);
    if (a->figures.pending_runs)
        pace_node_sentence(root, false, "%s did not start yet: GPUs asked for %.6g, longest wait so far %s.",
                           count_of(a->figures.pending_runs, "run").text, a->figures.pending_gpus,
                           time_of(a->figures.pending_longest_s).text);
}

static void say_change(pace_node *root, const pace_usage_asked *a) {
    if (a->changes.count == 0) return;
    const pace_usage_change *first = &a->changes.items[0];
    pace_node_sentence(root, true, "Change first: %s. It gives back %s GPU-hours at most (%s)%s.",
                       pace_usage_change_texts[first->kind], hours_of(first->gpu_hours).text,
                       pace_show_share(share(first->gpu_hours, a->figures.all.gpu_hours)).text,
                       worth(a, first->cost, first->gpu_hours, first->priced_gpu_hours).text);
}

/* What can be said of the jobs' features, which no record has. */
static void say_models(pace_node *root, const pace_usage_asked *a) {
    double known = share(a->models.gpu_hours, a->figures.all.gpu_hours);
    if (a->models.items.count == 0) return;
    pace_node_sentence(
        root, false,
        "The type of work names a model of the catalogue for %s of the GPU-hours: weights, traffic and FLOP are "
        "estimated for these, and missing for the rest.",
        pace_show_share(known).text);
}

static void say_open(pace_node *root, const pace_usage_asked *a) {
    if (a->figures.open_runs)
        pace_node_sentence(root, false, "%s without an end, counted up to the last time in the records: %s GPU-hours.",
                           count_of(a->figures.open_runs, "run").text, hours_of(a->figures.open_gpu_hours).text);
    if (a->usage.without_gpus)
        pace_node_sentence(root, false, "%s without GPUs left out.", count_of(a->usage.without_gpus, "row").text);
    if (a->usage.counted)
        pace_node_sentence(root, false,
                           "The counters are all there is: without a table of jobs nobody knows who "
                           "waited, or how they ended.");
    if (isfinite(a->usage.step_s) && a->usage.step_s > LONG_STEP_S)
        pace_node_sentence(root, false,
                           "Counters have a value every %s: each stands for the time since the one before.",
                           time_of(a->usage.step_s).text);
    if (a->usage.unseen_hours > 0)
        pace_node_sentence(root, false,
                           "Counters were silent for %s GPU-hours more between values of a GPU and its job: nobody "
                           "knows whether the job held it then.",
                           hours_of(a->usage.unseen_hours).text);
}

void pace_put_usage_sentences(pace_node *root, const pace_usage_asked *asked) {
    say_held(root, asked);
    say_judged(root, asked);
    say_idle(root, asked);
    say_lost(root, asked);
    say_waits(root, asked);
    say_change(root, asked);
    say_biggest(root, asked);
    say_models(root, asked);
    say_open(root, asked);
}

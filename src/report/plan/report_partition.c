/* The report of a network partitioned over hosts: by `plan`, the fastest configurations; by `predict`, one. */
#include "ask/plan/partition_asked.h"
#include "base/print.h"
#include "report/engines.h"
#include "report/show.h"
#include "report/table.h"

#include <math.h>

enum { SAYS = 400, ROWS = 5 };

/* "8/8/1", or "8" where all layers have as many. */
static void say_segments(char out[SAYS], const pace_partition *p, size_t layers) {
    size_t alike = 1;
    while (alike < layers && p->segments[alike] == p->segments[0]) alike++;
    size_t shown = alike == layers ? 1 : layers;
    *out = '\0';
    for (size_t l = 0; l < shown; l++) pace_list(out, SAYS, "/", "%.0f", p->segments[l]);
}

/* As settings: "dp=5 tp=3 threads=2 servers=1 segments=3"; what is 1 or none is left out. */
static void say_partition(char out[SAYS], const pace_partition *p, size_t layers) {
    const struct {
        const char *name;
        double value, silent;
    } ways[] = {{"dp", p->replicas, 1}, {"tp", p->workers, 1}, {"threads", p->threads, 0}, {"servers", p->servers, 0}};
    *out = '\0';
    for (size_t i = 0; i < PACE_COUNT(ways); i++)
        if (ways[i].value != ways[i].silent) pace_list(out, SAYS, " ", "%s=%.0f", ways[i].name, ways[i].value);
    if (p->workers < 2) return;
    char segments[SAYS];
    say_segments(segments, p, layers);
    pace_append(out, SAYS, " segments=%.300s", segments);
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *machine;
    pace_partition_choice of;
    pace_estimate time_s;
    double machines, samples_per_s, speedup, slower, days, price;
    char segments[SAYS];
    const char *loses_in, *threads_are;
} choice_row;

enum { DAYS = 1, PRICE = 2, PLACES = 4, MANY = 8 };

PACE_TABLE(choice_table, "configurations", "The fastest configurations", PACE_FOR_ALL, 0,
           {"machine", "on", PACE_SHOW_TEXT, PACE_OF(choice_row, machine), .shown_if = PLACES},
           {"machines", "machines", PACE_SHOW_INT, PACE_WHOLE_OF(choice_row, machines)},
           {"dp", "replicas (dp)", PACE_SHOW_INT, PACE_WHOLE_OF(choice_row, of.partition.replicas)},
           {"tp", "workers (tp)", PACE_SHOW_INT, PACE_WHOLE_OF(choice_row, of.partition.workers)},
           {"threads", "threads", PACE_SHOW_INT, PACE_WHOLE_OF(choice_row, of.partition.threads)},
           {"servers", "servers", PACE_SHOW_INT, PACE_WHOLE_OF(choice_row, of.partition.servers)},
           {"segments", "segments", PACE_SHOW_TEXT, PACE_OF(choice_row, segments)},
           {"sample_ns", "a sample", PACE_SHOW_NS, PACE_NS_OF(choice_row, of.time.sample_s)},
           {"low_ns", NULL, PACE_SHOW_NS, PACE_LOW_NS_OF(choice_row, time_s)},
           {"high_ns", NULL, PACE_SHOW_NS, PACE_HIGH_NS_OF(choice_row, time_s)},
           {"sample_s", NULL, PACE_SHOW_REAL, PACE_OF(choice_row, of.time.sample_s)},
           {"samples_per_s", "samples /s", PACE_SHOW_REAL, PACE_OF(choice_row, samples_per_s)},
           {"slower_share", "slower", PACE_SHOW_SHARE, PACE_OF(choice_row, slower), .shown_if = MANY},
           {"speedup", "speedup", PACE_SHOW_REAL, PACE_OF(choice_row, speedup)},
           {"memory_bytes", "memory", PACE_SHOW_BYTES, PACE_OF(choice_row, of.time.worker_bytes)},
           {"threads_are", NULL, PACE_SHOW_TEXT, PACE_OF(choice_row, threads_are)},
           {"days", NULL, PACE_SHOW_REAL, PACE_OF(choice_row, days)},
           {"price", "price", PACE_SHOW_REAL, PACE_OF(choice_row, price), .shown_if = PRICE},
           {"loses_in", NULL, PACE_SHOW_TEXT, PACE_OF(choice_row, loses_in)});

/* What an epoch's time is spent on, for one of its samples. */
enum { PARTS = 5 };
static const char *const part_names[PARTS] = {"compute", "contention", "segment traffic", "parameter servers", "wait"};

static double part_s(const pace_partition_time *t, size_t part) {
    const double parts[PARTS] = {t->compute_s, t->contention_s, t->traffic_s, t->exchange_s, t->wait_s};
    return parts[part];
}

static const char *loses_in(const pace_partition_time *first, const pace_partition_time *other) {
    double most_s = 0;
    const char *name = "";
    for (size_t i = 0; i < PARTS; i++)
        if (part_s(other, i) - part_s(first, i) > most_s)
            most_s = part_s(other, i) - part_s(first, i), name = part_names[i];
    return name;
}

static void put_choice(pace_node *table, const pace_partition_asked *a, const pace_partition_place *p,
                       const pace_partition_choice *one) {
    const pace_partition_choice *first = &p->found.choices.items[0];
    choice_row row = {.machine = p->hosts.name,
                      .of = *one,
                      .time_s = pace_partition_estimate(a, one),
                      .machines = pace_partition_machines(&one->partition),
                      .samples_per_s = 1 / one->time.sample_s,
                      .slower = one->time.sample_s / first->time.sample_s - 1,
                      .speedup = p->alone_s / one->time.sample_s,
                      .days = pace_partition_days(a, one),
                      .price = pace_partition_price(a, p, one),
                      .loses_in = loses_in(&first->time, &one->time),
                      .threads_are = one->time.model_only ? "model only" : "measured"};
    say_segments(row.segments, &one->partition, a->chain.layers.count);
    pace_table_put(table, &row);
}

static size_t rows_of(const pace_partition_asked *a, const pace_partition_place *p) {
    size_t most = a->options->top > 0 ? (size_t)a->options->top : ROWS;
    return p->found.choices.count < most ? p->found.choices.count : most;
}

static unsigned flags_of(const pace_partition_asked *a) {
    unsigned flags = (isnan(a->samples) ? 0U : DAYS) | (a->places.count > 1 ? PLACES : 0U) | (a->one ? 0U : MANY);
    return a->options->price.count && flags & DAYS ? flags | PRICE : flags;
}

static void put_choices(pace_node *root, const pace_partition_asked *a) {
    pace_node *table =
        pace_open_table_as(root, &choice_table, flags_of(a), a->one ? "The configuration" : choice_table.title);
    for (size_t i = 0; i < a->places.count; i++)
        for (size_t k = 0; k < rows_of(a, &a->places.items[i]); k++)
            put_choice(table, a, &a->places.items[i], &a->places.items[i].found.choices.items[k]);
}

typedef struct {
    char configuration[SAYS];
    int64_t ns[PARTS], hidden_ns;
} parts_row;

#define PART_CELL(key, title, part) \
    { key, title, PACE_SHOW_NS, PACE_OF(parts_row, ns[part]) }

PACE_TABLE(parts_table, "parts", "What the time of a sample is spent on", PACE_FOR_ALL, 0,
           {"configuration", "configuration", PACE_SHOW_TEXT, PACE_OF(parts_row, configuration)},
           PART_CELL("compute_ns", "compute", 0), PART_CELL("contention_ns", "contention", 1),
           PART_CELL("traffic_ns", "traffic", 2), PART_CELL("exchange_ns", "servers", 3),
           PART_CELL("wait_ns", "wait", 4), {"hidden_ns", "hidden", PACE_SHOW_NS, PACE_OF(parts_row, hidden_ns)});

static void put_parts(pace_node *root, const pace_partition_asked *a, const pace_partition_place *p) {
    pace_node *table = pace_open_table(root, &parts_table, 0);
    for (size_t k = 0; k < rows_of(a, p); k++) {
        const pace_partition_choice *one = &p->found.choices.items[k];
        parts_row row = {.hidden_ns = pace_ns(one->time.hidden_s)};
        say_partition(row.configuration, &one->partition, a->chain.layers.count);
        for (size_t i = 0; i < PARTS; i++) row.ns[i] = pace_ns(part_s(&one->time, i));
        pace_table_put(table, &row);
    }
}

static void put_bars(pace_node *root, const pace_partition_asked *a, const pace_partition_place *p) {
    pace_node *bars =
        pace_node_stacks(root, "What the time of a sample is spent on, as shares of the longest", part_names, PARTS);
    double longest_s = 0;
    for (size_t k = 0; k < rows_of(a, p); k++) longest_s = fmax(longest_s, p->found.choices.items[k].time.sample_s);
    for (size_t k = 0; k < rows_of(a, p); k++) {
        const pace_partition *one = &p->found.choices.items[k].partition;
        pace_chart_curve(bars, PACE_CURVE_LINE, "dp=%.0f tp=%.0f servers=%.0f", one->replicas, one->workers,
                         one->servers);
        for (size_t i = 0; i < PARTS; i++)
            pace_chart_point(bars, (double)i, part_s(&p->found.choices.items[k].time, i) / longest_s);
    }
}

/* Nobody needs more machines for the same time: each row is faster than all above. */
typedef struct {
    int64_t machines, sample_ns;
    double speedup, per_machine, days, price;
    char configuration[SAYS];
} front_row;

PACE_TABLE(front_table, "front", "Time against machines: each is faster than all with fewer", PACE_FOR_ALL, 0,
           {"machines", "machines", PACE_SHOW_INT, PACE_OF(front_row, machines)},
           {"sample_ns", "a sample", PACE_SHOW_NS, PACE_OF(front_row, sample_ns)},
           {"speedup", "speedup", PACE_SHOW_REAL, PACE_OF(front_row, speedup)},
           {"per_machine", "of a machine", PACE_SHOW_REAL, PACE_OF(front_row, per_machine)},
           {"days", "days", PACE_SHOW_REAL, PACE_OF(front_row, days), .shown_if = DAYS},
           {"price", "price", PACE_SHOW_REAL, PACE_OF(front_row, price), .shown_if = PRICE},
           {"configuration", "configuration", PACE_SHOW_TEXT, PACE_OF(front_row, configuration)});

static void put_front(pace_node *root, const pace_partition_asked *a, const pace_partition_place *p) {
    pace_node *table = pace_open_table(root, &front_table, flags_of(a)), *chart = NULL;
    if (p->front.count > 1) {
        chart = pace_node_chart(root, "Speedup by machines", "machines", PACE_CHART_LOG_X | PACE_CHART_LOG_Y);
        pace_chart_curve(chart, PACE_CURVE_LINE, "%s", p->hosts.name);
    }
    for (size_t i = 0; i < p->front.count; i++) {
        const pace_partition_choice *one = &p->found.choices.items[p->front.items[i]];
        double machines = pace_partition_machines(&one->partition), speedup = p->alone_s / one->time.sample_s;
        front_row row = {.machines = (int64_t)machines,
                         .sample_ns = pace_ns(one->time.sample_s),
                         .speedup = speedup,
                         .per_machine = speedup / machines,
                         .days = pace_partition_days(a, one),
                         .price = pace_partition_price(a, p, one)};
        say_partition(row.configuration, &one->partition, a->chain.layers.count);
        pace_table_put(table, &row);
        if (chart) pace_chart_point(chart, machines, speedup);
    }
}

/* --- sentences ---------------------------------------------------------------------------------------------------- */

static void say_best(pace_node *root, const pace_partition_asked *a, const pace_partition_place *p) {
    const pace_partition_choice *one = &p->found.choices.items[0];
    pace_estimate time_s = pace_partition_estimate(a, one);
    char config[SAYS], epoch[160] = "";
    say_partition(config, &one->partition, a->chain.layers.count);
    if (!isnan(a->samples))
        pace_snprintf(epoch, sizeof epoch, " %s samples take %s.", a->options->tokens,
                      pace_show_ns(pace_ns(a->samples * one->time.sample_s)).text);
    pace_node_sentence(root, true, "%s %s: %s. A sample takes %s (%s to %s), %.3g times faster than one thread.%s",
                       a->one ? "On" : "Fastest on", p->hosts.name, config,
                       pace_show_ns(pace_ns(one->time.sample_s)).text, pace_show_ns(pace_estimate_low_ns(time_s)).text,
                       pace_show_ns(pace_estimate_high_ns(time_s)).text, p->alone_s / one->time.sample_s, epoch);
}

static void say_bottleneck(pace_node *root, const pace_partition_place *p) {
    const pace_partition_time *t = &p->found.choices.items[0].time;
    size_t most = 0;
    for (size_t i = 1; i < PARTS; i++)
        if (part_s(t, i) > part_s(t, most)) most = i;
    pace_node_sentence(root, false, "Most of it is %s: %.0f %%.", part_names[most],
                       100 * part_s(t, most) / t->sample_s);
    if (t->hidden_s > 0.9 * t->sample_s)
        pace_node_sentence(root, false,
                           "Parameter servers are nearly as slow as the workers: %.0f %% of the time is hidden.",
                           100 * t->hidden_s / t->sample_s);
}

static void say_within(pace_report *report, pace_node *root, const pace_partition_asked *a,
                       const pace_partition_place *p) {
    if (isnan(a->within_days)) return;
    for (size_t i = 0; i < p->front.count; i++) {
        const pace_partition_choice *one = &p->found.choices.items[p->front.items[i]];
        if (pace_partition_days(a, one) > a->within_days) continue;
        pace_node_sentence(root, true, "The fewest machines that are done within %s: %.0f, %s.", a->options->within,
                           pace_partition_machines(&one->partition), pace_show_days(pace_partition_days(a, one)).text);
        return;
    }
    pace_node_sentence(root, true, "No number of machines is done within %s.", a->options->within);
    pace_report_deny(report);
}

static void warn(pace_report *report, const pace_partition_asked *a, const pace_partition_place *p) {
    if (a->batch_assumed)
        pace_report_warn(
            report, PACE_WARN_BATCH_ASSUMED, NULL,
            "no global batch was said: exchanges after %.0f samples were assumed; --set global_batch=N says "
            "another",
            p->asked.global_batch);
    for (size_t k = 0; k < rows_of(a, p); k++)
        if (p->found.choices.items[k].time.model_only) {
            pace_report_warn(report, PACE_WARN_EXTRAPOLATED, NULL,
                             "model only: more threads than the %.0f that were measured on %s",
                             pace_host_measured_threads(&p->hosts.host), p->hosts.host.name);
            return;
        }
}

static void put_notes(pace_node *root, const pace_partition_asked *a, const pace_partition_place *p) {
    char joined[96] = "one machine";
    if (p->hosts.joined)
        pace_snprintf(joined, sizeof joined, "%s/s and %s a message between machines",
                      pace_show_bytes(p->hosts.bytes_per_s).text, pace_show_ns(pace_ns(p->hosts.message_s)).text);
    pace_node_note(
        root,
        "After Yan et al. (KDD 2015), whose equations are reconstructed (docs/partition.md). Exchange %s, %.0f "
        "samples between two; %s. Batches that learn worse for being large or stale are not in it.",
        pace_partition_exchange_names[p->asked.exchange], p->asked.global_batch, joined);
    if (!a->one)
        pace_node_note(
            root,
            "%zu ways to share the machines were tried, %zu of which cannot be or need too much memory; dynamic "
            "programming looked at %zu segmentations.",
            p->found.tried, p->found.too_large, p->found.segmentations);
    pace_node_note(root, "Constants: %s, confidence %s.", p->hosts.host.source, p->hosts.host.confidence);
}

static pace_status describe(pace_report *report, void *context) {
    const pace_partition_asked *a = context;
    pace_node *root = pace_report_root(report);
    const pace_partition_place *best = pace_partition_best(a);
    say_best(root, a, best);
    say_bottleneck(root, best);
    say_within(report, root, a, best);
    warn(report, a, best);
    put_choices(root, a);
    put_parts(root, a, best);
    put_bars(root, a, best);
    put_front(root, a, best);
    put_notes(root, a, best);
    pace_report_value(report, "best.sample_s", best->found.choices.items[0].time.sample_s);
    pace_report_value(report, "best.speedup", best->alone_s / best->found.choices.items[0].time.sample_s);
    return PACE_OK;
}

pace_status pace_partition_report(pace_report **out, const char *model, const pace_plan_options *options, bool one) {
    pace_partition_asked *asked = pace_alloc(1, sizeof *asked);
    if (!asked) return PACE_E_MEMORY;
    pace_status status = pace_partition_ask(asked, model, options, one);
    if (status == PACE_OK)
        status = pace_report_build(out, "partition", "A network partitioned over hosts", describe, asked);
    pace_partition_asked_free(asked);
    pace_free(asked);
    return status;
}

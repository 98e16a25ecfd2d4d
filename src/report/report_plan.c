/* The report of `paceline plan`: the fastest configurations, what each loses, and what cannot be. */
#include "ask/plan_asked.h"
#include "base/print.h"
#include "report/engines.h"
#include "report/show.h"
#include "report/table.h"

#include <math.h>
#include <stdlib.h>

enum { SAYS = 200 };

/* "tp=8 pp=4 dp=4, micro-batch 2, recomputation full, ZeRO 1": what is not 1 or none. */
static void say_config(char out[SAYS], const pace_config *config) {
    const struct {
        const char *name;
        double value;
    } ways[] = {{"tp", config->tp}, {"pp", config->pp}, {"vpp", config->vpp},
                {"cp", config->cp}, {"ep", config->ep}, {"dp", config->dp}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].value > 1)
            used += (size_t)pace_snprintf(out + used, SAYS - used, "%s%s=%.0f", used ? " " : "", ways[i].name,
                                          ways[i].value);
    if (config->schedule != 0)
        used += (size_t)pace_snprintf(out + used, SAYS - used, " %s", pace_config_word(config, "schedule"));
    used += (size_t)pace_snprintf(out + used, SAYS - used, "%smicro-batch %.0f", used ? ", " : "", config->micro_batch);
    if (config->recompute != PACE_RECOMPUTE_NONE)
        used +=
            (size_t)pace_snprintf(out + used, SAYS - used, ", %s recomputation", pace_config_word(config, "recompute"));
    if (config->zero_stage > 0)
        used += (size_t)pace_snprintf(out + used, SAYS - used, ", ZeRO %.0f", config->zero_stage);
    if (pace_config_copies(config) > 1)
        pace_snprintf(out + used, SAYS - used, " in groups of %.0f", config->zero_group);
}

/* The parts of a step in closed form, by name. */
enum { PARTS = 10 };
static const char *const part_names[PARTS] = {
    "compute",       "host",   "bubble", "tensor exchange", "context exchange", "expert exchange", "pipeline exchange",
    "data exchange", "update", "other"};

static double part_s(const pace_step_time *t, size_t part) {
    const double parts[PARTS] = {t->compute_s, t->host_s,     t->bubble_s, t->tensor_s, t->context_s,
                                 t->expert_s,  t->pipeline_s, t->data_s,   t->update_s, t->other_s};
    return parts[part];
}

/* What a choice spends most more on than the first: "bubble +12.3 ms". */
static void say_loss(char out[64], const pace_step_time *first, const pace_step_time *other) {
    double most_s = 0;
    size_t most = 0;
    for (size_t i = 0; i < PARTS; i++)
        if (part_s(other, i) - part_s(first, i) > most_s) most_s = part_s(other, i) - part_s(first, most = i);
    *out = '\0';
    if (most_s > 0) pace_snprintf(out, 64, "%s +%s", part_names[most], pace_show_ns(pace_ns(most_s)).text);
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *machine, *schedule, *recompute;
    int64_t tp, pp, vpp, cp, ep, dp, zero_stage, zero_group, micro_batch, step_ns, low_ns, high_ns;
    const char *fits;
    double step_s, slower, chance, per_s, memory_bytes, days, price;
    char loses[64];
} choice_row;

/* What rows differ in: people see no column that says 1 in all. */
enum {
    MACHINES = 1,
    CHUNKS = 2,
    CONTEXT = 4,
    EXPERTS = 8,
    PIPELINES = 16,
    TENSORS = 32,
    ZERO = 64,
    DAYS = 128,
    PRICE = 256,
    HYBRID = 512,
    ORDERS = 1024,
    FAILURES = 2048
};

static const pace_table choice_table = {
    "configurations", "The fastest configurations", PACE_FOR_ALL, 0,
    PACE_CELLS({"machine", "on", PACE_SHOW_TEXT, PACE_OF(choice_row, machine), .shown_if = MACHINES},
               {"tp", "tp", PACE_SHOW_INT, PACE_OF(choice_row, tp), .shown_if = TENSORS},
               {"pp", "pp", PACE_SHOW_INT, PACE_OF(choice_row, pp), .shown_if = PIPELINES},
               {"vpp", "vpp", PACE_SHOW_INT, PACE_OF(choice_row, vpp), .shown_if = CHUNKS},
               {"cp", "cp", PACE_SHOW_INT, PACE_OF(choice_row, cp), .shown_if = CONTEXT},
               {"ep", "ep", PACE_SHOW_INT, PACE_OF(choice_row, ep), .shown_if = EXPERTS},
               {"dp", "dp", PACE_SHOW_INT, PACE_OF(choice_row, dp)},
               {"zero_stage", "ZeRO", PACE_SHOW_INT, PACE_OF(choice_row, zero_stage), .shown_if = ZERO},
               {"zero_group", "over", PACE_SHOW_INT, PACE_OF(choice_row, zero_group), .shown_if = HYBRID},
               {"schedule", "order", PACE_SHOW_TEXT, PACE_OF(choice_row, schedule), .shown_if = ORDERS},
               {"micro_batch", "micro", PACE_SHOW_INT, PACE_OF(choice_row, micro_batch)},
               {"recompute", "recompute", PACE_SHOW_TEXT, PACE_OF(choice_row, recompute)},
               {"step_ns", "step", PACE_SHOW_NS, PACE_OF(choice_row, step_ns)},
               {"low_ns", "low", PACE_SHOW_NS, PACE_OF(choice_row, low_ns)},
               {"high_ns", "high", PACE_SHOW_NS, PACE_OF(choice_row, high_ns)},
               {"step_s", NULL, PACE_SHOW_REAL, PACE_OF(choice_row, step_s)},
               {"slower_share", "slower", PACE_SHOW_SHARE, PACE_OF(choice_row, slower)},
               {"chance_share", "chance", PACE_SHOW_SHARE, PACE_OF(choice_row, chance)},
               {"samples_per_s", NULL, PACE_SHOW_REAL, PACE_OF(choice_row, per_s)},
               {"memory_bytes", "memory", PACE_SHOW_BYTES, PACE_OF(choice_row, memory_bytes)},
               {"fits", "fits", PACE_SHOW_TEXT, PACE_OF(choice_row, fits)},
               {"days", NULL, PACE_SHOW_REAL, PACE_OF(choice_row, days)},
               {"price", NULL, PACE_SHOW_REAL, PACE_OF(choice_row, price)},
               {"loses_in", NULL, PACE_SHOW_TEXT, PACE_OF(choice_row, loses)})};

static unsigned flags_of(const pace_plan_asked *a) {
    unsigned flags = a->places.count > 1 ? MACHINES : 0;
    if (!isnan(a->tokens)) flags |= DAYS;
    if (a->options->failures) flags |= FAILURES;
    for (size_t i = 0; i < a->places.count; i++) {
        const pace_plan_place *p = a->places.items[i];
        if (!isnan(p->device_price) && !isnan(a->tokens)) flags |= PRICE;
        for (size_t k = 0; k < p->choices.count; k++) {
            const pace_config *c = &p->choices.items[k].candidate.config;
            flags |= (c->tp > 1 ? TENSORS : 0U) | (c->pp > 1 ? PIPELINES : 0U) | (c->vpp > 1 ? CHUNKS : 0U) |
                     (c->cp > 1 ? CONTEXT : 0U) | (c->ep > 1 ? EXPERTS : 0U) | (c->zero_stage > 0 ? ZERO : 0U) |
                     (c->zero_group > 0 ? HYBRID : 0U) | (c->schedule > 0 ? ORDERS : 0U);
        }
    }
    return flags;
}

static void put_place(pace_node *table, const pace_plan_place *p) {
    for (size_t i = 0; i < p->choices.count; i++) {
        const pace_plan_choice *one = &p->choices.items[i], *first = &p->choices.items[0];
        const pace_config *c = &one->candidate.config;
        choice_row row = {.machine = p->machine.name,
                          .schedule = pace_config_word(c, "schedule"),
                          .recompute = pace_config_word(c, "recompute"),
                          .tp = (int64_t)c->tp,
                          .pp = (int64_t)c->pp,
                          .vpp = (int64_t)c->vpp,
                          .cp = (int64_t)c->cp,
                          .ep = (int64_t)c->ep,
                          .dp = (int64_t)c->dp,
                          .zero_stage = (int64_t)c->zero_stage,
                          .zero_group = (int64_t)c->zero_group,
                          .micro_batch = (int64_t)c->micro_batch,
                          .step_ns = pace_ns(one->time_s.median),
                          .low_ns = pace_estimate_low_ns(one->time_s),
                          .high_ns = pace_estimate_high_ns(one->time_s),
                          .step_s = one->time_s.median,
                          .slower = one->time_s.median / first->time_s.median - 1,
                          .chance = i > 0 ? one->chance : NAN,
                          .per_s = one->samples_per_s,
                          .memory_bytes = one->need_bytes,
                          .fits = one->close ? "closely" : "yes",
                          .days = one->days,
                          .price = one->price};
        if (i > 0) say_loss(row.loses, &first->candidate.parts, &one->candidate.parts);
        pace_table_put(table, &row);
    }
}

/* Where the time of each choice of a place goes. People do not see a part that none has. */
typedef struct {
    char configuration[SAYS];
    int64_t ns[PARTS];
} parts_row;

#define PART_CELL(key, title, part) \
    { key, title, PACE_SHOW_NS, PACE_OF(parts_row, ns[part]), .shown_if = 1U << (part) }

static const pace_table parts_table = {
    "parts",
    "Where the time of each goes, in closed form",
    PACE_FOR_ALL,
    0,
    .hidden_when_empty = true,
    PACE_CELLS({"configuration", "configuration", PACE_SHOW_TEXT, PACE_OF(parts_row, configuration)},
               PART_CELL("compute_ns", "compute", 0), PART_CELL("host_ns", "host", 1),
               PART_CELL("bubble_ns", "bubble", 2), PART_CELL("tensor_ns", "tensor exch.", 3),
               PART_CELL("context_ns", "context exch.", 4), PART_CELL("expert_ns", "expert exch.", 5),
               PART_CELL("pipeline_ns", "pipeline exch.", 6), PART_CELL("data_ns", "data exch.", 7),
               PART_CELL("update_ns", "update", 8), PART_CELL("other_ns", "other", 9))};

static void put_parts(pace_node *root, const pace_plan_place *p) {
    unsigned flags = 0;
    for (size_t i = 0; i < p->choices.count; i++)
        for (size_t k = 0; k < PARTS; k++)
            if (pace_ns(part_s(&p->choices.items[i].candidate.parts, k)) > 0) flags |= 1U << k;
    pace_node *table = pace_open_table(root, &parts_table, flags);
    for (size_t i = 0; i < p->choices.count; i++) {
        const pace_plan_candidate *one = &p->choices.items[i].candidate;
        parts_row row = {0};
        say_config(row.configuration, &one->config);
        for (size_t k = 0; k < PARTS; k++) row.ns[k] = pace_ns(part_s(&one->parts, k));
        pace_table_put(table, &row);
    }
}

typedef struct {
    const char *machine, *reason, *first;
    size_t count;
} refusal_row;

static const pace_table refusal_table = {"refused",
                                         "Why others cannot be",
                                         PACE_FOR_ALL,
                                         8,
                                         .hidden_when_empty = true,
                                         PACE_CELLS({"machine", NULL, PACE_SHOW_TEXT, PACE_OF(refusal_row, machine)},
                                                    {"configurations", "configurations", PACE_SHOW_INT,
                                                     PACE_OF(refusal_row, count)},
                                                    {"reason", NULL, PACE_SHOW_TEXT, PACE_OF(refusal_row, reason)},
                                                    {"first", "such as", PACE_SHOW_TEXT, PACE_OF(refusal_row, first)})};

static void put_refusals(pace_node *root, const pace_plan_asked *a) {
    pace_node *table = pace_open_table(root, &refusal_table, 0);
    for (size_t i = 0; i < a->places.count; i++) {
        const pace_plan_place *p = a->places.items[i];
        for (size_t k = 0; k < p->found.refusals.count; k++) {
            const pace_plan_refusal *one = &p->found.refusals.items[k];
            pace_table_put(table, &(refusal_row){p->machine.name, one->reason, one->first, one->count});
        }
    }
}

typedef struct {
    const char *machine, *front;
    int64_t devices, tried, fitting, too_large, may_fit, refused, step_ns;
    double per_s, days, price, energy_kwh, goodput, between_s, interval_s;
} place_row;

static const pace_table place_table = {
    "machines", "By machine", PACE_FOR_ALL, 0,
    PACE_CELLS({"machine", "machine", PACE_SHOW_TEXT, PACE_OF(place_row, machine)},
               {"devices", "devices", PACE_SHOW_INT, PACE_OF(place_row, devices)},
               {"tried", "tried", PACE_SHOW_INT, PACE_OF(place_row, tried)},
               {"fitting", "fit", PACE_SHOW_INT, PACE_OF(place_row, fitting)},
               {"too_large", "too big", PACE_SHOW_INT, PACE_OF(place_row, too_large)},
               {"may_fit", "may fit", PACE_SHOW_INT, PACE_OF(place_row, may_fit)},
               {"refused", "refused", PACE_SHOW_INT, PACE_OF(place_row, refused)},
               {"step_ns", "best step", PACE_SHOW_NS, PACE_OF(place_row, step_ns)},
               {"samples_per_s", "samples /s", PACE_SHOW_REAL, PACE_OF(place_row, per_s)},
               {"days", "days", PACE_SHOW_REAL, PACE_OF(place_row, days), .shown_if = DAYS},
               {"price", "price", PACE_SHOW_REAL, PACE_OF(place_row, price), .shown_if = PRICE},
               {"energy_kwh", "kWh", PACE_SHOW_REAL, PACE_OF(place_row, energy_kwh), .shown_if = DAYS},
               {"goodput_share", "progress", PACE_SHOW_SHARE, PACE_OF(place_row, goodput), .shown_if = FAILURES},
               {"failures_s", NULL, PACE_SHOW_S, PACE_OF(place_row, between_s)},
               {"checkpoint_s", NULL, PACE_SHOW_S, PACE_OF(place_row, interval_s)},
               {"front", NULL, PACE_SHOW_TEXT, PACE_OF(place_row, front)})};

static void put_places(pace_node *root, const pace_plan_asked *a) {
    pace_node *table = pace_open_table(root, &place_table, flags_of(a));
    for (size_t i = 0; i < a->places.count; i++) {
        const pace_plan_place *p = a->places.items[i];
        const pace_plan_choice *best = p->choices.count ? &p->choices.items[0] : NULL;
        pace_table_put(table, &(place_row){.machine = p->machine.name,
                                           .devices = (int64_t)p->space.devices,
                                           .tried = (int64_t)p->found.tried,
                                           .fitting = (int64_t)p->found.fitting.count,
                                           .too_large = (int64_t)p->found.too_large,
                                           .may_fit = (int64_t)p->found.may_fit,
                                           .refused = (int64_t)p->found.refused,
                                           .step_ns = best ? pace_ns(best->time_s.median) : PACE_NO_INT,
                                           .per_s = best ? best->samples_per_s : NAN,
                                           .days = best ? best->days : NAN,
                                           .price = best ? best->price : NAN,
                                           .energy_kwh = best ? best->energy_kwh : NAN,
                                           .goodput = a->options->failures ? p->goodput.share : NAN,
                                           .between_s = pace_known(p->goodput.between_failures_s),
                                           .interval_s = pace_known(p->goodput.interval_s),
                                           .front = p->on_front ? "yes" : "no"});
    }
}

static int by_days(const void *left, const void *right) {
    const pace_plan_place *const *a = left, *const *b = right;
    return ((*a)->choices.items[0].days > (*b)->choices.items[0].days) -
           ((*a)->choices.items[0].days < (*b)->choices.items[0].days);
}

/* Every machine, or part of one, as a point; those that no other beats in both are joined. */
static pace_status put_front(pace_node *root, const pace_plan_asked *a) {
    const pace_plan_place **sorted = pace_alloc(a->places.count, sizeof *sorted);
    size_t count = 0;
    if (!sorted) return PACE_E_MEMORY;
    for (size_t i = 0; i < a->places.count; i++)
        if (a->places.items[i]->choices.count && a->places.items[i]->choices.items[0].price > 0)
            sorted[count++] = a->places.items[i];
    if (count > 1) {
        double most = 0;
        qsort(sorted, count, sizeof *sorted, by_days);
        for (size_t i = 0; i < count; i++) most = fmax(most, sorted[i]->choices.items[0].price);
        pace_node *chart = pace_node_chart(root, "Cost against days, as a share of the dearest", "days", true);
        size_t on_front = 0;
        for (size_t i = 0; i < count; i++) on_front += sorted[i]->on_front;
        for (int front = 1; front >= (on_front < count ? 0 : 1); front--) {
            pace_chart_curve(chart, front ? "no other is faster and cheaper" : "others");
            if (!front) pace_chart_dots(chart);
            for (size_t i = 0; i < count; i++)
                if (sorted[i]->on_front == (front > 0))
                    pace_chart_point(chart, sorted[i]->choices.items[0].days, sorted[i]->choices.items[0].price / most);
        }
    }
    pace_free(sorted);
    return PACE_OK;
}

typedef struct {
    const char *line;
} launch_row;

static const pace_table launch_table = {"launch", "Told to the program that trains", PACE_FOR_ALL, 0,
                                        PACE_CELLS({"line", "line", PACE_SHOW_TEXT, PACE_OF(launch_row, line)})};

static void put_launch(pace_node *root, const pace_plan_asked *a) {
    char title[96];
    if (!a->launcher) return;
    pace_snprintf(title, sizeof title, "The fastest, told to %.40s", a->launcher);
    pace_node *table = pace_open_table_as(root, &launch_table, 0, title);
    for (size_t i = 0; i < a->launch.count; i++) pace_table_put(table, &(launch_row){a->launch.items[i]});
}

typedef struct {
    const char *field, *from, *to;
    int64_t step_ns;
    double step_s, faster;
    char configuration[SAYS];
} change_row;

static const pace_table change_table = {
    "changes", "What to change in yours, each alone", PACE_FOR_ALL, 0,
    PACE_CELLS({"setting", "setting", PACE_SHOW_TEXT, PACE_OF(change_row, field)},
               {"from", "yours", PACE_SHOW_TEXT, PACE_OF(change_row, from)},
               {"to", "better", PACE_SHOW_TEXT, PACE_OF(change_row, to)},
               {"step_ns", "step", PACE_SHOW_NS, PACE_OF(change_row, step_ns)},
               {"step_s", NULL, PACE_SHOW_REAL, PACE_OF(change_row, step_s)},
               {"faster_share", "shorter by", PACE_SHOW_SHARE, PACE_OF(change_row, faster)},
               {"configuration", "then", PACE_SHOW_TEXT, PACE_OF(change_row, configuration)})};

static void put_changes(pace_node *root, const pace_plan_asked *a) {
    double yours_s = a->yours.time_s.median;
    if (!a->options->from) return;
    pace_node *table = pace_open_table(root, &change_table, 0);
    for (size_t i = 0; i < a->changes.count; i++) {
        const pace_plan_change *one = &a->changes.items[i];
        change_row row = {.field = one->field,
                          .from = one->from,
                          .to = one->to,
                          .step_ns = pace_ns(one->choice.time_s.median),
                          .step_s = one->choice.time_s.median,
                          .faster = yours_s > 0 ? 1 - one->choice.time_s.median / yours_s : NAN};
        say_config(row.configuration, &one->choice.candidate.config);
        pace_table_put(table, &row);
    }
}

/* --- sentences ---------------------------------------------------------------------------------------------------- */

/* "at 412 tokens/s per device", or samples. */
static void say_rate(char out[64], const pace_plan_place *p, const pace_plan_choice *one) {
    const pace_step_case *asked = &p->step.asked;
    double sequence = pace_model_sequence(asked->model, &asked->config);
    double rate = one->samples_per_s * (sequence > 0 ? sequence : 1) / p->space.devices;
    pace_snprintf(out, 64, "%s %s/s per device", pace_show_real(rate).text, sequence > 0 ? "tokens" : "samples");
}

/* Of a first choice that may not fit after all: the next that surely does. */
static void say_sure(pace_node *root, const pace_plan_place *p) {
    const pace_plan_choice *first = &p->choices.items[0];
    char config[SAYS];
    size_t i = 0;
    if (!first->close) return;
    while (i < p->choices.count && p->choices.items[i].close) i++;
    pace_shown need = pace_show_bytes(first->need_bytes), has = pace_show_bytes(p->found.device_bytes);
    if (i == p->choices.count) {
        pace_node_sentence(root, false, "It fits closely: it needs about %s of %s. None of those below surely fits.",
                           need.text, has.text);
        return;
    }
    say_config(config, &p->choices.items[i].candidate.config);
    pace_node_sentence(
        root, false, "It fits closely: it needs about %s of %s. The fastest that surely fits takes %.1f %% longer: %s.",
        need.text, has.text, 100 * (p->choices.items[i].time_s.median / first->time_s.median - 1), config);
}

/* "16.3 days", "3.6 hours", "12.1 minutes". */
static void say_span(char out[32], double seconds) {
    const double day = 86400, hour = 3600, minute = 60;
    bool days = seconds >= 2 * day, hours = !days && seconds >= 2 * hour;
    pace_snprintf(out, 32, "%.1f %s",
                  seconds / (days    ? day
                             : hours ? hour
                                     : minute),
                  days    ? "days"
                  : hours ? "hours"
                          : "minutes");
}

static void say_failures(pace_node *root, const pace_plan_place *p) {
    char between[32], interval[32];
    say_span(between, p->goodput.between_failures_s);
    say_span(interval, p->goodput.interval_s);
    pace_node_sentence(root, false,
                       "One of %.0f devices fails every %s; with the best interval, a checkpoint every %s, %.1f %% of "
                       "the time is progress.",
                       p->space.devices, between, interval, 100 * p->goodput.share);
}

static void say_best(pace_node *root, const pace_plan_asked *a, const pace_plan_place *p) {
    const pace_plan_choice *one = &p->choices.items[0];
    char config[SAYS], rate[64], next[128] = "";
    say_config(config, &one->candidate.config);
    say_rate(rate, p, one);
    if (p->choices.count > 1)
        pace_snprintf(next, sizeof next,
                      " The next takes %.1f %% longer; the chance that the first is faster is %.0f %%.",
                      100 * (p->choices.items[1].time_s.median / one->time_s.median - 1),
                      100 * p->choices.items[1].chance);
    pace_node_sentence(root, true, "Fastest on %s: %s. A step of %.0f samples takes %s (%s to %s), %s.%s",
                       p->machine.name, config, one->candidate.config.global_batch,
                       pace_show_ns(pace_ns(one->time_s.median)).text,
                       pace_show_ns(pace_estimate_low_ns(one->time_s)).text,
                       pace_show_ns(pace_estimate_high_ns(one->time_s)).text, rate, next);
    say_sure(root, p);
    if (isnan(one->days)) return;
    char price[64] = "";
    if (!isnan(one->price)) pace_snprintf(price, sizeof price, " and cost %s", pace_show_real(one->price).text);
    char energy[64] = "";
    if (!isnan(one->energy_kwh))
        pace_snprintf(energy, sizeof energy, " and %s kWh at rated power", pace_show_real(one->energy_kwh).text);
    pace_node_sentence(root, false, "%s take %s days%s%s.", a->options->tokens, pace_show_real(one->days).text, price,
                       energy);
    if (a->options->failures) say_failures(root, p);
}

static void say_smallest(pace_report *report, pace_node *root, const pace_plan_asked *a) {
    const pace_plan_place *p = pace_plan_smallest(a);
    if (p) {
        pace_node_sentence(root, true, "The smallest part that is done within %s: %s, %.0f devices, %s days.",
                           a->options->within, p->machine.name, p->space.devices,
                           pace_show_real(p->choices.items[0].days).text);
        return;
    }
    pace_node_sentence(root, true, "No part of what is offered is done within %s.", a->options->within);
    pace_report_deny(report);
}

/* What would make it fit, each alone. */
static void say_loosened(pace_node *root, const pace_plan_place *p) {
    char config[SAYS];
    for (size_t i = 0; i < p->loosened.count; i++) {
        const pace_plan_loosened *one = &p->loosened.items[i];
        say_config(config, &one->config);
        if (one->nodes > 0) pace_node_sentence(root, false, "On %d nodes %s fits.", one->nodes, config);
        else pace_node_sentence(root, false, "Without %s=%s something fits: %s.", one->field, one->value, config);
    }
    if (p->loosened.count == 0)
        pace_node_sentence(root, false, "No single setting left out makes it fit, nor up to %d times the nodes.",
                           PACE_PLAN_NODES_MOST);
}

static void say_nothing_fits(pace_report *report, const pace_plan_asked *a) {
    const pace_plan_place *p = a->places.items[a->places.count - 1];
    char config[SAYS];
    pace_report_deny(report);
    if (p->found.tried == 0) {
        pace_report_lead(report, PACE_WARN_NO_CONFIGURATION,
                         "No configuration can be: none of those asked for divides %.0f samples over %.0f devices.",
                         p->step.asked.config.global_batch, p->space.devices);
        return;
    }
    if (!(p->found.nearest.need_bytes > 0)) {
        pace_report_lead(report, PACE_WARN_NO_CONFIGURATION, "None of %zu configurations can be: %s.", p->found.tried,
                         p->found.refusals.items[0].first);
        return;
    }
    say_config(config, &p->found.nearest.config);
    pace_report_lead(report, PACE_WARN_DOES_NOT_FIT,
                     "No configuration of %zu fits on %s: the nearest, %s, needs %s on each device, which has %s.",
                     p->found.tried, p->machine.name, config, pace_show_bytes(p->found.nearest.need_bytes).text,
                     pace_show_bytes(p->found.device_bytes).text);
}

static void say_yours(pace_node *root, const pace_plan_asked *a, const pace_plan_place *best) {
    const pace_plan_choice *yours = &a->yours;
    char config[SAYS];
    if (!a->options->from) return;
    say_config(config, &yours->candidate.config);
    if (!(yours->time_s.median > 0)) {
        pace_node_sentence(root, true, "Yours (%s: %s) cannot run: %s.", a->file.launcher, config, a->yours_refused);
        return;
    }
    double fastest_s = best->choices.count ? best->choices.items[0].time_s.median : yours->time_s.median;
    pace_node_sentence(root, true, "Yours (%s: %s) takes %s, %.1f %% longer than the fastest.", a->file.launcher,
                       config, pace_show_ns(pace_ns(yours->time_s.median)).text,
                       100 * (yours->time_s.median / fastest_s - 1));
}

static void say_batch(pace_report *report, const pace_plan_asked *a) {
    const pace_plan_place *p = a->places.items[0];
    if (!a->batch_assumed) return;
    pace_report_warn(report, PACE_WARN_BATCH_ASSUMED, NULL,
                     "no global batch was said: %.0f samples were assumed; --set global_batch=N says another",
                     p->step.asked.config.global_batch);
}

static void put_notes(pace_node *root, const pace_plan_asked *a, const pace_plan_place *best) {
    const pace_config *config = &best->step.asked.config;
    pace_node_note(root,
                   "Training with %s in %s, optimizer %s; change these with --set. All devices of a machine are used.",
                   best->step.asked.framework->name, pace_config_word(config, "precision"),
                   pace_config_word(config, "optimizer"));
    pace_node_note(
        root,
        "The closed form ordered all configurations; the times above are those that predict gives%s. Chance: that "
        "the first is faster than this one, as far as configurations of one model have been told apart "
        "(plan_spread in catalog/steps.yaml). Below 90 %%, time both.",
        a->order_changed ? ", which changed the order" : "");
    pace_node_note(
        root,
        "Memory is known to a quarter. Closely: with that it may need more than the device has; may fit and too big: it "
        "needs more as counted, and such are not among the configurations. Sequence parallelism as the framework has it "
        "where tp > 1.");
}

static pace_status describe(pace_report *report, void *context) {
    const pace_plan_asked *a = context;
    pace_node *root = pace_report_root(report);
    bool priced = !isnan(a->tokens) && a->options->price.count > 0;
    const pace_plan_place *best = pace_plan_best(a, false);
    if (!best) {
        say_nothing_fits(report, a);
        say_loosened(root, a->places.items[a->places.count - 1]);
        best = a->places.items[0];
    } else {
        if (a->options->within) say_smallest(report, root, a);
        say_best(root, a, best);
        const pace_plan_place *cheapest = priced ? pace_plan_best(a, true) : best;
        if (cheapest != best)
            pace_node_sentence(root, false, "Cheapest: %s, %s in %s days.", cheapest->machine.name,
                               pace_show_real(cheapest->choices.items[0].price).text,
                               pace_show_real(cheapest->choices.items[0].days).text);
    }
    say_yours(root, a, best);
    say_batch(report, a);
    put_changes(root, a);
    pace_node *table = pace_open_table(root, &choice_table, flags_of(a));
    for (size_t i = 0; i < a->places.count; i++) put_place(table, a->places.items[i]);
    put_parts(root, best);
    put_launch(root, a);
    put_places(root, a);
    PACE_TRY(put_front(root, a));
    put_refusals(root, a);
    put_notes(root, a, best);
    if (best->choices.count) pace_report_value(report, "best.step_s", best->choices.items[0].time_s.median);
    if (a->yours.time_s.median > 0) pace_report_value(report, "yours.step_s", a->yours.time_s.median);
    return PACE_OK;
}

pace_status pace_plan(pace_report **out, const char *model, const pace_plan_options *options) {
    pace_plan_asked asked = {0};
    pace_status status = pace_plan_ask(&asked, model, options);
    if (status == PACE_OK)
        status = pace_report_build(out, "plan", "Which configuration trains fastest", describe, &asked);
    pace_plan_asked_free(&asked);
    return status;
}

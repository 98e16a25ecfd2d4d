/* The report of `paceline plan`: the fastest configurations, what each loses, and what cannot be. */
#include "base/print.h"
#include "base/order.h"
#include "report/predict/predict_parts.h"
#include "report/engines.h"
#include "report/plan/plan_parts.h"
#include "report/show.h"
#include "report/table.h"

#include <math.h>
#include <stdlib.h>

/* The parts of a step in closed form, by name. */
enum { PARTS = 11 };
static const char *const part_names[PARTS] = {"compute",
                                              "host",
                                              "bubble",
                                              "tensor exchange",
                                              "context exchange",
                                              "expert exchange",
                                              "pipeline exchange",
                                              "data exchange",
                                              "update",
                                              "slowest replica",
                                              "other"};

static const pace_class part_colors[PARTS] = {PACE_CLASS_COMPUTE,       PACE_CLASS_HOST,     PACE_CLASS_WAIT,
                                              PACE_CLASS_COMMUNICATION, PACE_CLASS_COPY,     PACE_CLASS_MEMORY,
                                              PACE_CLASS_INPUT,         PACE_CLASS_BACKWARD, PACE_CLASS_UPDATE,
                                              PACE_CLASS_IDLE,          PACE_CLASS_OTHER};

static double part_s(const pace_step_time *t, size_t part) {
    const double parts[PARTS] = {t->compute_s,  t->host_s, t->bubble_s, t->tensor_s, t->context_s, t->expert_s,
                                 t->pipeline_s, t->data_s, t->update_s, t->skew_s,   t->other_s};
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
    const char *machine, *schedule, *recompute, *precision, *offload;
    pace_plan_choice of;
    const char *fits;
    double slower, chance, mfu;
    char loses[64], modules[PACE_MODULES_TEXT];
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
    FAILURES = 2048,
    IDLE = 4096,
    BATCHES = 8192,
    PRECISIONS = 16384,
    OFFLOADS = 32768,
    MODULES = 65536,
    LAYERS = 131072
};

#define CONFIGURED(field) PACE_WHOLE_OF(choice_row, of.candidate.config.field)

PACE_TABLE_IF_ROWS(choice_table, "configurations", "The fastest configurations", PACE_FOR_ALL, 0,
                   {"machine", "on", PACE_SHOW_TEXT, PACE_OF(choice_row, machine), .shown_if = MACHINES},
                   {"tp", "tp", PACE_SHOW_INT, CONFIGURED(tp), .shown_if = TENSORS},
                   {"pp", "pp", PACE_SHOW_INT, CONFIGURED(pp), .shown_if = PIPELINES},
                   {"vpp", "vpp", PACE_SHOW_INT, CONFIGURED(vpp), .shown_if = CHUNKS},
                   {"cp", "cp", PACE_SHOW_INT, CONFIGURED(cp), .shown_if = CONTEXT},
                   {"ep", "ep", PACE_SHOW_INT, CONFIGURED(ep), .shown_if = EXPERTS},
                   {"dp", "dp", PACE_SHOW_INT, CONFIGURED(dp)},
                   {"idle_devices", "idle", PACE_SHOW_INT, PACE_WHOLE_OF(choice_row, of.idle), .shown_if = IDLE},
                   {"zero_stage", "ZeRO", PACE_SHOW_INT, CONFIGURED(zero_stage), .shown_if = ZERO},
                   {"zero_group", "over", PACE_SHOW_INT, CONFIGURED(zero_group), .shown_if = HYBRID},
                   {"schedule", "order", PACE_SHOW_TEXT, PACE_OF(choice_row, schedule), .shown_if = ORDERS},
                   {"micro_batch", "micro", PACE_SHOW_INT, CONFIGURED(micro_batch)},
                   {"recompute", "recompute", PACE_SHOW_TEXT, PACE_OF(choice_row, recompute)},
                   {"recompute_modules", "of", PACE_SHOW_TEXT, PACE_OF(choice_row, modules), .shown_if = MODULES},
                   {"recompute_layers", "layers", PACE_SHOW_INT, CONFIGURED(recompute_layers), .shown_if = LAYERS},
                   {"precision", "precision", PACE_SHOW_TEXT, PACE_OF(choice_row, precision), .shown_if = PRECISIONS},
                   {"offload", "on host", PACE_SHOW_TEXT, PACE_OF(choice_row, offload), .shown_if = OFFLOADS},
                   {"step_ns", "step", PACE_SHOW_NS, PACE_NS_OF(choice_row, of.time_s)},
                   {"low_ns", "low", PACE_SHOW_NS, PACE_LOW_NS_OF(choice_row, of.time_s)},
                   {"high_ns", "high", PACE_SHOW_NS, PACE_HIGH_NS_OF(choice_row, of.time_s)},
                   {"step_s", NULL, PACE_SHOW_REAL, PACE_OF(choice_row, of.time_s)},
                   {"slower_share", "slower", PACE_SHOW_SHARE, PACE_OF(choice_row, slower)},
                   {"chance_share", "chance", PACE_SHOW_SHARE, PACE_OF(choice_row, chance)},
                   {"fastest_share", NULL, PACE_SHOW_SHARE, PACE_OF(choice_row, of.fastest)},
                   {"samples_per_s", NULL, PACE_SHOW_REAL, PACE_OF(choice_row, of.samples_per_s)},
                   {"mfu_share", NULL, PACE_SHOW_SHARE, PACE_OF(choice_row, mfu)},
                   {"memory_bytes", "memory", PACE_SHOW_BYTES, PACE_OF(choice_row, of.need_bytes)},
                   {"fits", "fits", PACE_SHOW_TEXT, PACE_OF(choice_row, fits)},
                   {"days", NULL, PACE_SHOW_REAL, PACE_OF(choice_row, of.days)},
                   {"price", NULL, PACE_SHOW_REAL, PACE_OF(choice_row, of.price)},
                   {"loses_in", NULL, PACE_SHOW_TEXT, PACE_OF(choice_row, loses)});

static unsigned flags_of(const pace_plan_asked *a) {
    unsigned flags = a->places.count > 1 ? MACHINES : 0;
    if (!isnan(a->tokens)) flags |= DAYS;
    if (a->options->failures) flags |= FAILURES;
    if (a->batch_chosen) flags |= BATCHES;
    for (size_t i = 0; i < a->places.count; i++) {
        const pace_plan_place *p = a->places.items[i];
        if (!isnan(p->device_price) && !isnan(a->tokens)) flags |= PRICE;
        if (p->space.values[PACE_PLAN_PRECISION].count > 1) flags |= PRECISIONS;
        for (size_t k = 0; k < p->choices.count; k++) {
            const pace_config *c = &p->choices.items[k].candidate.config;
            char modules[PACE_MODULES_TEXT];
            pace_plan_say_modules(modules, p, c);
            flags |= (*modules ? MODULES : 0U) | (c->recompute_layers > 0 ? LAYERS : 0U);
            flags |= (p->choices.items[k].idle > 0 ? IDLE : 0U) | (c->tp > 1 ? TENSORS : 0U) |
                     (c->pp > 1 ? PIPELINES : 0U) | (c->vpp > 1 ? CHUNKS : 0U) | (c->cp > 1 ? CONTEXT : 0U) |
                     (c->ep > 1 ? EXPERTS : 0U) | (c->zero_stage > 0 ? ZERO : 0U) | (c->zero_group > 0 ? HYBRID : 0U) |
                     (c->schedule > 0 ? ORDERS : 0U) | (c->offload > 0 ? OFFLOADS : 0U);
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
                          .precision = pace_config_word(c, "precision"),
                          .offload = pace_config_word(c, "offload"),
                          .of = *one,
                          .slower = one->time_s.median / first->time_s.median - 1,
                          .chance = i > 0 ? one->chance : NAN,
                          .mfu = pace_plan_rate(p, one).mfu,
                          .fits = one->close ? "closely" : "yes"};
        pace_plan_say_modules(row.modules, p, c);
        if (i > 0) say_loss(row.loses, &first->candidate.parts, &one->candidate.parts);
        pace_table_put(table, &row);
    }
}

/* Where the time of each choice of a place goes. People do not see a part that none has. */
typedef struct {
    char configuration[PACE_PLAN_SAYS];
    int64_t ns[PARTS];
} parts_row;

#define PART_CELL(key, title, part) \
    { key, title, PACE_SHOW_NS, PACE_OF(parts_row, ns[part]), .shown_if = 1U << (part) }

PACE_TABLE_IF_ROWS(parts_table, "parts", "Where the time of each goes, in closed form", PACE_FOR_ALL, 0,
                   {"configuration", "configuration", PACE_SHOW_TEXT, PACE_OF(parts_row, configuration)},
                   PART_CELL("compute_ns", "compute", 0), PART_CELL("host_ns", "host", 1),
                   PART_CELL("bubble_ns", "bubble", 2), PART_CELL("tensor_ns", "tensor exch.", 3),
                   PART_CELL("context_ns", "context exch.", 4), PART_CELL("expert_ns", "expert exch.", 5),
                   PART_CELL("pipeline_ns", "pipeline exch.", 6), PART_CELL("data_ns", "data exch.", 7),
                   PART_CELL("update_ns", "update", 8), PART_CELL("skew_ns", "slowest", 9),
                   PART_CELL("other_ns", "other", 10));

static void put_parts(pace_node *root, const pace_plan_place *p) {
    unsigned flags = 0;
    for (size_t i = 0; i < p->choices.count; i++)
        for (size_t k = 0; k < PARTS; k++)
            if (pace_ns(part_s(&p->choices.items[i].candidate.parts, k)) > 0) flags |= 1U << k;
    pace_node *table = pace_open_table(root, &parts_table, flags);
    for (size_t i = 0; i < p->choices.count; i++) {
        const pace_plan_candidate *one = &p->choices.items[i].candidate;
        parts_row row = {0};
        pace_plan_say_config(row.configuration, &one->config);
        for (size_t k = 0; k < PARTS; k++) row.ns[k] = pace_ns(part_s(&one->parts, k));
        pace_table_put(table, &row);
    }
}

/* What each spends more than the first, as bars (pages only). */
static pace_status put_losses(pace_node *root, const pace_plan_place *p) {
    enum { NUMBER = 24 };
    size_t count = p->choices.count;
    if (count < 2) return PACE_OK;
    char(*names)[NUMBER] = pace_alloc(count, sizeof *names);
    const char **texts = pace_alloc(count, sizeof *texts);
    int64_t *ns = pace_alloc(count * PARTS, sizeof *ns);
    pace_status status = names && texts && ns ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 1; status == PACE_OK && i < count; i++) {
        const pace_plan_candidate *one = &p->choices.items[i].candidate, *first = &p->choices.items[0].candidate;
        pace_snprintf(names[i], NUMBER, "%zu", i + 1);
        texts[i] = names[i];
        for (size_t k = 0; k < PARTS; k++) {
            int64_t more = pace_ns(part_s(&one->parts, k)) - pace_ns(part_s(&first->parts, k));
            ns[i * PARTS + k] = more > 0 ? more : 0;
        }
    }
    if (status == PACE_OK)
        pace_node_bars(root, "What each spends more than the fastest, numbered as above", texts + 1, count - 1,
                       part_names, part_colors, PARTS, ns + PARTS);
    PACE_FREE(names, (void *)texts, ns);
    return status;
}

typedef struct {
    const char *machine;
    double devices;
    pace_plan_share of;
    char configuration[PACE_PLAN_SAYS];
} share_row;

PACE_TABLE_IF_ROWS(share_table, "shares", "Together: what each trains of every step", PACE_FOR_ALL, 0,
                   {"machine", "machine", PACE_SHOW_TEXT, PACE_OF(share_row, machine)},
                   {"devices", "devices", PACE_SHOW_INT, PACE_WHOLE_OF(share_row, devices)},
                   {"samples", "samples", PACE_SHOW_INT, PACE_WHOLE_OF(share_row, of.samples)},
                   {"step_ns", "its step", PACE_SHOW_NS, PACE_NS_OF(share_row, of.choice.time_s)},
                   {"step_s", NULL, PACE_SHOW_REAL, PACE_OF(share_row, of.choice.time_s)},
                   {"configuration", "configuration", PACE_SHOW_TEXT, PACE_OF(share_row, configuration)});

static void put_shares(pace_report *report, pace_node *root, const pace_plan_together *t) {
    if (t->shares.count == 0) return;
    pace_node *table = pace_open_table(root, &share_table, 0);
    PACE_ITEMS (const pace_plan_share, one, &t->shares) {
        share_row row = {one->place->machine.name, one->place->space.devices, *one, ""};
        pace_plan_say_config(row.configuration, &one->choice.candidate.config);
        pace_table_put(table, &row);
    }
    pace_report_value(report, "together.step_s", t->step_s);
    pace_report_value(report, "together.exchange_s", t->exchange_s);
}

typedef struct {
    const char *what;
    double factor, lost;
    char configuration[PACE_PLAN_SAYS];
} otherwise_row;

PACE_TABLE_IF_ROWS(otherwise_table, "sensitivity", "If something takes longer than is thought", PACE_FOR_ALL, 0,
                   {"what", "what", PACE_SHOW_TEXT, PACE_OF(otherwise_row, what)},
                   {"factor", "times", PACE_SHOW_REAL, PACE_OF(otherwise_row, factor)},
                   {"lost_share", "first loses", PACE_SHOW_SHARE, PACE_OF(otherwise_row, lost)},
                   {"configuration", "the fastest then", PACE_SHOW_TEXT, PACE_OF(otherwise_row, configuration)});

static void put_otherwise(pace_node *root, const pace_plan_place *p) {
    pace_node *table = pace_open_table(root, &otherwise_table, 0);
    for (int i = 0; p->choices.count > 1 && i < PACE_PLAN_OTHERWISE; i++) {
        otherwise_row row = {pace_plan_otherwise_names[i], pace_plan_otherwise_factor(), p->otherwise_lost[i], ""};
        pace_plan_say_config(row.configuration, &p->choices.items[p->otherwise_first[i]].candidate.config);
        pace_table_put(table, &row);
    }
}

typedef struct {
    const char *machine, *reason, *first;
    size_t count;
} refusal_row;

PACE_TABLE_IF_ROWS(refusal_table, "refused", "Why others cannot be", PACE_FOR_ALL, 8,
                   {"machine", NULL, PACE_SHOW_TEXT, PACE_OF(refusal_row, machine)},
                   {"configurations", "configurations", PACE_SHOW_INT, PACE_OF(refusal_row, count)},
                   {"reason", NULL, PACE_SHOW_TEXT, PACE_OF(refusal_row, reason)},
                   {"first", "such as", PACE_SHOW_TEXT, PACE_OF(refusal_row, first)});

static void put_refusals(pace_node *root, const pace_plan_asked *a) {
    pace_node *table = pace_open_table(root, &refusal_table, 0);
    for (size_t i = 0; i < a->places.count; i++) {
        const pace_plan_place *p = a->places.items[i];
        PACE_ITEMS (const pace_plan_refusal, one, &p->found.refusals)
            pace_table_put(table, &(refusal_row){p->machine.name, one->reason, one->first, one->count});
    }
}

typedef struct {
    const char *machine, *front;
    int64_t devices, batch, tried, fitting, too_large, may_fit, refused, step_ns;
    double per_s, days, price, energy_kwh, goodput, between_s, interval_s, learning;
} place_row;

PACE_TABLE(place_table, "machines", "By machine", PACE_FOR_ALL, 0,
           {"machine", "machine", PACE_SHOW_TEXT, PACE_OF(place_row, machine)},
           {"devices", "devices", PACE_SHOW_INT, PACE_OF(place_row, devices)},
           {"global_batch", "batch", PACE_SHOW_INT, PACE_OF(place_row, batch), .shown_if = BATCHES},
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
           {"learning", NULL, PACE_SHOW_REAL, PACE_OF(place_row, learning)},
           {"front", NULL, PACE_SHOW_TEXT, PACE_OF(place_row, front)});

static void put_places(pace_node *root, const pace_plan_asked *a) {
    pace_node *table = pace_open_table(root, &place_table, flags_of(a));
    for (size_t i = 0; i < a->places.count; i++) {
        const pace_plan_place *p = a->places.items[i];
        const pace_plan_choice *best = p->choices.count ? &p->choices.items[0] : NULL;
        pace_table_put(table, &(place_row){.machine = p->machine.name,
                                           .devices = (int64_t)p->space.devices,
                                           .batch = (int64_t)p->step.asked.config.global_batch,
                                           .tried = (int64_t)p->found.tried,
                                           .fitting = (int64_t)p->found.fit,
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
                                           .learning = p->learning,
                                           .front = p->on_front ? "yes" : "no"});
    }
}

PACE_ORDER_AT(by_days, pace_plan_place, PACE_UP(choices.items[0].days))

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
        pace_node *chart =
            pace_node_chart(root, "Cost against days, as a share of the dearest", "days", PACE_CHART_LOG_X);
        size_t on_front = 0;
        for (size_t i = 0; i < count; i++) on_front += sorted[i]->on_front;
        for (int front = 1; front >= (on_front < count ? 0 : 1); front--) {
            pace_chart_curve(chart, front && on_front > 1 ? PACE_CURVE_LINE : PACE_CURVE_DOTS,
                             front ? "no other is faster and cheaper" : "others");
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

PACE_TABLE(launch_table, "launch", "Told to the program that trains", PACE_FOR_ALL, 0,
           {"line", "line", PACE_SHOW_TEXT, PACE_OF(launch_row, line)});

static void put_launch(pace_node *root, const pace_plan_asked *a) {
    char title[96];
    if (!a->launcher && pace_plan_best(a, false))
        pace_node_note(root,
                       "How %s is told is not known: the command below has the settings of the fastest configuration.",
                       a->places.items[0]->step.asked.framework->name);
    if (!a->launcher) return;
    pace_snprintf(title, sizeof title, "The fastest, told to %.40s", a->launcher);
    pace_node *table = pace_open_table_as(root, &launch_table, 0, title);
    for (size_t i = 0; i < a->launch.count; i++) pace_table_put(table, &(launch_row){a->launch.items[i]});
    char list[400] = "";
    for (size_t i = 0; i < a->taken_out.count; i++) pace_list(list, sizeof list, ", ", "%s", a->taken_out.items[i]);
    if (*list)
        pace_node_note(root, "Besides, take out of %s, or what stands there for it: %s.", a->options->from, list);
}

typedef struct {
    pace_plan_change of;
    double faster;
    char configuration[PACE_PLAN_SAYS];
} change_row;

PACE_TABLE(change_table, "changes", "What to change in yours, each alone", PACE_FOR_ALL, 0,
           {"setting", "setting", PACE_SHOW_TEXT, PACE_OF(change_row, of.field)},
           {"from", "yours", PACE_SHOW_TEXT, PACE_OF(change_row, of.from)},
           {"to", "better", PACE_SHOW_TEXT, PACE_OF(change_row, of.to)},
           {"step_ns", "step", PACE_SHOW_NS, PACE_NS_OF(change_row, of.choice.time_s)},
           {"step_s", NULL, PACE_SHOW_REAL, PACE_OF(change_row, of.choice.time_s)},
           {"faster_share", "shorter by", PACE_SHOW_SHARE, PACE_OF(change_row, faster)},
           {"chance_share", "chance", PACE_SHOW_SHARE, PACE_OF(change_row, of.choice.chance)},
           {"configuration", "then", PACE_SHOW_TEXT, PACE_OF(change_row, configuration)});

static void put_changes(pace_node *root, const pace_plan_asked *a) {
    double yours_s = a->yours.time_s.median;
    if (!a->options->from) return;
    pace_node *table = pace_open_table(root, &change_table, 0);
    PACE_ITEMS (const pace_plan_change, one, &a->changes) {
        change_row row = {.of = *one, .faster = yours_s > 0 ? 1 - one->choice.time_s.median / yours_s : NAN};
        pace_plan_say_config(row.configuration, &one->choice.candidate.config);
        pace_table_put(table, &row);
    }
}

static pace_status describe(pace_report *report, void *context) {
    const pace_plan_asked *a = context;
    pace_node *root = pace_report_root(report);
    const pace_plan_place *best = pace_plan_chosen(a), *shown = best ? best : a->places.items[0];
    pace_plan_say_answer(report, root, a, best);
    put_shares(report, root, &a->together);
    put_changes(root, a);
    pace_node *table = pace_open_table(root, &choice_table, flags_of(a));
    for (size_t i = 0; i < a->places.count; i++) put_place(table, a->places.items[i]);
    put_parts(root, shown);
    PACE_TRY(put_losses(root, shown));
    put_otherwise(root, shown);
    if (a->picture) {
        PACE_TRY(pace_put_stage_lanes(root, "The fastest, stage by stage", a->picture));
        pace_note_stretch(root, a->stretch);
    }
    put_launch(root, a);
    put_places(root, a);
    PACE_TRY(put_front(root, a));
    put_refusals(root, a);
    pace_put_curves_note(root, &a->fits);
    pace_plan_say_notes(report, root, a, shown);
    pace_report_warn_all(report, &a->warnings);
    if (best) pace_report_value(report, "best.step_s", best->choices.items[0].time_s.median);
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

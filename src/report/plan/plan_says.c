#include "model/model_settings.h"
#include "report/plan/plan_parts.h"
#include "ask/plan/plan_words.h"
#include "ask/predict/setting_effects.h"
#include "base/print.h"
#include "report/predict/predict_parts.h"
#include "report/show.h"

#include <math.h>
#include <string.h>

/* Of a first choice that may not fit after all: the next that surely does. */
static void say_sure(pace_node *root, const pace_plan_place *p) {
    const pace_plan_choice *first = &p->choices.items[0];
    char config[PACE_PLAN_SAYS];
    size_t i = 0;
    if (!first->close) return;
    while (i < p->choices.count && p->choices.items[i].close) i++;
    pace_shown need = pace_show_bytes(first->need_bytes), has = pace_show_bytes(p->found.device_bytes);
    if (i == p->choices.count) {
        pace_node_sentence(root, false, "It fits closely: it needs about %s of %s.%s", need.text, has.text,
                           pace_plan_sure(&p->found) ? "" : " No configuration surely fits.");
        return;
    }
    pace_plan_say_config(config, &p->choices.items[i].candidate.config);
    double longer = p->choices.items[i].time_s.median / first->time_s.median - 1;
    pace_node_sentence(
        root, longer > p->step.frameworks.plan_spread,
        "It fits closely: it needs about %s of %s. The fastest that surely fits takes %.1f %% longer: %s.", need.text,
        has.text, 100 * longer, config);
}

/* What it keeps in the memory of a node's host. */
static void say_offloaded(pace_node *root, const pace_plan_place *p) {
    const pace_plan_choice *first = &p->choices.items[0];
    bool known = p->machine.host_memory_bytes > 0;
    if (!(first->host_bytes > 0)) return;
    pace_node_sentence(root, !known, "What is kept on hosts takes %s of a node's host memory%s.",
                       pace_show_bytes(first->host_bytes).text,
                       known ? "" : "; how much it has was not given (host-memory=1TB behind --on)");
}

static void say_failures(pace_node *root, const pace_plan_place *p) {
    char between[32], interval[32];
    pace_say_span(between, p->goodput.between_failures_s);
    pace_say_span(interval, p->goodput.interval_s);
    pace_node_sentence(root, false,
                       "One of %.0f devices fails every %s; with the best interval, a checkpoint every %s, %.1f %% of "
                       "the time is progress.",
                       p->space.devices, between, interval, 100 * p->goodput.share);
}

static void say_idle(pace_node *root, const pace_plan_place *p) {
    const pace_plan_choice *first = &p->choices.items[0];
    size_t i = 0;
    if (!(first->idle > 0)) return;
    while (i < p->choices.count && p->choices.items[i].idle > 0) i++;
    char others[64] = "";
    if (i < p->choices.count)
        pace_snprintf(others, sizeof others, " The fastest that uses all takes %.1f %% longer.",
                      100 * (p->choices.items[i].time_s.median / first->time_s.median - 1));
    pace_node_sentence(root, false, "It leaves %.0f of %.0f devices idle.%s", first->idle, p->space.devices, others);
}

/* That a simpler configuration stands for one that is faster by a hair. */
static void say_simpler(pace_node *root, const pace_plan_place *p) {
    const pace_plan_candidate *first = &p->choices.items[0].candidate;
    const double shown = 1e-3;
    char config[PACE_PLAN_SAYS];
    if (!(first->alike_s > 0) || first->closed_s / first->alike_s - 1 < shown) return;
    pace_plan_say_config(config, &first->alike);
    pace_node_sentence(root, false,
                       "%s would be %.1f %% faster in closed form, too little to tell apart (plan_tie in "
                       "catalog/steps.yaml): the simpler one leads.",
                       config, 100 * (first->closed_s / first->alike_s - 1));
}

/* Which measurement settles the choice, what it costs and what it is expected to save. */
static void say_timing(pace_node *root, const pace_plan_asked *a, const pace_plan_place *p) {
    double chance = 0, hours = p->space.devices;
    char cost[64] = "", saves[64] = "", among[96] = "";
    if (p->timed == 0 || (p->timed_gain * p->choices.items[0].days * 24 < 1)) return; /* it takes an hour */
    for (size_t i = 0; i < p->timed; i++) chance += p->choices.items[i].fastest;
    if (!isnan(p->device_price))
        pace_snprintf(cost, sizeof cost, ", %s at this price", pace_show_real(hours * p->device_price).text);
    if (!isnan(a->tokens))
        pace_snprintf(saves, sizeof saves, ", %s", pace_show_days(p->timed_gain * p->choices.items[0].days).text);
    if (p->timed < p->choices.count)
        pace_snprintf(among, sizeof among, " The chance that the fastest of all %zu is among them is %.0f %%.",
                      p->choices.count, 100 * chance);
    pace_node_sentence(root, false,
                       "To settle it, time the first %zu on %s for %.0f minutes each (%.0f device-hour%s%s).%s Running "
                       "the best of them is expected to save %.1f %% of the step%s.",
                       p->timed, p->machine.name, 60.0 / (double)p->timed, hours, hours == 1 ? "" : "s", cost, among,
                       100 * p->timed_gain, saves);
}

static void say_learning(pace_node *root, const pace_plan_asked *a, const pace_plan_place *p) {
    double batch = p->step.asked.config.global_batch;
    if (isnan(a->critical_batch)) return;
    pace_node_sentence(root, false,
                       "%s %.0f samples need %.2f times the samples of small batches to the same loss (critical batch "
                       "%s).",
                       a->batch_chosen ? "Of the global batches tried, that which learns most in a second was chosen:"
                                       : "Steps of",
                       batch, p->learning, a->options->critical_batch);
}

static void say_straggling(pace_node *root, const pace_plan_asked *a) {
    if (isnan(a->jitter)) return;
    pace_node_sentence(root, false,
                       "The wait for the slowest replica, with steps that differ by %.1f %%, is in the step's time.",
                       100 * a->jitter);
}

static void say_other(pace_node *root, const pace_plan_asked *a, const pace_plan_place *p) {
    const pace_config *config = &p->choices.items[0].candidate.config;
    const pace_plan_choice *other = &a->other.choice;
    const char *word = pace_config_word(config, "precision");
    if (p->space.values[PACE_PLAN_PRECISION].count < 2) return;
    if (!(a->other.devices > 0)) {
        pace_node_sentence(root, false, "No precision was given: %s is assumed, the only one in which something fits.",
                           word);
        return;
    }
    const char *another = pace_config_word(&other->candidate.config, "precision");
    pace_node_sentence(
        root, false,
        "No precision was given: %s is assumed. In %s the fastest takes %s, %.2f times as long (--set precision=%s).",
        word, another, pace_show_ns(pace_ns(other->time_s.median)).text,
        other->time_s.median / p->choices.items[0].time_s.median, another);
}

/* What another framework would take, where none was given and it is faster by more than such steps are told apart. */
static void say_framework(pace_node *root, const pace_plan_asked *a, const pace_plan_place *p) {
    const pace_plan_choice *one = &a->framed.choice;
    char config[PACE_PLAN_SAYS];
    if (!a->framework) return;
    pace_plan_say_config(config, &one->candidate.config);
    const char *closely = one->close ? " closely" : "";
    const pace_shown took = pace_show_ns(pace_ns(one->time_s.median));
    if (p->choices.count == 0) {
        pace_node_sentence(root, true, "No framework was given: with --set framework=%s %s fits%s; a step takes %s.",
                           a->framework, config, closely, took.text);
        return;
    }
    double times = p->choices.items[0].time_s.median / one->time_s.median;
    if (times < 1 + p->step.frameworks.plan_spread) return;
    char days[96] = "";
    if (!isnan(one->days))
        pace_snprintf(days, sizeof days, "; %.20s %s take %s", a->options->tokens, pace_plan_trained(p),
                      pace_show_days(one->days).text);
    pace_node_sentence(
        root, true,
        "No framework was given: %s is assumed. With --set framework=%s the fastest is %.2f times as fast: "
        "%s, %s, which fits%s%s.",
        p->step.asked.framework->name, a->framework, times, took.text, config, closely, days);
}

/* How far behind the next is. */
static void say_next(char out[128], const pace_plan_place *p) {
    const pace_plan_choice *one = &p->choices.items[0], *next = one + 1;
    double longer = p->choices.count > 1 ? next->time_s.median / one->time_s.median - 1 : -1;
    *out = '\0';
    if (longer >= 0)
        pace_snprintf(out, 128, " The next takes %.1f %% longer; the chance that the first is faster is %.0f %%.",
                      100 * longer, 100 * next->chance);
}

/* That the next is faster by a hair, but not as safe. */
static void say_unsafe(pace_node *root, const pace_plan_place *p) {
    const pace_plan_choice *one = &p->choices.items[0], *next = one + 1;
    const double shown = 1e-3;
    char config[PACE_PLAN_SAYS];
    if (p->choices.count < 2 || one->time_s.median / next->time_s.median - 1 < shown) return;
    pace_plan_say_config(config, &next->candidate.config);
    pace_node_sentence(root, false,
                       "%s would be %.1f %% faster, too little to tell apart (plan_tie in catalog/steps.yaml), and %s.",
                       config, 100 * (one->time_s.median / next->time_s.median - 1),
                       next->close && !one->close                                       ? "fits closely"
                       : next->candidate.config.offload > one->candidate.config.offload ? "offloads"
                                                                                        : "has a longer pipeline");
}

static void say_best(pace_node *root, const pace_plan_asked *a, const pace_plan_place *p) {
    const pace_plan_choice *one = &p->choices.items[0];
    char config[PACE_PLAN_SAYS], next[128];
    pace_plan_say_config(config, &one->candidate.config);
    say_next(next, p);
    pace_node_sentence(root, true, "Fastest on %s: %s. A step of %.0f samples takes %s (%s to %s), %s.%s",
                       p->machine.name, config, one->candidate.config.global_batch,
                       pace_show_ns(pace_ns(one->time_s.median)).text,
                       pace_show_ns(pace_estimate_low_ns(one->time_s)).text,
                       pace_show_ns(pace_estimate_high_ns(one->time_s)).text,
                       pace_show_step_rate(pace_plan_rate(p, one)).text, next);
    pace_put_lacks(root, p->step.asked.framework, &one->candidate.config);
    say_framework(root, a, p);
    say_other(root, a, p);
    pace_say_found(pace_node_report(root), p->step.asked.model, &p->step.asked.config);
    pace_put_model_note(root, p->step.asked.model, &p->step.asked.config);
    say_sure(root, p);
    say_offloaded(root, p);
    say_idle(root, p);
    say_unsafe(root, p);
    say_simpler(root, p);
    say_learning(root, a, p);
    say_straggling(root, a);
    say_timing(root, a, p);
    if (isnan(one->days)) return;
    char price[64] = "";
    if (!isnan(one->price)) pace_snprintf(price, sizeof price, ", cost %s", pace_show_real(one->price).text);
    char energy[64] = "";
    if (!isnan(one->energy_kwh))
        pace_snprintf(energy, sizeof energy, " and use %s kWh at rated power", pace_show_real(one->energy_kwh).text);
    bool said = a->options->within || a->options->budget || a->options->together;
    pace_node_sentence(root, !said, "%s %s take %s%s%s.", a->options->tokens, pace_plan_trained(p),
                       pace_show_days(one->days).text, price, energy);
    if (a->options->failures) say_failures(root, p);
}

/* Machines that train one model: what each has of a step, and what that gains. */
static void say_together(pace_node *root, const pace_plan_asked *a, const pace_plan_place *best) {
    const pace_plan_together *t = &a->together;
    char even[96] = "", config[PACE_PLAN_SAYS];
    double alone_s = best->choices.items[0].time_s.median;
    if (!a->options->together) return;
    if (t->shares.count == 0) {
        pace_report_deny(pace_node_report(root));
        pace_node_sentence(root, true,
                           "Together they cannot train it: it fits on fewer than two of them, or too few samples "
                           "are shared.");
        return;
    }
    if (isfinite(t->even_s))
        pace_snprintf(even, sizeof even, " With as many samples for every device it would take %s.",
                      pace_show_ns(pace_ns(t->even_s)).text);
    pace_node_sentence(
        root, true,
        "Together a step of %.0f samples takes %s, %.2f times as fast as on %s alone; %s of it sums gradients "
        "between the machines.%s",
        best->step.asked.config.global_batch, pace_show_ns(pace_ns(t->step_s)).text, alone_s / t->step_s,
        best->machine.name, pace_show_ns(pace_ns(t->exchange_s)).text, even);
    PACE_ITEMS (const pace_plan_share, one, &t->shares) {
        pace_plan_say_config(config, &one->choice.candidate.config);
        pace_node_sentence(root, false, "%s trains %.0f of them in %s: %s.", one->place->machine.name, one->samples,
                           pace_show_ns(pace_ns(one->choice.time_s.median)).text, config);
    }
    if (isnan(t->days)) return;
    char price[64] = "";
    if (!isnan(t->price)) pace_snprintf(price, sizeof price, " and cost %s", pace_show_real(t->price).text);
    pace_node_sentence(root, false, "Together %s %s take %s%s.", a->options->tokens, pace_plan_trained(best),
                       pace_show_days(t->days).text, price);
}

/* What would make it fit, each alone. */
static void say_loosened(pace_node *root, const pace_plan_asked *a, const pace_plan_place *p) {
    const char *none = a->options->set.count ? "No one or two settings left out make it fit"
                                             : "Nothing was set that could be left out";
    char config[PACE_PLAN_SAYS];
    PACE_ITEMS (const pace_plan_loosened, one, &p->loosened) {
        pace_plan_say_config(config, &one->config);
        if (one->nodes > 0) pace_node_sentence(root, false, "On %d nodes %s fits.", one->nodes, config);
        else pace_node_sentence(root, false, "Without %s=%s something fits: %s.", one->field, one->value, config);
    }
    if (p->loosened.count > 0 || p->found.fit > 0) return; /* what fits and was not timed has said why */
    if (p->machine.nics > 0)
        pace_node_sentence(root, false, "%s, and up to %d times the nodes do not make it fit.", none,
                           PACE_PLAN_NODES_MOST);
    else
        pace_node_sentence(root, false,
                           "%s, and %s has no network, so more nodes were not tried: offer a machine of several "
                           "devices.",
                           none, p->machine.name);
}

static void say_nothing_fits(pace_report *report, const pace_plan_asked *a) {
    const pace_plan_place *p = a->places.items[a->places.count - 1];
    char config[PACE_PLAN_SAYS];
    pace_report_deny(report);
    if (p->found.tried == 0) {
        pace_report_lead(
            report, PACE_WARN_NO_CONFIGURATION,
            "No configuration is possible: none of those asked for divides %.0f samples over %.0f devices and "
            "%.0f layers over its stages and chunks.",
            p->step.asked.config.global_batch, p->space.devices, p->layers);
        return;
    }
    if (!(p->found.nearest.need_bytes > 0)) {
        pace_report_lead(report, PACE_WARN_NO_CONFIGURATION, "None of %zu configurations is possible: %s.",
                         p->found.tried, p->found.refusals.items[0].first);
        return;
    }
    if (p->found.fit > 0) {
        pace_report_lead(report, PACE_WARN_NO_CONFIGURATION,
                         "%zu of %zu configurations fit on %s, and none of them could be timed: %s.", p->found.fit,
                         p->found.tried, p->machine.name, p->found.refusals.items[p->found.refusals.count - 1].first);
        return;
    }
    pace_plan_say_config(config, &p->found.nearest.config);
    pace_report_lead(report, PACE_WARN_DOES_NOT_FIT,
                     "No configuration of %zu fits on %s: the nearest, %s, needs %s on each device, which has %s.",
                     p->found.tried, p->machine.name, config, pace_show_bytes(p->found.nearest.need_bytes).text,
                     pace_show_bytes(p->found.device_bytes).text);
}

/* Where the file is not what is answered. */
static void say_file_differs(pace_report *report, const pace_plan_asked *a, const pace_plan_place *best) {
    const pace_launcher_settings *file = &a->file;
    char list[400] = "";
    double devices = best->space.devices,
           asked = pace_model_total(&best->step.model, &best->step.asked.config).parameters;
    for (size_t i = 0; i < file->uncounted.count; i++)
        pace_list(list, sizeof list, ", ", "%s", file->uncounted.items[i]);
    if (*list) pace_report_lead(report, PACE_WARN_FILE_DIFFERS, "%s: not counted: %s.", a->options->from, list);
    *list = '\0';
    for (size_t i = 0; i < file->doubtful.count; i++) pace_list(list, sizeof list, ", ", "%s", file->doubtful.items[i]);
    if (*list)
        pace_report_lead(report, PACE_WARN_FILE_DIFFERS,
                         "%s: counted, though it stands in a branch that may not be taken: %s.", a->options->from,
                         list);
    if (a->file_parameters > 0)
        pace_report_lead(report, PACE_WARN_FILE_DIFFERS, "%s trains a model of %s parameters, %s has %s.",
                         a->options->from, pace_show_count(a->file_parameters).text, a->name,
                         pace_show_count(asked).text);
    if (file->devices > 0 && file->devices != devices)
        pace_report_lead(report, PACE_WARN_FILE_DIFFERS, "%s runs on %.0f devices, %s has %.0f.", a->options->from,
                         file->devices, best->machine.name, devices);
    if (a->name == file->described && *file->assumed)
        pace_report_lead(report, PACE_WARN_FILE_DIFFERS, "%s does not state all sizes of its model: %s assumed.",
                         a->options->from, file->assumed);
}

static void say_yours(pace_node *root, const pace_plan_asked *a, const pace_plan_place *best) {
    const pace_plan_choice *yours = &a->yours;
    char config[PACE_PLAN_SAYS];
    if (!a->options->from) return;
    pace_plan_say_config(config, &yours->candidate.config);
    if (a->name == a->file.described) {
        char sizes[400] = "";
        for (size_t i = 0; i < a->file.model_sizes.count; i++)
            pace_list(sizes, sizeof sizes, ", ", "%s", a->file.model_sizes.items[i]);
        pace_node_sentence(root, true, "The model is the file's: %s with %s.", a->name, sizes);
    }
    if (!(yours->time_s.median > 0)) {
        if (yours->need_bytes > 0)
            pace_node_sentence(root, true, "Yours (%s: %s) cannot run: it needs %s on each device, which has %s.",
                               a->file.launcher, config, pace_show_bytes(yours->need_bytes).text,
                               pace_show_bytes(best->found.device_bytes).text);
        else
            pace_node_sentence(root, true, "Yours (%s: %s) cannot run: %s.", a->file.launcher, config,
                               *a->yours_refused ? a->yours_refused : "the devices or the batch do not divide by it");
        return;
    }
    char beside[128] = "";
    if (best->choices.count) {
        double more = yours->time_s.median / best->choices.items[0].time_s.median - 1;
        if (fabs(more) < 0.0005) pace_snprintf(beside, sizeof beside, ", as the fastest does");
        else
            pace_snprintf(beside, sizeof beside,
                          ", %.1f %% %s than the fastest; the chance that it is slower is %.0f %%", 100 * fabs(more),
                          more > 0 ? "longer" : "less", 100 * yours->chance);
    }
    pace_node_sentence(root, true, "Yours (%s: %s) takes %s%s.", a->file.launcher, config,
                       pace_show_ns(pace_ns(yours->time_s.median)).text, beside);
}

static void say_batch(pace_report *report, const pace_plan_asked *a) {
    double least = INFINITY, most = 0;
    char range[64];
    if (!a->batch_assumed) return;
    for (size_t i = 0; i < a->places.count; i++) {
        double batch = a->places.items[i]->step.asked.config.global_batch;
        least = fmin(least, batch);
        most = fmax(most, batch);
    }
    if (most > least) pace_snprintf(range, sizeof range, "%.0f to %.0f samples, by the machine,", least, most);
    else pace_snprintf(range, sizeof range, "%.0f samples", least);
    pace_report_warn(report, PACE_WARN_BATCH_ASSUMED, NULL,
                     "no global batch was said: %s were assumed; --set global_batch=N says another", range);
}

/* Whether a setting is one that a choice says itself. */
static bool is_chosen(const char *word) {
    size_t length = strcspn(word, "=");
    bool is = strncmp(word, "dp=", 3) == 0 || strncmp(word, "global_batch=", 13) == 0;
    for (int f = 0; f < PACE_PLAN_FIELDS; f++)
        is |= strlen(pace_plan_field_names[f]) == length && strncmp(word, pace_plan_field_names[f], length) == 0;
    return is;
}

/* Why what the question sets ("zero_stage=3") has no effect on the fastest; NULL = it has one. The search drops the
 * ZeRO stage of one replica and the sequence parallelism of whole layers: here they are as the question has them. */
static const char *idle_word(const char *word, const pace_plan_place *p) {
    char key[48];
    const pace_config *asked = &p->step.asked.config;
    pace_config config = p->choices.items[0].candidate.config;
    config.sequence_parallel = asked->sequence_parallel;
    if (!pace_config_shares_gradients(&config)) config.zero_stage = asked->zero_stage;
    const pace_setting_question fastest = {.config = &config,
                                           .model = p->step.asked.model,
                                           .framework = p->step.asked.framework,
                                           .placed = true};
    pace_snprintf(key, sizeof key, "%.*s", (int)strcspn(word, "="), word);
    return pace_setting_idle(key, &fastest);
}

/* "tp=8,pp=2,…": what tells predict the fastest; a field without an effect is left out. */
static void say_settings(char *out, size_t size, const pace_plan_asked *a, const pace_plan_place *p) {
    const pace_config *c = &p->choices.items[0].candidate.config;
    bool replicas = pace_config_shares_gradients(c), stages = c->pp > 1,
         sequences = pace_model_sequence(p->step.asked.model, c) > 0;
    const struct {
        const char *name;
        double value;
        bool said;
    } numbers[] = {{"global_batch", c->global_batch, true},
                   {"dp", c->dp, true},
                   {"micro_batch", c->micro_batch, true},
                   {"tp", c->tp, c->tp > 1},
                   {"pp", c->pp, stages},
                   {"vpp", c->vpp, stages},
                   {"cp", c->cp, c->cp > 1},
                   {"ep", c->ep, c->ep > 1},
                   {"zero_stage", c->zero_stage, replicas},
                   {"zero_group", c->zero_group, c->zero_group > 0}};
    const struct {
        const char *name;
        bool said;
    } words[] = {{"schedule", stages},
                 {"recompute", sequences || c->recompute > 0},
                 {"precision", true},
                 {"offload", c->offload > 0}};
    *out = '\0';
    for (size_t i = 0; i < PACE_COUNT(numbers); i++)
        if (numbers[i].said) pace_list(out, size, ",", "%s=%.0f", numbers[i].name, numbers[i].value);
    for (size_t i = 0; i < PACE_COUNT(words); i++)
        if (words[i].said) pace_append(out, size, ",%s=%s", words[i].name, pace_config_word(c, words[i].name));
    bool some = c->recompute == PACE_RECOMPUTE_FULL && c->recompute_layers > 0;
    if (some && !pace_settings_name(&a->options->set, (const char *const[]){"recompute_layers", NULL}))
        pace_append(out, size, ",recompute_layers=%.0f", c->recompute_layers);
    char modules[PACE_MODULES_TEXT];
    pace_plan_say_modules(modules, p, c);
    if (*modules && !pace_settings_name(&a->options->set, (const char *const[]){"recompute_modules", NULL}))
        pace_append(out, size, ",recompute_modules=%s", modules);
    for (size_t i = 0; i < a->options->set.count; i++)
        if (!is_chosen(a->options->set.items[i]) && !idle_word(a->options->set.items[i], p))
            pace_append(out, size, " --set '%s'", a->options->set.items[i]);
}

/* Settings that some configurations heed, but not the fastest. */
static void put_idle(pace_node *root, const pace_plan_asked *a, const pace_plan_place *p) {
    for (size_t i = 0; p->choices.count > 0 && i < a->options->set.count; i++) {
        const char *word = a->options->set.items[i], *why = idle_word(word, p);
        if (why) pace_node_note(root, "The fastest ignores %s, which has no effect %s.", word, why);
    }
}

/* Where the same number comes from. */
static void put_command(pace_node *root, const pace_plan_asked *a, const pace_plan_place *p) {
    char settings[900] = "";
    size_t size = sizeof settings;
    if (p->choices.count == 0) return;
    say_settings(settings, size, a, p);
    if (a->options->jitter && pace_config_shares_gradients(&p->choices.items[0].candidate.config))
        pace_append(settings, size, " --jitter %s", a->options->jitter);
    for (size_t i = 0; i < a->options->fits.count; i++)
        pace_append(settings, size, " --fit '%s'", a->options->fits.items[i]);
    pace_node_note(root, "The fastest asked of predict: paceline predict '%s' --on '%s' --set %s", a->name,
                   p->machine.asked, settings);
}

/* That experts beyond a node are searched as far as plain exchanges allow. */
static void put_routes(pace_node *root, const pace_plan_place *best) {
    const pace_plan_space *space = &best->space;
    bool experts = space->values[PACE_PLAN_EP].count > 1 && !space->tables_follow;
    const pace_config *config = &best->step.asked.config;
    if (!experts || best->machine.nodes < 2 || config->expert_nodes > 0 || config->tokens_once) return;
    pace_node_note(root,
                   "Each copy of a token goes to its expert's rank by itself, on whatever node. Where the router keeps "
                   "a token to few nodes and copies share the way, as DeepSeek V3's do, --set expert_nodes=4 lets "
                   "experts spread over more of them.");
}

static void put_notes(pace_node *root, const pace_plan_asked *a, const pace_plan_place *best) {
    const pace_config *config =
        best->choices.count ? &best->choices.items[0].candidate.config : &best->step.asked.config;
    put_command(root, a, best);
    put_idle(root, a, best);
    pace_node_note(
        root,
        "Training with %s in %s, optimizer %s; change these with --set. Where replicas do not share the batch "
        "over all devices, the others are idle, and paid for.",
        best->step.asked.framework->name, pace_config_word(config, "precision"), pace_config_word(config, "optimizer"));
    if (best->found.pruned)
        pace_node_note(root,
                       "Branch and bound: %zu of the %zu configurations that fit on %s were timed in closed form, the "
                       "layers of the others alone take longer than what is listed.",
                       best->found.fit - best->found.pruned, best->found.fit, best->machine.name);
    pace_node_note(
        root,
        "The times above are those that predict gives%s. Chance: that the first is faster than this one%s, as "
        "far as configurations of one model have been told apart (plan_spread in catalog/steps.yaml).",
        a->order_changed ? ", which changed the order" : "", a->changes.count ? ", or a change faster than yours" : "");
    pace_node_note(
        root,
        "Memory is known to a quarter. Closely: with that it may need more than the device has; may fit and too big: it "
        "needs more as counted, and such are not among the configurations. Sequence parallelism as the framework has it "
        "where tp > 1.");
    put_routes(root, best);
}

static void say_stopped(pace_report *report, const pace_plan_asked *a, const pace_plan_place *best) {
    size_t tried = 0, answered = 0;
    if (!a->stopped) return;
    for (size_t i = 0; i < a->places.count; i++) {
        tried += a->places.items[i]->found.tried;
        answered += a->places.items[i]->choices.count;
    }
    pace_report_lead(
        report, PACE_WARN_STOPPED_EARLY,
        "Stopped after %zu configurations of %zu machine%s, of which %zu were answered: what follows is of "
        "these alone.",
        tried, a->places.count, a->places.count == 1 ? "" : "s", answered);
    if (!best) pace_report_deny(report);
}

void pace_plan_say_answer(pace_report *report, pace_node *root, const pace_plan_asked *a, const pace_plan_place *best) {
    say_stopped(report, a, best);
    if (!best && a->stopped) return;
    if (!best) {
        say_nothing_fits(report, a);
        say_framework(root, a, a->places.items[a->places.count - 1]);
        say_loosened(root, a, a->places.items[a->places.count - 1]);
    } else {
        if (a->options->within || a->options->budget) pace_plan_say_done(report, root, a);
        say_together(root, a, best);
        say_best(root, a, best);
        pace_plan_say_cheapest(root, a, best);
    }
    say_yours(root, a, best ? best : a->places.items[0]);
    if (a->options->from) say_file_differs(report, a, best ? best : a->places.items[0]);
}

void pace_plan_say_notes(pace_report *report, pace_node *root, const pace_plan_asked *a, const pace_plan_place *best) {
    say_batch(report, a);
    put_notes(root, a, best);
}

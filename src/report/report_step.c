#include "report/report_assumptions.h"
#include "ask/engine_options.h"
#include "report/report_step.h"
#include "ask/scenarios.h"
#include "ask/context.h"

#include "machine/device_resolve.h"
#include "ask/model_settings.h"
#include "ask/predict_inputs.h"
#include "report/report.h"
#include "report/show.h"
#include "ask/step_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a word names a framework whose steps no walk lowers, or none at all. */
static bool is_not_walked(pace_catalog *catalog, const char *framework) {
    pace_frameworks frameworks;
    const pace_framework *found;
    if (pace_frameworks_load(&frameworks, catalog) != PACE_OK) return true;
    bool walked = pace_frameworks_named(&found, &frameworks, framework) == PACE_OK && pace_framework_is_lowered(found);
    return !walked;
}

bool pace_is_closed_form_step(const char *const *inputs, size_t count, const pace_predict_options *options) {
    static const char *const keys[] = {"pp", "vpp", "zero_stage"};
    bool model;
    if (count != 1 || pace_predict_is_model(&model, inputs[0]) != PACE_OK || !model) return false;
    const char *framework = pace_framework_asked(&options->set);
    if (framework && is_not_walked(options->context->catalog, framework)) return true;
    for (size_t i = 0; i < options->set.count; i++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const char *word = options->set.items[i], *value = strchr(word, '=');
            bool named = value && strncmp(word, keys[k], (size_t)(value - word)) == 0 && keys[k][value - word] == '\0';
            bool set = named && strcmp(value, k == 2 ? "=0" : "=1") != 0;
            if (set) return true;
        }
    return false;
}

typedef struct {
    pace_device_catalog devices;
    pace_frameworks frameworks;
    pace_machine machine;
    pace_exchange exchange;
    pace_model model;
    pace_step_pricer pricer;
    pace_step_fit fit;
    pace_step_row row;
    pace_step_answer answer;
    pace_step_plan plan;
    bool has_model, has_pricer, fitted;
} asked;

static void close_asked(asked *a) {
    if (a->has_model) pace_model_free(&a->model);
    if (a->has_pricer) pace_step_pricer_close(&a->pricer);
    pace_device_catalog_free(&a->devices);
}

static pace_status check_options(const pace_predict_options *options) {
    if (options->on.count != 1)
        return pace_fail(PACE_E_USAGE,
                         "a step of many ranks: expected one machine, " PACE_FIELD "on dgx-h100*4, found %zu",
                         options->on.count);
    bool at_odds;
    if (pace_what_ifs_asked(&at_odds, options) || options->overheads.count || options->calibrate.count)
        return pace_fail(PACE_E_USAGE,
                         "a step with pipelines, ZeRO, context or expert parallelism is answered in closed "
                         "form: expected " PACE_FIELD "on, " PACE_FIELD "set and " PACE_FIELD "fit alone");
    if (options->fits.count > 1)
        return pace_fail(PACE_E_USAGE, "a step of many ranks: expected one " PACE_FIELD "fit, found %zu",
                         options->fits.count);
    return PACE_OK;
}

static pace_status open_place(asked *a, pace_catalog *catalog, const char *on) {
    double ranks = pace_config_ranks(&a->row.config);
    PACE_TRY(pace_machine_asked(&a->machine, catalog, on));
    PACE_TRY(pace_device_catalog_load(&a->devices, catalog));
    PACE_TRY(pace_device_resolve(&a->row.device, &a->devices, a->machine.device, 0));
    if (ranks > (double)a->machine.devices * a->machine.nodes)
        return pace_fail(PACE_E_USAGE, "%s: expected at most its %d devices, found dp x tp x pp x cp = %g", on,
                         a->machine.devices * a->machine.nodes, ranks);
    a->row.ranks = ranks;
    a->row.doubt = 1;
    a->row.attention = pace_frameworks_attention(&a->frameworks, a->row.device->name, a->row.framework->name);
    if (ranks < 2) return PACE_OK;
    PACE_TRY(pace_exchange_open(&a->exchange, catalog, &a->machine, PACE_LIBRARY_AUTO, NULL));
    a->row.exchange = &a->exchange;
    return PACE_OK;
}

/* The framework, and how its steps run where no setting says: PyTorch's as a walk's, others' as their entry says. */
static pace_status open_framework(asked *a, pace_catalog *catalog, const pace_words *set) {
    const char *name = pace_framework_asked(set);
    pace_config *config = &a->row.config;
    *config = pace_config_default();
    PACE_TRY(pace_frameworks_load(&a->frameworks, catalog));
    a->row.framework = pace_frameworks_find(&a->frameworks, "");
    if (name) PACE_TRY(pace_frameworks_named(&a->row.framework, &a->frameworks, name));
    if (pace_framework_is_lowered(a->row.framework)) return PACE_OK;
    pace_framework_defaults(config, a->row.framework);
    config->precision = a->row.framework->precision;
    config->recompute = a->row.framework->recompute;
    return PACE_OK;
}

static pace_status answer(asked *a, const char *name, const pace_predict_options *options) {
    bool recomputed;
    PACE_TRY(open_framework(a, options->context->catalog, &options->set));
    PACE_TRY(pace_model_ask(&a->model, &a->row.config, options->context->catalog, name, &options->set));
    a->has_model = true;
    PACE_TRY(open_place(a, options->context->catalog, options->on.items[0]));
    PACE_TRY(pace_step_pricer_open(&a->pricer, options->context->catalog));
    a->has_pricer = true;
    a->row.model = &a->model;
    a->row.tokens = pace_config_micro_batches(&a->row.config) * a->row.config.micro_batch * a->row.config.dp *
                    pace_model_sequence(&a->model, &a->row.config) / a->row.ranks;
    PACE_TRY(pace_step_row_plan(&a->plan, &recomputed, &a->pricer, &a->row));
    return pace_step_row_answer(&a->answer, &a->pricer, &a->row, a->fitted ? &a->fit : NULL, a->frameworks.spread);
}

/* --- the report --------------------------------------------------------------------------------------------------- */

static int64_t ns(double s) { return llround(s * 1e9); }

static void put_part(pace_node *table, const char *name, double s, double all_s) {
    pace_table_row(table);
    pace_table_text(table, name);
    pace_table_int(table, ns(s));
    pace_table_real(table, s / all_s);
}

static void put_parts(pace_node *root, const pace_step_time *t) {
    static const pace_column columns[] = {{"part", "Where the time goes", PACE_SHOW_TEXT},
                                          {"time_ns", "time", PACE_SHOW_NS},
                                          {"share", "share", PACE_SHOW_SHARE}};
    const struct {
        const char *name;
        double s;
    } parts[] = {{"compute", t->compute_s},
                 {"host", t->host_s},
                 {"bubble", t->bubble_s},
                 {"tensor exchange", t->tensor_s},
                 {"context exchange", t->context_s},
                 {"expert exchange", t->expert_s},
                 {"pipeline exchange", t->pipeline_s},
                 {"data exchange", t->data_s},
                 {"update", t->update_s},
                 {"other", t->other_s}};
    pace_node *table = pace_node_table(root, "parts", "The slowest rank's step", PACE_FOR_ALL, columns, 3, 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) put_part(table, parts[i].name, parts[i].s, t->total_s);
    pace_node_note(root,
                   "Exchanges count only their exposed part; the bubble is the time to fill and drain the pipeline. "
                   "docs/step_rows.md has the equations.");
}

static void put_memory(pace_node *root, const pace_step_plan *plan) {
    static const pace_column columns[] = {{"kind", "Memory of each rank", PACE_SHOW_TEXT},
                                          {"held_bytes", "memory", PACE_SHOW_BYTES}};
    const struct {
        const char *name;
        double bytes;
    } kinds[] = {{"parameters", plan->memory.weight_bytes},
                 {"gradients", plan->memory.gradient_bytes},
                 {"optimizer", plan->memory.optimizer_bytes},
                 {"activations", plan->memory.activation_bytes},
                 {"all", plan->memory.all_bytes}};
    pace_node *table = pace_node_table(root, "memory", "Memory of the fullest rank", PACE_FOR_ALL, columns, 2, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pace_table_row(table);
        pace_table_text(table, kinds[i].name);
        pace_table_real(table, kinds[i].bytes);
    }
}

typedef struct {
    const char *change;
    double saved;
} saving;

static int larger_first(const void *a, const void *b) {
    double x = ((const saving *)a)->saved, y = ((const saving *)b)->saved;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The step once more with each of its causes free: what of it that would save. */
static void put_help(pace_node *root, const asked *a) {
    static const pace_column columns[] = {{"change", "Without", PACE_SHOW_TEXT},
                                          {"saved_share", "the step saves", PACE_SHOW_SHARE}};
    static const char *const words[PACE_STEP_FACTORS] = {"matrix products",
                                                         "attention",
                                                         "other kernels",
                                                         "exchanges inside nodes",
                                                         "exchanges between nodes",
                                                         "the host",
                                                         "the update",
                                                         NULL,
                                                         "what every step has besides"};
    pace_step_factors factors = a->fitted ? a->fit.factors : pace_step_factors_none();
    double *values = (double *)&factors, all_s = pace_step_compose(&a->plan, &factors).total_s;
    saving savings[PACE_STEP_FACTORS] = {0};
    size_t count = 0;
    for (int i = 0; i < PACE_STEP_FACTORS; i++) {
        double value = values[i];
        if (!words[i]) continue;
        values[i] = 0;
        savings[count++] = (saving){words[i], 1 - pace_step_compose(&a->plan, &factors).total_s / all_s};
        values[i] = value;
    }
    qsort(savings, count, sizeof *savings, larger_first);
    pace_node *table = pace_node_table(root, "help", "What would help most", PACE_FOR_ALL, columns, 2, 0);
    for (size_t i = 0; i < count; i++) {
        pace_table_row(table);
        pace_table_text(table, savings[i].change);
        pace_table_real(table, savings[i].saved);
    }
}

/* What an answer rests on, said or not. */
static void put_how(pace_node *root, const asked *a) {
    const pace_config *config = &a->row.config;
    const char *framework = a->row.framework->name;
    const char *execution = pace_config_word(config, "execution"), *precision = pace_config_word(config, "precision");
    double sequence = pace_model_sequence(&a->model, config), batches = pace_config_micro_batches(config);
    char of[64] = "", more[64] = "";
    if (sequence > 0) snprintf(of, sizeof of, " of %.0f tokens", sequence);
    if (batches > 1) snprintf(more, sizeof more, ", %.0f a step", batches);
    if (config->mode != PACE_TRAINING)
        pace_node_note(root, "Inference, micro-batch %.0f%s, framework %s, %s, %s; change these with --set.",
                       config->micro_batch, of, framework, execution, precision);
    else
        pace_node_note(
            root,
            "Training, micro-batch %.0f%s%s, framework %s, %s, %s, optimizer %s, recomputation %s; change these with --set.",
            config->micro_batch, of, more, framework, execution, precision, pace_config_word(config, "optimizer"),
            pace_config_word(config, "recompute"));
}

/* What a framework shares besides dp, tp, pp, which is not asked for by name. */
static void put_sharing(pace_node *root, const asked *a) {
    const pace_config *config = &a->row.config;
    if (pace_framework_is_lowered(a->row.framework)) return;
    pace_node_note(root, "ZeRO stage %g, sequence parallelism %s, attention %s.", config->zero_stage,
                   config->sequence_parallel > 0 ? "on" : "off", pace_config_word(config, "attention"));
}

static void warn_of_memory(pace_report *report, const asked *a, double bytes) {
    if (a->plan.device_bytes > 0 && bytes > a->plan.device_bytes)
        pace_report_warn(report, "does not fit: each rank needs %s, %s has %s", pace_show_bytes(bytes).text,
                         a->row.device->name, pace_show_bytes(a->plan.device_bytes).text);
}

static pace_status build(pace_report *report, const asked *a, const char *on, pace_catalog *catalog) {
    pace_node *root = pace_report_root(report);
    pace_estimate s = a->answer.time_s;
    double low_s = pace_estimate_low(s), high_s = pace_estimate_high(s);
    pace_node_sentence(root, true, "The step would take %s (%s to %s) on %g of %s: %s tokens/s per device.",
                       pace_show_ns(ns(s.median)).text, pace_show_ns(ns(low_s)).text, pace_show_ns(ns(high_s)).text,
                       a->row.ranks, on, pace_show_real(a->row.tokens / s.median).text);
    put_how(root, a);
    put_sharing(root, a);
    warn_of_memory(report, a, a->plan.memory.all_bytes);
    pace_node_text(root, "model", pace_names_text(&a->model.names, a->model.name));
    pace_node_text(root, "machine", on);
    pace_node_text(root, "device", a->row.device->name);
    pace_node_text(root, "framework", a->row.framework->name);
    pace_node_int(root, "ranks", (int64_t)a->row.ranks);
    pace_node *step = pace_node_object(root, "step", NULL, PACE_FOR_JSON);
    pace_node_int(step, "step_ns", ns(s.median));
    pace_node_int(step, "low_ns", (int64_t)floor(low_s * 1e9));
    pace_node_int(step, "high_ns", (int64_t)ceil(high_s * 1e9));
    pace_node_text(step, "rung", pace_rung_names[s.rung]);
    pace_node_real(step, "device_tokens_per_s", a->row.tokens / s.median);
    pace_node_real(step, "device_memory_bytes", a->plan.device_bytes > 0 ? a->plan.device_bytes : NAN);
    put_parts(root, &a->answer.parts);
    put_memory(root, &a->plan);
    put_help(root, a);
    pace_doubts_used used = {{0}};
    used.added[a->fitted ? PACE_DOUBT_STEP_FIT : PACE_DOUBT_STEP_FORM] = s.spread;
    PACE_TRY(pace_put_assumptions(root, catalog, &used));
    return pace_report_status(report);
}

static pace_status answer_asked(asked *a, const char *name, const pace_predict_options *options) {
    PACE_TRY(check_options(options));
    if (options->fits.count) PACE_TRY(pace_step_fit_load(&a->fit, options->fits.items[0]));
    a->fitted = options->fits.count > 0;
    return answer(a, name, options);
}

pace_status pace_predict_step(pace_report **out, const char *name, const pace_predict_options *options) {
    asked a = {0};
    pace_report *report = NULL;
    pace_status status = answer_asked(&a, name, options);
    if (status == PACE_OK) status = pace_report_new(&report, "step", "A step of many ranks");
    if (status == PACE_OK) {
        pace_report_set_command(report, options->command, options->command_count);
        status = build(report, &a, options->on.items[0], options->context->catalog);
    }
    close_asked(&a);
    return pace_report_give(out, report, status);
}

/* --- beside a walk ------------------------------------------------------------------------------------------------ */

/* Parameters from which on a model counts as large: the closed form was compared with published runs of such. */
static const double LARGE_PARAMETERS = 1e9;

static void put_beside(pace_report *report, const asked *a, const char *on, double walked_s) {
    pace_node *root = pace_report_root(report), *node = pace_node_object(root, "closed_form", NULL, PACE_FOR_JSON);
    pace_estimate s = a->answer.time_s;
    double low_s = pace_estimate_low(s), high_s = pace_estimate_high(s);
    double bytes = a->plan.memory.all_bytes, device_bytes = a->plan.device_bytes;
    bool large = pace_model_total(&a->model, &a->row.config).parameters >= LARGE_PARAMETERS;
    pace_node_int(node, "step_ns", ns(s.median));
    pace_node_int(node, "low_ns", (int64_t)floor(low_s * 1e9));
    pace_node_int(node, "high_ns", (int64_t)ceil(high_s * 1e9));
    pace_node_real(node, "ratio", s.median / walked_s);
    pace_node_real(node, "memory_bytes", bytes);
    pace_node_real(node, "device_memory_bytes", device_bytes > 0 ? device_bytes : NAN);
    put_how(root, a);
    warn_of_memory(report, a, bytes);
    if (a->row.ranks < 2 && !large) return;
    pace_node_note(root,
                   "Check: the closed form that answers ZeRO and pipelines makes it %s (%s to %s) on %s, %+.1f %%.",
                   pace_show_ns(ns(s.median)).text, pace_show_ns(ns(low_s)).text, pace_show_ns(ns(high_s)).text, on,
                   100 * (s.median / walked_s - 1));
}

pace_status pace_put_closed_form(pace_report *report, const char *name, const pace_predict_options *options,
                                 double walked_s) {
    asked a = {0};
    pace_status status = answer(&a, name, options);
    if (status == PACE_OK) put_beside(report, &a, options->on.items[0], walked_s);
    close_asked(&a);
    return status == PACE_E_MEMORY ? status : pace_report_status(report);
}

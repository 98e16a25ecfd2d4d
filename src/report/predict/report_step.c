#include "base/order.h"
#include "report/predict/predict_parts.h"
#include "ask/predict/closed_step.h"
#include "ask/predict/setting_effects.h"
#include "ask/predict/step_memory.h"
#include "report/show.h"
#include "report/analyze/analyze_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const char *name;
    int64_t time_ns;
    double share;
} part_row;

PACE_TABLE(part_table, "parts", "The slowest rank's step", PACE_FOR_ALL, 0,
           {"part", "Where the time goes", PACE_SHOW_TEXT, PACE_OF(part_row, name)},
           {"time_ns", "time", PACE_SHOW_NS, PACE_OF(part_row, time_ns)},
           {"share", "share", PACE_SHOW_SHARE, PACE_OF(part_row, share)});

static void put_parts(pace_node *root, const pace_step_time *t, double skew_s) {
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
                 {"slowest rank", skew_s},
                 {"other", t->other_s}};
    pace_node *table = pace_open_table(root, &part_table, 0);
    for (size_t i = 0; i < PACE_COUNT(parts); i++)
        pace_table_put(table, &(part_row){parts[i].name, pace_ns(parts[i].s), parts[i].s / (t->total_s + skew_s)});
    pace_node_note(root,
                   "Exchanges count only their exposed part; the bubble is the time to fill and drain the pipeline. "
                   "docs/step_rows.md has the equations.");
}

typedef struct {
    const char *kind;
    double bytes;
} memory_row;

PACE_TABLE(memory_table, "memory", "Memory of the fullest rank", PACE_FOR_ALL, 0,
           {"kind", "Memory of each rank", PACE_SHOW_TEXT, PACE_OF(memory_row, kind)},
           {"held_bytes", "memory", PACE_SHOW_BYTES, PACE_OF(memory_row, bytes)});

void pace_put_step_memory(pace_node *root, const pace_step_plan *plan, double merging_bytes) {
    double all_bytes = plan->memory.all_bytes + merging_bytes;
    const memory_row kinds[] = {{"parameters", plan->memory.weight_bytes},
                                {"gradients", plan->memory.gradient_bytes},
                                {"optimizer", plan->memory.optimizer_bytes},
                                {"activations", plan->memory.activation_bytes},
                                {"libraries", plan->memory.library_bytes},
                                {"merged gradients", merging_bytes}};
    pace_node *table = pace_open_table(root, &memory_table, 0);
    size_t count = PACE_COUNT(kinds) - (merging_bytes > 0 ? 0 : 1);
    for (size_t i = 0; i < count; i++) pace_table_put(table, &kinds[i]);
    pace_table_put(table, &(memory_row){"all", all_bytes});
    if (plan->device_bytes > 0)
        pace_node_note(root, "%s of the device's %s.", pace_show_bytes(all_bytes).text,
                       pace_show_bytes(plan->device_bytes).text);
}

typedef struct {
    const char *change;
    double saved;
} saving;

PACE_TABLE(help_table, "help", "What would help most", PACE_FOR_ALL, 0,
           {"change", "Without", PACE_SHOW_TEXT, PACE_OF(saving, change)},
           {"saved_share", "the step saves", PACE_SHOW_SHARE, PACE_OF(saving, saved)});

PACE_ORDER(larger_first, saving, PACE_DOWN(saved))

/* The step once more with each of its causes free: what of it that would save. */
static void put_help(pace_node *root, const pace_closed_step *a) {
    static const char *const words[PACE_STEP_FACTORS] = {"matrix products",
                                                         "attention",
                                                         "other kernels",
                                                         "exchanges inside nodes",
                                                         "exchanges between nodes",
                                                         "the host",
                                                         "the update",
                                                         NULL,
                                                         "what every step has besides"};
    saving savings[PACE_STEP_FACTORS] = {0};
    size_t count = 0;
    for (int i = 0; i < PACE_STEP_FACTORS; i++)
        if (words[i]) savings[count++] = (saving){words[i], a->savings[i]};
    qsort(savings, count, sizeof *savings, larger_first);
    pace_put_table(root, &help_table, savings, count, sizeof *savings);
}

/* How convolutions take images, where that is not as they are held. */
static const char *images_of(const pace_step_asked *step) {
    if (step->convolves_in_tf32) return " with convolutions in TF32";
    bool copied = pace_model_copies_images(&step->model, &step->asked.config, step->asked.device);
    return copied ? " with images in nchw, which convolutions copy (not with layout=nhwc)" : "";
}

/* "selective of moe_act+layernorm" */
static void say_recompute(char *out, size_t size, const pace_step_asked *step) {
    const pace_config *config = &step->asked.config;
    char names[PACE_MODULES_TEXT];
    unsigned modules = pace_config_modules(config);
    pace_config_modules_text(names, sizeof names, modules);
    if (step->settled.recomputed) snprintf(out, size, "full (assumed: without it the step does not fit)");
    else if (config->recompute == PACE_RECOMPUTE_FULL && config->recompute_layers > 0)
        snprintf(out, size, "full of the first %.0f layers of each %s", config->recompute_layers,
                 config->vpp > 1 ? "chunk" : "stage");
    else snprintf(out, size, "%s%s%s", pace_config_word(config, "recompute"), modules ? " of " : "", names);
}

/* What an answer rests on, said or not. */
static void put_how(pace_node *root, const pace_step_asked *step) {
    const pace_config *config = &step->asked.config;
    const char *images = images_of(step);
    const char *framework = step->asked.framework->name;
    char recompute[PACE_MODULES_TEXT + 60];
    say_recompute(recompute, sizeof recompute, step);
    const char *precision = pace_config_word(config, "precision");
    char execution[64];
    snprintf(execution, sizeof execution, "%s%s%s", pace_config_word(config, "execution"),
             config->graphs ? " with device graphs of " : "", config->graphs ? pace_config_word(config, "graphs") : "");
    pace_put_model_note(root, &step->model, config);
    double sequence = pace_model_sequence(&step->model, config), batches = pace_config_micro_batches(config);
    char of[64] = "", more[64] = "";
    if (sequence > 0) snprintf(of, sizeof of, " of %.0f tokens", sequence);
    if (batches > 1)
        snprintf(more, sizeof more, ", %.0f a step%s", batches, step->usual_rounds ? " (assumed: eight a stage)" : "");
    const char *offloaded = config->offload == PACE_OFFLOAD_OPTIMIZER     ? " offloaded to the host"
                            : config->offload == PACE_OFFLOAD_ACTIVATIONS ? ", activations offloaded to the host"
                                                                          : "";
    if (config->mode != PACE_TRAINING)
        pace_node_note(root, "Inference, micro-batch %.0f%s, framework %s, %s, %s%s; change these with --set.",
                       config->micro_batch, of, framework, execution, precision, images);
    else
        pace_node_note(
            root,
            "Training, micro-batch %.0f%s%s, framework %s, %s, %s%s, optimizer %s%s, recomputation %s; change these with --set.",
            config->micro_batch, of, more, framework, execution, precision, images,
            pace_config_word(config, "optimizer"), offloaded, recompute);
}

static void put_adapters(pace_node *root, const pace_step_asked *step) {
    static const char *const beside[] = {[PACE_LORA_ATTENTION] = "the products around attention",
                                         [PACE_LORA_ALL] = "all products of repeated blocks",
                                         [PACE_LORA_QUERY_VALUE] = "the products of queries and values"};
    const pace_config *config = &step->asked.config;
    pace_model_totals total = pace_model_total(&step->model, config);
    if (config->lora > 0)
        pace_node_note(root, "Adapters of rank %g beside %s: %s of %s parameters are trained%s%s.", config->lora,
                       beside[config->lora_layers], pace_show_real(total.trained).text,
                       pace_show_real(total.parameters).text,
                       config->quantized ? "; frozen products of repeated blocks keep their weights in " : "",
                       config->quantized ? pace_config_word(config, "quantized") : "");
}

static void put_tables(pace_node *root, const pace_step_asked *step) {
    if (step->all_devices)
        pace_node_note(root, "Assumed: all %g devices train, so dp is %g; --set dp, tp, pp says otherwise.",
                       pace_config_ranks(&step->asked.config), step->asked.config.dp);
    if (step->asked.assumes_tables)
        pace_node_note(root,
                       "Assumed: embedding tables are spread over all %g ranks; --set ep=1 keeps them whole on each.",
                       step->asked.config.ep);
}

/* What a framework shares besides dp, tp, pp, which is not asked for by name. */
static void put_sharing(pace_node *root, const pace_closed_step *a) {
    const pace_config *config = &a->step->asked.config;
    if (pace_framework_is_lowered(a->step->asked.framework)) return;
    pace_node_note(root, "ZeRO stage %g, sequence parallelism %s, attention %s.", config->zero_stage,
                   config->sequence_parallel > 0 ? "on" : "off", pace_config_word(config, "attention"));
}

pace_status pace_put_fit(pace_report *report, pace_step_asked *step) {
    const pace_step_plan *plan = &step->settled.plan;
    const char *device = step->asked.device->name;
    char advice[PACE_REMEDY_TEXT + 80];
    pace_step_room room = pace_step_tightest(plan, 0);
    double times = room.has_bytes > 0 ? room.need_bytes / room.has_bytes : 0;
    pace_shown need = pace_show_bytes(room.need_bytes), has = pace_show_bytes(room.has_bytes);
    if (step->settled.fitting == PACE_FITS) return PACE_OK;
    const pace_memory_asked memory = pace_memory_asked_of(step);
    PACE_TRY(pace_step_advise(advice, sizeof advice, &memory, plan));
    if (step->settled.fitting == PACE_MAY_FIT) {
        pace_report_lead(report, PACE_WARN_MAY_NOT_FIT, "May not fit: each rank needs about %s, %s has %s. %s",
                         need.text, device, has.text, advice);
        return PACE_OK;
    }
    pace_report_deny(report);
    pace_report_lead(report, PACE_WARN_DOES_NOT_FIT, "Does not fit: %s %s, %s has %s (%.1f times as much). %s",
                     room.of_host ? "the ranks of a node need" : "each rank needs", need.text,
                     room.of_host ? "their host" : device, has.text, times, advice);
    return PACE_OK;
}

/* Which precision was assumed, and what another would give. */
static void put_precision(pace_node *root, const pace_step_asked *step) {
    pace_config half = step->asked.config;
    half.precision = pace_step_autocast(&step->asked);
    pace_precision in = pace_config_matrix_precision(&half);
    pace_precision now = pace_step_main_precision(&step->asked);
    double single = pace_device_rate(step->asked.device, now), rate = pace_device_rate(step->asked.device, in);
    if (step->precision_unsaid && rate > single)
        pace_node_sentence(
            root, true,
            "No precision was given: fp32 is assumed, the default of %s%s. By the device's peaks products are %.3g "
            "times as fast with --set precision=%s.",
            step->asked.framework->name, now == PACE_TF32 ? ", most of it in TF32" : "", rate / single,
            pace_config_word(&half, "precision"));
    bool other = step->precision_unsaid && step->asked.framework->precision == PACE_RUN_FP32 &&
                 step->asked.config.precision != PACE_RUN_FP32;
    if (other && !(step->asked.device->flop_per_s[PACE_FP32] > 0))
        pace_node_sentence(root, true,
                           "No precision was given: %s is assumed, since the catalogue has no rate of %s in fp32.",
                           pace_config_word(&step->asked.config, "precision"), step->asked.device->name);
    else if (other)
        pace_node_sentence(root, true,
                           "No precision was given: %s is assumed, usual for a model of this size; "
                           "--set precision=fp32 changes it.",
                           pace_config_word(&step->asked.config, "precision"));
}

/* What offloading takes of the host's memory. */
static void put_host_memory(pace_node *root, const pace_step_asked *step) {
    double on_host = step->settled.plan.host_bytes, of_host = step->asked.host_bytes;
    if (on_host > 0 && of_host > 0)
        pace_node_note(root, "The host of a node holds %s in its memory of %s.", pace_show_bytes(on_host).text,
                       pace_show_bytes(of_host).text);
    else if (on_host > 0)
        pace_node_sentence(root, true,
                           "The memory of a node's host was not given: %s of it would be taken; "
                           "--on \"%.60s host-memory=1TB\" checks that it fits.",
                           pace_show_bytes(on_host).text,
                           step->machine.devices ? step->machine.name : step->asked.device->name);
}

/* A step whose counted memory is less than the device's, by less than memory is known to. */
static void put_closely(pace_node *root, const pace_step_asked *step) {
    const pace_step_plan *plan = &step->settled.plan;
    double need = plan->memory.all_bytes, has = plan->device_bytes;
    if (step->asked.device->is_cpu || step->settled.fitting != PACE_FITS) return;
    if (pace_step_surely_fits(need, has, pace_cost_doubts(step->pricer.cost))) return;
    pace_node_sentence(root, true, "It fits closely: each rank needs about %s of %s, and memory is known to a quarter.",
                       pace_show_bytes(need).text, pace_show_bytes(has).text);
}

void pace_put_lacks(pace_node *root, const pace_framework *framework, const pace_config *config) {
    char lacks[160];
    if (pace_framework_lacks(lacks, sizeof lacks, framework, config))
        pace_node_sentence(root, true, "%s has no %s as far as the catalogue knows: this is answered as if it had.",
                           framework->name, lacks);
}

void pace_put_unsaid(pace_node *root, const pace_step_asked *step) {
    double ranks = pace_config_ranks(&step->asked.config);
    if (step->idle_devices > 0)
        pace_node_sentence(root, true, "That is %g of the %g devices of %s.", ranks, ranks + step->idle_devices,
                           step->machine.name);
    if (step->largest_batch)
        pace_node_sentence(
            root, true,
            "No batch was given: micro-batch %.0f is assumed, the largest power of two that fits, at most %.0f; "
            "--set micro_batch=N changes it.",
            step->asked.config.micro_batch, step->frameworks.micro_batch_most);
    pace_put_lacks(root, step->asked.framework, &step->asked.config);
    put_precision(root, step);
    if (step->two_way)
        pace_node_note(root,
                       "dualpipe on %g stages is answered as dualpipe-v on %g, each held twice: ranks that mirror each "
                       "other hold the same layers.",
                       2 * step->asked.config.pp, step->asked.config.pp);
    if (step->scales_losses)
        pace_node_note(root, "fp16 is taken for autocast (amp): PyTorch scales no gradients in half precision.");
    if (step->widens_packed)
        pace_node_note(root, "What is not packed is taken to be in single precision, as this framework's trainer "
                             "casts it.");
    put_host_memory(root, step);
    put_closely(root, step);
    if (step->settled.recomputed)
        pace_node_sentence(
            root, true,
            "No recomputation was given: all activations are recomputed, because the step does not fit into memory "
            "otherwise.");
}

void pace_put_step_values(pace_report *report, pace_estimate step_s) {
    pace_report_value(report, "step.median_s", step_s.median);
    pace_report_value(report, "step.low_s", pace_estimate_low(step_s));
    pace_report_value(report, "step.high_s", pace_estimate_high(step_s));
}

/* What the timeline shows, and how long that takes. */
static pace_status put_picture(pace_report *report, const pace_closed_step *a) {
    if (!a->picture) return PACE_OK;
    double skew_s = a->step->settled.closed_skew_s;
    char with[96] = "";
    if (skew_s > 0)
        pace_snprintf(with, sizeof with, ", of which replicas wait %s for the slowest of them",
                      pace_show_ns(pace_ns(skew_s * a->stretch)).text);
    pace_node_note(pace_report_root(report),
                   "The timeline draws the closed form's schedule, turn by turn: there the step takes %s%s.",
                   pace_show_ns(pace_ns(a->drawn_s)).text, with);
    pace_note_stretch(pace_report_root(report), a->stretch);
    PACE_TRY(pace_put_stages(report, a->picture, a->step));
    pace_put_stage_memory(report, &a->memory, a->step->settled.plan.device_bytes);
    return PACE_OK;
}

static void warn_of_kernels(pace_report *report, const pace_step_slots *slots) {
    if (slots->beyond_s > 0)
        pace_report_warn(
            report, PACE_WARN_EXTRAPOLATED, pace_doubt_name(PACE_DOUBT_KERNEL_BEYOND),
            "%.0f %% of the kernels' time is of sizes, a device, a precision or a kind that the fit has no "
            "rows of: it is carried over from the nearest rows",
            ceil(100 * slots->beyond_s / slots->kernels_s));
}

static void put_road(pace_node *root, const pace_closed_step *a) {
    const pace_step_case *one = &a->step->asked;
    pace_node_sentence(root, false, "Answered in closed form: %s%s.", pace_step_why_closed(one),
                       pace_step_has_operators(one) ? "; its what-ifs are walked" : "");
}

typedef struct {
    const pace_closed_step *answer;
    const char *on;
    pace_catalog *catalog;
} question;

static pace_status build(pace_report *report, void *context) {
    const question *q = context;
    const pace_closed_step *a = q->answer;
    pace_node *root = pace_report_root(report);
    pace_estimate s = a->answer.time_s;
    double ranks = pace_config_ranks(&a->step->asked.config);
    PACE_TRY(pace_put_fit(report, a->step));
    const pace_step_rate rate = pace_put_step_takes(root, a->step, s);
    pace_put_unsaid(root, a->step);
    warn_of_kernels(report, a->step->settled.plan.slots);
    put_road(root, a);
    put_how(root, a->step);
    put_tables(root, a->step);
    put_adapters(root, a->step);
    put_sharing(root, a);
    pace_put_curves_note(root, a->fits);
    PACE_TRY(put_picture(report, a));
    pace_node_text(root, "model", pace_names_text(&a->step->model.names, a->step->model.name));
    pace_node_text(root, "machine", q->on);
    pace_node_text(root, "device", a->step->asked.device->name);
    pace_node_text(root, "framework", a->step->asked.framework->name);
    pace_node_int(root, "ranks", (int64_t)ranks);
    pace_node *step = pace_node_object(root, "step", NULL, PACE_FOR_JSON);
    pace_node_int(step, "step_ns", pace_ns(s.median));
    pace_node_int(step, "low_ns", pace_estimate_low_ns(s));
    pace_node_int(step, "high_ns", pace_estimate_high_ns(s));
    pace_node_text(step, "rung", pace_rung_names[s.rung]);
    pace_node_real(step, "device_tokens_per_s", rate.of_tokens ? rate.per_s : (double)NAN);
    pace_node_real(step, "mfu_share", rate.mfu);
    pace_node_real(step, "device_memory_bytes",
                   a->step->settled.plan.device_bytes > 0 ? a->step->settled.plan.device_bytes : NAN);
    pace_put_step_values(report, s);
    put_parts(root, &a->answer.parts, a->step->settled.closed_skew_s);
    pace_put_step_memory(root, &a->step->settled.plan, 0);
    put_help(root, a);
    return pace_put_assumptions(root, q->catalog, &a->used, s);
}

pace_status pace_predict_step(pace_report **out, pace_step_asked *step, const pace_predict_fits *fits,
                              const pace_predict_options *options) {
    pace_closed_step answer;
    pace_report *report = NULL;
    PACE_TRY(pace_closed_step_ask(&answer, step, fits, options));
    question q = {&answer, options->on.items[0], options->context->catalog};
    pace_status status = pace_report_build(&report, "step", "A step of many ranks", build, &q);
    pace_memory_series_free(&answer.memory);
    if (status != PACE_OK) {
        if (answer.picture) pace_free_analysis(answer.picture);
        return status;
    }
    if (answer.picture) pace_report_set_trace(report, pace_write_analysis_trace, answer.picture, pace_free_analysis);
    *out = report;
    return PACE_OK;
}

/* --- beside a walk ------------------------------------------------------------------------------------------------ */

/* Parameters from which on a model counts as large: the closed form was compared with published runs of such. */
static const double LARGE_PARAMETERS = 1e9;

void pace_put_closed_form(pace_report *report, pace_step_asked *step, const char *on, double walked_s) {
    pace_node *root = pace_report_root(report), *node = pace_node_object(root, "closed_form", NULL, PACE_FOR_JSON);
    pace_estimate s = step->settled.closed_s;
    double low_s = pace_estimate_low(s), high_s = pace_estimate_high(s);
    const pace_step_plan *plan = &step->settled.plan;
    double bytes = plan->memory.all_bytes;
    bool large = pace_model_total(&step->model, &step->asked.config).parameters >= LARGE_PARAMETERS;
    pace_node_int(node, "step_ns", pace_ns(s.median));
    pace_node_int(node, "low_ns", pace_estimate_low_ns(s));
    pace_node_int(node, "high_ns", pace_estimate_high_ns(s));
    pace_node_real(node, "ratio", s.median / walked_s);
    pace_node_real(node, "memory_bytes", bytes);
    pace_node_real(node, "device_memory_bytes", plan->device_bytes > 0 ? plan->device_bytes : NAN);
    pace_node_real(node, "host_bytes", plan->host_bytes);
    pace_node_real(node, "host_memory_bytes", step->asked.host_bytes > 0 ? step->asked.host_bytes : NAN);
    put_how(root, step);
    put_tables(root, step);
    put_adapters(root, step);
    if (pace_config_ranks(&step->asked.config) < 2 && !large) return;
    const char *what =
        pace_step_closes(&step->asked) ? "Check: the closed form" : "Exchanging as NCCL does, the closed form";
    pace_node_note(root, "%s makes it %s (%s to %s) on %s, %s.", what, pace_show_ns(pace_ns(s.median)).text,
                   pace_show_ns(pace_ns(low_s)).text, pace_show_ns(pace_ns(high_s)).text, on,
                   pace_show_change(s.median / walked_s - 1).text);
}

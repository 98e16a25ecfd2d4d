#include "ask/predict/step_ask.h"
#include "ask/predict/found_model.h"
#include "ask/predict/setting_effects.h"
#include "machine/counted_name.h"
#include "model/adapters.h"
#include "model/model_settings.h"
#include "model/pipeline_turns.h"
#include "model/recorded.h"

enum { UNSAID = -1 };

/* As it was recorded. */
static void follow(pace_config *config, const pace_recorded *recorded) {
    if (recorded->precision != PACE_NOT_RECORDED) config->precision = recorded->precision;
    if (recorded->optimizer != PACE_NOT_RECORDED) config->optimizer = recorded->optimizer;
    if (recorded->attention != PACE_NOT_RECORDED) config->attention = recorded->attention;
    config->layout = PACE_LAYOUT_USUAL; /* a recording says what its kernels take, not in which layout */
}

void pace_step_defaults_of(pace_config *config, const pace_framework *framework, const pace_model *model) {
    bool attends = pace_model_has_layer(model, PACE_LAYER_ATTENTION);
    pace_framework_defaults(config, framework);
    config->precision = framework->precision;
    config->recompute = attends ? framework->recompute : PACE_RECOMPUTE_NONE;
    config->optimizer = model->sequence > 0 || attends ? PACE_ADAM : PACE_SGD;
    if (model->recorded) follow(config, model->recorded);
}

double pace_step_usual_rounds(const pace_config *config) {
    return config->pp > 1 && config->mode == PACE_TRAINING ? 8 * config->pp : 1;
}

bool pace_model_has_tables(const pace_model *model) {
    bool tables = false;
    for (size_t i = 0; i < model->layers.count; i++) tables |= model->layers.items[i].rule->sparse;
    return tables;
}

bool pace_step_spreads_tables(pace_config *config, const pace_model *model, bool shards) {
    if (!pace_model_has_tables(model) || config->dp * config->cp <= 1) return false;
    config->ep = config->dp * config->cp;
    if (!shards) config->zero_stage = 0;
    return true;
}

/* Defaults depend on the model, and the model on settings: so fields that settings leave alone are told by a mark. */
static void fill(pace_config *config, const pace_config *usual) {
    int *const fields[] = {&config->optimizer, &config->precision, &config->recompute,
                           &config->execution, &config->attention, &config->layout};
    const int values[] = {usual->optimizer, usual->precision, usual->recompute,
                          usual->execution, usual->attention, usual->layout};
    for (size_t i = 0; i < PACE_COUNT(values); i++)
        if (*fields[i] == UNSAID) *fields[i] = values[i];
    if (config->zero_stage == UNSAID) config->zero_stage = usual->zero_stage;
    if (pace_schedule_is_v(config->schedule) && config->vpp == 1) config->vpp = PACE_V_CHUNKS;
    if (config->sequence_parallel == UNSAID) config->sequence_parallel = usual->sequence_parallel;
    if (config->recompute_modules == 0) config->recompute_modules = usual->recompute_modules;
    config->selects_products = usual->selects_products;
    config->keeps_fp8 = usual->keeps_fp8;
    config->routes_inside = usual->routes_inside;
    config->wide_adapters = usual->wide_adapters;
    config->wide_softmax = usual->wide_softmax;
    config->pixels_as_laid = usual->pixels_as_laid;
    config->fuses_norms = usual->fuses_norms;
    config->parts_loss = usual->parts_loss;
    config->sums_beside = usual->sums_beside;
    config->tokens_once = usual->tokens_once;
    config->whole_experts = usual->whole_experts;
    config->sums_in_convolutions = usual->sums_in_convolutions;
}

pace_run_precision pace_step_autocast(const pace_step_case *asked) {
    const double *rates = asked->device->flop_per_s;
    if (asked->config.precision != PACE_RUN_FP32 || asked->model->recorded) return PACE_RUN_FP32;
    bool frozen = asked->config.lora > 0;
    if (rates[PACE_BF16] > 0) return frozen ? PACE_RUN_BF16 : PACE_RUN_AMP_BF16;
    return rates[PACE_FP16] > 0 ? PACE_RUN_AMP : PACE_RUN_FP32;
}

/* A framework's own half precision is that of its usual devices: bf16 on a V100 is fp16, fp16 on a Gaudi bf16. */
static pace_run_precision half_of(const pace_device *device, pace_run_precision precision) {
    static const pace_run_precision pairs[][2] = {{PACE_RUN_FP16, PACE_RUN_BF16}, {PACE_RUN_AMP, PACE_RUN_AMP_BF16}};
    const bool halves[] = {device && (device->flop_per_s[PACE_FP16] > 0 || pace_device_widens_half(device, PACE_FP16)),
                           device && device->flop_per_s[PACE_BF16] > 0};
    for (size_t i = 0; i < PACE_COUNT(pairs); i++)
        for (int one = 0; one < 2; one++)
            if (precision == pairs[i][one] && !halves[one] && halves[!one]) return pairs[i][!one];
    return precision;
}

/* A model's parameters without adapters, which rows add after they settled a precision, and options before. */
static double own_parameters(const pace_model *model, const pace_config *config) {
    pace_model_totals total = pace_model_total(model, config);
    return total.parameters - (model->lora > 0 ? total.trained : 0);
}

pace_run_precision pace_step_usual_precision(const pace_frameworks *frameworks, const pace_step_case *asked) {
    const pace_device *device = asked->device;
    pace_step_case single = *asked;
    single.config.precision = asked->framework->precision;
    bool trains = asked->config.mode == PACE_TRAINING,
         half = device && !device->is_cpu && device->flop_per_s[PACE_BF16] > 0;
    if (!half || asked->framework->precision != PACE_RUN_FP32 || asked->model->recorded)
        return half_of(device, (pace_run_precision)single.config.precision);
    bool has_single = device->flop_per_s[PACE_FP32] > 0;
    if (has_single && (!trains || own_parameters(asked->model, &single.config) < frameworks->mixed_parameters))
        return PACE_RUN_FP32;
    return pace_step_autocast(&single);
}

bool pace_step_scales_losses(pace_config *config, const pace_framework *framework, const pace_model *model) {
    bool taken = config->precision == PACE_RUN_FP16 && config->zero_stage < 3 && pace_config_trains_all(config) &&
                 pace_framework_is_lowered(framework) && !model->recorded;
    if (taken) config->precision = PACE_RUN_AMP;
    return taken;
}

bool pace_step_widen_packed(pace_config *config) {
    bool fp16 = config->precision == PACE_RUN_FP16, half = fp16 || config->precision == PACE_RUN_BF16;
    if (!half || !config->quantized) return false;
    config->precision = fp16 ? PACE_RUN_AMP : PACE_RUN_AMP_BF16;
    return true;
}

/* Who names a machine trains on all of it: replicas of tp x pp x cp fill it. */
static pace_status fill_machine(pace_step_asked *a, const pace_words *set, double devices) {
    pace_config *config = &a->asked.config;
    double replicas = pace_config_replicas(config, devices);
    a->all_devices = config->mode == PACE_TRAINING && replicas > 1 && !pace_settings_name_replicas(set);
    if (!a->all_devices) return PACE_OK;
    config->dp = replicas;
    if (fmod(config->global_batch, config->micro_batch * replicas) == 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "set: global_batch %g is no multiple of micro_batch x %g, the replicas that fill the %g devices "
                     "where no dp is said",
                     config->global_batch, replicas, devices);
}

static bool has_kernels(const pace_predict_fits *fits) { return fits && fits->kernels.count > 0; }

/* `devices` of the machine: 1 = of no matter; 0 = how they share the step is still to be chosen. `alone`: it is not one
 * of several numbers of workers, to which settings apply where they can. */
static pace_status open_model(pace_step_asked *a, pace_catalog *catalog, const pace_step_words *words, double devices,
                              bool alone) {
    const pace_words *set = words->set;
    const char *framework = pace_framework_asked(set);
    pace_config *config = &a->asked.config, usual = pace_config_default();
    PACE_TRY(pace_frameworks_load(&a->frameworks, catalog));
    a->asked.framework = pace_frameworks_find(&a->frameworks, "");
    if (framework) {
        PACE_TRY(pace_frameworks_named(&a->asked.framework, &a->frameworks, framework));
        a->asked.framework = pace_frameworks_released(&a->frameworks, a->asked.framework, framework, words->device);
    }
    *config = usual;
    config->optimizer = config->precision = config->recompute = config->execution = config->attention = UNSAID;
    config->layout = UNSAID;
    config->zero_stage = config->sequence_parallel = config->ep = UNSAID;
    pace_model_settings own;
    PACE_TRY(pace_model_settings_read(&own, config, catalog, set));
    pace_status status = pace_found_model_open(&a->model, catalog, words->name, own.items.items, own.items.count);
    pace_model_settings_free(&own);
    PACE_TRY(status);
    a->has_model = true;
    PACE_TRY(pace_model_take_adapters(&a->model, config));
    a->asked.model = &a->model;
    a->asked.may_recompute = config->recompute == UNSAID;
    a->precision_unsaid = config->precision == UNSAID;
    PACE_TRY(fill_machine(a, set, devices));
    a->two_way = config->schedule == PACE_SCHEDULE_DUALPIPE;
    if (a->two_way && devices == 0) config->schedule = PACE_SCHEDULE_DUALPIPE_V; /* stages are still to be chosen */
    PACE_TRY(pace_config_take_two_way(config));
    pace_step_defaults_of(&usual, a->asked.framework, &a->model);
    a->zero_said = config->zero_stage != UNSAID;
    fill(config, &usual);
    a->asked.device = words->device;
    if (a->precision_unsaid && !a->model.recorded)
        config->precision = pace_step_usual_precision(&a->frameworks, &a->asked);
    a->scales_losses = pace_step_scales_losses(config, a->asked.framework, &a->model);
    a->widens_packed = a->asked.framework->widens_packed > 0 && pace_step_widen_packed(config);
    bool shared = devices > 0;
    PACE_TRY(pace_settings_check_effect(set, &(pace_setting_question){config, &a->model, a->asked.framework,
                                                                      shared && alone, has_kernels(words->fits)}));
    if (shared && config->dp * config->cp == 1 && !pace_framework_is_lowered(a->asked.framework))
        config->zero_stage = 0;
    if (shared && config->tp == 1) config->sequence_parallel = 0;
    if (config->ep == UNSAID)
        config->ep = 1, a->asked.assumes_tables = pace_step_spreads_tables(config, &a->model, a->zero_said);
    return PACE_OK;
}

pace_status pace_step_model_open(pace_step_asked *out, pace_catalog *catalog, const char *name, const pace_words *set) {
    const pace_step_words words = {.name = name, .set = set};
    return open_model(out, catalog, &words, 1, true);
}

static pace_status join(pace_step_asked *a, pace_catalog *catalog, const pace_step_words *words) {
    PACE_TRY(pace_exchange_open(&a->exchange, catalog, &a->machine, PACE_LIBRARY_AUTO, NULL));
    PACE_TRY(pace_predict_fits_join(words->fits, catalog, &a->exchange));
    a->asked.exchange = &a->exchange;
    return PACE_OK;
}

/* Weights lie packed for those alone who measured products of such. */
static pace_status check_weights(const pace_config *config, const pace_cost *cost) {
    if (config->weights != PACE_WEIGHTS_PACKED || pace_cost_knows_packed(cost)) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "set: weights=packed has no effect: no fit has rows of packed_linear, as calibrate "
                                   "measures them by the family packed_linear");
}

/* Fits, and above them what a recording of the model says of its own kernels. */
static pace_status open_pricer(pace_step_asked *a, pace_catalog *catalog, const pace_step_words *words) {
    const pace_recorded *recorded = a->model.recorded;
    PACE_TRY(pace_step_pricer_open(&a->pricer, catalog));
    a->has_pricer = true;
    PACE_TRY(pace_predict_fits_kernels(words->fits, a->pricer.cost));
    PACE_TRY(check_weights(&a->asked.config, a->pricer.cost));
    a->asked.fitted = a->pricer.cost;
    if (!recorded) return PACE_OK;
    return pace_cost_add_timed(a->pricer.cost, &recorded->device, recorded->kernels.items, recorded->kernels.count);
}

/* Experts of fewer nodes than a token may go to are all within its reach. */
static pace_status check_routes(const pace_config *config, const pace_machine *machine) {
    double ranks = pace_config_group_size(config, PACE_GROUP_EXPERT);
    double nodes = ceil(ranks * (double)pace_config_stride(config, PACE_GROUP_EXPERT) / machine->devices);
    if (!(config->expert_nodes > 0) || config->expert_nodes < nodes) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "set: expert_nodes has no effect: the experts are on %g node%s of %s", nodes,
                     nodes == 1 ? "" : "s", machine->name);
}

static pace_status open_place(pace_step_asked *a, pace_catalog *catalog, const pace_step_words *words) {
    static const char *const layout[] = {"layout", NULL};
    double ranks = pace_config_ranks(&a->asked.config), devices = 1;
    if (!pace_settings_name(words->set, layout))
        pace_framework_lay_out(&a->asked.config, a->asked.framework, words->device);
    a->asked.attention = pace_frameworks_attention(&a->frameworks, words->device->name, a->asked.framework->name);
    a->asked.spreads = a->frameworks.spreads;
    a->asked.host_bytes = words->machine ? words->machine->host_memory_bytes : words->host_bytes;
    if (words->machine) {
        a->machine = *words->machine;
        devices = (double)a->machine.devices * a->machine.nodes;
    }
    if (ranks > 1 && !words->machine) {
        char machines[PACE_HOLDERS_TEXT];
        PACE_TRY(pace_machines_that_hold(machines, catalog, words->device->name));
        if (!*machines) pace_snprintf(machines, sizeof machines, "\"%.40s*8 pcie=24GB/s\"", words->device->name);
        return pace_fail(PACE_E_MISSING, "%s: %g ranks exchange data: name a machine with " PACE_FIELD "on, as %s",
                         words->name, ranks, machines);
    }
    if (ranks > devices)
        return pace_fail(PACE_E_USAGE, "%s: a group of %g ranks: expected at most its %g devices (dp x tp x pp x cp)",
                         a->machine.name, ranks, devices);
    pace_machine_cut_slice(&a->machine, ranks);
    return ranks < 2 ? PACE_OK : join(a, catalog, words);
}

static bool exchanges_gradients(const pace_config *config) {
    return pace_config_trains(config) && pace_config_shares_gradients(config);
}

static pace_status choose_approach(pace_step_asked *a, pace_catalog *catalog, const pace_step_words *words) {
    if (words->approach && !pace_step_is_walked(&a->asked))
        return pace_fail(PACE_E_USAGE,
                         "approach: frameworks other than PyTorch, pipelines of inference and steps too large to be "
                         "walked are answered in closed form, which exchanges as NCCL does: expected none");
    if (!words->chosen && (words->approach || words->jitter) && !exchanges_gradients(&a->asked.config))
        return pace_fail(PACE_E_USAGE,
                         "%s: has no effect: no gradients are exchanged by one data-parallel rank, or where nothing is "
                         "trained (" PACE_FIELD "set dp=N, or " PACE_FIELD "workers N)",
                         words->approach ? "approach" : "jitter");
    a->asked.approach = &a->approach;
    if (words->chosen) {
        a->approach = *words->chosen;
        return PACE_OK;
    }
    if (words->approach) PACE_TRY(pace_approach_named(&a->approach, catalog, words->approach));
    else PACE_TRY(pace_step_usual_approach(&a->approach, catalog));
    return pace_approach_set_jitter(&a->approach, words->jitter);
}

/* Pipelines and ZeRO exchange gradients in buckets, or block by block. */
static pace_status open_approach(pace_step_asked *a, pace_catalog *catalog, const pace_step_words *words) {
    const pace_config *config = &a->asked.config;
    PACE_TRY(choose_approach(a, catalog, words));
    if (pace_approach_has_buckets(&a->approach) || (config->pp == 1 && config->zero_stage == 0)) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "approach %s: expected one that fills buckets, as ddp, with pipelines and ZeRO",
                     a->approach.name);
}

/* --- a batch ------------------------------------------------------------------------------------------------------ */

/* Whether a micro-batch fits, and in how much; one that cannot be does not. */
static pace_status try_batch(bool *fits, double *bytes, pace_step_pricer *pricer, const pace_step_case *asked,
                             double micro_batch) {
    pace_step_solution solution;
    pace_step_case one = *asked;
    one.config.micro_batch = micro_batch;
    one.config.global_batch = 0; /* follows */
    one.may_recompute = false;
    pace_status status = pace_step_settle(&solution, pricer, &one);
    if (status == PACE_E_MEMORY) return status;
    *fits = status == PACE_OK && solution.fitting == PACE_FITS;
    if (*fits) *bytes = solution.plan.memory.all_bytes;
    return PACE_OK;
}

/* Who says no number of samples of a whole step means no pipeline that is filled for one micro-batch. */
static void fill_pipeline(pace_step_asked *a, const pace_words *set) {
    static const char *const keys[] = {"global_batch", NULL};
    pace_config *config = &a->asked.config;
    a->usual_rounds = config->pp > 1 && config->mode == PACE_TRAINING && !pace_settings_name(set, keys);
    if (a->usual_rounds) config->global_batch = config->micro_batch * config->dp * pace_step_usual_rounds(config);
}

/* Memory grows by the same with each sample, nearly: the line through two says where to look. */
pace_status pace_step_choose_batch(double *out, pace_step_pricer *pricer, const pace_step_case *asked, double most) {
    double has = asked->device->memory_bytes, one_bytes = 0, two_bytes = 0, bytes, batch = 1;
    bool fits = false;
    *out = 1;
    if (asked->config.pp > 1 || asked->device->is_cpu || !(has > 0)) return PACE_OK;
    PACE_TRY(try_batch(&fits, &one_bytes, pricer, asked, 1));
    if (fits) PACE_TRY(try_batch(&fits, &two_bytes, pricer, asked, 2));
    if (!fits) return PACE_OK;
    double fitting = 1 + (has - one_bytes) / fmax(1, two_bytes - one_bytes);
    while (2 * batch <= fmin(most, fitting)) batch *= 2;
    for (fits = false; batch > 1; batch /= 2) {
        PACE_TRY(try_batch(&fits, &bytes, pricer, asked, batch));
        if (fits) break;
    }
    *out = batch;
    return PACE_OK;
}

/* Samples of one rank are run at once where they fit or the framework never parts them, else in the fewest equal parts
 * that do. */
pace_status pace_step_split_batch(double *out, pace_step_pricer *pricer, const pace_step_case *asked, double samples) {
    double has = asked->device->memory_bytes, bytes;
    bool fits = asked->device->is_cpu || !(has > 0) || asked->framework->whole_batches > 0;
    *out = asked->config.pp > 1 ? 1 : samples;
    if (asked->config.pp > 1) return PACE_OK;
    for (double parts = 1; !fits && *out > 1; parts++) {
        if (fmod(samples, parts) != 0) continue;
        *out = samples / parts;
        PACE_TRY(try_batch(&fits, &bytes, pricer, asked, *out));
    }
    return PACE_OK;
}

/* A global batch says how many samples each rank has. */
static pace_status split_global_batch(pace_step_asked *a, const pace_words *set) {
    static const char *const micro[] = {"micro_batch", NULL}, *const global[] = {"global_batch", NULL};
    pace_config *config = &a->asked.config;
    double samples = config->global_batch / config->dp;
    if (pace_settings_name(set, micro) || !pace_settings_name(set, global) || samples != floor(samples)) return PACE_OK;
    return pace_step_split_batch(&config->micro_batch, &a->pricer, &a->asked, samples);
}

pace_status pace_step_asked_open(pace_step_asked *out, pace_catalog *catalog, const pace_step_words *words) {
    const pace_machine *machine = words->machine;
    bool joined = machine && !words->compared;
    double devices = joined ? (double)machine->devices * machine->nodes : 1;
    PACE_TRY(open_model(out, catalog, words, devices, !words->chosen && !words->several));
    PACE_TRY(open_place(out, catalog, words));
    out->idle_devices = fmax(0, devices - pace_config_ranks(&out->asked.config));
    if (machine) PACE_TRY(check_routes(&out->asked.config, machine));
    PACE_TRY(pace_config_check_device(&out->asked.config, words->device));
    PACE_TRY(pace_framework_check_graphs(out->asked.framework, &out->asked.config, words->device));
    out->convolves_in_tf32 = out->asked.config.precision != PACE_RUN_TF32 &&
                             pace_model_convolves_in_tf32(&out->model, &out->asked.config) &&
                             pace_cost_precision(words->device, PACE_OP_CONVOLUTION, PACE_TF32) == PACE_TF32;
    PACE_TRY(open_approach(out, catalog, words));
    PACE_TRY(open_pricer(out, catalog, words));
    PACE_TRY(split_global_batch(out, words->set));
    if (words->device->is_cpu) return PACE_OK;
    if (!pace_settings_name_batch(words->set)) {
        double *batch = &out->asked.config.micro_batch;
        PACE_TRY(pace_step_choose_batch(batch, &out->pricer, &out->asked, out->frameworks.micro_batch_most));
        out->largest_batch = *batch > 1;
    }
    fill_pipeline(out, words->set);
    return pace_step_settle(&out->settled, &out->pricer, &out->asked);
}

pace_status pace_step_unshared_open(pace_step_asked *out, pace_catalog *catalog, const pace_step_words *words) {
    PACE_TRY(open_model(out, catalog, words, 0, true));
    PACE_TRY(open_place(out, catalog, words));
    if (!out->asked.exchange && words->machine && words->machine->devices * words->machine->nodes > 1)
        PACE_TRY(join(out, catalog, words));
    PACE_TRY(pace_config_check_device(&out->asked.config, words->device));
    PACE_TRY(open_approach(out, catalog, words));
    return open_pricer(out, catalog, words);
}

void pace_step_asked_close(pace_step_asked *asked) {
    if (asked->has_model) pace_model_free(&asked->model);
    if (asked->has_pricer) pace_step_pricer_close(&asked->pricer);
    asked->has_model = asked->has_pricer = false;
}

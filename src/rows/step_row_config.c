/* How a row runs: precision, batches, and how ranks share the work. */
#include "rows/step_row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Products in 4 bits and in blocks of 8 bits are taken for plain fp8, which is what devices are described by. */
static const struct {
    const char *word;
    int precision;
} precisions[] = {{"fp8", PACE_RUN_FP8},      {"nvfp4", PACE_RUN_FP8},     {"fp4", PACE_RUN_FP8},
                  {"bf16", PACE_RUN_BF16},    {"bfloat16", PACE_RUN_BF16}, {"fp16", PACE_RUN_FP16},
                  {"float16", PACE_RUN_FP16}, {"half", PACE_RUN_FP16},     {"tf32", PACE_RUN_TF32},
                  {"fp32", PACE_RUN_FP32},    {"float32", PACE_RUN_FP32},  {"float", PACE_RUN_FP32},
                  {"16", PACE_RUN_FP16},      {"32", PACE_RUN_FP32}};

/* A framework that trains over many ranks runs in half precision unless told else; PyTorch alone in single. */
static bool set_precision(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *text = pace_step_cell(r, row, PACE_STEP_PRECISION), *fp8 = pace_step_cell(r, row, PACE_STEP_FP8);
    if (*fp8 && pace_step_flag(fp8) != 0) text = "fp8";
    if (!*text || strcasecmp(text, "mixed") == 0 || strcasecmp(text, "amp") == 0) {
        out->config.precision = r->distributed ? out->framework->precision : PACE_RUN_FP32;
        pace_step_note(out, "assumed %s", pace_config_word(&out->config, "precision"));
        return true;
    }
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++)
        if (pace_step_says(text, precisions[i].word)) {
            out->config.precision = precisions[i].precision;
            if (pace_step_says(text, "fp4")) pace_step_note(out, "4-bit products taken for fp8");
            return true;
        }
    pace_step_note(out, "unknown precision \"%.40s\"", text);
    return false;
}

static void set_words(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *recompute = pace_step_cell(r, row, PACE_STEP_RECOMPUTE), *task = pace_step_cell(r, row, PACE_STEP_TASK);
    const char *mode = pace_step_cell(r, row, PACE_STEP_MODE), *run = pace_step_cell(r, row, PACE_STEP_EXECUTION);
    pace_config *config = &out->config;
    out->may_recompute = !*recompute;
    if (r->column[PACE_STEP_RECOMPUTE] < 0 && r->distributed && out->framework->recompute != config->recompute) {
        config->recompute = out->framework->recompute;
        pace_step_note(out, "assumed %s recomputation", pace_config_word(config, "recompute"));
    }
    if (pace_step_flag(recompute) >= 0)
        config->recompute = pace_step_flag(recompute) ? PACE_RECOMPUTE_FULL : PACE_RECOMPUTE_NONE;
    if (pace_step_says(recompute, "full")) config->recompute = PACE_RECOMPUTE_FULL;
    if (pace_step_says(recompute, "selective")) config->recompute = PACE_RECOMPUTE_SELECTIVE;
    if (pace_step_says(recompute, "seqpar")) config->sequence_parallel = 1;
    if (pace_step_says(task, "lora") || pace_step_says(pace_step_cell(r, row, PACE_STEP_MODEL), "lora"))
        config->frozen = 1;
    if (pace_step_says(mode, "inf")) config->mode = PACE_INFERENCE;
    if (pace_step_says(run, "fus") || pace_step_says(run, "compile")) config->execution = PACE_COMPILED;
    if (pace_step_says(run, "eager")) config->execution = PACE_EAGER;
    const char *compile = pace_step_cell(r, row, PACE_STEP_COMPILE), *notes = pace_step_cell(r, row, PACE_STEP_NOTES);
    if (!*run && pace_step_says(notes, "compile")) config->execution = PACE_COMPILED;
    else if (!*run && pace_step_says(notes, "eager")) config->execution = PACE_EAGER;
    if (*compile)
        config->execution =
            pace_step_flag(compile) == 0 || pace_step_says(compile, "eager") ? PACE_EAGER : PACE_COMPILED;
}

static void set_sharding(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *text = pace_step_cell(r, row, PACE_STEP_SHARDING);
    const char *zero = pace_step_cell(r, row, PACE_STEP_ZERO_STAGE);
    size_t digit = strcspn(zero, "0123456789"); /* "2", "ZeRO-3", "stage 1" */
    if (zero[digit]) out->config.zero_stage = zero[digit] - '0';
    else if (pace_step_flag(pace_step_cell(r, row, PACE_STEP_FSDP)) == 1) out->config.zero_stage = 3;
    else if (pace_step_says(text, "fsdp="))
        out->config.zero_stage = strncmp(strchr(text, '=') + 1, "0", 1) == 0 ? 1 : 3;
    else if (pace_step_says(text, "SHARD_GRAD_OP")) out->config.zero_stage = 2;
    else if (pace_step_says(text, "ddp")) out->config.zero_stage = 0;
    else if (pace_step_says(text, "zero") && text[strcspn(text, "0123")])
        out->config.zero_stage = text[strcspn(text, "0123")] - '0';
    else if (pace_step_says(text, "fsdp") || pace_step_says(text, "full_shard")) out->config.zero_stage = 3;
    else if (pace_step_flag(pace_step_cell(r, row, PACE_STEP_DIST_OPT)) >= 0)
        out->config.zero_stage = pace_step_flag(pace_step_cell(r, row, PACE_STEP_DIST_OPT));
    if (pace_step_flag(pace_step_cell(r, row, PACE_STEP_SEQ_PAR)) >= 0)
        out->config.sequence_parallel = pace_step_flag(pace_step_cell(r, row, PACE_STEP_SEQ_PAR));
}

static double at_least_one(const pace_step_reader *r, size_t row, pace_step_column column) {
    double value;
    return pace_step_number(&value, r, row, column) && value >= 1 && value == floor(value) ? value : 0;
}

/* Megatron lets experts be split over tensor-parallel ranks as well: the same share each, in groups of another shape.
 */
static void split_experts(pace_step_row *out) {
    pace_config *config = &out->config;
    double replicas = config->dp * config->cp, stated = config->ep;
    if (fmod(replicas, stated) == 0 || fmod(replicas * config->tp, stated) != 0) return;
    config->ep = fmod(stated, config->tp) == 0 ? stated / config->tp : 1;
    if (fmod(replicas, config->ep) != 0) config->ep = 1;
    pace_step_note(out, "took ep %g for ep %g within tp %g", stated, config->ep, config->tp);
}

/* Nodes of so many devices. */
static double by_nodes(const pace_step_row *out, const pace_step_reader *r, size_t row) {
    double nodes = at_least_one(r, row, PACE_STEP_NODES), each = at_least_one(r, row, PACE_STEP_GPUS_PER_NODE);
    if (each == 0) each = pace_step_row_node(r, row, out->device);
    return nodes * each;
}

/* Fewer samples than ranks: several share one, layers first within a node, then words. */
static void assume_split(pace_step_row *out, double ranks, double global) {
    pace_config *config = &out->config;
    double split = global > 0 ? ranks / global : 1;
    if (!(split > 1) || config->cp > 1) return;
    while (config->tp < split && config->tp < 8) config->tp *= 2;
    while (config->tp * config->cp < split) config->cp *= 2;
    out->doubt *= 1.3;
    pace_step_note(out, "assumed tp %g, cp %g: fewer samples than devices", config->tp, config->cp);
}

/* Nothing is said of how ranks share the work: each has the whole model where that leaves half of its memory, else
 * parameters are sharded over all. */
static void assume_data_parallel(pace_step_row *out) {
    double whole = 16 * pace_model_total(out->model, &out->config).parameters; /* weights, gradients, Adam's states */
    bool fits = out->device->memory_bytes > 0 && whole < out->device->memory_bytes / 2;
    out->config.zero_stage = fits ? 0 : 3;
    pace_step_note(out, fits ? "assumed data parallelism" : "assumed fully sharded data parallelism");
}

/* dp from the devices, or the devices from the product. */
static bool set_ranks(pace_step_row *out, const pace_step_reader *r, size_t row) {
    pace_config *config = &out->config;
    double n = at_least_one(r, row, PACE_STEP_N_GPU), dp = at_least_one(r, row, PACE_STEP_DP);
    double *const shares[] = {&config->tp, &config->pp, &config->vpp, &config->cp, &config->ep};
    const pace_step_column columns[] = {PACE_STEP_TP, PACE_STEP_PP, PACE_STEP_VPP, PACE_STEP_CP, PACE_STEP_EP};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        double value = at_least_one(r, row, columns[i]);
        *shares[i] = value > 0 ? value : 1;
    }
    if (n == 0) n = by_nodes(out, r, row);
    if (config->pp == 1) config->vpp = 1;
    bool shared = at_least_one(r, row, PACE_STEP_TP) || at_least_one(r, row, PACE_STEP_PP) || dp > 0;
    bool silent = r->distributed && n > 1 && !shared && config->zero_stage == out->framework->zero_stage;
    if (silent && config->zero_stage < 3) assume_data_parallel(out);
    if (silent) assume_split(out, n, at_least_one(r, row, PACE_STEP_GLOBAL_BATCH));
    double each = config->tp * config->pp * config->cp;
    if (n == 0 && dp == 0) {
        dp = fmod(config->cp * config->tp, config->ep) == 0 ? 1 : config->ep;
        if (r->distributed && r->column[PACE_STEP_N_GPU] >= 0) pace_step_note(out, "assumed dp %g", dp);
    }
    if (n == 0) n = each * dp;
    config->dp = n / each;
    if (config->dp != floor(config->dp) || config->dp < 1 || (dp > 0 && dp != config->dp)) {
        pace_step_note(out, "n_gpu %g is not tp %g x pp %g x cp %g x dp %g", n, config->tp, config->pp, config->cp,
                       dp > 0 ? dp : config->dp);
        return false;
    }
    out->ranks = n;
    split_experts(out);
    return true;
}

static bool set_batches(pace_step_row *out, const pace_step_reader *r, size_t row) {
    pace_config *config = &out->config;
    double micro = at_least_one(r, row, PACE_STEP_MICRO_BATCH), global = at_least_one(r, row, PACE_STEP_GLOBAL_BATCH);
    double times = at_least_one(r, row, PACE_STEP_GRAD_ACCUM);
    if (micro == 0 && global == 0) {
        pace_step_note(out, "micro_batch and global_batch are missing");
        return false;
    }
    if (micro == 0) {
        micro = times > 0 ? floor(global / (config->dp * times)) : 1;
        if (micro < 1) micro = 1;
        pace_step_note(out, "assumed micro_batch %g", micro);
    }
    if (global == 0) {
        global = micro * config->dp * (times > 0 ? times : 1);
        if (r->column[PACE_STEP_GLOBAL_BATCH] >= 0) pace_step_note(out, "assumed global_batch %g", global);
    }
    if (micro * config->dp > global && global >= config->dp) { /* stated for two tables' sake: per device */
        micro = floor(global / config->dp);
        pace_step_note(out, "assumed micro_batch %g, for global_batch %g", micro, global);
    }
    double rounds = ceil(global / (micro * config->dp) - 1e-9);
    if (rounds * micro * config->dp != global)
        pace_step_note(out, "counted %g micro-batches for global_batch %g", rounds, global);
    config->micro_batch = micro;
    config->global_batch = rounds * micro * config->dp;
    return true;
}

/* What no column says of a framework: Megatron's kernels of its time for tables without one that share layers. */
static const char *framework_word(const pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *text = pace_step_cell(r, row, PACE_STEP_FRAMEWORK);
    if (*text) return text;
    if (!r->distributed) return "";
    bool early = strncmp(out->device->name, "a100", 4) == 0 || strncmp(out->device->name, "v100", 4) == 0;
    return early ? "megatron-eager" : "megatron";
}

bool pace_step_row_config(pace_step_row *out, pace_step_reader *r, size_t row) {
    pace_config *config = &out->config;
    double seq;
    *config = pace_config_default();
    config->optimizer = PACE_ADAM;
    out->framework = pace_frameworks_find(&r->things->frameworks, framework_word(out, r, row));
    out->attention = pace_frameworks_attention(&r->things->frameworks, out->device->name, out->framework->name);
    config->execution = out->framework->execution;
    config->attention = out->framework->attention;
    config->zero_stage = out->framework->zero_stage;
    config->sequence_parallel = out->framework->sequence_parallel;
    set_words(out, r, row);
    set_sharding(out, r, row);
    if (!set_precision(out, r, row) || !set_ranks(out, r, row) || !set_batches(out, r, row)) return false;
    if (pace_step_number(&seq, r, row, PACE_STEP_SEQ) && seq >= 1) config->sequence = floor(seq);
    if (config->dp * config->cp == 1) config->zero_stage = 0;
    if (config->tp == 1) config->sequence_parallel = 0;
    if (config->mode != PACE_TRAINING) config->recompute = PACE_RECOMPUTE_NONE;
    out->tokens = config->global_batch * pace_model_sequence(out->model, config) / out->ranks;
    snprintf(out->group, sizeof out->group, "%s %s%s", out->device->name, pace_config_word(config, "precision"),
             config->frozen > 0              ? " lora"
             : config->mode != PACE_TRAINING ? " inference"
                                             : "");
    if (pace_config_check(config) == PACE_OK && pace_model_check_parallel(out->model, config) == PACE_OK) return true;
    pace_step_note(out, "%.140s", pace_message());
    return false;
}

#include "model/config.h"

#include "base/decimal.h"
#include "machine/machine.h"
#include "model/pipeline_order.h"
#include "base/print.h"
#include "base/text.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const modes[] = {"inference", "training", NULL};
static const char *const precisions[] = {"fp32", "tf32",      "fp16",  "bf16",  "amp",   "amp_bf16",
                                         "fp8",  "fp8-block", "mxfp8", "nvfp4", "mxfp4", NULL};
static const char *const optimizers[] = {"sgd",  "momentum",   "adam",      "adamw", "lamb",
                                         "none", "adamw_8bit", "adafactor", "lion",  NULL};
static const char *const updates[] = {"foreach", "fused", "loop", NULL};
static const char *const executions[] = {"eager", "compiled", "graph", NULL};
static const char *const graph_parts[] = {"none", "attention", "blocks", "passes", NULL};
static const char *const attentions[] = {"fused", "math", "usual", NULL};
static const char *const inputs[] = {"synthetic", "pinned", "pageable", "usual", NULL};
static const char *const tf32_uses[] = {"convolutions", "none", NULL};
static const char *const indices[] = {"usual", "int64", "int32", NULL};
static const char *const loss_reads[] = {"usual", "0", "1", "before_backward", NULL};
static const char *const cross_entropies[] = {"usual", "parts", "native", "in_place", "linear", NULL};
static const char *const pair_indices[] = {"usual", "device", "host", NULL};
static const char *const layouts[] = {"usual", "nchw", "nhwc", NULL};
static const char *const weights[] = {"plain", "packed", NULL};
static const char *const recomputes[] = {"none", "selective", "full", NULL};
static const char *const modules[] = {"core_attn", "moe_act", "layernorm",      "mla_up_proj",
                                      "mlp",       "moe",     "shared_experts", NULL};
static const char *const schedules[] = {"1f1b", "gpipe", "zero-bubble", "zb-v", "dualpipe-v", "dualpipe", NULL};

static const char *const lora_layers[] = {"attention", "all", "query-value", NULL};
static const char *const quantized[] = {"none", "int8", "nf4", "nf4-dq", NULL};
static const char *const offloads[] = {"none", "optimizer", "activations", NULL};

#define MOST 2147483648.0

static const struct {
    const char *key;
    size_t offset;
    const char *const *words; /* NULL: a number from `least` to `most` */
    double least, most;
} fields[] = {
    {"micro_batch", offsetof(pace_config, micro_batch), NULL, 1, MOST},
    {"global_batch", offsetof(pace_config, global_batch), NULL, 0, MOST},
    {"sequence", offsetof(pace_config, sequence), NULL, 0, MOST},
    {"sample_tokens", offsetof(pace_config, sample_tokens), NULL, 0, MOST},
    {"mode", offsetof(pace_config, mode), modes, 0, 0},
    {"precision", offsetof(pace_config, precision), precisions, 0, 0},
    {"allow_tf32", offsetof(pace_config, allow_tf32), tf32_uses, 0, 0},
    {"optimizer", offsetof(pace_config, optimizer), optimizers, 0, 0},
    {"update", offsetof(pace_config, update), updates, 0, 0},
    {"execution", offsetof(pace_config, execution), executions, 0, 0},
    {"graphs", offsetof(pace_config, graphs), graph_parts, 0, 0},
    {"attention", offsetof(pace_config, attention), attentions, 0, 0},
    {"input", offsetof(pace_config, input), inputs, 0, 0},
    {"indices", offsetof(pace_config, indices), indices, 0, 0},
    {"layout", offsetof(pace_config, layout), layouts, 0, 0},
    {"weights", offsetof(pace_config, weights), weights, 0, 0},
    {"recompute", offsetof(pace_config, recompute), recomputes, 0, 0},
    {"recompute_modules", offsetof(pace_config, recompute_modules), modules, 0, 0},
    {"recompute_layers", offsetof(pace_config, recompute_layers), NULL, 0, MOST},
    {"moment_bytes", offsetof(pace_config, moment_bytes), NULL, 0, 4},
    {"keep_gradients", offsetof(pace_config, keep_gradients), NULL, 0, 1},
    {"deterministic", offsetof(pace_config, deterministic), NULL, 0, 1},
    {"defer_logits", offsetof(pace_config, defer_logits), NULL, 0, MOST},
    {"read_loss", offsetof(pace_config, read_loss), loss_reads, 0, 0},
    {"cross_entropy", offsetof(pace_config, cross_entropy), cross_entropies, 0, 0},
    {"pair_indices", offsetof(pace_config, pair_indices), pair_indices, 0, 0},
    {"dp", offsetof(pace_config, dp), NULL, 1, MOST},
    {"tp", offsetof(pace_config, tp), NULL, 1, MOST},
    {"pp", offsetof(pace_config, pp), NULL, 1, MOST},
    {"vpp", offsetof(pace_config, vpp), NULL, 1, MOST},
    {"schedule", offsetof(pace_config, schedule), schedules, 0, 0},
    {"cp", offsetof(pace_config, cp), NULL, 1, MOST},
    {"ep", offsetof(pace_config, ep), NULL, 1, MOST},
    {"zero_stage", offsetof(pace_config, zero_stage), NULL, 0, 3},
    {"offload", offsetof(pace_config, offload), offloads, 0, 0},
    {"zero_group", offsetof(pace_config, zero_group), NULL, 0, MOST},
    {"sequence_parallel", offsetof(pace_config, sequence_parallel), NULL, 0, 1},
    {"frozen", offsetof(pace_config, frozen), NULL, 0, 1},
    {"lora", offsetof(pace_config, lora), NULL, 0, MOST},
    {"lora_layers", offsetof(pace_config, lora_layers), lora_layers, 0, 0},
    {"quantized", offsetof(pace_config, quantized), quantized, 0, 0},
    {"imbalance", offsetof(pace_config, imbalance), NULL, 0, MOST},
    {"expert_nodes", offsetof(pace_config, expert_nodes), NULL, 0, MOST},
    {"bucket_bytes", offsetof(pace_config, bucket_bytes), NULL, 1, MOST},
};
enum { FIELDS = PACE_COUNT(fields) };
_Static_assert((int)FIELDS <= (int)PACE_CONFIG_FIELDS, "there is room for all");

const char *pace_config_key(size_t i) { return i < FIELDS ? fields[i].key : NULL; }

bool pace_config_is_worded(size_t i) { return i < FIELDS && fields[i].words; }

const char *const pace_execution_modes[] = {
    [PACE_EAGER] = "eager", [PACE_COMPILED] = "compiled", [PACE_CUDA_GRAPH] = "cuda-graph"};

pace_config pace_config_default(void) {
    return (pace_config){.micro_batch = 1,
                         .mode = PACE_TRAINING,
                         .input = PACE_INPUT_USUAL,
                         .dp = 1,
                         .tp = 1,
                         .pp = 1,
                         .vpp = 1,
                         .cp = 1,
                         .ep = 1,
                         .bucket_bytes = 25 * 1048576.0};
}

static size_t find(const char *key) {
    size_t i = 0;
    while (i < FIELDS && strcmp(fields[i].key, key) != 0) i++;
    return i;
}

static pace_status fail_word(const char *key, const char *const *words, const char *value) {
    char list[200] = "";
    for (size_t i = 0; words[i]; i++) pace_list(list, sizeof list, ", ", "%s", words[i]);
    return pace_fail(PACE_E_USAGE, "%s: expected one of %s, found \"%.80s\"", key, list, value);
}

/* Bits of its words, of which the first is 1. */
static bool has_several(size_t field) { return fields[field].words == modules; }

/* Its number; -1: it is none of them. */
static int word_of(const char *const *words, const char *text) {
    for (int word = 0; words[word]; word++)
        if (pace_same_word(words[word], text)) return word;
    return -1;
}

static bool is_sound(size_t field, double value) {
    return value >= fields[field].least && value <= fields[field].most && value == floor(value);
}

/* A configuration holds 0 unless a global batch or a length is given: to say 0 is another matter. */
static double least_said(size_t field) {
    size_t offset = fields[field].offset;
    bool unsaid = offset == offsetof(pace_config, global_batch) || offset == offsetof(pace_config, sequence);
    return unsaid ? 1 : fields[field].least;
}

/* Bytes may have their unit: "25MiB". */
static bool read_number(double *out, size_t field, const char *text) {
    bool bytes = fields[field].offset == offsetof(pace_config, bucket_bytes);
    return pace_number_parse(out, text) || (bytes && pace_parse_bytes(out, text));
}

bool pace_config_has(const char *key) { return find(key) != FIELDS; }

/* Words of a field that has several, with + between them as a rule. */
static pace_status set_several(int *out, const char *key, const char *const *words, const char *value) {
    static const char between[] = "+,;| \"'[]";
    int bits = 0;
    for (const char *text = value + strspn(value, between); *text; text += strspn(text, between)) {
        char one[40];
        size_t length = strcspn(text, between);
        pace_snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one - 1), text);
        int word = word_of(words, one);
        if (word < 0) return fail_word(key, words, one);
        bits |= 1 << word;
        text += length;
    }
    if (!bits) return fail_word(key, words, value);
    *out = bits;
    return PACE_OK;
}

unsigned pace_config_modules(const pace_config *config) {
    unsigned named = (unsigned)config->recompute_modules;
    if (config->recompute != PACE_RECOMPUTE_SELECTIVE) return 0;
    return named & PACE_MODULE_MOE ? named | PACE_MODULE_SHARED_EXPERTS : named; /* which are within it */
}

unsigned pace_config_modules_in(const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    unsigned found = 0;
    for (text += strcspn(text, letters); *text; text += strcspn(text, letters)) {
        char one[40];
        size_t length = strspn(text, letters);
        pace_snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one - 1), text);
        int word = word_of(modules, one);
        if (word >= 0) found |= 1U << word;
        text += length;
    }
    return found;
}

const char *pace_config_modules_text(char *out, size_t size, unsigned bits) {
    if (size) *out = '\0';
    for (int i = 0; modules[i]; i++)
        if (bits & 1U << i) pace_list(out, size, "+", "%s", modules[i]);
    return out;
}

pace_status pace_config_set(pace_config *config, const char *key, const char *value) {
    size_t at = find(key);
    if (at == FIELDS) return pace_fail(PACE_E_USAGE, "a configuration has no field \"%.80s\"", key);
    void *target = (char *)config + fields[at].offset;
    if (has_several(at)) return set_several(target, key, fields[at].words, value);
    if (fields[at].words) {
        int word = word_of(fields[at].words, value);
        if (word < 0) return fail_word(key, fields[at].words, value);
        *(int *)target = word;
        return PACE_OK;
    }
    double number;
    if (!read_number(&number, at, value) || !is_sound(at, number) || number < least_said(at))
        return pace_fail(PACE_E_USAGE, "%s: expected a whole number from %g to %.0f, found \"%.80s\"", key,
                         least_said(at), fields[at].most, value);
    *(double *)target = number;
    return PACE_OK;
}

const char *pace_config_word(const pace_config *config, const char *key) {
    size_t at = find(key);
    if (at == FIELDS || !fields[at].words || has_several(at)) return NULL;
    return fields[at].words[*(const int *)(const void *)((const char *)config + fields[at].offset)];
}

static pace_status check_zero_group(const pace_config *config) {
    double replicas = config->dp * config->cp, group = config->zero_group;
    if (group == 0) return PACE_OK;
    if (config->zero_stage == 0)
        return pace_fail(PACE_E_USAGE, "zero_group %g: expected zero_stage 1 to 3, found 0", group);
    if (group < 2 || fmod(replicas, group) != 0)
        return pace_fail(PACE_E_USAGE, "zero_group %g: expected 2 or more that divide dp x cp = %g", group, replicas);
    if (fmod(group, config->ep) != 0)
        return pace_fail(PACE_E_USAGE, "zero_group %g: expected a multiple of ep = %g: each copy has all experts",
                         group, config->ep);
    return PACE_OK;
}

/* What updates in place of the device runs between the launches of a step. Copies of activations stand between those of
 * a pass. */
static pace_status check_offload(const pace_config *config) {
    bool activations = config->offload == PACE_OFFLOAD_ACTIVATIONS;
    if (activations && config->recompute_layers > 0)
        return pace_fail(PACE_E_USAGE,
                         "offload activations: expected recompute_layers 0, found %g: layers would keep unlike amounts",
                         config->recompute_layers);
    if (config->offload == PACE_OFFLOAD_NONE) return PACE_OK;
    if (activations && config->mode != PACE_TRAINING)
        return pace_fail(PACE_E_USAGE, "offload activations: expected training, which keeps them for backward");
    if (activations && (pace_schedule_splits(config->schedule) || pace_schedule_is_v(config->schedule)))
        return pace_fail(
            PACE_E_USAGE,
            "offload activations: expected schedule 1f1b or gpipe, found %s: gradients of weights that are "
            "put off need them once more",
            schedules[config->schedule]);
    if (!activations && (!pace_config_trains(config) || config->optimizer == PACE_NO_UPDATE))
        return pace_fail(PACE_E_USAGE,
                         "offload %s: expected training with an optimizer whose states can lie on the host",
                         offloads[config->offload]);
    if (config->execution == PACE_CUDA_GRAPH)
        return pace_fail(PACE_E_USAGE,
                         "offload %s: expected execution eager or compiled, found graph: a captured step does not wait "
                         "for the host",
                         offloads[config->offload]);
    return PACE_OK;
}

/* Replays use the addresses they were captured with, and what the host decides cannot be part of them. */
pace_status pace_config_check_parts(const pace_config *config) {
    const char *word = graph_parts[config->graphs];
    bool passes = config->graphs == PACE_GRAPHS_PASSES;
    if (config->graphs == PACE_GRAPHS_NONE) return PACE_OK;
    if (config->execution == PACE_CUDA_GRAPH)
        return pace_fail(PACE_E_USAGE, "graphs %s: expected execution eager or compiled, found graph: all is one graph",
                         word);
    if (config->zero_stage >= 3)
        return pace_fail(PACE_E_USAGE, "graphs %s: expected zero_stage 0 to 2, found 3: gathered parameters move",
                         word);
    if (passes && config->zero_stage > 0)
        return pace_fail(PACE_E_USAGE,
                         "graphs passes: expected zero_stage 0, found %g: parameters are gathered within a pass",
                         config->zero_stage);
    if (config->offload == PACE_OFFLOAD_ACTIVATIONS)
        return pace_fail(PACE_E_USAGE,
                         "graphs %s: expected offload none or optimizer, found activations: graphs keep "
                         "their own",
                         word);
    return PACE_OK;
}

/* Gradients of adapters' few weights leave a turn of their own nothing to fill a bubble with. */
static pace_status check_lora(const pace_config *config) {
    if (config->lora == 0 && config->quantized)
        return pace_fail(PACE_E_USAGE,
                         "quantized %s: expected lora=RANK beside it: weights that are trained are not kept so",
                         quantized[config->quantized]);
    if (config->lora == 0 && config->lora_layers == PACE_LORA_ATTENTION) return PACE_OK;
    if (config->lora == 0)
        return pace_fail(PACE_E_USAGE, "lora_layers %s: expected lora=RANK beside it",
                         lora_layers[config->lora_layers]);
    if (config->mode != PACE_TRAINING)
        return pace_fail(PACE_E_USAGE, "lora %g: expected training: adapters are merged for inference", config->lora);
    if (config->frozen > 0)
        return pace_fail(PACE_E_USAGE, "lora %g: expected frozen 0: adapters are trained", config->lora);
    if (pace_schedule_splits(config->schedule))
        return pace_fail(
            PACE_E_USAGE,
            "lora %g: expected schedule 1f1b or gpipe, found %s: it puts off gradients of weights, which are frozen",
            config->lora, schedules[config->schedule]);
    return PACE_OK;
}

pace_status pace_config_check_shares(const pace_config *config) {
    double once = config->micro_batch * config->dp;
    if (fmod(config->global_batch, once) != 0)
        return pace_fail(PACE_E_USAGE, "global_batch %g is no multiple of micro_batch x dp = %g", config->global_batch,
                         once);
    double expert_ranks = pace_config_expert_ranks(config);
    if (fmod(expert_ranks, config->ep) != 0)
        return pace_fail(PACE_E_USAGE, "ep %g does not divide dp x cp%s = %g: experts are split over these ranks",
                         config->ep, expert_ranks > config->dp * config->cp ? " x tp" : "", expert_ranks);
    PACE_TRY(check_zero_group(config));
    PACE_TRY(check_offload(config));
    PACE_TRY(pace_config_check_parts(config));
    PACE_TRY(check_lora(config));
    if (config->imbalance > 0 && config->ep < 2)
        return pace_fail(PACE_E_USAGE, "imbalance %g: expected ep of 2 or more, found %g: one rank has all experts",
                         config->imbalance, config->ep);
    if (config->expert_nodes > 0 && config->ep < 2)
        return pace_fail(PACE_E_USAGE, "expert_nodes %g: expected ep of 2 or more, found %g: one rank has all experts",
                         config->expert_nodes, config->ep);
    if (config->vpp > 1 && config->pp < 2)
        return pace_fail(PACE_E_USAGE, "vpp %g: expected pp of 2 or more, found %g", config->vpp, config->pp);
    if (config->schedule != 0 && config->pp < 2)
        return pace_fail(PACE_E_USAGE, "schedule %s: expected pp of 2 or more, found %g", schedules[config->schedule],
                         config->pp);
    return PACE_OK;
}

pace_status pace_config_check(const pace_config *config) {
    for (size_t i = 0; i < FIELDS; i++) {
        const void *target = (const char *)config + fields[i].offset;
        if (fields[i].words) {
            int count = 0;
            while (fields[i].words[count]) count++;
            if (has_several(i)) count = 1 << count;
            if (*(const int *)target < 0 || *(const int *)target >= count)
                return pace_fail(PACE_E_USAGE, "%s: expected one of its %d values", fields[i].key, count);
        } else if (!is_sound(i, *(const double *)target)) {
            return pace_fail(PACE_E_USAGE, "%s: expected a whole number from %g to %.0f, found %g", fields[i].key,
                             fields[i].least, fields[i].most, *(const double *)target);
        }
    }
    return pace_config_check_shares(config);
}

pace_status pace_config_take_two_way(pace_config *config) {
    double stages = config->pp / 2;
    if (config->schedule != PACE_SCHEDULE_DUALPIPE) return PACE_OK;
    if (stages < 2 || stages != floor(stages) || config->vpp > 1)
        return pace_fail(PACE_E_USAGE,
                         "schedule dualpipe: expected an even pp of 4 or more and vpp of 1, found pp %g and vpp %g",
                         config->pp, config->vpp);
    config->schedule = PACE_SCHEDULE_DUALPIPE_V;
    config->vpp = PACE_V_CHUNKS;
    config->pp = stages;
    config->dp *= 2;
    return PACE_OK;
}

pace_config pace_config_unshared(const pace_config *config) {
    pace_config whole = *config;
    whole.pp = whole.vpp = 1;
    whole.schedule = PACE_SCHEDULE_1F1B;
    whole.zero_stage = whole.zero_group = 0;
    return whole;
}

double pace_config_micro_batches(const pace_config *config) {
    return config->global_batch > 0 ? config->global_batch / (config->micro_batch * config->dp) : 1;
}

double pace_config_passes(const pace_config *config) {
    return config->mode != PACE_TRAINING ? 1 : config->frozen + config->lora > 0 ? 2 : 3;
}

bool pace_config_is_amp(const pace_config *config) {
    return config->precision == PACE_RUN_AMP || config->precision == PACE_RUN_AMP_BF16;
}

bool pace_config_parts_loss(const pace_config *config) {
    bool usual = config->cross_entropy == PACE_CROSS_ENTROPY_USUAL;
    return usual ? config->parts_loss : config->cross_entropy == PACE_CROSS_ENTROPY_PARTS;
}

bool pace_config_holds_nchw(const pace_config *config) {
    return config->layout == PACE_LAYOUT_NCHW && config->execution != PACE_COMPILED;
}

pace_precision pace_config_matrix_precision(const pace_config *config) {
    switch (config->precision) {
    case PACE_RUN_TF32: return PACE_TF32;
    case PACE_RUN_FP16:
    case PACE_RUN_AMP: return PACE_FP16;
    case PACE_RUN_BF16:
    case PACE_RUN_AMP_BF16: return PACE_BF16;
    default: return pace_config_is_fp8(config) ? PACE_FP8 : PACE_FP32;
    }
}

bool pace_config_is_fp8(const pace_config *config) { return config->precision >= PACE_RUN_FP8; }

bool pace_config_scales_blocks(const pace_config *config) {
    return config->precision == PACE_RUN_FP8_BLOCK || config->precision == PACE_RUN_MXFP8;
}

bool pace_config_says_fp4(const pace_config *config) {
    return config->precision == PACE_RUN_NVFP4 || config->precision == PACE_RUN_MXFP4;
}

/* Matrix units that multiply by a scale of each 16 or 32 values came with 4 bits: NVIDIA's from Blackwell on, AMD's
 * with CDNA 4, which has no NVFP4. */
pace_status pace_config_check_device(const pace_config *config, const pace_device *device) {
    const char *word = precisions[config->precision];
    pace_precision products = pace_config_matrix_precision(config);
    if (!pace_device_widens_half(device, products)) PACE_TRY(pace_device_check_precision(device, products));
    if (config->precision < PACE_RUN_MXFP8) return PACE_OK;
    if (!(device->flop_per_s[PACE_FP4] > 0))
        return pace_fail(PACE_E_USAGE,
                         "%s has no matrix units for %s: expected a device with a rate for fp4 in the "
                         "catalogue, as b200; fp8 and fp8-block need none",
                         device->name, word);
    if (config->precision == PACE_RUN_NVFP4 && strcmp(device->vendor, "NVIDIA") != 0)
        return pace_fail(PACE_E_USAGE, "%s of %s has no nvfp4, a format of NVIDIA's: expected mxfp4", device->name,
                         device->vendor);
    return PACE_OK;
}

pace_precision pace_config_convolution_precision(const pace_config *config) {
    bool single = config->precision == PACE_RUN_FP32 && config->allow_tf32 == PACE_TF32_IN_CONVOLUTIONS;
    return single ? PACE_TF32 : pace_config_matrix_precision(config);
}

/* bitsandbytes: a scale in single precision for 64 weights of 4 bits, itself in 8 bits where it is quantised twice
 * (Dettmers et al. 2023, section 3); for a row of weights of 8 bits. */
double pace_config_packed_bytes(const pace_config *config) {
    switch (config->quantized) {
    case PACE_QUANTIZED_INT8: return 1;
    case PACE_QUANTIZED_NF4: return 0.5 + 4.0 / 64;
    case PACE_QUANTIZED_NF4_TWICE: return 0.5 + 1.0 / 64 + 4.0 / (64 * 256);
    default: return 0;
    }
}

int pace_config_parameter_bytes(const pace_config *config) {
    bool half = config->precision == PACE_RUN_FP16 || config->precision == PACE_RUN_BF16;
    return half || pace_config_is_fp8(config) ? 2 : 4;
}

double pace_config_moments_save(const pace_config *config) {
    const double moments = 2, single = 4;
    bool adam = config->optimizer == PACE_ADAM || config->optimizer == PACE_ADAMW;
    return adam && config->moment_bytes > 0 ? moments * (single - config->moment_bytes) : 0;
}

int pace_config_gathered_bytes(const pace_config *config) {
    return pace_config_is_amp(config) ? 2 : pace_config_parameter_bytes(config);
}

double pace_config_ranks(const pace_config *config) { return config->dp * config->tp * config->pp * config->cp; }

double pace_config_replicas(const pace_config *config, double devices) {
    double replicas = devices / (config->tp * config->pp * config->cp);
    return replicas == floor(replicas) ? replicas : 0;
}

double pace_config_copies(const pace_config *config) {
    return config->zero_stage > 0 && config->zero_group > 0 ? config->dp * config->cp / config->zero_group : 1;
}

double pace_config_sharded_over(const pace_config *config, int zero_stage) {
    return config->zero_stage >= zero_stage ? config->dp * config->cp / pace_config_copies(config) : 1;
}

pace_group_kind pace_config_shard_group(const pace_config *config, bool expert) {
    if (pace_config_copies(config) > 1) return expert && config->ep > 1 ? PACE_GROUP_EXPERT_SHARD : PACE_GROUP_SHARD;
    return expert ? PACE_GROUP_EXPERT_DATA : PACE_GROUP_DATA;
}

double pace_config_expert_split(const pace_config *config) {
    return config->whole_experts && config->ep > 1 && config->sequence_parallel > 0 ? 1 : config->tp;
}

double pace_config_expert_ranks(const pace_config *config) {
    return config->dp * config->cp * config->tp / pace_config_expert_split(config);
}

double pace_config_group_size(const pace_config *config, pace_group_kind group) {
    double replicas = config->dp * config->cp, expert_ranks = pace_config_expert_ranks(config);
    switch (group) {
    case PACE_GROUP_TENSOR: return config->tp;
    case PACE_GROUP_CONTEXT: return config->cp;
    case PACE_GROUP_EXPERT: return config->ep;
    case PACE_GROUP_DATA: return replicas;
    case PACE_GROUP_EXPERT_DATA: return expert_ranks / config->ep;
    case PACE_GROUP_PIPELINE: return config->pp;
    case PACE_GROUP_SHARD: return replicas / pace_config_copies(config);
    case PACE_GROUP_REPLICA: return pace_config_copies(config);
    case PACE_GROUP_EXPERT_SHARD: return expert_ranks / pace_config_copies(config) / config->ep;
    default: return 1;
    }
}

int64_t pace_config_stride(const pace_config *config, pace_group_kind group) {
    bool of_experts = group == PACE_GROUP_EXPERT_DATA || group == PACE_GROUP_EXPERT_SHARD;
    double stride = group == PACE_GROUP_TENSOR ? 1 : config->tp;
    if (group == PACE_GROUP_EXPERT || of_experts) stride = pace_config_expert_split(config);
    if (of_experts) stride *= config->ep;
    if (group == PACE_GROUP_REPLICA) stride *= pace_config_group_size(config, PACE_GROUP_SHARD);
    if (group == PACE_GROUP_PIPELINE) stride *= config->cp * config->dp;
    return (int64_t)stride;
}

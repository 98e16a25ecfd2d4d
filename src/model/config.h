/*
 * How a model is run: batch, precision, optimizer, execution, and how ranks share the work. What pace_model_lower()
 * cannot lower yet is refused there, never ignored.
 */
#pragma once

#include "machine/device.h"
#include "step/groups.h"

/* What numbers are held and multiplied in. With amp (torch.autocast) matrix products, convolutions and attention run in
 * half precision, normalization over channels, softmax and loss in single, and parameters are held in single. */
typedef enum {
    PACE_RUN_FP32,
    PACE_RUN_TF32,
    PACE_RUN_FP16,
    PACE_RUN_BF16,
    PACE_RUN_AMP,       /* autocast to fp16, with loss scaling */
    PACE_RUN_AMP_BF16,  /* autocast to bf16 */
    PACE_RUN_FP8,       /* bf16, but the products of repeated layers are in fp8 (Micikevicius et al. 2022) */
    PACE_RUN_FP8_BLOCK, /* with a scale for each block of values, by which their kernels multiply */
    PACE_RUN_MXFP8,     /* with one for each 32 values, by which matrix units multiply (OCP Microscaling Formats 1.0) */
    PACE_RUN_NVFP4,     /* in 4 bits; taken for fp8, by which devices are described */
    PACE_RUN_MXFP4,
} pace_run_precision;

/* Tokens of a sequence that a rank of a context parallel group should keep: NVIDIA's recipes cut 8,192 in two; with
 * fewer, kernels are too short for what is sent meanwhile. */
enum { PACE_CONTEXT_PART_LEAST = 2048 };

/* Adam in 8 bits: Dettmers et al. 2022, states of a byte and a scale for each block of 256 (bitsandbytes). Adafactor
 * (Shazeer and Stern 2018) keeps a row and a column of a matrix; Lion (Chen et al. 2023) one state. */
typedef enum {
    PACE_SGD,
    PACE_MOMENTUM,
    PACE_ADAM,
    PACE_ADAMW,
    PACE_LAMB,
    PACE_NO_UPDATE,
    PACE_ADAMW_8BIT,
    PACE_ADAFACTOR,
    PACE_LION
} pace_optimizer;
/* One kernel per operation over all tensors, one for the whole update, or one per operation and tensor (the only way
 * before PyTorch 1.12). */
typedef enum { PACE_UPDATE_FOREACH, PACE_UPDATE_FUSED, PACE_UPDATE_LOOP } pace_update;
typedef enum { PACE_EAGER, PACE_COMPILED, PACE_CUDA_GRAPH } pace_execution;
/* Parts of a step that are device graphs of their own, each launched by one call: in each repeated block what stands up
 * to the addition behind its attention (Megatron's --cuda-graph-modules attn), whole blocks
 * (torch.cuda.make_graphed_callables), or whole passes (torch.compile's reduce-overhead). With PACE_CUDA_GRAPH all is
 * one. */
typedef enum { PACE_GRAPHS_NONE, PACE_GRAPHS_ATTENTION, PACE_GRAPHS_BLOCKS, PACE_GRAPHS_PASSES } pace_graph_parts;
typedef enum { PACE_INFERENCE, PACE_TRAINING } pace_mode;
typedef enum { PACE_RECOMPUTE_NONE, PACE_RECOMPUTE_SELECTIVE, PACE_RECOMPUTE_FULL } pace_recompute;

/* Attention as one kernel, or as products and a softmax whose scores go through memory; as the model's recipe has it,
 * else as one kernel, unless given (pace_model_forms_scores()). */
typedef enum { PACE_ATTENTION_FUSED, PACE_ATTENTION_MATH, PACE_ATTENTION_USUAL } pace_attention_kernel;

/* Where a batch comes from: made on the device, or copied from pinned or pageable host memory; as the model's recipe
 * has it, else pageable, unless given. */
typedef enum { PACE_INPUT_SYNTHETIC, PACE_INPUT_PINNED, PACE_INPUT_PAGEABLE, PACE_INPUT_USUAL } pace_input_copy;

/* How wide indices of rows and tokens are when they are copied: as the model's recipe has it, else 8 bytes. */
typedef enum { PACE_INDICES_USUAL, PACE_INDICES_INT64, PACE_INDICES_INT32 } pace_index_width;

/* When the host reads the loss and waits for it: never, at the end of a step, or before backward, whose host then
 * begins on an idle device; as the model's recipe has it, else never. */
typedef enum { PACE_LOSS_USUAL, PACE_LOSS_UNREAD, PACE_LOSS_READ_LAST, PACE_LOSS_READ_FIRST } pace_loss_read;

/* How a cross entropy is computed beside what the framework has: by kernels of single operations
 * (vocab_parallel_cross_entropy), by a compiler's for each part of it (Megatron's --cross-entropy-fusion-impl native),
 * by one that writes gradients over the scores (Transformer Engine's, Liger's), or with the last product, a few tokens
 * at a time, whose scores are never there at once (Liger's fused linear cross entropy, Cut Cross-Entropy). */
typedef enum {
    PACE_CROSS_ENTROPY_USUAL,
    PACE_CROSS_ENTROPY_PARTS,
    PACE_CROSS_ENTROPY_NATIVE,
    PACE_CROSS_ENTROPY_IN_PLACE,
    PACE_CROSS_ENTROPY_LINEAR,
    PACE_CROSS_ENTROPIES
} pace_cross_entropy;

/* Which pairs of vectors an interaction keeps: known to the device, or lists of the host that it copies in each step
 * and waits for (Naumov et al.'s DLRM); as the model's recipe has it, else the former. */
typedef enum { PACE_PAIRS_USUAL, PACE_PAIRS_DEVICE, PACE_PAIRS_HOST } pace_pair_indices;

/* How weights of linear layers lie: row by row, or in the blocks that a library wants for its forward pass (oneDNN's
 * inner products), which its backward pass makes do with. */
typedef enum { PACE_WEIGHTS_PLAIN, PACE_WEIGHTS_PACKED } pace_weights_layout;

/* How images lie in memory: each channel's pixels, or each pixel's channels side by side ("channels last"); as the
 * framework has them unless given. */
typedef enum { PACE_LAYOUT_USUAL, PACE_LAYOUT_NCHW, PACE_LAYOUT_NHWC } pace_image_layout;

/* What a device with a rate for TF32 multiplies in it although all is held in fp32: PyTorch allows it to cuDNN, not to
 * cuBLAS, unless told otherwise (torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32). Where all
 * may, the precision is tf32. */
typedef enum { PACE_TF32_IN_CONVOLUTIONS, PACE_TF32_NOWHERE } pace_tf32_use;

/* How data-parallel ranks are given gradients: in buckets that are copied to and from (DistributedDataParallel), each
 * tensor for itself, or so and with the parameters pulled from servers before each layer's forward pass, or in buckets
 * that products add to where they lie (Megatron's buffers). */
typedef enum {
    PACE_GRADIENTS_BUCKETS,
    PACE_GRADIENTS_TENSORS,
    PACE_GRADIENTS_PULLED,
    PACE_GRADIENTS_IN_PLACE
} pace_gradient_way;

/* What lies in the host's memory: states of the optimizer, which the host's processors then update (ZeRO-Offload, Ren
 * et al. 2021); or activations between forward and backward (Megatron's --cpu-offloading-num-layers, torchtune's
 * enable_activation_offloading). */
typedef enum { PACE_OFFLOAD_NONE, PACE_OFFLOAD_OPTIMIZER, PACE_OFFLOAD_ACTIVATIONS } pace_offload;

/* What of a block selective recomputation forms anew, where it is told by name (Megatron Core's --recompute-modules):
 * attention from queries, keys and values on; the activation of experts; norms; of latent attention the products up;
 * what follows attention, of one kind or the other; what all tokens visit beside experts. Bits. */
typedef enum {
    PACE_MODULE_CORE_ATTN = 1,
    PACE_MODULE_MOE_ACT = 2,
    PACE_MODULE_LAYERNORM = 4,
    PACE_MODULE_MLA_UP_PROJ = 8,
    PACE_MODULE_MLP = 16,
    PACE_MODULE_MOE = 32,
    PACE_MODULE_SHARED_EXPERTS = 64
} pace_recompute_module;

/* Beside which products low-rank adapters stand: those around attention (Hu et al. 2021, section 4.2), or all of
 * repeated blocks. */
typedef enum { PACE_LORA_ATTENTION, PACE_LORA_ALL, PACE_LORA_QUERY_VALUE } pace_lora_layers;
typedef enum { PACE_QUANTIZED_NONE, PACE_QUANTIZED_INT8, PACE_QUANTIZED_NF4, PACE_QUANTIZED_NF4_TWICE } pace_quantized;

/* Which operators that stand within others are lowered: all; those of the first and last micro-batch and outside of
 * passes, such as inputs; none. They take no time of their own. */
typedef enum { PACE_OPERATORS_ALL, PACE_OPERATORS_OF_ENDS, PACE_OPERATORS_OUTERMOST } pace_operators;

typedef struct {
    /* Of samples that are packed into a sequence and attend to themselves alone: the mean of their tokens' squares over
     * the mean of their tokens; 0 = one sample fills it. */
    double sample_tokens;
    double micro_batch;  /* samples of one forward pass on one rank */
    double global_batch; /* samples of one step on all ranks; 0 = micro_batch x dp */
    double sequence;     /* tokens of a sample; 0 = the model's own */
    int mode, precision, allow_tf32, optimizer, update, execution, attention, input, indices, read_loss, pair_indices,
        recompute;           /* of the enums above */
    int recompute_modules;   /* bits of pace_recompute_module; 0 = what the framework runs again selectively */
    double recompute_layers; /* full recomputation is of so many first layers of a stage's chunk (Megatron's method
                                block); 0 = of all */
    int cross_entropy;       /* a pace_cross_entropy */
    int graphs;              /* a pace_graph_parts */
    int layout;              /* a pace_image_layout */
    int weights;             /* a pace_weights_layout */
    int offload;             /* a pace_offload */
    int schedule;            /* a pace_pipeline_schedule: in which order a pipeline takes micro-batches */
    double moment_bytes;     /* of each of Adam's moments beside a master copy in single precision (Megatron's
                              --exp-avg-dtype); 0 = 4 */
    double keep_gradients;   /* 1 = gradients are zeroed and added to; 0 = dropped (set_to_none) */
    double deterministic;    /* 1 = kernels that give the same bits each time (torch.use_deterministic_algorithms) */
    double defer_logits;     /* pipelines: micro-batches whose gradients of the last product's weights are put off until
                              the pipeline drains (Megatron's --wgrad-deferral-limit) */
    double dp, tp, pp, vpp, cp, ep, zero_stage;
    double
        zero_group; /* ranks that ZeRO divides states over: a group of data-parallel neighbours, which others replicate
                          (hybrid sharding, Zhao et al. 2023); 0 = all */
    double
        sequence_parallel; /* 1 = what tensor parallelism leaves whole is split by tokens (Korthikanti et al. 2022) */
    double frozen;         /* 1 = parameters get no gradient */
    double lora;           /* rank of adapters, which alone are trained (model/adapters.h); 0 = none */
    int lora_layers;       /* a pace_lora_layers */
    int quantized;         /* a pace_quantized: in what the weights of frozen products are kept */
    double imbalance;      /* experts that are divided: tokens of the rank that has most, percent above the mean */
    double expert_nodes;   /* experts that are divided: nodes that a token goes to, at most, once to each; 0 = any */
    double bucket_bytes;   /* data parallel: gradients exchanged at once */
    int gradients;         /* a pace_gradient_way; no setting of a model, but of how its gradients are exchanged */
    unsigned selects_products; /* nor this: selective recomputation keeps of products each so many-th, and attention;
                                * nothing else. 0 = all but what attention has inside */
    bool keeps_fp8;            /* nor this: products in FP8 keep their inputs so */
    bool routes_inside;        /* nor this: experts weigh tokens before their last product, whose output is not kept */
    bool wide_adapters;        /* nor this: adapters compute in single precision, on copies of their inputs */
    bool wide_softmax;         /* nor this: attention as products takes its softmax in single precision */
    bool sums_in_convolutions; /* nor this: convolutions sum what batch norms behind them need of their outputs */
    bool pixels_as_laid; /* nor this: convolutions of one pixel take images in half precision as they lie (forward) */
    bool fuses_norms;    /* nor this: a norm is one kernel, written by hand, and so is a softmax of scores */
    bool parts_loss;     /* nor this: a cross entropy is kernels of single operations, in single precision */
    bool sums_beside;   /* nor this: tensor-parallel ranks sum an input's gradient beside the product of the weight's */
    bool tokens_once;   /* nor this: tokens cross to each node once, whatever expert_nodes says */
    bool whole_experts; /* nor this: tensor-parallel ranks that split words share experts out, each whole */
    double host_update_ns; /* nor this: what a rank's share of its host takes to update one parameter */
    int operators;         /* a pace_operators, nor this: which of those within others are lowered */
    bool sorts_on_host; /* nor this, but a framework's: of each layer of experts a pass begins with a call "dispatch" */
} pace_config;

/** What catalog/frameworks.yaml calls each way to run: "eager", "compiled", "cuda-graph"; by pace_execution. */
extern const char *const pace_execution_modes[];

/** Single-device eager training of one sample in fp32 with SGD; input from pageable memory; 25 MiB buckets, which is
 * the default of DistributedDataParallel. */
pace_config pace_config_default(void);

enum { PACE_CONFIG_FIELDS = 45 }; /* at most */

/** Whether a configuration has a field of this name. */
bool pace_config_has(const char *key);

/** The name of the i-th field; NULL behind the last. */
const char *pace_config_key(size_t i);

/** Whether the values of the i-th field are words, not numbers. */
bool pace_config_is_worded(size_t i);

/** Sets a field by its name and a value's text: ("precision", "amp"), ("micro_batch", "64"). PACE_E_USAGE names what
 * was expected. */
pace_status pace_config_set(pace_config *config, const char *key, const char *value) PACE_MUST_CHECK;

/** The modules (bits of pace_recompute_module) that run again; 0 unless recomputation is selective. */
unsigned pace_config_modules(const pace_config *config);
/** The modules of recomputation that a text names as words of its own: "selective (moe_act, layernorm)". */
unsigned pace_config_modules_in(const char *text);
/** Those of `modules` as a setting has them: "moe_act+layernorm". Returns `out`. */
enum { PACE_MODULES_TEXT = 96 };
const char *pace_config_modules_text(char *out, size_t size, unsigned modules);

/** The word of an enumerated field's value ("amp"), or NULL when the field has none, or several words. */
const char *pace_config_word(const pace_config *config, const char *key);

/** Sizes are whole and positive, and global_batch is a multiple of micro_batch x dp. PACE_E_USAGE else. */
pace_status pace_config_check(const pace_config *config) PACE_MUST_CHECK;
/** Of these, what concerns several fields. */
pace_status pace_config_check_shares(const pace_config *config) PACE_MUST_CHECK;

/** And of these, which parts are captured as device graphs. */
pace_status pace_config_check_parts(const pace_config *config) PACE_MUST_CHECK;

/** Ranks of a step. Neighbours are of one tensor-parallel group; then come context, expert, data and pipeline. */
double pace_config_ranks(const pace_config *config);
/** dp with which replicas of tp x pp x cp ranks fill so many devices; 0 where they leave some over. */
double pace_config_replicas(const pace_config *config, double devices);
/** How many tensor-parallel ranks split each expert; the others of them have other experts. */
double pace_config_expert_split(const pace_config *config);
/** Ranks of one stage that experts may be divided among: replicas, and tensor-parallel ranks that do not split them. */
double pace_config_expert_ranks(const pace_config *config);
/** How many ranks a group has, and how far they are apart. PACE_GROUP_DATA holds the replicas of parameters, whose
 * gradients are summed: over data and context; PACE_GROUP_EXPERT_DATA those of experts. */
double pace_config_group_size(const pace_config *config, pace_group_kind group);
int64_t pace_config_stride(const pace_config *config, pace_group_kind group);

/** The group that ZeRO divides states over; of hybrid sharding one copy's ranks, of its experts those with the same. */
pace_group_kind pace_config_shard_group(const pace_config *config, bool expert);
/** Copies of states that ZeRO leaves: 1 where it divides over all replicas. */
double pace_config_copies(const pace_config *config);
/** Ranks that divide among them what this stage of ZeRO divides; 1 where they divide less. */
double pace_config_sharded_over(const pace_config *config, int zero_stage);

/** Whether several ranks hold replicas of a parameter. */
static inline bool pace_config_shares_gradients(const pace_config *config) { return config->dp * config->cp > 1; }

/** Bytes of a weight of a frozen product, its share of the scales too; 0 = as wide as parameters. */
double pace_config_packed_bytes(const pace_config *config);

/** Whether parameters are trained: neither in inference nor where they are frozen. */
static inline bool pace_config_trains(const pace_config *config) {
    return config->mode == PACE_TRAINING && !(config->frozen > 0);
}

/** Whether all of them are: not adapters alone. */
static inline bool pace_config_trains_all(const pace_config *config) {
    return pace_config_trains(config) && !(config->lora > 0);
}

/** DualPipe fills a pipeline from both ends, so that ranks i and pp - 1 - i hold the same two parts: it is two V's of
 * half as many stages side by side, with each parameter twice and half of the micro-batches each (DeepSeek-AI's
 * DualPipe; cut in half it is their dualpipev.py). Takes that schedule for dualpipe-v with pp / 2 and twice the
 * replicas; others stay as they are. PACE_E_USAGE for an odd pp, or one below 4, and for several chunks. */
pace_status pace_config_take_two_way(pace_config *config) PACE_MUST_CHECK;

/** The same where one rank holds all layers and all states: without pipelines and ZeRO. */
pace_config pace_config_unshared(const pace_config *config);

/** Whether one operator issues all of a pass. */
static inline bool pace_config_issues_passes(const pace_config *config) {
    return config->execution == PACE_COMPILED || config->graphs == PACE_GRAPHS_PASSES;
}

/** Micro-batches of a step on one rank. */
double pace_config_micro_batches(const pace_config *config);
/** A step's arithmetic over that of its forward pass: backward is twice as much, with frozen weights once. */
double pace_config_passes(const pace_config *config);
/** Whether products of repeated layers are in 8 bits or fewer; whether their operands are scaled block by block; and
 * whether they are said to be in 4 bits. */
bool pace_config_is_fp8(const pace_config *config);
bool pace_config_scales_blocks(const pace_config *config);
bool pace_config_says_fp4(const pace_config *config);
/** PACE_E_USAGE where a device has no rate for the products' precision, or no matrix units that scale as it asks. */
pace_status pace_config_check_device(const pace_config *config, const pace_device *device) PACE_MUST_CHECK;
/** Whether convolutions in half precision get images whose channels lie apart. torch.compile lays them out for its
 * kernels (torch._inductor.config.layout_optimization). */
bool pace_config_holds_nchw(const pace_config *config);
/** The precision of matrix products, and the bytes of one element of a parameter. */
pace_precision pace_config_matrix_precision(const pace_config *config);
/** That of convolutions; a device without TF32 has them in FP32. */
pace_precision pace_config_convolution_precision(const pace_config *config);
int pace_config_parameter_bytes(const pace_config *config);

/** Bytes a parameter that Adam's moments have less than in single precision. */
double pace_config_moments_save(const pace_config *config);

/** Of one parameter as replicas give it to each other, and of what a product gives: a half under autocast. */
int pace_config_gathered_bytes(const pace_config *config);
bool pace_config_is_amp(const pace_config *config);

/** Whether a cross entropy is kernels of single operations. */
bool pace_config_parts_loss(const pace_config *config);

/* How a framework runs a distributed step (catalog/steps.yaml): what it fuses, hides, keeps and spends on the host. */
#pragma once

#include "model/config.h"
#include "model/pipeline_turns.h"

enum { PACE_ZERO_STAGES = 4 };

/* Per score, beside the scores: until backward; at work in the loss. */
typedef struct {
    double kept, formed;
} pace_loss_bytes;

typedef struct {
    char name[32];
    const char
        *about; /* whose software of which year it stands for, where its words say less; borrowed; NULL = nothing */
    const char *release_of; /* the framework that it is a release of, which a text names; NULL = none */
    double from_generation; /* of NVIDIA's devices, on which such a release runs so */
    int execution, attention, precision, recompute, layout; /* as in pace_config; layout: of images in half precision */
    double launch_s, dispatch_s;        /* of the host: per kernel or exchange, per layer of experts */
    double expert_s, gathered_module_s; /* the same: per expert that is computed by itself, and per module of one whose
                                           parameters ZeRO 3 gathers by themselves */
    double adapter_launch_s;            /* per kernel of an adapter */
    double update_launches; /* it issues for each tensor of parameters behind backward; 0 where steps are lowered */
    double gradient_bytes, state_bytes, update_bytes;
    double overlap_gradients, overlap_pipeline, overlap_tensor, overlap_context,
        overlap_expert;                   /* shares that may hide */
    double zero_stage, sequence_parallel; /* unless given */
    double fuses_norms;                   /* whether a norm is one kernel, written by hand */
    double parts_loss;                    /* whether a cross entropy is kernels of single operations */
    double sums_beside; /* whether tensor-parallel ranks sum an input's gradient beside the product of the weight's */
    double step_s;      /* of every step */
    double software_spread;  /* of ln time, by how its versions and the modules run by it differ */
    double launches_wait;    /* whether its host waits for each kernel and exchange before the next */
    double whole_batches;    /* whether a step takes its batch at once unless told otherwise, whether it fits or not */
    double accumulates;      /* whether a pass of its own adds a micro-batch's gradients to those before */
    double sums_whole;       /* whether ZeRO 1 and 2 copy gradients into buckets and all-reduce these */
    double interleaves;      /* whether its pipelines have several chunks of layers a stage where it is told so */
    double one_stage;        /* whether it cuts no model into stages of a pipeline */
    double ungrouped;        /* whether ZeRO divides over all replicas alone, never over those of a node */
    double staged_zero;      /* the highest stage of ZeRO that its pipelines go with; 0 = any */
    double scatter_messages; /* whether ranks that share layers send a part of a message each */
    double
        bf16_gradient_bytes; /* of gradients in bf16, beside those of one micro-batch; 0 = as of other half precision */
    double buffer_bytes;     /* held whatever the model is */
    double formed_state_bytes;  /* of state_bytes: formed when the optimizer runs, where activations were */
    double updates_lists;       /* whether its optimizer forms the roots of all second moments at once */
    double adapter_bytes;       /* of a parameter of an adapter; 0 = as wide as others */
    double wide_softmax;        /* whether attention as products takes its softmax in single precision */
    double widens_packed;       /* whether it casts what is not packed to single precision where weights are packed */
    double workspaces;          /* of libraries of products, workspace_bytes each */
    double engine_workspaces;   /* of Transformer Engine, engine_bytes each before Hopper */
    double grouped_workspaces;  /* of Transformer Engine beside these: for the streams of grouped products of experts */
    pace_loss_bytes loss;       /* of its own cross entropy */
    double offloads_gradients;  /* whether the host has gradients as they are formed, where it has the states */
    double gathered_part;       /* of a layer's parameters that ZeRO 3 gathers at once, and forms gradients of */
    double compiled_loss_bytes; /* in its place where a compiler has the loss, too, which keeps the scores alone */
    double recomputes_some;     /* whether full recomputation may be of some layers of a chunk (recompute_layers) */
    double reruns_attention;    /* whether selective recomputation runs attention again, in one kernel, too */
    double selects_products; /* 1, 2: selective recomputation keeps every product or every second one, and attention */
    double keeps_fp8;        /* whether products in FP8 keep their inputs so */
    double
        routes_inside; /* whether experts weigh what they compute before their last product, whose output is not kept */
    double sums_in_convolutions; /* whether convolutions sum what batch norms behind them need */
    double pixels_as_laid;       /* whether convolutions of one pixel take images in half precision as they lie */
    double nchw_until;           /* the newest generation of devices on which its images lie so; 0 = on all */
    double whole_experts;        /* whether tensor-parallel ranks that split words share experts out, each whole */
    double tokens_once; /* whether a token crosses to each node once, and is copied to its experts' ranks there */
    pace_loss_bytes losses[PACE_CROSS_ENTROPIES]; /* of a cross entropy that is told, whatever the framework */
    double engine_bytes;
    double workspace_bytes[2];                /* before Hopper, and from Hopper on */
    double context_bytes, communicator_bytes; /* of a device's memory, what no allocator of the framework gives */
    double cached_bytes;               /* that the allocator holds beside each byte of tensors, where it leaves holes */
    bool zero_known[PACE_ZERO_STAGES]; /* stages of ZeRO that it has; all unless given */
    bool schedule_known[PACE_SCHEDULES]; /* orders of pipelines that a plan looks at; 1F1B unless given */
} pace_framework;

/** Whether a framework's steps are as src/model lowers them, with the host costs of catalog/frameworks.yaml. */
static inline bool pace_framework_is_lowered(const pace_framework *framework) { return !(framework->launch_s > 0); }

/* How far off the closed form is, as the standard deviation of ln(measured / predicted): of what consists of one of its
 * parts alone (matrix products, attention, other kernels, exchanges inside nodes and between, the host, what every step
 * has besides), and of every step. All 0 = not asked for. */
typedef struct {
    double matrix, attention, stream, inside, between, launch, step, rest;
} pace_step_spreads;

enum { PACE_FRAMEWORKS_MOST = 32 };

/* Attention kernels that are not made for a device: their time over the formula's. */
typedef struct {
    char device[24], framework[32]; /* how the device's name begins */
    double factor;
} pace_attention_kernel_entry;

typedef struct {
    const pace_yaml *yaml;
    pace_framework items[PACE_FRAMEWORKS_MOST];
    size_t count;
    pace_step_spreads spreads; /* of a step by formula */
    double micro_batch_most;   /* taken unless one is given */
    double mixed_parameters;   /* of a model that is trained in 16 bits unless given */
    double plan_spread;        /* of ln(measured / predicted) among configurations of one model and batch */
    double plan_tie;           /* a share of a step: what differs by less is as long */
    double plan_tokens, plan_clicks, plan_samples; /* of a step that is planned without a global batch: of all devices
                                                      (sequences, recommenders), of each */
    pace_attention_kernel_entry attention[PACE_FRAMEWORKS_MOST];
    size_t attention_count;
} pace_frameworks;

pace_status pace_frameworks_load(pace_frameworks *out, pace_catalog *catalog) PACE_MUST_CHECK;

/** Times which a framework's attention takes on a device over the formula; 1 where nothing is known. */
double pace_frameworks_attention(const pace_frameworks *frameworks, const char *device, const char *framework);

/** The framework a table's word means; "" or an unknown word is the first. */
const pace_framework *pace_frameworks_find(const pace_frameworks *frameworks, const char *word);

/** The framework that a name or a table's word means. PACE_E_USAGE names the closest where there is none. */
pace_status pace_frameworks_named(const pace_framework **out, const pace_frameworks *frameworks,
                                  const char *name) PACE_MUST_CHECK;

/** The release of a framework that a text names, where it has an entry that holds on the device (may be NULL); else the
 * framework. */
const pace_framework *pace_frameworks_released(const pace_frameworks *frameworks, const pace_framework *of,
                                               const char *text, const pace_device *device);

/** Whether its pipelines go with the stage of ZeRO that a configuration has. */
bool pace_framework_stages_zero(const pace_framework *framework, const pace_config *config);

/** What a configuration has and the framework has not, for people: "chunks of stages (vpp), ..."; false = nothing. */
bool pace_framework_lacks(char *out, size_t size, const pace_framework *framework, const pace_config *config);

/** How its steps run and are shared unless given: execution, attention, ZeRO, sequence parallelism. */
void pace_framework_defaults(pace_config *config, const pace_framework *framework);

/** The layout of images unless given, on a known device: versions of a framework that run on it may differ from
 * older ones. */
void pace_framework_lay_out(pace_config *config, const pace_framework *framework, const pace_device *device);

/** Whether parts of a framework's step on a device can be captured as the configuration says. PACE_E_USAGE else. */
pace_status pace_framework_check_graphs(const pace_framework *framework, const pace_config *config,
                                        const pace_device *device) PACE_MUST_CHECK;

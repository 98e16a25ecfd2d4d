/* A model's step as a question words it: settings, a device, a machine, an approach. One rule for what is not given. */
#pragma once

#include "ask/predict/predict_fits.h"
#include "plan/step_engine.h"

/* A case and what it borrows. It must not move once it is open. */
typedef struct {
    pace_step_case asked;
    pace_frameworks frameworks;
    pace_model model;
    pace_machine machine;
    pace_exchange exchange;
    pace_approach approach;
    pace_step_pricer pricer;
    pace_step_solution settled; /* pace_step_settle(); nothing on a CPU, which has no closed form */
    bool all_devices;           /* replicas fill the machine, since their number was not given */
    double idle_devices;        /* of the machine: those that no rank is on */
    bool convolves_in_tf32;     /* although all is held in fp32, as PyTorch lets cuDNN */
    bool largest_batch;         /* micro-batch: the largest power of two that fits, since none was given */
    bool precision_unsaid;      /* it is the usual one, since none was given */
    bool zero_said;             /* the stage of ZeRO, which then must have replicas to divide among */
    bool scales_losses;         /* fp16 was taken for autocast */
    bool widens_packed;         /* half precision was, since what is not packed is cast to single */
    bool two_way;               /* dualpipe was taken for dualpipe-v */
    bool usual_rounds; /* micro-batches of a pipeline: pace_step_usual_rounds(), since no global batch was given */
    bool has_model, has_pricer;
} pace_step_asked;

typedef struct {
    const char *name;      /* of the model, or its file */
    const pace_words *set; /* "KEY=VALUE" */
    const char *approach, *jitter;
    const pace_approach *chosen; /* instead of both; NULL = as they say */
    bool several;                /* one of several numbers of workers, to which settings apply where they can */
    const pace_device *device;
    const pace_machine *machine; /* NULL = the device alone */
    double host_bytes;           /* then: memory of its host; 0 = unknown */
    pace_predict_fits *fits;     /* of kernels and exchanges; NULL = none */
    bool compared;               /* with other machines: one device of each, unless `set` shares the step */
} pace_step_words;

/** What a configuration is unless given: as the framework runs steps, which recomputes layers with attention only;
 * the optimizer is Adam for models of sequences, plain SGD for others. */
void pace_step_defaults_of(pace_config *config, const pace_framework *framework, const pace_model *model);

/** The precision that is not given: the framework's, or the other of 16 bits where the device has only that; where it
 * is fp32, large models (catalog/steps.yaml, mixed_parameters) train in mixed precision on devices that have bf16.
 * `asked` has framework, model, device (NULL = none) and mode. */
pace_run_precision pace_step_usual_precision(const pace_frameworks *frameworks, const pace_step_case *asked);

/** Micro-batches of a step that nobody states: so many that a ninth of a pipeline's time is its filling. */
double pace_step_usual_rounds(const pace_config *config);

/** Autocast to what the device has rates of, where a step runs in fp32; with LoRA, whose frozen weights need no more
 * digits, bf16 throughout. PACE_RUN_FP32 where nothing is to be gained, and of a recording, whose kernels have
 * theirs. */
pace_run_precision pace_step_autocast(const pace_step_case *asked);

/** PyTorch trains in fp16 by autocast: its GradScaler refuses gradients in half precision ("Attempting to unscale FP16
 * gradients", torch/amp/grad_scaler.py). True where fp16 was taken so. Not where FSDP casts what it gathers and keeps
 * its shards (its MixedPrecision), nor with adapters beside frozen weights. */
bool pace_step_scales_losses(pace_config *config, const pace_framework *framework, const pace_model *model);

/** PEFT's prepare_model_for_kbit_training: norms, embeddings and the output layer, whose weights are not packed, are
 * cast to single precision, and so is what layers hand on; products are autocast. True where weights are packed and
 * all else was in half precision. */
bool pace_step_widen_packed(pace_config *config);

/** Whether it has tables of which a step touches few rows. */
bool pace_model_has_tables(const pace_model *model);

/** Tables of a recommender are spread over all of its ranks unless given: true when that was assumed. Its ranks
 * share no other states then, unless it is said that they do (`shards`). */
bool pace_step_spreads_tables(pace_config *config, const pace_model *model, bool shards);

/** Opens a case's model in its framework and configuration, without a device: what is lowered or counted, not yet
 * timed. Errors: those of models, settings and frameworks. Close it also after a failure. */
pace_status pace_step_model_open(pace_step_asked *out, pace_catalog *catalog, const char *name,
                                 const pace_words *set) PACE_MUST_CHECK;

/** The rule for a micro-batch that is not given, in options, rows and --workers alike: the largest power of two that
 * fits, at most `most` (catalog/steps.yaml, micro_batch_most); 1 on a CPU, in pipelines, and where not even 2 fit. */
pace_status pace_step_choose_batch(double *out, pace_step_pricer *pricer, const pace_step_case *asked,
                                   double most) PACE_MUST_CHECK;

/** The rule for the micro-batch of a rank that trains so many samples a step: all at once where they fit into memory,
 * else the largest equal part that does; 1 in pipelines, which are filled with many. */
pace_status pace_step_split_batch(double *out, pace_step_pricer *pricer, const pace_step_case *asked,
                                  double samples) PACE_MUST_CHECK;

/** Opens a case and settles it. Unless given, a machine's devices all train a replica, and a micro-batch is the
 * largest power of two that fits (at most catalog/steps.yaml's). Errors: those of models, settings, frameworks and
 * approaches; PACE_E_USAGE for more ranks than the machine has. Close it also after a failure. */
pace_status pace_step_asked_open(pace_step_asked *out, pace_catalog *catalog,
                                 const pace_step_words *words) PACE_MUST_CHECK;

/** Opens a case whose sharing is still to be chosen, over all devices of its machine: nothing is settled, and the
 * machine is joined if it has several devices. Errors: those of pace_step_asked_open(). Close it after failures too. */
pace_status pace_step_unshared_open(pace_step_asked *out, pace_catalog *catalog,
                                    const pace_step_words *words) PACE_MUST_CHECK;
void pace_step_asked_close(pace_step_asked *asked);

/* What the optimizer does with all parameters of a rank. */
#include "model/lower_ops.h"
#include "model/lower_shards.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What each optimizer does with a tensor (PyTorch's torch/optim); "foreach" does it with all tensors at once. */
typedef struct {
    const char *name; /* behind "aten::" or "aten::_foreach_" */
    double inputs, outputs;
} update_pass;

static const update_pass sgd[] = {{"add_", 2, 1}, {0}};
static const update_pass momentum[] = {{"mul_", 1, 1}, {"add_", 2, 1}, {"add_", 2, 1}, {0}};
static const update_pass adam[] = {{"lerp_", 2, 1}, {"mul_", 1, 1}, {"addcmul_", 2, 1}, {"sqrt", 1, 1},
                                   {"div_", 1, 1},  {"add_", 1, 1}, {"addcdiv_", 3, 1}, {0}};
static const update_pass adamw[] = {{"mul_", 1, 1},     {"lerp_", 2, 1},    {"mul_", 1, 1},
                                    {"addcmul_", 2, 1}, {"sqrt", 1, 1},     {"div_", 1, 1},
                                    {"add_", 1, 1},     {"addcdiv_", 3, 1}, {0}};
/* torch.optim has none. You et al. 2020, algorithm 2, with the kernels of its usual implementation (Apex FusedLAMB):
 * the norm of all gradients; both moments and the update's direction; norms of each tensor and of its direction; the
 * step by their ratio. */
static const update_pass lamb[] = {{"norm", 1, 0}, {"addcmul_", 4, 3}, {"norm", 2, 0}, {"add_", 2, 1}, {0}};
/* bitsandbytes: one kernel a tensor, on states of a byte each. */
static const update_pass adamw_8bit[] = {{"adamw_8bit_", 3, 2}, {0}};
/* transformers' Adafactor, a tensor at a time: the square of the gradient and its means of rows and columns, the update
 * by their roots, clipped by its norm. */
static const update_pass adafactor[] = {{"pow", 1, 1},  {"mean", 1, 0}, {"mean", 1, 0},
                                        {"mul", 1, 1},  {"mul_", 2, 1}, {"norm", 1, 0},
                                        {"div_", 1, 1}, {"add_", 2, 1}, {0}};
static const update_pass lion[] = {{"mul_", 1, 1}, {"lerp", 2, 1},  {"sign_", 1, 1},
                                   {"add_", 2, 1}, {"lerp_", 2, 1}, {0}};

static const struct {
    const char *step, *zero, *fused, *kind;
    const update_pass *passes;
} optimizers[] = {
    [PACE_SGD] = {"Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad", "aten::_fused_sgd_", "sgd", sgd},
    [PACE_MOMENTUM] = {"Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad", "aten::_fused_sgd_", "momentum",
                       momentum},
    [PACE_ADAM] = {"Optimizer.step#Adam.step", "Optimizer.zero_grad#Adam.zero_grad", "aten::_fused_adam_", "adam",
                   adam},
    [PACE_ADAMW] = {"Optimizer.step#AdamW.step", "Optimizer.zero_grad#AdamW.zero_grad", "aten::_fused_adamw_", "adamw",
                    adamw},
    [PACE_LAMB] = {"Optimizer.step#LAMB.step", "Optimizer.zero_grad#LAMB.zero_grad", "aten::_fused_lamb_", "lamb",
                   lamb},
    [PACE_ADAMW_8BIT] = {"Optimizer.step#AdamW8bit.step", "Optimizer.zero_grad#AdamW8bit.zero_grad",
                         "aten::_fused_adamw_8bit_", "8bit_adamw", adamw_8bit},
    [PACE_ADAFACTOR] = {"Optimizer.step#Adafactor.step", "Optimizer.zero_grad#Adafactor.zero_grad",
                        "aten::_fused_adafactor_", "factored", adafactor},
    [PACE_LION] = {"Optimizer.step#Lion.step", "Optimizer.zero_grad#Lion.zero_grad", "aten::_fused_lion_", "lion",
                   lion},
};

static void count_layers(const pace_lowering *to, const pace_layer_range *of, int zero_stage, double *parameters,
                         double *tensors) {
    for (uint32_t i = of->first; i <= of->last; i++) {
        const pace_layer *layer = &to->model->layers.items[i];
        double experts = pace_lower_experts(to, layer), tied = pace_lower_tied_copy(to, layer);
        if (layer->rule->sparse || layer->frozen) continue;
        *parameters += pace_lower_share(to, pace_lower_parameters(to, layer) - experts + tied, false, zero_stage) +
                       pace_lower_share(to, experts, true, zero_stage);
        *tensors += layer->tensors + (tied > 0);
    }
}

/* Parameters that the rank has gradients of (ZeRO divides them from stage 2 on) or updates (from 1 on): the rows of
 * embedding bags are updated where their gradient is formed. */
static void count_parameters(const pace_lowering *to, int zero_stage, double *parameters, double *tensors) {
    *parameters = *tensors = 0;
    for (uint32_t chunk = 0; chunk < to->cut.chunks; chunk++)
        count_layers(to, pace_lower_part_of(to, chunk), zero_stage, parameters, tensors);
}

/* One operation on one tensor, or on all of them. */
static void update_with(pace_lowering *to, const update_pass *pass, double elements) {
    bool all = to->config->update == PACE_UPDATE_FOREACH;
    char name[64], kind[24];
    snprintf(name, sizeof name, all ? "aten::_foreach_%s" : "aten::%s", pass->name);
    snprintf(kind, sizeof kind, all ? "foreach_%.*s" : "%.*s", (int)strcspn(pass->name, "_"), pass->name);
    pace_emit_op(to, name,
                 pace_emit_elementwise(to, kind, elements, pass->inputs, pass->outputs,
                                       pace_config_parameter_bytes(to->config)));
}

/* Before the first backward pass tells the tensors apart, they are taken to be of one size. */
void pace_lower_zero_grad(pace_lowering *to) {
    double parameters, tensors;
    bool annotated = to->region == PACE_NO_NODE, loop = to->config->update == PACE_UPDATE_LOOP;
    int bytes = pace_config_parameter_bytes(to->config);
    to->stage = PACE_STAGE_UPDATE;
    if (annotated) pace_emit_annotation(to, optimizers[to->config->optimizer].zero);
    count_parameters(to, 2, &parameters, &tensors);
    for (double i = 0; loop && to->config->keep_gradients > 0 && i < tensors; i++) {
        pace_emit_op(to, "aten::zero_ > aten::fill_", pace_emit_copy(to, "fill", parameters / tensors, bytes));
    }
    if (!loop && to->config->keep_gradients > 0 && parameters > 0)
        pace_emit_op(to, "aten::_foreach_zero_", pace_emit_copy(to, "fill", parameters, bytes));
    if (annotated) pace_emit_close(to);
}

static void update_all(pace_lowering *to, double parameters, double tensors) {
    int bytes = pace_config_parameter_bytes(to->config), optimizer = to->config->optimizer;
    const update_pass *passes = optimizers[optimizer].passes;
    if (to->config->precision == PACE_RUN_AMP) /* gradients are unscaled, and looked through for infinities */
        pace_emit_op(to, "aten::_amp_foreach_non_finite_check_and_unscale_",
                     pace_emit_elementwise(to, "foreach_unscale", parameters, 1, 1, bytes));
    if (to->config->update == PACE_UPDATE_FUSED)
        pace_emit_op(to, optimizers[optimizer].fused,
                     pace_emit_rows(to, PACE_OP_OPTIMIZER, optimizers[optimizer].kind, PACE_PASS_FORWARD, parameters,
                                    tensors, bytes));
    if (to->config->update == PACE_UPDATE_FOREACH)
        for (const update_pass *pass = passes; pass->name; pass++) update_with(to, pass, parameters);
    if (to->config->update == PACE_UPDATE_LOOP)
        for (size_t i = 0; i < to->tensors.count; i++)
            for (const update_pass *pass = passes; pass->name; pass++)
                update_with(to, pass,
                            pace_lower_share(to, to->tensors.items[i].elements, to->tensors.items[i].expert, 1));
}

/* Between the memories of device and host; the host waits for it. */
static void move(pace_lowering *to, const char *name, const char *kind, double bytes) {
    pace_emit_open(to, name);
    pace_emit_op(to, "aten::copy_", pace_emit_transfer(kind, bytes));
    if (to->status == PACE_OK) to->graph->nodes.items[to->last_node[0]].waits_launch = to->last_launch;
    pace_emit_close(to);
}

/* Gradients go to the host, which updates, and parameters come back: 2 bytes of each a parameter where both are halves
 * (Ren et al. 2021, section 4.1). That copies hide behind the backward pass, or behind updates, is not counted. */
static void update_on_host(pace_lowering *to, double parameters) {
    int bytes = pace_config_parameter_bytes(to->config);
    move(to, "offload::gradients", "d2h_pinned", bytes * parameters);
    pace_emit_host(to, "offload::host_update");
    if (to->status == PACE_OK)
        to->graph->nodes.items[to->last_node[0]].spends_ns = llround(parameters * to->config->host_update_ns);
    move(to, "offload::parameters", "h2d_pinned", bytes * parameters);
}

void pace_lower_update(pace_lowering *to) {
    double parameters, tensors;
    count_parameters(to, 1, &parameters, &tensors);
    to->stage = PACE_STAGE_UPDATE;
    if (to->region == PACE_NO_NODE) pace_emit_annotation(to, optimizers[to->config->optimizer].step);
    if (parameters > 0 && to->config->offload == PACE_OFFLOAD_OPTIMIZER) update_on_host(to, parameters);
    else if (parameters > 0) update_all(to, parameters, tensors);
    if (to->region == PACE_NO_NODE) pace_emit_close(to);
}

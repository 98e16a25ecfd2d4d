#include "ask/predict/found_model.h"
#include "ask/predict/predict_inputs.h"
#include "model/model_build.h"
#include "model/recorded.h"
#include "forecast/tensor_roles.h"
#include "source/model_inputs.h"
#include "source/traces/trace_formats.h"
#include "step/op_call.h"

#include <stdio.h>
#include <string.h>

/* --- the graph of a recording ------------------------------------------------------------------------------------- */

typedef struct {
    pace_graph graph;   /* of the first rank */
    pace_device device; /* name "" = not known */
} recording;

static pace_status read_times(recording *out, pace_catalog *catalog, const char *path) {
    pace_analysis measured;
    pace_forecast forecast;
    const pace_analyze_options reading = {.context = NULL};
    PACE_TRY(pace_analysis_load(&measured, catalog, &path, 1, &reading));
    pace_status status = pace_forecast_of_analysis(&forecast, &measured, NULL);
    if (status == PACE_OK) {
        out->graph = forecast.ranks.items[0].graph;
        forecast.ranks.items[0].graph = (pace_graph){0};
        if (forecast.device) out->device = *forecast.device;
        out->device.source = NULL;
        pace_forecast_free(&forecast);
    }
    pace_analysis_free(&measured);
    return status;
}

static pace_status read_recording(recording *out, pace_catalog *catalog, const char *path) {
    bool times;
    const pace_trace_format *format;
    pace_read_notes notes = {0};
    *out = (recording){0};
    PACE_TRY(pace_predict_inputs_have_times(&times, &path, 1));
    if (times) return read_times(out, catalog, path);
    PACE_TRY(pace_trace_format_of(&format, path));
    return pace_graph_read(&out->graph, &notes, format, path);
}

/* --- its forward pass --------------------------------------------------------------------------------------------- */

typedef PACE_VEC(pace_found_call) found_calls;

static double flop_of(const found_calls *calls) {
    double flop = 0;
    for (size_t i = 0; i < calls->count; i++) flop += calls->items[i].op.flop;
    return flop;
}

/* The pass with most arithmetic is kept. */
static void end_pass(found_calls *most, found_calls *now) {
    if (flop_of(now) > flop_of(most)) {
        found_calls other = *most;
        *most = *now;
        *now = other;
    }
    now->count = 0;
}

static bool attends(const pace_op *op) {
    return op->family == PACE_OP_ATTENTION || (op->family == PACE_OP_GEMM && op->size[0] > 1);
}

/* What models begin with: behind attention it begins another pass. */
static bool begins(const pace_op *op) { return op->family == PACE_OP_EMBEDDING || op->family == PACE_OP_CONVOLUTION; }

static bool call_at(pace_found_call *out, const pace_graph *graph, uint32_t node) {
    const pace_graph_node *n = &graph->nodes.items[node];
    pace_op_shapes shapes;
    pace_op_family family;
    pace_op ops[PACE_CALL_OPS];
    const char *name = pace_names_text(&graph->names, n->name);
    const char *text = n->shapes ? pace_names_text(&graph->names, n->shapes) : "";
    if (!pace_ops_of_call(ops, &family, name, pace_op_shapes_parse(&shapes, text) ? &shapes : NULL)) return false;
    *out = (pace_found_call){ops[0], name};
    if (out->op.precision == PACE_FP16 && strstr(text, "BFloat16")) out->op.precision = PACE_BF16; /* as many bytes */
    return true;
}

/* What a node, or a look-up or an attention around it, computes; *node becomes the one that says it. */
static bool call_of(pace_found_call *out, const pace_graph *graph, uint32_t *node) {
    bool known = call_at(out, graph, *node);
    for (uint32_t i = graph->nodes.items[*node].parent; i != PACE_NO_NODE; i = graph->nodes.items[i].parent) {
        pace_found_call around;
        if (!call_at(&around, graph, i)) continue;
        if (around.op.family != PACE_OP_EMBEDDING && around.op.family != PACE_OP_ATTENTION) continue;
        *out = around;
        *node = i;
        known = true;
    }
    return known;
}

/* Calls of the forward pass, in order; the longest where there are several. */
static pace_status find_pass(found_calls *out, const pace_graph *graph) {
    found_calls now = {0};
    uint32_t before = PACE_NO_NODE;
    bool attended = false;
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < graph->launches.count; i++) {
        uint32_t node = graph->launches.items[i].node;
        pace_found_call call;
        bool other = pace_node_is_backward(graph, node) || pace_node_updates(graph, node);
        if (!other && (!call_of(&call, graph, &node) || node == before)) continue;
        before = node;
        if (other || (attended && begins(&call.op))) end_pass(out, &now), attended = false;
        if (other) continue;
        attended |= attends(&call.op);
        status = PACE_PUSH(&now, call);
    }
    end_pass(out, &now);
    PACE_VEC_FREE(&now);
    return status;
}

/* --- how it was run ----------------------------------------------------------------------------------------------- */

static int optimizer_of(const pace_graph *graph) {
    static const struct {
        const char *name;
        pace_optimizer optimizer;
    } known[] = {{"step#AdamW.", PACE_ADAMW},
                 {"step#Adam.", PACE_ADAM},
                 {"step#SGD.", PACE_SGD},
                 {"LAMB.step", PACE_LAMB}};
    for (size_t i = 0; i < graph->nodes.count; i++)
        for (size_t k = 0; k < PACE_COUNT(known); k++)
            if (strstr(pace_names_text(&graph->names, graph->nodes.items[i].name), known[k].name))
                return (int)known[k].optimizer;
    return PACE_NOT_RECORDED;
}

/* Under autocast every product's arguments are cast first. */
static bool casts(const pace_graph *graph, const found_calls *pass) {
    size_t casting = 0, products = 0;
    for (size_t i = 0; i < pass->count; i++) products += pass->items[i].op.family == PACE_OP_GEMM;
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        casting += strcmp(pace_names_text(&graph->names, graph->nodes.items[i].name), "aten::_to_copy") == 0 &&
                   !pace_node_is_backward(graph, i);
    return casting >= products;
}

static int precision_of(pace_precision precision, bool autocast) {
    switch (precision) {
    case PACE_FP32: return PACE_RUN_FP32;
    case PACE_TF32: return PACE_RUN_TF32;
    case PACE_FP16: return autocast ? PACE_RUN_AMP : PACE_RUN_FP16;
    case PACE_BF16: return autocast ? PACE_RUN_AMP_BF16 : PACE_RUN_BF16;
    default: return PACE_NOT_RECORDED;
    }
}

static pace_status keep_kernels(pace_recorded *out, const pace_graph *graph) {
    PACE_ITEMS (const pace_launch, one, &graph->launches) {
        if (one->guessed || one->op == PACE_NO_OP || one->exchange || one->duration_ns <= 0) continue;
        const pace_op *op = &graph->ops.items[one->op];
        if (op->flop > 0 || op->read_bytes + op->write_bytes > 0)
            PACE_TRY(PACE_PUSH(&out->kernels, ((pace_timed_op){*op, (double)one->duration_ns / 1e9})));
    }
    return PACE_OK;
}

/* --- as a model --------------------------------------------------------------------------------------------------- */

/* Ranks that hold parts of layers show it by what they sum or hand on between them. */
static pace_status check_whole(const pace_graph *graph) {
    for (size_t i = 0; i < graph->launches.count; i++) {
        const pace_graph_exchange *one = pace_graph_exchange_of(graph, (uint32_t)i);
        const char *what = one ? pace_names_text(&graph->names, one->collective) : "";
        bool handed = strcmp(what, "send") == 0 || strcmp(what, "recv") == 0;
        bool parts = one && (one->group_kind == PACE_GROUP_TENSOR || one->group_kind == PACE_GROUP_EXPERT);
        if (handed || parts)
            return pace_fail(PACE_E_INPUT,
                             "its ranks hold parts of the layers (%s between them): expected the step of a whole model",
                             what);
    }
    return PACE_OK;
}

static pace_status find_model(pace_recorded *out, const recording *of) {
    found_calls pass = {0};
    PACE_TRY(check_whole(&of->graph));
    pace_status status = find_pass(&pass, &of->graph);
    if (status == PACE_OK) status = pace_found_layers_find(&out->layers, pass.items, pass.count);
    if (status == PACE_OK) {
        out->optimizer = optimizer_of(&of->graph);
        out->precision = precision_of(out->layers.precision, casts(&of->graph, &pass));
        out->attention = out->layers.fused_attention ? PACE_ATTENTION_FUSED : PACE_ATTENTION_MATH;
    }
    PACE_VEC_FREE(&pass);
    return status;
}

static pace_status build(pace_model *out, const pace_recorded *recorded, const char *path,
                         const pace_model_setting *settings, size_t setting_count) {
    char text[PACE_FOUND_MODEL_TEXT];
    pace_yaml *yaml;
    pace_found_layers_write(text, sizeof text, &recorded->layers);
    PACE_TRY(pace_yaml_parse(&yaml, path, text, strlen(text)));
    pace_status status = pace_model_build_as_set(out, yaml, NULL, settings, setting_count);
    pace_yaml_free(yaml);
    return status;
}

static pace_status make(pace_model *out, const recording *of, const char *path, const pace_model_setting *settings,
                        size_t setting_count) {
    pace_recorded *recorded = pace_alloc(1, sizeof *recorded);
    if (!recorded) return PACE_E_MEMORY;
    recorded->device = of->device;
    pace_status status = find_model(recorded, of);
    char why[512];
    if (status != PACE_OK && status != PACE_E_MEMORY) {
        snprintf(why, sizeof why, "%s", pace_message());
        status =
            pace_fail(status,
                      "%.200s: %s ('predict' with " PACE_FIELD "workers says how its step scales by data parallelism)",
                      path, why);
    }
    if (status == PACE_OK && *of->device.name) status = keep_kernels(recorded, &of->graph);
    if (status == PACE_OK) status = build(out, recorded, path, settings, setting_count);
    if (status == PACE_OK) out->recorded = recorded;
    else pace_recorded_free(recorded);
    return status;
}

pace_status pace_found_model_open(pace_model *out, pace_catalog *catalog, const char *name,
                                  const pace_model_setting *settings, size_t setting_count) {
    bool model;
    recording of;
    PACE_TRY(pace_predict_is_model(&model, name));
    if (model) return pace_model_open(out, catalog, name, settings, setting_count);
    PACE_TRY(read_recording(&of, catalog, name));
    pace_status status = make(out, &of, name, settings, setting_count);
    pace_graph_free(&of.graph);
    return status;
}

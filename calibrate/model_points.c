#include "model_points.h"

#include "ask/predict/step_ask.h"
#include "base/print.h"
#include "model/lower.h"
#include "model/model_settings.h"

#include <string.h>

/* What measures an operation of the family and kind; kind NULL: of any. */
static const struct {
    pace_op_family family;
    const char *kind;
    pace_measured_op op;
    const char *measured_by; /* the family of its sweeps */
} measures[] = {
    {PACE_OP_GEMM, "", PACE_MEASURE_GEMM, "gemm"},
    {PACE_OP_GEMM, pace_packed_weights, PACE_MEASURE_PACKED_LINEAR, "packed_linear"},
    {PACE_OP_CONVOLUTION, NULL, PACE_MEASURE_CONVOLUTION, "convolution"},
    {PACE_OP_POOLING, "max", PACE_MEASURE_MAX_POOLING, "pooling"},
    {PACE_OP_NORMALIZATION, "layer_norm", PACE_MEASURE_LAYER_NORM, "normalization"},
    {PACE_OP_NORMALIZATION, "batch_norm", PACE_MEASURE_BATCH_NORM, "normalization"},
    {PACE_OP_EMBEDDING, NULL, PACE_MEASURE_EMBEDDING, "embedding"},
    {PACE_OP_ELEMENTWISE, "relu", PACE_MEASURE_RELU, "elementwise"},
    {PACE_OP_ELEMENTWISE, "gelu", PACE_MEASURE_GELU, "elementwise"},
    {PACE_OP_ELEMENTWISE, "tanh", PACE_MEASURE_TANH, "elementwise"},
    {PACE_OP_ELEMENTWISE, "add", PACE_MEASURE_ADD, "elementwise"},
    {PACE_OP_SOFTMAX, "", PACE_MEASURE_SOFTMAX, "softmax"},
    {PACE_OP_REDUCTION, "sum", PACE_MEASURE_SUM, "reduction"},
    {PACE_OP_COPY, "", PACE_MEASURE_COPY, "memory"},
    {PACE_OP_TRANSPOSE, NULL, PACE_MEASURE_TRANSPOSE, "transpose"},
    {PACE_OP_TRIL, NULL, PACE_MEASURE_TRIL, "tril"},
    {PACE_OP_OPTIMIZER, "momentum", PACE_MEASURE_MOMENTUM, "optimizer"},
};

static bool dtype_of(pace_point_dtype *out, const pace_op *op) {
    static const struct {
        pace_precision precision;
        pace_point_dtype dtype;
    } dtypes[] = {{PACE_FP64, PACE_POINT_FP64},
                  {PACE_FP32, PACE_POINT_FP32},
                  {PACE_TF32, PACE_POINT_TF32},
                  {PACE_FP16, PACE_POINT_FP16},
                  {PACE_BF16, PACE_POINT_BF16}};
    for (size_t i = 0; i < PACE_COUNT(dtypes); i++)
        if (dtypes[i].precision == op->precision && pace_dtype_bytes(dtypes[i].dtype) == op->element_bytes) {
            *out = dtypes[i].dtype;
            return true;
        }
    return false;
}

/* Sizes bear the same names here and there. */
static void take_sizes(pace_point *point, const pace_op *op) {
    unsigned count;
    const char *const *names = pace_op_size_names(op->family, &count);
    for (int i = 0; i < PACE_POINT_SIZES; i++) point->size[i] = -1;
    for (unsigned i = 0; i < count; i++) {
        int at = pace_word_find(pace_point_size_names, PACE_POINT_SIZES, names[i]);
        if (at < PACE_POINT_SIZES) point->size[at] = op->size[i];
    }
    if (op->family == PACE_OP_OPTIMIZER) point->size[PACE_SIZE_ELEMENTS] = op->size[0];
}

static bool point_of(pace_sweep_point *out, const pace_op *op) {
    static const pace_point_pass passes[PACE_PASSES] = {PACE_POINT_FORWARD, PACE_POINT_BACKWARD, PACE_POINT_DGRAD,
                                                        PACE_POINT_WGRAD};
    const char *missing;
    *out = (pace_sweep_point){0};
    if (!dtype_of(&out->point.dtype, op)) return false;
    for (size_t i = 0; i < PACE_COUNT(measures); i++) {
        if (op->family != measures[i].family || (measures[i].kind && strcmp(op->kind, measures[i].kind) != 0)) continue;
        out->point.op = measures[i].op;
        out->point.pass = passes[op->pass];
        out->family = measures[i].measured_by;
        take_sizes(&out->point, op);
        return pace_point_complete(&out->point, &missing);
    }
    return false;
}

static bool has_point(const pace_sweep *sweep, const pace_point *point) {
    PACE_ITEMS (const pace_sweep_point, one, &sweep->points)
        if (one->point.op == point->op && one->point.dtype == point->dtype && one->point.pass == point->pass &&
            memcmp(one->point.size, point->size, sizeof point->size) == 0)
            return true;
    return false;
}

static pace_status add(pace_sweep *sweep, const pace_sweep_choice *choice, const pace_sweep_point *point) {
    if (has_point(sweep, &point->point)) return PACE_OK;
    if (choice->memory_bytes > 0 && pace_point_footprint(&point->point) > choice->memory_bytes) {
        sweep->too_large++;
        return PACE_OK;
    }
    return PACE_PUSH(&sweep->points, *point);
}

/* Fills and transfers are left out: no sweep measures them for a step. */
static bool is_worth(const pace_op *op) {
    return op->family != PACE_OP_UNKNOWN && op->family != PACE_OP_TRANSFER && strcmp(op->kind, "fill") != 0;
}

static pace_status add_op(pace_model_points *out, pace_sweep *sweep, const pace_sweep_choice *choice,
                          const pace_op *op) {
    pace_sweep_point point;
    pace_op plain = pace_op_plain_product(op);
    if (!is_worth(op)) return PACE_OK;
    out->kernels++;
    if (!point_of(&point, op)) {
        if (out->unlike++ == 0)
            pace_snprintf(out->example, sizeof out->example, "%s%s%s%s%s", pace_op_family_name(op->family),
                          *op->kind ? " " : "", op->kind, op->pass ? ", " : "",
                          op->pass ? pace_pass_names[op->pass] : "");
        return PACE_OK;
    }
    PACE_TRY(add(sweep, choice, &point));
    return !pace_op_equal(&plain, op) && point_of(&point, &plain) ? add(sweep, choice, &point) : PACE_OK;
}

static pace_status add_stage(pace_model_points *out, pace_sweep *sweep, const pace_sweep_choice *choice,
                             const pace_step_asked *step, uint32_t stage) {
    pace_graph graph;
    pace_config config = step->asked.config;
    bool cpu = strcmp(choice->target, "cpu") == 0;
    if (cpu) config.weights = PACE_WEIGHTS_PACKED;
    PACE_TRY(pace_model_lower(&graph, step->asked.model, &config, stage));
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < graph.ops.count; i++) {
        pace_op op = graph.ops.items[i];
        if (cpu && op.precision == PACE_TF32) op.precision = PACE_FP32; /* what a library without TF32 does */
        status = add_op(out, sweep, choice, &op);
    }
    pace_graph_free(&graph);
    return status;
}

pace_status pace_model_points_add(pace_model_points *out, pace_sweep *sweep, pace_catalog *catalog, const char *model,
                                  const pace_words *set, const pace_sweep_choice *choice) {
    pace_step_asked step = {0};
    pace_status status = pace_step_model_open(&step, catalog, model, set);
    *out = (pace_model_points){.micro_batch = pace_settings_name_batch(set) ? 0 : step.asked.config.micro_batch};
    for (uint32_t stage = 0; status == PACE_OK && stage < step.asked.config.pp; stage++)
        status = add_stage(out, sweep, choice, &step, stage);
    pace_step_asked_close(&step);
    return status;
}

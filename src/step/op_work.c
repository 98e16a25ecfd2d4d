/*
 * The operator table and its formulas. Counts follow the usual conventions (2mnk of a matrix product; attention
 * backward 2.5 times forward, since it forms the scores anew; convolution backward twice forward). Lower-order terms
 * such as adding a bias are left out of matrix products.
 */
#include "step/op_work.h"

#include <stddef.h>
#include <string.h>

typedef struct {
    double flop, bytes;
    bool bytes_known;
} op_work;

typedef struct op_rule op_rule;
typedef bool (*op_formula)(const op_rule *rule, const pace_op_shapes *shapes, op_work *work);

struct op_rule {
    const char *prefix; /* namespace */
    const char *name;   /* "*" at the end: anything may follow */
    pace_op_family family;
    op_formula formula; /* NULL: only the family is known */
    int a, b, c;        /* the formula's own: argument positions, operations per element */
};

static bool has_tensor(const pace_op_shapes *shapes, int at) {
    return at >= 0 && (unsigned)at < shapes->count && (shapes->rank[at] > 0 || shapes->element_bytes[at] > 0);
}

static double elements(const pace_op_shapes *shapes, int at) {
    double product = 1;
    for (int i = 0; i < shapes->rank[at]; i++) product *= (double)shapes->dims[at][i];
    return product;
}

static int64_t dim(const pace_op_shapes *shapes, int at, int from_end) {
    return shapes->dims[at][shapes->rank[at] - from_end];
}

static bool has_rank(const pace_op_shapes *shapes, int at, int rank) {
    return has_tensor(shapes, at) && shapes->rank[at] >= rank;
}

static void move(op_work *work, double count, unsigned element_bytes) {
    if (count > 0 && element_bytes == 0) work->bytes_known = false;
    work->bytes += count * (double)element_bytes;
}

static void move_tensor(op_work *work, const pace_op_shapes *shapes, int at) {
    if (has_tensor(shapes, at)) move(work, elements(shapes, at), shapes->element_bytes[at]);
}

static void move_all(op_work *work, const pace_op_shapes *shapes) {
    for (unsigned i = 0; i < shapes->count; i++) move_tensor(work, shapes, (int)i);
}

/* The tensor argument with the most elements, or -1. */
static int biggest(const pace_op_shapes *shapes) {
    int best = -1;
    for (int i = 0; i < (int)shapes->count; i++)
        if (has_tensor(shapes, i) && (best < 0 || elements(shapes, i) > elements(shapes, best))) best = i;
    return best;
}

/* A tensor without dimensions does not widen the result's type: float tensor / integer scalar is float. */
static unsigned widest(const pace_op_shapes *shapes) {
    unsigned bytes = 0, scalar = 0;
    for (unsigned i = 0; i < shapes->count; i++) {
        unsigned *most = shapes->rank[i] ? &bytes : &scalar;
        if (shapes->element_bytes[i] > *most) *most = shapes->element_bytes[i];
    }
    return bytes ? bytes : scalar;
}

/* Elements of the broadcast of all tensors; what does not broadcast (a channel's scale) counts as an operand. */
static double broadcast(const pace_op_shapes *shapes) {
    double product = 1;
    for (int from_end = 1; from_end <= 6; from_end++) {
        int64_t size = 1;
        for (int i = 0; i < (int)shapes->count; i++) {
            if (!has_rank(shapes, i, from_end)) continue;
            int64_t here = dim(shapes, i, from_end);
            if (size != 1 && here != 1 && here != size) return elements(shapes, biggest(shapes));
            if (here != 1) size = here;
        }
        product *= (double)size;
    }
    return product;
}

/* a, b: the matrices' positions, c: the addend's or -1. Leading sizes are a batch. */
static bool matrix_product(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    if (!has_rank(shapes, rule->a, 2) || !has_rank(shapes, rule->b, 2)) return false;
    int64_t k = dim(shapes, rule->a, 1), n = dim(shapes, rule->b, 1);
    if (dim(shapes, rule->b, 2) != k) return false;
    double rows = 1;
    for (int i = 0; i + 1 < shapes->rank[rule->a]; i++) rows *= (double)shapes->dims[rule->a][i];
    work->flop = 2 * rows * (double)n * (double)k;
    move_tensor(work, shapes, rule->a);
    move_tensor(work, shapes, rule->b);
    move_tensor(work, shapes, rule->c);
    move(work, rows * (double)n, shapes->element_bytes[rule->a]);
    return true;
}

/* linear(input [..., k], weight [n, k], bias) */
static bool linear(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    (void)rule;
    if (!has_rank(shapes, 0, 1) || !has_rank(shapes, 1, 2)) return false;
    int64_t k = dim(shapes, 0, 1), n = dim(shapes, 1, 2);
    if (dim(shapes, 1, 1) != k || k == 0) return false;
    double rows = elements(shapes, 0) / (double)k;
    work->flop = 2 * rows * (double)n * (double)k;
    for (int i = 0; i < 3; i++) move_tensor(work, shapes, i);
    move(work, rows * (double)n, shapes->element_bytes[0]);
    return true;
}

/* matrix (argument a) times vector (argument b) */
static bool matrix_vector(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    if (!has_rank(shapes, rule->a, 2) || !has_rank(shapes, rule->b, 1)) return false;
    work->flop = 2 * elements(shapes, rule->a);
    move_all(work, shapes);
    move(work, (double)dim(shapes, rule->a, 2), shapes->element_bytes[rule->a]);
    return true;
}

/* Multiply-adds of each output (or, transposed, input) position: the weight but for its first dimension. */
static double weight_reach(const pace_op_shapes *shapes, int weight) {
    double product = 1;
    for (int i = 1; i < shapes->rank[weight]; i++) product *= (double)shapes->dims[weight][i];
    return product;
}

static int64_t output_size(const op_rule *rule, const pace_op_shapes *shapes, int axis) {
    int64_t stride = shapes->scalars[rule->a][axis], padding = shapes->scalars[rule->b][axis];
    int64_t dilation = shapes->scalars[rule->c][axis] > 0 ? shapes->scalars[rule->c][axis] : 1;
    int64_t reach = dilation * (shapes->dims[1][axis + 2] - 1) + 1;
    int64_t room = shapes->dims[0][axis + 2] + 2 * padding - reach;
    return stride > 0 && room >= 0 ? room / stride + 1 : -1;
}

static bool is_convolution(const pace_op_shapes *shapes, int input, int weight) {
    int rank = has_tensor(shapes, input) ? shapes->rank[input] : 0;
    return rank >= 3 && rank <= 5 && has_tensor(shapes, weight) && shapes->rank[weight] == rank;
}

/* Transposed: every input position is multiplied with the whole weight; its output is not written out here. */
static bool transposed_convolution(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    double written = (double)shapes->dims[0][0] * (double)shapes->dims[1][1];
    if (shapes->dims[0][1] != shapes->dims[1][0]) return false;
    for (int axis = 0; axis + 2 < shapes->rank[0]; axis++) {
        int64_t stride = shapes->scalars[rule->a][axis], padding = shapes->scalars[rule->b][axis];
        int64_t dilation = shapes->scalars[rule->c][axis] > 0 ? shapes->scalars[rule->c][axis] : 1;
        if (stride <= 0) return false;
        written *= (double)((shapes->dims[0][axis + 2] - 1) * stride - 2 * padding +
                            dilation * (shapes->dims[1][axis + 2] - 1) + 1);
    }
    work->flop = 2 * elements(shapes, 0) * weight_reach(shapes, 1);
    for (int i = 0; i < 3; i++) move_tensor(work, shapes, i);
    move(work, written, shapes->element_bytes[0]);
    return written >= 0;
}

/* input 0, weight 1; a, b, c: the positions of stride, padding, dilation. Without a stride nothing is assumed. */
static bool convolution(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    if (!is_convolution(shapes, 0, 1) || shapes->count <= (unsigned)rule->a || shapes->count <= (unsigned)rule->b)
        return false;
    if (rule->family == PACE_OP_CONVOLUTION && rule->a == 3 && rule->b == 4 && strstr(rule->name, "convolution") &&
        shapes->count > 6 && shapes->scalars[6][0])
        return transposed_convolution(rule, shapes, work);
    double outputs = (double)shapes->dims[0][0] * (double)shapes->dims[1][0];
    for (int axis = 0; axis + 2 < shapes->rank[0]; axis++) {
        int64_t size = output_size(rule, shapes, axis);
        if (size < 0) return false;
        outputs *= (double)size;
    }
    work->flop = 2 * outputs * weight_reach(shapes, 1);
    for (int i = 0; i < 3; i++) move_tensor(work, shapes, i);
    move(work, outputs, shapes->element_bytes[0]);
    return true;
}

/* a: gradient of the output, b: input, c: weight. Both gradients are counted; each has the forward's arithmetic. */
static bool convolution_backward(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    if (!is_convolution(shapes, rule->a, rule->c) || !is_convolution(shapes, rule->b, rule->c)) return false;
    bool transposed = rule->a == 0 && shapes->count > 7 && shapes->scalars[7][0];
    work->flop = 4 * elements(shapes, transposed ? rule->b : rule->a) * weight_reach(shapes, rule->c);
    move_tensor(work, shapes, rule->a);
    for (int time = 0; time < 2; time++) {
        move_tensor(work, shapes, rule->b);
        move_tensor(work, shapes, rule->c);
    }
    return true;
}

/* Sizes of an attention, from query and key laid out [batch, heads, rows, width] or [batch, rows, heads, width]. */
typedef struct {
    double batch, heads, queries, keys, width, value_width;
} attention_size;

static bool attention_sizes(const pace_op_shapes *shapes, int query, bool rows_first, attention_size *size) {
    int key = query + 1, value = query + 2, rows = rows_first ? 3 : 2, heads = rows_first ? 2 : 3;
    for (int i = query; i <= value; i++)
        if (!has_tensor(shapes, i) || shapes->rank[i] != 4) return false;
    *size = (attention_size){
        .batch = (double)dim(shapes, query, 4),
        .heads = (double)dim(shapes, query, heads),
        .queries = (double)dim(shapes, query, rows),
        .keys = (double)dim(shapes, key, rows),
        .width = (double)dim(shapes, query, 1),
        .value_width = (double)dim(shapes, value, 1),
    };
    return true;
}

static double attention_flop(const attention_size *size, bool causal) {
    double scores = size->batch * size->heads * size->queries * size->keys;
    return 2 * scores * (size->width + size->value_width) * (causal ? 0.5 : 1);
}

static bool is_causal(const op_rule *rule, const pace_op_shapes *shapes) {
    return (unsigned)rule->a < shapes->count && shapes->scalars[rule->a][0] == 1;
}

/* a: position of the causal flag (or kind of mask, where 1 is causal from the top left), b: 1 = rows before heads. */
static bool attention(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    attention_size size;
    if (!attention_sizes(shapes, 0, rule->b == 1, &size)) return false;
    work->flop = attention_flop(&size, is_causal(rule, shapes));
    for (int i = 0; i < 3; i++) move_tensor(work, shapes, i);
    move(work, size.batch * size.heads * size.queries * size.value_width, shapes->element_bytes[0]);
    return true;
}

/* Arguments: gradient of the output, query, key, value, output. a, b as above. */
static bool attention_backward(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    attention_size size;
    if (!attention_sizes(shapes, 1, rule->b == 1, &size)) return false;
    double scores = size.batch * size.heads * size.queries * size.keys;
    work->flop = 2 * scores * (3 * size.width + 2 * size.value_width) * (is_causal(rule, shapes) ? 0.5 : 1);
    for (int i = 1; i <= 3; i++) {
        move_tensor(work, shapes, i);
        move_tensor(work, shapes, i);
    }
    double outputs = size.batch * size.heads * size.queries * size.value_width;
    move(work, 2 * outputs, shapes->element_bytes[1]);
    return true;
}

/* embedding(weight [rows, width], indices): the rows looked up are read and written. */
static bool embedding(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    (void)rule;
    if (!has_rank(shapes, 0, 2) || !has_tensor(shapes, 1)) return false;
    move_tensor(work, shapes, 1);
    move(work, 2 * elements(shapes, 1) * (double)dim(shapes, 0, 1), shapes->element_bytes[0]);
    return true;
}

/* embedding_dense_backward(gradient [..., width], indices, rows): writes the whole table's gradient. */
static bool embedding_backward(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    (void)rule;
    if (!has_rank(shapes, 0, 1) || !has_tensor(shapes, 1) || shapes->count < 3 || shapes->scalars[2][0] <= 0)
        return false;
    work->flop = elements(shapes, 0);
    move_tensor(work, shapes, 0);
    move_tensor(work, shapes, 1);
    move(work, (double)shapes->scalars[2][0] * (double)dim(shapes, 0, 1), shapes->element_bytes[0]);
    return true;
}

/* Reads its operands, the first `a` arguments (0 = all), and writes one tensor of their common shape, of `b` bytes an
 * element (0 = as the widest operand); c operations per element. Arguments after the operands are numbers, or the
 * tensor that is written where the caller gave one. */
static bool elementwise(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    pace_op_shapes operands = *shapes;
    if (rule->a && operands.count > (unsigned)rule->a) operands.count = (unsigned)rule->a;
    if (biggest(&operands) < 0) return false;
    double count = broadcast(&operands);
    work->flop = rule->c * count;
    move_all(work, &operands);
    move(work, count, rule->b ? (unsigned)rule->b : widest(&operands));
    return true;
}

/* The same where the small tensors are channels' parameters: writes one of the biggest's shape. */
static bool map_biggest(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    int big = biggest(shapes);
    if (big < 0) return false;
    work->flop = rule->c * elements(shapes, big);
    move_all(work, shapes);
    move(work, elements(shapes, big), shapes->element_bytes[big]);
    return true;
}

/* Reads every tensor; what is written is small beside it. */
static bool reduction(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    int big = biggest(shapes);
    if (big < 0) return false;
    work->flop = rule->c * elements(shapes, big);
    move_all(work, shapes);
    return true;
}

/* copy_(to, from) */
static bool copy(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    (void)rule;
    if (!has_tensor(shapes, 0) || !has_tensor(shapes, 1)) return false;
    move_tensor(work, shapes, 0);
    move_tensor(work, shapes, 1);
    return true;
}

/* Reads every tensor and writes as much. */
static bool read_and_write(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    (void)rule;
    if (biggest(shapes) < 0) return false;
    move_all(work, shapes);
    work->bytes *= 2;
    return true;
}

/* Writes its first argument. */
static bool fill(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    (void)rule;
    if (!has_tensor(shapes, 0)) return false;
    move_tensor(work, shapes, 0);
    return true;
}

/* a, b: positions of kernel and stride; no padding is assumed, and a list of one number is for all axes. */
static bool pooling(const op_rule *rule, const pace_op_shapes *shapes, op_work *work) {
    if (!has_rank(shapes, 0, 3) || shapes->count <= (unsigned)rule->a) return false;
    const int64_t *kernel = shapes->scalars[rule->a];
    const int64_t *stride =
        shapes->count > (unsigned)rule->b && shapes->scalars[rule->b][0] > 0 ? shapes->scalars[rule->b] : kernel;
    double outputs = elements(shapes, 0), window = 1;
    for (int axis = 0; axis < rule->c; axis++) {
        int64_t step = stride[axis] > 0 ? stride[axis] : stride[0], width = kernel[axis] > 0 ? kernel[axis] : kernel[0];
        if (step <= 0 || width <= 0) return false;
        outputs /= (double)step;
        window *= (double)width;
    }
    work->flop = outputs * window;
    move_tensor(work, shapes, 0);
    move(work, outputs, shapes->element_bytes[0]);
    return true;
}

#define ATEN(name, family, ...) \
    { "aten::", name, PACE_OP_##family, __VA_ARGS__ }

/* First match wins. A trailing "_" (in place) of a call is ignored when the name as it stands is not here. */
static const op_rule rules[] = {
    ATEN("mm", GEMM, matrix_product, 0, 1, -1),
    ATEN("bmm", GEMM, matrix_product, 0, 1, -1),
    ATEN("addmm", GEMM, matrix_product, 1, 2, 0),
    ATEN("_addmm_activation", GEMM, matrix_product, 1, 2, 0),
    ATEN("baddbmm", GEMM, matrix_product, 1, 2, 0),
    ATEN("linear", GEMM, linear, 0, 0, 0),
    ATEN("mv", GEMM, matrix_vector, 0, 1, 0),
    ATEN("addmv", GEMM, matrix_vector, 1, 2, 0),
    ATEN("dot", GEMM, reduction, 0, 0, 2),
    ATEN("matmul", GEMM, NULL, 0, 0, 0),
    ATEN("addbmm", GEMM, NULL, 0, 0, 0),
    ATEN("_scaled_mm", GEMM, NULL, 0, 0, 0),
    ATEN("_grouped_mm", GEMM, NULL, 0, 0, 0),

    ATEN("convolution", CONVOLUTION, convolution, 3, 4, 5),
    ATEN("_convolution", CONVOLUTION, convolution, 3, 4, 5),
    ATEN("convolution_overrideable", CONVOLUTION, convolution, 3, 4, 5),
    ATEN("conv1d", CONVOLUTION, convolution, 3, 4, 5),
    ATEN("conv2d", CONVOLUTION, convolution, 3, 4, 5),
    ATEN("conv3d", CONVOLUTION, convolution, 3, 4, 5),
    ATEN("cudnn_convolution", CONVOLUTION, convolution, 3, 2, 4),
    ATEN("miopen_convolution", CONVOLUTION, convolution, 4, 3, 5),
    ATEN("mkldnn_convolution", CONVOLUTION, convolution, 4, 3, 5),
    ATEN("convolution_backward", CONVOLUTION, convolution_backward, 0, 1, 2),
    ATEN("cudnn_convolution_backward", CONVOLUTION, convolution_backward, 1, 0, 2),
    ATEN("miopen_convolution_backward", CONVOLUTION, convolution_backward, 1, 0, 2),
    ATEN("cudnn_convolution*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("miopen_convolution*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("miopen_depthwise*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("mkldnn_convolution*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("thnn_conv*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("_slow_conv*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("_conv_depthwise*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("conv_depthwise*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("conv_transpose*", CONVOLUTION, NULL, 0, 0, 0),

    ATEN("scaled_dot_product_attention", ATTENTION, attention, 5, 0, 0),
    ATEN("_scaled_dot_product_flash_attention", ATTENTION, attention, 4, 0, 0),
    ATEN("_scaled_dot_product_efficient_attention", ATTENTION, attention, 6, 0, 0),
    ATEN("_scaled_dot_product_cudnn_attention", ATTENTION, attention, 6, 0, 0),
    ATEN("_flash_attention_forward", ATTENTION, attention, 8, 1, 0),
    ATEN("_efficient_attention_forward", ATTENTION, attention, 9, 1, 0),
    ATEN("_scaled_dot_product_flash_attention_backward", ATTENTION, attention_backward, 11, 0, 0),
    ATEN("_scaled_dot_product_efficient_attention_backward", ATTENTION, attention_backward, 11, 0, 0),
    ATEN("_scaled_dot_product_cudnn_attention_backward", ATTENTION, attention_backward, 14, 0, 0),
    ATEN("_flash_attention_backward", ATTENTION, attention_backward, 11, 1, 0),
    ATEN("_efficient_attention_backward", ATTENTION, attention_backward, 14, 1, 0),
    ATEN("_scaled_dot_product*", ATTENTION, NULL, 0, 0, 0),
    {"flash_attn::", "*", PACE_OP_ATTENTION, NULL, 0, 0, 0},

    ATEN("embedding", EMBEDDING, embedding, 0, 0, 0),
    ATEN("embedding_dense_backward", EMBEDDING, embedding_backward, 0, 0, 0),
    ATEN("embedding*", EMBEDDING, NULL, 0, 0, 0),
    ATEN("_embedding_bag*", EMBEDDING, NULL, 0, 0, 0),
    {"fbgemm::", "*", PACE_OP_EMBEDDING, NULL, 0, 0, 0},

    ATEN("native_layer_norm", NORMALIZATION, map_biggest, 0, 0, 7),
    ATEN("native_group_norm", NORMALIZATION, map_biggest, 0, 0, 7),
    ATEN("native_batch_norm", NORMALIZATION, map_biggest, 0, 0, 7),
    ATEN("cudnn_batch_norm", NORMALIZATION, map_biggest, 0, 0, 7),
    ATEN("miopen_batch_norm", NORMALIZATION, map_biggest, 0, 0, 7),
    ATEN("layer_norm", NORMALIZATION, map_biggest, 0, 0, 7),
    ATEN("native_layer_norm_backward", NORMALIZATION, map_biggest, 0, 0, 11),
    ATEN("native_group_norm_backward", NORMALIZATION, map_biggest, 0, 0, 11),
    ATEN("native_batch_norm_backward", NORMALIZATION, map_biggest, 0, 0, 11),
    ATEN("cudnn_batch_norm_backward", NORMALIZATION, map_biggest, 0, 0, 11),
    ATEN("miopen_batch_norm_backward", NORMALIZATION, map_biggest, 0, 0, 11),
    ATEN("batch_norm*", NORMALIZATION, NULL, 0, 0, 0),
    ATEN("_batch_norm*", NORMALIZATION, NULL, 0, 0, 0),
    ATEN("group_norm", NORMALIZATION, NULL, 0, 0, 0),
    ATEN("rms_norm", NORMALIZATION, NULL, 0, 0, 0),
    ATEN("_fused_rms_norm*", NORMALIZATION, NULL, 0, 0, 0),

    ATEN("_softmax", SOFTMAX, map_biggest, 0, 0, 5),
    ATEN("_log_softmax", SOFTMAX, map_biggest, 0, 0, 5),
    ATEN("softmax", SOFTMAX, map_biggest, 0, 0, 5),
    ATEN("log_softmax", SOFTMAX, map_biggest, 0, 0, 5),
    ATEN("_softmax_backward_data", SOFTMAX, map_biggest, 0, 0, 4),
    ATEN("_log_softmax_backward_data", SOFTMAX, map_biggest, 0, 0, 4),

    ATEN("sum", REDUCTION, reduction, 0, 0, 1),
    ATEN("mean", REDUCTION, reduction, 0, 0, 1),
    ATEN("max", REDUCTION, reduction, 0, 0, 1),
    ATEN("min", REDUCTION, reduction, 0, 0, 1),
    ATEN("amax", REDUCTION, reduction, 0, 0, 1),
    ATEN("amin", REDUCTION, reduction, 0, 0, 1),
    ATEN("argmax", REDUCTION, reduction, 0, 0, 1),
    ATEN("argmin", REDUCTION, reduction, 0, 0, 1),
    ATEN("all", REDUCTION, reduction, 0, 0, 0),
    ATEN("any", REDUCTION, reduction, 0, 0, 0),
    ATEN("prod", REDUCTION, reduction, 0, 0, 1),
    ATEN("norm", REDUCTION, reduction, 0, 0, 2),
    ATEN("linalg_vector_norm", REDUCTION, reduction, 0, 0, 2),
    ATEN("var*", REDUCTION, reduction, 0, 0, 3),
    ATEN("std*", REDUCTION, reduction, 0, 0, 3),
    ATEN("cumsum", REDUCTION, map_biggest, 0, 0, 1),

    ATEN("add", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("sub", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("rsub", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("mul", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("div", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("neg", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("pow", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("addcmul", ELEMENTWISE, elementwise, 3, 0, 1),
    ATEN("addcdiv", ELEMENTWISE, elementwise, 3, 0, 1),
    ATEN("lerp", ELEMENTWISE, elementwise, 3, 0, 1),
    ATEN("exp", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("log", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("sqrt", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("rsqrt", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("reciprocal", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("abs", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("cos", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("sin", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("tanh", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("tanh_backward", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("sigmoid", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("sigmoid_backward", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("relu", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("relu6", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("hardtanh*", ELEMENTWISE, elementwise, 0, 0, 1),
    ATEN("leaky_relu*", ELEMENTWISE, elementwise, 0, 0, 1),
    ATEN("threshold_backward", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("clamp*", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("gelu", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("gelu_backward", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("silu", ELEMENTWISE, elementwise, 1, 0, 1),
    ATEN("silu_backward", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("where", ELEMENTWISE, elementwise, 3, 0, 1),
    ATEN("masked_fill", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("maximum", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("minimum", ELEMENTWISE, elementwise, 2, 0, 1),
    ATEN("eq", ELEMENTWISE, elementwise, 2, 1, 1),
    ATEN("ne", ELEMENTWISE, elementwise, 2, 1, 1),
    ATEN("lt", ELEMENTWISE, elementwise, 2, 1, 1),
    ATEN("le", ELEMENTWISE, elementwise, 2, 1, 1),
    ATEN("gt", ELEMENTWISE, elementwise, 2, 1, 1),
    ATEN("ge", ELEMENTWISE, elementwise, 2, 1, 1),
    ATEN("native_dropout", ELEMENTWISE, elementwise, 0, 0, 1),
    ATEN("native_dropout_backward", ELEMENTWISE, elementwise, 0, 0, 1),
    ATEN("bernoulli", ELEMENTWISE, NULL, 0, 0, 0),
    ATEN("normal", ELEMENTWISE, NULL, 0, 0, 0),
    ATEN("uniform", ELEMENTWISE, NULL, 0, 0, 0),

    ATEN("copy_", COPY, copy, 0, 0, 0),
    ATEN("clone", COPY, read_and_write, 0, 0, 0),
    ATEN("contiguous", COPY, read_and_write, 0, 0, 0),
    ATEN("_to_copy", COPY, NULL, 0, 0, 0),
    ATEN("to", COPY, NULL, 0, 0, 0),
    ATEN("cat", COPY, read_and_write, 0, 0, 0),
    ATEN("stack", COPY, read_and_write, 0, 0, 0),
    ATEN("fill_", COPY, fill, 0, 0, 0),
    ATEN("zero_", COPY, fill, 0, 0, 0),
    ATEN("index*", COPY, NULL, 0, 0, 0),
    ATEN("gather*", COPY, NULL, 0, 0, 0),
    ATEN("scatter*", COPY, NULL, 0, 0, 0),
    ATEN("roll", COPY, read_and_write, 0, 0, 0),
    ATEN("flip", COPY, read_and_write, 0, 0, 0),
    ATEN("constant_pad_nd", COPY, NULL, 0, 0, 0),

    ATEN("_fused_adam*", OPTIMIZER, NULL, 0, 0, 0),
    ATEN("_fused_sgd*", OPTIMIZER, NULL, 0, 0, 0),
    ATEN("_foreach_*", OPTIMIZER, NULL, 0, 0, 0),
    ATEN("_amp_*", OPTIMIZER, NULL, 0, 0, 0),
    {"Optimizer.", "*", PACE_OP_OPTIMIZER, NULL, 0, 0, 0},

    ATEN("nll_loss*", LOSS, NULL, 0, 0, 0),
    ATEN("cross_entropy_loss", LOSS, NULL, 0, 0, 0),
    ATEN("mse_loss*", LOSS, NULL, 0, 0, 0),
    ATEN("l1_loss*", LOSS, NULL, 0, 0, 0),
    ATEN("smooth_l1_loss*", LOSS, NULL, 0, 0, 0),
    ATEN("huber_loss*", LOSS, NULL, 0, 0, 0),
    ATEN("binary_cross_entropy*", LOSS, NULL, 0, 0, 0),
    ATEN("kl_div*", LOSS, NULL, 0, 0, 0),

    ATEN("max_pool2d_with_indices", POOLING, pooling, 1, 2, 2),
    ATEN("max_pool2d", POOLING, pooling, 1, 2, 2),
    ATEN("avg_pool2d", POOLING, pooling, 1, 2, 2),
    ATEN("max_pool3d_with_indices", POOLING, pooling, 1, 2, 3),
    ATEN("max_pool2d_with_indices_backward", POOLING, map_biggest, 0, 0, 1),
    ATEN("max_pool*", POOLING, NULL, 0, 0, 0),
    ATEN("avg_pool*", POOLING, NULL, 0, 0, 0),
    ATEN("adaptive_avg_pool*", POOLING, NULL, 0, 0, 0),
    ATEN("_adaptive_avg_pool*", POOLING, NULL, 0, 0, 0),
    ATEN("adaptive_max_pool*", POOLING, NULL, 0, 0, 0),

    ATEN("sort", OTHER, NULL, 0, 0, 0),
    ATEN("topk", OTHER, NULL, 0, 0, 0),
    ATEN("nonzero", OTHER, NULL, 0, 0, 0),
    ATEN("arange", OTHER, NULL, 0, 0, 0),
    ATEN("upsample*", OTHER, NULL, 0, 0, 0),
};

static bool name_matches(const char *pattern, const char *name, size_t length) {
    size_t size = strlen(pattern);
    if (pattern[size - 1] == '*') return length >= size - 1 && memcmp(pattern, name, size - 1) == 0;
    return size == length && memcmp(pattern, name, length) == 0;
}

static const op_rule *find_exact(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        size_t prefix = strlen(rules[i].prefix);
        if (length > prefix && memcmp(name, rules[i].prefix, prefix) == 0 &&
            name_matches(rules[i].name, name + prefix, length - prefix))
            return &rules[i];
    }
    return NULL;
}

static const op_rule *find_rule(const char *name) {
    size_t length = strlen(name);
    const op_rule *rule = find_exact(name, length);
    return !rule && length > 1 && name[length - 1] == '_' ? find_exact(name, length - 1) : rule;
}

static bool is_sound(const pace_op_shapes *shapes) {
    if (!shapes || shapes->count > PACE_OP_ARGUMENTS) return false;
    for (unsigned i = 0; i < shapes->count; i++) {
        if (shapes->rank[i] > 6) return false;
        for (unsigned j = 0; j < shapes->rank[i]; j++)
            if (shapes->dims[i][j] < 0 || shapes->dims[i][j] > (int64_t)1 << 48) return false;
        for (unsigned j = 0; j < 4; j++) /* so that sums and products of sizes stay in range */
            if (shapes->scalars[i][j] > (int64_t)1 << 48 || shapes->scalars[i][j] < -((int64_t)1 << 48)) return false;
    }
    return true;
}

bool pace_op_work(const char *name, const pace_op_shapes *shapes, double *flop, double *bytes, pace_op_family *family) {
    const op_rule *rule = find_rule(name);
    op_work work = {.bytes_known = true};
    *flop = *bytes = 0;
    *family = rule ? rule->family : PACE_OP_UNKNOWN;
    if (!rule || !rule->formula || !is_sound(shapes) || !rule->formula(rule, shapes, &work)) return false;
    *flop = work.flop;
    *bytes = work.bytes_known ? work.bytes : 0;
    return true;
}

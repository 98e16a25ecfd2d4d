/*
 * Products, convolutions, attention, embeddings. Counts follow the usual conventions (2mnk of a matrix product;
 * attention backward 2.5 times forward, since it forms the scores anew; convolution backward twice forward).
 * Lower-order terms such as adding a bias are left out of matrix products.
 */
#include "step/op_formulas.h"

#include <string.h>

/* --- products ------------------------------------------------------------------------------------------------- */

/* Leading sizes of the first matrix are a batch where the second has them too, else rows. */
bool pace_call_matrix_product(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!pace_arg_has_rank(shapes, rule->a, 2) || !pace_arg_has_rank(shapes, rule->b, 2)) return false;
    int64_t k = pace_arg_dim(shapes, rule->a, 1), n = pace_arg_dim(shapes, rule->b, 1);
    if (pace_arg_dim(shapes, rule->b, 2) != k) return false;
    double rows = 1, batch = 1;
    for (int i = 0; i + 1 < shapes->rank[rule->a]; i++) rows *= (double)shapes->dims[rule->a][i];
    for (int i = 0; i + 2 < shapes->rank[rule->b]; i++) batch *= (double)shapes->dims[rule->b][i];
    draft->op.flop = 2 * rows * (double)n * (double)k;
    pace_draft_reads_tensor(draft, shapes, rule->a);
    pace_draft_reads_tensor(draft, shapes, rule->b);
    pace_draft_reads_tensor(draft, shapes, rule->c);
    pace_draft_writes(draft, rows * (double)n, shapes->element_bytes[rule->a]);
    pace_draft_of(draft, shapes, rule->a);
    PACE_SIZES(draft, batch, batch > 0 ? rows / batch : 0, (double)n, (double)k);
    return true;
}

bool pace_call_linear(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    (void)rule;
    if (!pace_arg_has_rank(shapes, 0, 1) || !pace_arg_has_rank(shapes, 1, 2)) return false;
    int64_t k = pace_arg_dim(shapes, 0, 1), n = pace_arg_dim(shapes, 1, 2);
    if (pace_arg_dim(shapes, 1, 1) != k || k == 0) return false;
    double rows = pace_arg_elements(shapes, 0) / (double)k;
    draft->op.flop = 2 * rows * (double)n * (double)k;
    for (int i = 0; i < 3; i++) pace_draft_reads_tensor(draft, shapes, i);
    pace_draft_writes(draft, rows * (double)n, shapes->element_bytes[0]);
    pace_draft_of(draft, shapes, 0);
    PACE_SIZES(draft, 1, rows, (double)n, (double)k);
    return true;
}

bool pace_call_matrix_vector(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!pace_arg_has_rank(shapes, rule->a, 2) || !pace_arg_has_rank(shapes, rule->b, 1)) return false;
    draft->op.flop = 2 * pace_arg_elements(shapes, rule->a);
    pace_draft_reads_all(draft, shapes);
    pace_draft_writes(draft, (double)pace_arg_dim(shapes, rule->a, 2), shapes->element_bytes[rule->a]);
    pace_draft_of(draft, shapes, rule->a);
    PACE_SIZES(draft, 1, (double)pace_arg_dim(shapes, rule->a, 2), 1, (double)pace_arg_dim(shapes, rule->a, 1));
    return true;
}

/* --- convolution ----------------------------------------------------------------------------------------- */

/* Multiply-adds of each output (or, transposed, input) position: the weight but for its first dimension. */
static double weight_reach(const pace_op_shapes *shapes, int weight) {
    double product = 1;
    for (int i = 1; i < shapes->rank[weight]; i++) product *= (double)shapes->dims[weight][i];
    return product;
}

static bool is_convolution(const pace_op_shapes *shapes, int input, int weight) {
    int rank = pace_arg_is_tensor(shapes, input) ? shapes->rank[input] : 0;
    return rank >= 3 && rank <= 5 && pace_arg_is_tensor(shapes, weight) && shapes->rank[weight] == rank;
}

/* A list's number for an axis; 0 where it is not recorded. */
static int64_t for_axis(const pace_op_shapes *shapes, int at, int axis) { return shapes->scalars[at][axis]; }

static int64_t dilation_for(const pace_op_shapes *shapes, int at, int axis) {
    return for_axis(shapes, at, axis) > 0 ? for_axis(shapes, at, axis) : 1;
}

/* Sizes of a convolution of one or two dimensions whose stride, padding and dilation stand at a, b, c; of three there
 * is no family size for the depth, and what its amounts say must do. */
static void convolution_sizes(pace_op_draft *draft, const pace_op_shapes *shapes, int input, int weight, int stride,
                              int padding, int dilation) {
    const int64_t *in = shapes->dims[input], *filter = shapes->dims[weight];
    int rank = shapes->rank[input], last = rank - 3, first = rank == 4 ? 0 : -1;
    if (rank > 4 || for_axis(shapes, stride, last) <= 0 || filter[1] <= 0) return;
    PACE_SIZES(draft, (double)in[0], (double)in[1], first < 0 ? 1 : (double)in[2], (double)in[rank - 1],
               (double)filter[0], first < 0 ? 1 : (double)filter[2], (double)filter[rank - 1],
               first < 0 ? 1 : (double)for_axis(shapes, stride, 0), (double)for_axis(shapes, stride, last),
               first < 0 ? 0 : (double)for_axis(shapes, padding, 0), (double)for_axis(shapes, padding, last),
               (double)dilation_for(shapes, dilation, last), (double)(in[1] / filter[1]));
}

static int64_t output_size(const pace_op_rule *rule, const pace_op_shapes *shapes, int axis) {
    int64_t stride = for_axis(shapes, rule->a, axis), padding = for_axis(shapes, rule->b, axis);
    int64_t reach = dilation_for(shapes, rule->c, axis) * (shapes->dims[1][axis + 2] - 1) + 1;
    int64_t room = shapes->dims[0][axis + 2] + 2 * padding - reach;
    return stride > 0 && room >= 0 ? room / stride + 1 : -1;
}

/* Transposed: every input position is multiplied with the whole weight. It is the gradient of the input of the
 * convolution from its output back to its input. */
static bool transposed_convolution(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    pace_op_shapes straight = *shapes;
    double written = (double)shapes->dims[0][0] * (double)shapes->dims[1][1];
    if (shapes->dims[0][1] != shapes->dims[1][0]) return false;
    straight.dims[0][1] = shapes->dims[1][1];
    for (int axis = 0; axis + 2 < shapes->rank[0]; axis++) {
        int64_t stride = for_axis(shapes, rule->a, axis), padding = for_axis(shapes, rule->b, axis);
        if (stride <= 0) return false;
        straight.dims[0][axis + 2] = (shapes->dims[0][axis + 2] - 1) * stride - 2 * padding +
                                     dilation_for(shapes, rule->c, axis) * (shapes->dims[1][axis + 2] - 1) + 1;
        written *= (double)straight.dims[0][axis + 2];
    }
    draft->op.flop = 2 * pace_arg_elements(shapes, 0) * weight_reach(shapes, 1);
    for (int i = 0; i < 3; i++) pace_draft_reads_tensor(draft, shapes, i);
    pace_draft_writes(draft, written, shapes->element_bytes[0]);
    draft->op.pass = PACE_PASS_BACKWARD_DATA;
    convolution_sizes(draft, &straight, 0, 1, rule->a, rule->b, rule->c);
    return written >= 0;
}

/* Without a stride nothing is assumed. */
bool pace_call_convolution(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!is_convolution(shapes, 0, 1) || shapes->count <= (unsigned)rule->a || shapes->count <= (unsigned)rule->b)
        return false;
    pace_draft_of(draft, shapes, 0);
    if (rule->family == PACE_OP_CONVOLUTION && rule->a == 3 && rule->b == 4 && strstr(rule->name, "convolution") &&
        shapes->count > 6 && shapes->scalars[6][0])
        return transposed_convolution(rule, shapes, draft);
    double outputs = (double)shapes->dims[0][0] * (double)shapes->dims[1][0];
    for (int axis = 0; axis + 2 < shapes->rank[0]; axis++) {
        int64_t size = output_size(rule, shapes, axis);
        if (size < 0) return false;
        outputs *= (double)size;
    }
    draft->op.flop = 2 * outputs * weight_reach(shapes, 1);
    for (int i = 0; i < 3; i++) pace_draft_reads_tensor(draft, shapes, i);
    pace_draft_writes(draft, outputs, shapes->element_bytes[0]);
    convolution_sizes(draft, shapes, 0, 1, rule->a, rule->b, rule->c);
    return true;
}

/* Where no numbers were recorded, both ends of a convolution tell its stride, and the padding that the last row needs.
 */
static void infer_numbers(pace_op_shapes *out, int input, int output, int weight, int stride, int padding) {
    for (int axis = 0; axis + 2 < out->rank[input] && axis < 4; axis++) {
        int64_t in = out->dims[input][axis + 2], to = out->dims[output][axis + 2],
                step = to > 0 ? (in + to / 2) / to : 0;
        if (out->scalar_count[stride] > axis || step < 1) continue;
        int64_t lacks = (to - 1) * step + out->dims[weight][axis + 2] - in;
        out->scalars[stride][axis] = step;
        out->scalars[padding][axis] = lacks > 0 ? (lacks + 1) / 2 : 0;
    }
}

/* Both gradients are counted; each has the forward's arithmetic. The newer operator has its stride, padding and
 * dilation fourth, the older ones padding, stride and dilation third. */
bool pace_call_convolution_backward(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!is_convolution(shapes, rule->a, rule->c) || !is_convolution(shapes, rule->b, rule->c)) return false;
    bool newer = rule->a == 0, transposed = newer && shapes->count > 7 && shapes->scalars[7][0];
    draft->op.pass = PACE_PASS_BACKWARD;
    draft->op.flop = 4 * pace_arg_elements(shapes, transposed ? rule->b : rule->a) * weight_reach(shapes, rule->c);
    for (int i = 0; i < 3; i++) pace_draft_reads_tensor(draft, shapes, i);
    pace_draft_writes_tensor(draft, shapes, rule->b);
    pace_draft_writes_tensor(draft, shapes, rule->c);
    pace_draft_of(draft, shapes, rule->b);
    if (shapes->count > 6 && !transposed) {
        pace_op_shapes told = *shapes;
        infer_numbers(&told, rule->b, rule->a, rule->c, 4, newer ? 5 : 3);
        convolution_sizes(draft, &told, rule->b, rule->c, 4, newer ? 5 : 3, newer ? 6 : 5);
    }
    return true;
}

/* --- attention ------------------------------------------------------------------------------------------------ */

/* From query and key laid out [batch, heads, rows, width] or [batch, rows, heads, width]. */
typedef struct {
    double batch, heads, kv_heads, queries, keys, width, value_width;
} attention_size;

static bool attention_sizes(const pace_op_shapes *shapes, int query, bool rows_first, attention_size *size) {
    int key = query + 1, value = query + 2, rows = rows_first ? 3 : 2, heads = rows_first ? 2 : 3;
    for (int i = query; i <= value; i++)
        if (!pace_arg_is_tensor(shapes, i) || shapes->rank[i] != 4) return false;
    *size = (attention_size){
        .batch = (double)pace_arg_dim(shapes, query, 4),
        .heads = (double)pace_arg_dim(shapes, query, heads),
        .kv_heads = (double)pace_arg_dim(shapes, key, heads),
        .queries = (double)pace_arg_dim(shapes, query, rows),
        .keys = (double)pace_arg_dim(shapes, key, rows),
        .width = (double)pace_arg_dim(shapes, query, 1),
        .value_width = (double)pace_arg_dim(shapes, value, 1),
    };
    return true;
}

static bool is_causal(const pace_op_rule *rule, const pace_op_shapes *shapes) {
    return (unsigned)rule->a < shapes->count && shapes->scalars[rule->a][0] == 1;
}

static void keep_attention(pace_op_draft *draft, const pace_op_rule *rule, const pace_op_shapes *shapes,
                           const attention_size *s) {
    PACE_SIZES(draft, s->batch, s->heads, s->kv_heads, s->queries, s->keys, s->width, is_causal(rule, shapes));
    const char *kind = strstr(rule->name, "efficient") ? "efficient" : strstr(rule->name, "cudnn") ? "cudnn" : "flash";
    strcpy(draft->op.kind, kind);
}

/* The causal argument may be a kind of mask, where 1 is causal from the top left. */
bool pace_call_attention(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    attention_size s;
    if (!attention_sizes(shapes, 0, rule->b == 1, &s)) return false;
    double scores = s.batch * s.heads * s.queries * s.keys;
    draft->op.flop = 2 * scores * (s.width + s.value_width) * (is_causal(rule, shapes) ? 0.5 : 1);
    for (int i = 0; i < 3; i++) pace_draft_reads_tensor(draft, shapes, i);
    pace_draft_writes(draft, s.batch * s.heads * s.queries * s.value_width, shapes->element_bytes[0]);
    pace_draft_of(draft, shapes, 0);
    keep_attention(draft, rule, shapes, &s);
    return true;
}

/* Arguments: gradient of the output, query, key, value, output. */
bool pace_call_attention_backward(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    attention_size s;
    if (!attention_sizes(shapes, 1, rule->b == 1, &s)) return false;
    double scores = s.batch * s.heads * s.queries * s.keys;
    draft->op.flop = 2 * scores * (3 * s.width + 2 * s.value_width) * (is_causal(rule, shapes) ? 0.5 : 1);
    for (int i = 1; i <= 3; i++) {
        pace_draft_reads_tensor(draft, shapes, i);
        pace_draft_writes_tensor(draft, shapes, i);
    }
    pace_draft_reads(draft, 2 * s.batch * s.heads * s.queries * s.value_width, shapes->element_bytes[1]);
    draft->op.pass = PACE_PASS_BACKWARD;
    pace_draft_of(draft, shapes, 1);
    keep_attention(draft, rule, shapes, &s);
    return true;
}

/* --- embeddings ----------------------------------------------------------------------------------------------- */

/* The rows looked up are read and written. */
bool pace_call_embedding(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    (void)rule;
    if (!pace_arg_has_rank(shapes, 0, 2) || !pace_arg_is_tensor(shapes, 1)) return false;
    double lookups = pace_arg_elements(shapes, 1), width = (double)pace_arg_dim(shapes, 0, 1);
    pace_draft_reads_tensor(draft, shapes, 1);
    pace_draft_reads(draft, lookups * width, shapes->element_bytes[0]);
    pace_draft_writes(draft, lookups * width, shapes->element_bytes[0]);
    pace_draft_of(draft, shapes, 0);
    PACE_SIZES(draft, lookups, 1, (double)pace_arg_dim(shapes, 0, 2), 1, width);
    return true;
}

/* Writes the whole table's gradient. */
bool pace_call_embedding_backward(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    (void)rule;
    if (!pace_arg_has_rank(shapes, 0, 1) || !pace_arg_is_tensor(shapes, 1) || shapes->count < 3 ||
        shapes->scalars[2][0] <= 0)
        return false;
    double rows = (double)shapes->scalars[2][0], width = (double)pace_arg_dim(shapes, 0, 1);
    draft->op.flop = pace_arg_elements(shapes, 0);
    pace_draft_reads_tensor(draft, shapes, 0);
    pace_draft_reads_tensor(draft, shapes, 1);
    pace_draft_writes(draft, rows * width, shapes->element_bytes[0]);
    draft->op.pass = PACE_PASS_BACKWARD;
    strcpy(draft->op.kind, "dense");
    pace_draft_of(draft, shapes, 0);
    PACE_SIZES(draft, pace_arg_elements(shapes, 1), 1, rows, 1, width);
    return true;
}

/* Table-batched lookups: offsets have one entry per sample and table and one more; five arguments before the indices
 * stand the tables' places in a row, one more than tables, and behind them the width of a row (fbgemm_gpu 0.1 to 1.0).
 */
bool pace_call_embedding_tables(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    int places = rule->b - 5, row = rule->b - 4;
    if (!pace_arg_has_rank(shapes, rule->a, 1) || !pace_arg_has_rank(shapes, rule->b, 1) ||
        !pace_arg_has_rank(shapes, rule->c, 1) || !pace_arg_has_rank(shapes, places, 1))
        return false;
    double tables = (double)shapes->dims[places][0] - 1, width = pace_arg_number(shapes, row, 0, 0);
    double samples = (pace_arg_elements(shapes, rule->c) - 1) / tables,
           lookups = pace_arg_elements(shapes, rule->b) / samples / tables;
    if (!(tables > 0) || !(samples > 0) || !(width > 0)) return false;
    draft->op.element_bytes = shapes->element_bytes[rule->a];
    strcpy(draft->op.kind, "tables");
    PACE_SIZES(draft, samples, tables, pace_arg_elements(shapes, rule->a) / width, lookups > 0 ? lookups : 0,
               width / tables);
    (void)pace_op_complete(&draft->op);
    draft->bytes_known = draft->op.read_bytes > 0;
    return true;
}

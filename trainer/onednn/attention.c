/* Products of matrices in batches: attention by oneDNN's products and softmax, and DLRM's dot interaction. */
#include "net.h"

#include <math.h>
#include <string.h>

/* The last two axes change places. */
static dnnl_memory_desc_t turned(const tensor *t) {
    dnnl_memory_desc_t desc = t->desc;
    int a = desc.ndims - 1, b = desc.ndims - 2;
    dnnl_dim_t dim = desc.dims[a], padded = desc.padded_dims[a], stride = desc.format_desc.blocking.strides[a];
    desc.dims[a] = desc.dims[b], desc.dims[b] = dim;
    desc.padded_dims[a] = desc.padded_dims[b], desc.padded_dims[b] = padded;
    desc.format_desc.blocking.strides[a] = desc.format_desc.blocking.strides[b];
    desc.format_desc.blocking.strides[b] = stride;
    return desc;
}

static tensor *turn(net *n, tensor *t) {
    if (n->failed) return NULL;
    dnnl_memory_desc_t desc = turned(t);
    return tensor_in(n, &desc, t);
}

static dnnl_primitive_desc_t describe_scaled(net *n, const node *of, const void *operation, float scale) {
    dnnl_primitive_desc_t out = NULL;
    dnnl_primitive_attr_t attribute = NULL;
    bool fine = net_is_fine(n, of, dnnl_primitive_attr_create(&attribute), "scale") &&
                net_is_fine(n, of, dnnl_primitive_attr_set_output_scales(attribute, 1, 0, &scale), "scale") &&
                net_is_fine(n, of, dnnl_primitive_desc_create(&out, operation, attribute, n->engine, NULL), "product");
    if (attribute) dnnl_primitive_attr_destroy(attribute);
    return fine ? out : NULL;
}

/* c = scale a b. */
static void act_product(net *n, node *of, pace_engine_pass pass, tensor *a, tensor *b, tensor *c, float scale) {
    dnnl_matmul_desc_t operation;
    if (n->failed || !a || !b || !c) return;
    if (net_is_fine(n, of, dnnl_matmul_desc_init(&operation, &a->desc, &b->desc, NULL, &c->desc), "product"))
        act(n, of, pass, describe_scaled(n, of, &operation, scale), false,
            BOUND({DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}));
}

/* --- attention ---------------------------------------------------------------------------------------------------- */

enum { QUERY, KEY, VALUE, SCORES, MASK, CAUSAL };

typedef struct {
    size_t heads, dim, value_dim,
        columns;                /* columns: of the tensor that holds query, key and value, or of one of them */
    dnnl_memory_desc_t rows[3]; /* of query, key, value: [batch, heads, sequence, dim] */
    dnnl_memory_desc_t scores, out;
    float scale;
} attention;

static dnnl_memory_desc_t heads_desc(const net *n, size_t heads, size_t rows, size_t columns) {
    size_t dims[4] = {n->batch, heads, rows, columns};
    return desc_of(4, dims, dnnl_abcd);
}

/* Heads within rows of `columns` numbers. */
static dnnl_memory_desc_t within_rows(const net *n, size_t heads, size_t dim, size_t columns) {
    dnnl_memory_desc_t desc = {0};
    dnnl_dims_t dims = {(dnnl_dim_t)n->batch, (dnnl_dim_t)heads, (dnnl_dim_t)n->sequence, (dnnl_dim_t)dim};
    dnnl_dims_t strides = {(dnnl_dim_t)(n->sequence * columns), (dnnl_dim_t)dim, (dnnl_dim_t)columns, 1};
    dnnl_memory_desc_init_by_strides(&desc, 4, dims, dnnl_f32, strides);
    return desc;
}

static void attention_of(attention *a, const net *n, const node *of) {
    a->heads = (size_t)OPT(of, HEADS);
    a->dim = (size_t)OPT(of, HEAD_DIM), a->value_dim = (size_t)OPT(of, VALUE_DIM);
    a->scale = 1 / sqrtf((float)a->dim);
    a->rows[QUERY] = a->rows[KEY] = heads_desc(n, a->heads, n->sequence, a->dim);
    a->rows[VALUE] = heads_desc(n, a->heads, n->sequence, a->value_dim);
    a->scores = heads_desc(n, a->heads, n->sequence, n->sequence);
    a->out = within_rows(n, a->heads, a->value_dim, a->heads * a->value_dim);
}

/* Which input holds query, key or value, and how it lies there. */
static tensor *part_of_input(net *n, const node *of, const attention *a, int which, tensor *whole) {
    size_t dim = which == VALUE ? a->value_dim : a->dim;
    const node *in = of->inputs[of->input_count == 1 ? 0 : which];
    dnnl_memory_desc_t desc = within_rows(n, a->heads, dim, in->columns);
    size_t before = of->input_count == 1 ? (size_t)which * a->heads * a->dim : 0;
    return n->failed ? NULL : tensor_behind(n, &desc, whole, before);
}

static dnnl_memory_desc_t whole_desc(const node *of) {
    size_t dims[2] = {of->rows, of->columns};
    return desc_of(2, dims, dnnl_ab);
}

/* What is added to scores of later places; drawn once. */
static void fill_causal(net *n, node *of) {
    float *mask = tensor_floats(n, of->kept[CAUSAL]);
    if (mask[1] < 0) return;
    for (size_t q = 0; q < n->sequence; q++)
        for (size_t k = q + 1; k < n->sequence; k++) mask[q * n->sequence + k] = -1e30F;
}

static void act_binary(net *n, node *of, pace_engine_pass pass, dnnl_alg_kind_t kind, tensor *a, tensor *b,
                       tensor *to) {
    dnnl_binary_desc_t operation;
    if (n->failed || !a || !b || !to) return;
    if (net_is_fine(n, of, dnnl_binary_desc_init(&operation, kind, &a->desc, &b->desc, &to->desc), "mask"))
        act(n, of, pass, describe(n, of, &operation, NULL), false,
            BOUND({DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, to}));
}

static void act_causal(net *n, node *of, tensor *scores) {
    size_t dims[4] = {1, 1, n->sequence, n->sequence};
    dnnl_memory_desc_t desc = desc_of(4, dims, dnnl_abcd);
    if (OPT(of, CAUSAL) == 0 || n->sequence < 2) return;
    of->kept[CAUSAL] = tensor_new(n, &desc);
    act_function(n, of, PACE_PASS_FORWARD, fill_causal);
    act_binary(n, of, PACE_PASS_FORWARD, dnnl_binary_add, scores, of->kept[CAUSAL], scores);
}

static void act_softmax(net *n, node *of, tensor *scores) {
    dnnl_softmax_desc_t operation;
    if (n->failed ||
        !net_is_fine(n, of, dnnl_softmax_forward_desc_init(&operation, dnnl_forward_training, &scores->desc, 3),
                     "softmax"))
        return;
    of->forward = describe(n, of, &operation, NULL);
    act(n, of, PACE_PASS_FORWARD, of->forward, true, BOUND({DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}));
}

static void draw_attention_mask(net *n, node *of) {
    draw_mask(n, of, of->kept[MASK], option_of(of, PACE_OPTION_DROPOUT));
}

/* Scores with some taken out; the same tensor without dropout. */
static tensor *act_dropped(net *n, node *of, const attention *a) {
    if (option_of(of, PACE_OPTION_DROPOUT) <= 0) return of->kept[SCORES];
    of->kept[MASK] = tensor_new(n, &a->scores);
    tensor *dropped = tensor_new(n, &a->scores);
    act_function(n, of, PACE_PASS_FORWARD, draw_attention_mask);
    act_binary(n, of, PACE_PASS_FORWARD, dnnl_binary_mul, of->kept[SCORES], of->kept[MASK], dropped);
    return dropped;
}

static bool is_plain_attention(net *n, const node *of) {
    const char *why = OPT(of, KV_HEADS) != OPT(of, HEADS) ? "keys and values have fewer heads"
                      : OPT(of, ROTARY) > 0               ? "it turns queries and keys"
                                                          : NULL;
    for (size_t i = 0; i < of->input_count && !why; i++)
        if (of->inputs[i]->rows != of->rows) why = "its inputs have other lengths";
    if (why) net_refuse(n, of, why);
    return !why;
}

void forward_attention(net *n, node *of) {
    attention a;
    dnnl_memory_desc_t whole = whole_desc(of);
    attention_of(&a, n, of);
    if (!is_plain_attention(n, of)) return;
    for (int i = QUERY; i <= VALUE && !n->failed; i++) {
        node *in = of->inputs[of->input_count == 1 ? 0 : i];
        dnnl_memory_desc_t as = whole_desc(in);
        tensor *rows = in_layout(n, of, PACE_PASS_FORWARD, in->value, &as);
        of->kept[i] = tensor_new(n, &a.rows[i]);
        act_copy(n, of, PACE_PASS_FORWARD, part_of_input(n, of, &a, i, rows), of->kept[i]);
    }
    of->kept[SCORES] = tensor_new(n, &a.scores);
    of->value = tensor_new(n, &whole);
    act_product(n, of, PACE_PASS_FORWARD, of->kept[QUERY], turn(n, of->kept[KEY]), of->kept[SCORES], a.scale);
    act_causal(n, of, of->kept[SCORES]);
    act_softmax(n, of, of->kept[SCORES]);
    of->dropped = act_dropped(n, of, &a);
    tensor *out = tensor_new(n, &a.rows[VALUE]);
    act_product(n, of, PACE_PASS_FORWARD, of->dropped, of->kept[VALUE], out, 1);
    if (!n->failed) act_copy(n, of, PACE_PASS_FORWARD, out, tensor_in(n, &a.out, of->value));
}

/* The gradient of scores before the softmax, from that of their product with the values. */
static tensor *act_scores_back(net *n, node *of, const attention *a, tensor *out) {
    dnnl_softmax_desc_t operation;
    tensor *scores = tensor_passing(n, &a->scores), *kept = of->kept[SCORES];
    act_product(n, of, PACE_PASS_DATA, out, turn(n, of->kept[VALUE]), scores, 1);
    if (of->kept[MASK]) act_binary(n, of, PACE_PASS_DATA, dnnl_binary_mul, scores, of->kept[MASK], scores);
    if (!n->failed && net_is_fine(n, of, dnnl_softmax_backward_desc_init(&operation, &scores->desc, &kept->desc, 3),
                                  "gradient of a softmax"))
        act(n, of, PACE_PASS_DATA, describe(n, of, &operation, of->forward), false,
            BOUND({DNNL_ARG_DST, kept}, {DNNL_ARG_DIFF_DST, scores}, {DNNL_ARG_DIFF_SRC, scores}));
    return scores;
}

/* Gradients of query, key and value go where their inputs' gradients are. */
static void act_parts_back(net *n, node *of, const attention *a, tensor *const *parts) {
    tensor *to = NULL;
    for (int i = QUERY; i <= VALUE && !n->failed; i++) {
        node *in = of->inputs[of->input_count == 1 ? 0 : i];
        dnnl_memory_desc_t as = whole_desc(in);
        if (!in->needs_gradient) continue;
        if (i == QUERY || of->input_count > 1) to = gradient_begin(n, in, &as);
        act_copy(n, of, PACE_PASS_DATA, parts[i], part_of_input(n, of, a, i, to));
        if (i == VALUE || of->input_count > 1) gradient_end(n, of, in, to);
    }
}

void backward_attention(net *n, node *of) {
    attention a;
    tensor *parts[3];
    dnnl_memory_desc_t whole = whole_desc(of);
    attention_of(&a, n, of);
    tensor *from = own_gradient(n, of, PACE_PASS_DATA, &whole), *out = tensor_passing(n, &a.rows[VALUE]);
    if (n->failed) return;
    act_copy(n, of, PACE_PASS_DATA, tensor_in(n, &a.out, from), out);
    for (int i = QUERY; i <= VALUE; i++) parts[i] = tensor_passing(n, &a.rows[i]);
    act_product(n, of, PACE_PASS_DATA, turn(n, of->dropped), out, parts[VALUE], 1);
    tensor *scores = act_scores_back(n, of, &a, out);
    act_product(n, of, PACE_PASS_DATA, scores, of->kept[KEY], parts[QUERY], a.scale);
    act_product(n, of, PACE_PASS_DATA, turn(n, scores), of->kept[QUERY], parts[KEY], a.scale);
    act_parts_back(n, of, &a, parts);
    for (int i = QUERY; i <= VALUE; i++) tensor_done(n, parts[i]);
    tensor_done(n, scores);
    tensor_done(n, out);
}

/* --- interaction: dot products of all pairs of vectors, behind the dense one (Naumov et al. 2019) ----------------- */

enum { VECTORS, DOTS };

static size_t vectors_of(const node *of) { return 1 + of->inputs[1]->columns / of->inputs[0]->columns; }

static void gather_vectors(net *n, node *of) {
    size_t width = of->inputs[0]->columns, rest = of->inputs[1]->columns;
    const float *dense = tensor_floats(n, of->kept[2]), *others = tensor_floats(n, of->kept[3]);
    float *all = tensor_floats(n, of->kept[VECTORS]);
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < of->rows; s++) {
        memcpy(all + s * (width + rest), dense + s * width, width * sizeof *all);
        memcpy(all + s * (width + rest) + width, others + s * rest, rest * sizeof *all);
    }
}

static void take_pairs(net *n, node *of) {
    size_t width = of->inputs[0]->columns, count = vectors_of(of);
    const float *dense = tensor_floats(n, of->kept[2]), *dots = tensor_floats(n, of->kept[DOTS]);
    float *out = tensor_floats(n, of->value);
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < of->rows; s++) {
        float *to = out + s * of->columns;
        memcpy(to, dense + s * width, width * sizeof *to);
        to += width;
        for (size_t i = 1; i < count; i++)
            for (size_t k = 0; k < i; k++) *to++ = dots[(s * count + i) * count + k];
    }
}

/* A pair's slope stands at both of its places, so that one product gives the gradients of both vectors. */
static void spread_pairs(net *n, node *of) {
    size_t width = of->inputs[0]->columns, count = vectors_of(of);
    const float *from = tensor_floats(n, of->turned ? of->turned : of->gradient);
    float *slopes = tensor_floats(n, of->kept[DOTS]);
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < of->rows; s++) {
        const float *at = from + s * of->columns + width;
        float *to = slopes + s * count * count;
        for (size_t i = 0; i < count; i++) {
            to[i * count + i] = 0;
            for (size_t k = 0; k < i; k++) to[i * count + k] = to[k * count + i] = *at++;
        }
    }
}

static void split_vectors(net *n, node *of) {
    size_t width = of->inputs[0]->columns, rest = of->inputs[1]->columns;
    const float *from = tensor_floats(n, of->turned ? of->turned : of->gradient);
    const float *all = tensor_floats(n, of->dropped);
    float *dense = of->kept[4] ? tensor_floats(n, of->kept[4]) : NULL;
    float *others = of->kept[5] ? tensor_floats(n, of->kept[5]) : NULL;
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < of->rows; s++) {
        const float *row = all + s * (width + rest);
        for (size_t c = 0; dense && c < width; c++) dense[s * width + c] = row[c] + from[s * of->columns + c];
        if (others) memcpy(others + s * rest, row + width, rest * sizeof *row);
    }
}

static dnnl_memory_desc_t batched(const node *of, size_t rows, size_t columns) {
    size_t dims[3] = {of->rows, rows, columns};
    return desc_of(3, dims, dnnl_abc);
}

void forward_interaction(net *n, node *of) {
    size_t width = of->inputs[0]->columns, count = vectors_of(of);
    dnnl_memory_desc_t vectors = batched(of, count, width), dots = batched(of, count, count), whole = whole_desc(of);
    for (int i = 0; i < 2; i++) {
        dnnl_memory_desc_t rows = whole_desc(of->inputs[i]);
        of->kept[2 + i] = in_layout(n, of, PACE_PASS_FORWARD, of->inputs[i]->value, &rows);
    }
    of->kept[VECTORS] = tensor_new(n, &vectors);
    of->kept[DOTS] = tensor_new(n, &dots);
    of->value = tensor_new(n, &whole);
    act_function(n, of, PACE_PASS_FORWARD, gather_vectors);
    if (!n->failed)
        act_product(n, of, PACE_PASS_FORWARD, of->kept[VECTORS], turn(n, of->kept[VECTORS]), of->kept[DOTS], 1);
    act_function(n, of, PACE_PASS_FORWARD, take_pairs);
}

/* The forward pass's dots are taken for their gradients. */
void backward_interaction(net *n, node *of) {
    dnnl_memory_desc_t whole = whole_desc(of);
    own_gradient(n, of, PACE_PASS_DATA, &whole);
    tensor *slopes = n->failed ? NULL : tensor_new(n, &of->kept[VECTORS]->desc);
    act_function(n, of, PACE_PASS_DATA, spread_pairs);
    act_product(n, of, PACE_PASS_DATA, of->kept[DOTS], of->kept[VECTORS], slopes, 1);
    of->dropped = slopes;
    for (int i = 0; i < 2; i++) {
        dnnl_memory_desc_t rows = whole_desc(of->inputs[i]);
        of->kept[4 + i] = gradient_begin(n, of->inputs[i], &rows);
    }
    act_function(n, of, PACE_PASS_DATA, split_vectors);
    for (int i = 0; i < 2; i++) gradient_end(n, of, of->inputs[i], of->kept[4 + i]);
}

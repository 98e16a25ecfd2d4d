/* Views, sums, products and rows of several tensors. */
#include "net.h"

#include <string.h>

/* --- flatten: an image becomes a row, channel by channel ---------------------------------------------------------- */

static dnnl_memory_desc_t plain_image(const tensor *t) {
    size_t dims[4];
    for (int i = 0; i < 4; i++) dims[i] = (size_t)t->desc.dims[i];
    return desc_of(4, dims, dnnl_nchw);
}

static dnnl_memory_desc_t rows_of(const node *of) {
    size_t dims[2] = {of->rows, of->columns};
    return desc_of(2, dims, dnnl_ab);
}

void forward_flatten(net *n, node *of) {
    tensor *source = of->inputs[0]->value;
    dnnl_memory_desc_t rows = rows_of(of);
    if (source->desc.ndims == 2) {
        of->value = tensor_in(n, &source->desc, source);
        return;
    }
    dnnl_memory_desc_t plain = plain_image(source);
    tensor *as = in_layout(n, of, PACE_PASS_FORWARD, source, &plain);
    of->value = tensor_in(n, &rows, as);
}

void backward_flatten(net *n, node *of) {
    node *in = of->inputs[0];
    if (!in->needs_gradient) return;
    tensor *source = in->value;
    dnnl_memory_desc_t rows = rows_of(of);
    if (in->uses == 1) {
        tensor *from = in_layout(n, of, PACE_PASS_DATA, of->gradient, &rows);
        dnnl_memory_desc_t plain = source->desc.ndims == 2 ? rows : plain_image(source);
        in->gradient = tensor_in(n, &plain, from);
        if (from == of->gradient) tensor_also(n, from);
        return;
    }
    net_refuse(n, of, "what it flattens is used elsewhere too");
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

void forward_add(net *n, node *of) {
    static const float scales[MOST_INPUTS] = {1, 1, 1, 1, 1, 1, 1, 1};
    dnnl_memory_desc_t from[8];
    dnnl_primitive_desc_t desc;
    bound all[10] = {{0}};
    if (of->input_count > 8) {
        net_refuse(n, of, "it adds more than 8 tensors");
        return;
    }
    dnnl_memory_desc_t as = of->inputs[0]->value->desc;
    for (size_t i = 0; i < of->input_count; i++) {
        tensor *t = in_layout(n, of, PACE_PASS_FORWARD, of->inputs[i]->value, &as);
        from[i] = as;
        all[i] = (bound){DNNL_ARG_MULTIPLE_SRC + (int)i, t};
    }
    of->value = tensor_new(n, &as);
    all[of->input_count] = (bound){DNNL_ARG_DST, of->value};
    if (!n->failed &&
        net_is_fine(n, of,
                    dnnl_sum_primitive_desc_create(&desc, &as, (int)of->input_count, scales, from, NULL, n->engine),
                    "sum"))
        act(n, of, PACE_PASS_FORWARD, desc, false, all);
}

/* Whether an input may take the sum's gradient for its own: no other use of it comes later in backward while others
 * that took it still need it as it is. */
static bool may_share(const node *of, const node *input) {
    if (input->gradient) return false;
    for (size_t i = 0; input->uses > 1 && i < of->input_count; i++)
        if (of->inputs[i] != input && of->inputs[i]->index <= input->first_use) return false;
    return true;
}

void backward_add(net *n, node *of) {
    for (size_t i = 0; i < of->input_count; i++) {
        node *in = of->inputs[i];
        if (!in->needs_gradient || n->failed) continue;
        if (may_share(of, in)) {
            in->gradient = of->gradient;
            tensor_also(n, of->gradient);
            continue;
        }
        tensor *to = gradient_begin(n, in, &of->gradient->desc);
        act_copy(n, of, PACE_PASS_DATA, of->gradient, to);
        gradient_end(n, of, in, to);
    }
}

/* --- products ----------------------------------------------------------------------------------------------------- */

static void act_multiply(net *n, node *of, pace_engine_pass pass, tensor *a, tensor *b, tensor *to) {
    dnnl_binary_desc_t operation;
    if (!n->failed && a && b && to &&
        net_is_fine(n, of, dnnl_binary_desc_init(&operation, dnnl_binary_mul, &a->desc, &b->desc, &to->desc),
                    "product"))
        act(n, of, pass, describe(n, of, &operation, NULL), false,
            BOUND({DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, to}));
}

void forward_multiply(net *n, node *of) {
    if (of->input_count != 2) {
        net_refuse(n, of, "it multiplies other than 2 tensors");
        return;
    }
    tensor *a = of->inputs[0]->value, *b = in_layout(n, of, PACE_PASS_FORWARD, of->inputs[1]->value, &a->desc);
    of->kept[0] = b;
    of->value = tensor_new(n, &a->desc);
    act_multiply(n, of, PACE_PASS_FORWARD, a, b, of->value);
}

void backward_multiply(net *n, node *of) {
    tensor *a = of->inputs[0]->value, *b = of->kept[0];
    tensor *from = in_layout(n, of, PACE_PASS_DATA, of->gradient, &a->desc);
    for (int i = 0; i < 2; i++) {
        tensor *to = gradient_begin(n, of->inputs[i], &a->desc);
        act_multiply(n, of, PACE_PASS_DATA, from, i ? a : b, to);
        gradient_end(n, of, of->inputs[i], to);
    }
}

/* --- rows of channels --------------------------------------------------------------------------------------------- */

/* The layout that the concatenation has: channels in order, each input's laid out as its first input's where it can
 * be. */
void forward_concat(net *n, node *of) {
    dnnl_memory_desc_t from[MOST_INPUTS];
    dnnl_primitive_desc_t desc = NULL;
    bound all[MOST_INPUTS + 2] = {{0}};
    if (of->input_count + 1 > MOST_ARGUMENTS) {
        net_refuse(n, of, "it joins more than 11 tensors");
        return;
    }
    for (size_t i = 0; i < of->input_count; i++) from[i] = of->inputs[i]->value->desc;
    if (!net_is_fine(n, of,
                     dnnl_concat_primitive_desc_create(&desc, NULL, (int)of->input_count, 1, from, NULL, n->engine),
                     "concatenation"))
        return;
    of->value = tensor_new(n, wanted(desc, DNNL_ARG_DST));
    for (size_t i = 0; i < of->input_count; i++) all[i] = (bound){DNNL_ARG_MULTIPLE_SRC + (int)i, of->inputs[i]->value};
    all[of->input_count] = (bound){DNNL_ARG_DST, of->value};
    act(n, of, PACE_PASS_FORWARD, desc, false, all);
}

/* A part of the channels; in a plain layout where the present one cannot be cut there. */
static bool part_of(dnnl_memory_desc_t *out, const dnnl_memory_desc_t *whole, dnnl_dim_t first, dnnl_dim_t channels) {
    dnnl_dims_t dims = {0}, offsets = {0};
    for (int i = 0; i < whole->ndims; i++) dims[i] = whole->dims[i];
    dims[1] = channels;
    offsets[1] = first;
    return dnnl_memory_desc_init_submemory(out, whole, dims, offsets) == dnnl_success;
}

static bool divides(const node *of, const dnnl_memory_desc_t *whole) {
    dnnl_dim_t first = 0;
    for (size_t i = 0; i < of->input_count; i++) {
        dnnl_memory_desc_t part;
        dnnl_dim_t channels = (dnnl_dim_t)of->inputs[i]->columns;
        if (!part_of(&part, whole, first, channels)) return false;
        first += channels;
    }
    return true;
}

void backward_concat(net *n, node *of) {
    tensor *whole = of->gradient;
    if (!divides(of, &whole->desc)) {
        dnnl_memory_desc_t plain = whole->desc.ndims == 4 ? plain_image(whole) : rows_of(of);
        whole = in_layout(n, of, PACE_PASS_DATA, whole, &plain);
    }
    dnnl_dim_t first = 0;
    for (size_t i = 0; i < of->input_count && !n->failed; i++) {
        node *in = of->inputs[i];
        dnnl_memory_desc_t part;
        bool cut = part_of(&part, &whole->desc, first, (dnnl_dim_t)in->columns);
        first += (dnnl_dim_t)in->columns;
        if (!cut) net_refuse(n, of, "its gradient cannot be cut");
        tensor *to = gradient_begin(n, in, &in->value->desc);
        if (to) act_copy(n, of, PACE_PASS_DATA, tensor_in(n, &part, whole), to);
        gradient_end(n, of, in, to);
    }
}

/* --- the first place of each sequence ----------------------------------------------------------------------------- */

static tensor *first_places(net *n, const node *of, const tensor *whole) {
    dnnl_memory_desc_t desc = {0};
    dnnl_dims_t dims = {(dnnl_dim_t)of->rows, (dnnl_dim_t)of->columns};
    dnnl_dims_t strides = {(dnnl_dim_t)(of->inputs[0]->rows / of->rows * of->columns), 1};
    if (n->failed || !net_is_fine(n, of, dnnl_memory_desc_init_by_strides(&desc, 2, dims, dnnl_f32, strides), "view"))
        return NULL;
    return tensor_in(n, &desc, whole);
}

void forward_select(net *n, node *of) {
    dnnl_memory_desc_t rows = rows_of(of), all = rows_of(of->inputs[0]);
    tensor *from = in_layout(n, of, PACE_PASS_FORWARD, of->inputs[0]->value, &all);
    of->value = tensor_new(n, &rows);
    act_copy(n, of, PACE_PASS_FORWARD, first_places(n, of, from), of->value);
}

static void clear_places(net *n, node *of) {
    memset(tensor_floats(n, of->kept[0]), 0, tensor_elements(of->kept[0]) * sizeof(float));
}

void backward_select(net *n, node *of) {
    dnnl_memory_desc_t all = rows_of(of->inputs[0]);
    if (!of->inputs[0]->needs_gradient) return;
    of->kept[0] = gradient_begin(n, of->inputs[0], &all);
    act_function(n, of, PACE_PASS_DATA, clear_places);
    act_copy(n, of, PACE_PASS_DATA, of->gradient, first_places(n, of, of->kept[0]));
    gradient_end(n, of, of->inputs[0], of->kept[0]);
}

/* Inputs, and the loss: its softmax is oneDNN's, the rest a look at every score. */
#include "net.h"

#include <math.h>
#include <string.h>

void forward_input(net *n, node *of) {
    const pace_shape *shape = &of->layer->shape;
    size_t image[4] = {n->batch, of->columns, (size_t)shape->height, (size_t)shape->width};
    size_t rows[2] = {of->rows, of->columns};
    bool is_image = shape->height * shape->width > 1;
    dnnl_memory_desc_t desc = is_image ? desc_of(4, image, dnnl_nchw) : desc_of(2, rows, dnnl_ab);
    of->value = tensor_new(n, &desc);
}

/* --- cross entropy ------------------------------------------------------------------------------------------------ */

static void look_at_classes(net *n, node *of) {
    const float *p = tensor_floats(n, of->value);
    const int32_t *labels = n->labels;
    double loss = 0;
    long rows = (long)of->rows, columns = (long)of->columns, right = 0;
#pragma omp parallel for schedule(static) reduction(+ : loss, right)
    for (long r = 0; r < rows; r++) {
        const float *row = p + r * columns;
        long best = 0;
        for (long c = 1; c < columns; c++)
            if (row[c] > row[best]) best = c;
        double likely = row[labels[r]];
        loss -= log(likely > 1e-38 ? likely : 1e-38);
        right += best == labels[r];
    }
    n->loss = loss / (double)rows;
    n->right = (double)right / (double)rows;
}

/* softmax - label, over the rows: the gradient of softmax and loss together. */
static void gradient_of_classes(net *n, node *of) {
    const float *p = tensor_floats(n, of->value);
    float *g = tensor_floats(n, of->kept[0]), by = 1.0F / (float)of->rows;
    const int32_t *labels = n->labels;
    long rows = (long)of->rows, columns = (long)of->columns;
#pragma omp parallel for schedule(static)
    for (long r = 0; r < rows; r++) {
        for (long c = 0; c < columns; c++) g[r * columns + c] = p[r * columns + c] * by;
        g[r * columns + labels[r]] -= by;
    }
}

static void forward_cross_entropy(net *n, node *of) {
    dnnl_softmax_desc_t desc;
    size_t dims[2] = {of->rows, of->columns};
    dnnl_memory_desc_t plain = desc_of(2, dims, dnnl_ab);
    tensor *scores = in_layout(n, of, PACE_PASS_FORWARD, of->inputs[0]->value, &plain);
    if (n->failed ||
        !net_is_fine(n, of, dnnl_softmax_forward_desc_init(&desc, dnnl_forward_training, &plain, 1), "softmax"))
        return;
    of->value = tensor_new(n, &plain);
    act(n, of, PACE_PASS_FORWARD, describe(n, of, &desc, NULL), false,
        BOUND({DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, of->value}));
    act_function(n, of, PACE_PASS_FORWARD, look_at_classes);
    n->classes = of->columns;
    n->label_count = of->rows;
}

/* --- losses of values --------------------------------------------------------------------------------------------- */

static bool is_square(const node *of) { return strcmp(of->layer->word, "mse") == 0; }

static void look_at_values(net *n, node *of) {
    const float *x = tensor_floats(n, of->value), *y = n->labels;
    double loss = 0;
    long count = (long)(of->rows * of->columns);
    for (long i = 0; i < count; i++) {
        double at = x[i], inside = fmin(fmax(at, 1e-12), 1 - 1e-7);
        loss += is_square(of) ? (at - y[i]) * (at - y[i]) : -(y[i] * log(inside) + (1 - y[i]) * log(1 - inside));
    }
    n->loss = loss / (double)count;
    n->right = NAN;
}

static void gradient_of_values(net *n, node *of) {
    const float *x = tensor_floats(n, of->value), *y = n->labels;
    float *g = tensor_floats(n, of->kept[0]);
    long count = (long)(of->rows * of->columns);
    for (long i = 0; i < count; i++) {
        float inside = fminf(fmaxf(x[i], 1e-12F), 1 - 1e-7F);
        float slope = is_square(of) ? 2 * (x[i] - y[i]) : (inside - y[i]) / (inside * (1 - inside));
        g[i] = slope / (float)count;
    }
}

void forward_loss(net *n, node *of) {
    n->loss_node = of;
    if (strcmp(of->layer->word, "cross_entropy") == 0) {
        forward_cross_entropy(n, of);
        return;
    }
    of->value = of->inputs[0]->value;
    act_function(n, of, PACE_PASS_FORWARD, look_at_values);
    n->label_count = of->rows * of->columns;
}

void backward_loss(net *n, node *of) {
    node *in = of->inputs[0];
    if (!in->needs_gradient) return;
    of->kept[0] = gradient_begin(n, in, &of->value->desc);
    act_function(n, of, PACE_PASS_DATA, n->classes ? gradient_of_classes : gradient_of_values);
    gradient_end(n, of, in, of->kept[0]);
}

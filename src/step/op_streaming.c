/* Formulas of operators that run through memory once: normalization, softmax, reductions, element-wise, copies,
 * pooling, losses, updates. */
#include "base/text.h"
#include "step/op_formulas.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* --- over rows and columns ------------------------------------------------------------------------------- */

static double product_of(const int64_t *numbers, unsigned count) {
    double product = 1;
    for (unsigned i = 0; i < count; i++) product *= (double)numbers[i];
    return product;
}

/* Elements, reads of every argument, and a write of the biggest one's shape. */
static bool map_biggest(pace_op_draft *draft, const pace_op_shapes *shapes, int operations) {
    int big = pace_arg_biggest(shapes);
    if (big < 0) return false;
    draft->op.flop = operations * pace_arg_elements(shapes, big);
    pace_draft_reads_all(draft, shapes);
    pace_draft_writes(draft, pace_arg_elements(shapes, big), shapes->element_bytes[big]);
    pace_draft_of(draft, shapes, big);
    return true;
}

bool pace_call_normalization(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!map_biggest(draft, shapes, rule->c)) return false;
    bool batch = strstr(rule->name, "batch_norm") != NULL, group = strstr(rule->name, "group_norm") != NULL;
    strcpy(draft->op.kind, batch ? "batch_norm" : group ? "group_norm" : "layer_norm");
    if (pace_ends(rule->name, "backward")) draft->op.pass = PACE_PASS_BACKWARD;
    if (!pace_arg_has_rank(shapes, rule->a, 2)) return true;
    double all = pace_arg_elements(shapes, rule->a), columns = (double)shapes->dims[rule->a][1];
    if (group) columns = all / (pace_arg_number(shapes, rule->b, 0, 0) * (double)shapes->dims[rule->a][0]);
    else if (!batch && rule->b >= 0 && shapes->scalar_count[rule->b])
        columns = product_of(shapes->scalars[rule->b], shapes->scalar_count[rule->b]);
    else if (!batch) columns = (double)pace_arg_dim(shapes, rule->a, 1);
    if (columns > 0 && columns <= all) PACE_SIZES(draft, all / columns, columns);
    return true;
}

/* The size of the dimension that argument `at` names, counted from the end when it is below 0. */
static double named_dimension(const pace_op_shapes *shapes, int tensor, int at) {
    double which = pace_arg_number(shapes, at, 0, -1);
    if (which < 0) which += shapes->rank[tensor];
    return which >= 0 && which < shapes->rank[tensor] ? (double)shapes->dims[tensor][(int)which] : 1;
}

bool pace_call_softmax(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!map_biggest(draft, shapes, rule->c)) return false;
    if (strstr(rule->name, "backward")) draft->op.pass = PACE_PASS_BACKWARD;
    if (strstr(rule->name, "log")) strcpy(draft->op.kind, "log");
    double columns = pace_arg_has_rank(shapes, 0, 1) ? named_dimension(shapes, 0, rule->a) : 0;
    if (columns > 0) PACE_SIZES(draft, pace_arg_elements(shapes, 0) / columns, columns);
    return true;
}

/* What is written is one element a row. */
bool pace_call_reduction(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    int big = pace_arg_biggest(shapes);
    if (big < 0) return false;
    double all = pace_arg_elements(shapes, big), columns = all;
    draft->op.flop = rule->c * all;
    pace_draft_reads_all(draft, shapes);
    pace_draft_of(draft, shapes, big);
    if (rule->a && (unsigned)rule->a < shapes->count && shapes->scalar_count[rule->a]) {
        columns = 1;
        for (unsigned i = 0; i < shapes->scalar_count[rule->a]; i++) {
            int64_t which = shapes->scalars[rule->a][i];
            if (which < 0) which += shapes->rank[big];
            if (which >= 0 && which < shapes->rank[big]) columns *= (double)shapes->dims[big][which];
        }
    }
    if (columns > 0) PACE_SIZES(draft, all / columns, columns);
    return true;
}

/* An input that is one element a row costs little; the gradient has all columns. */
bool pace_call_loss(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!pace_arg_is_tensor(shapes, rule->a)) return false;
    double all = pace_arg_elements(shapes, rule->a);
    double rows = shapes->rank[rule->a] > 0 ? (double)shapes->dims[rule->a][0] : 1, columns = rows > 0 ? all / rows : 0;
    bool backward = pace_ends(rule->name, "backward");
    if (rule->b == 1 && !backward) columns = 1;
    draft->op.flop = rule->c * rows * columns;
    for (int i = 0; i < (int)shapes->count; i++)
        if (i != rule->a) pace_draft_reads_tensor(draft, shapes, i);
    if (rule->b != 1) pace_draft_reads_tensor(draft, shapes, rule->a);
    else if (!backward) pace_draft_reads(draft, rows, shapes->element_bytes[rule->a]);
    if (backward) pace_draft_writes_tensor(draft, shapes, rule->a);
    draft->op.pass = backward ? PACE_PASS_BACKWARD : PACE_PASS_FORWARD;
    pace_draft_of(draft, shapes, rule->a);
    PACE_SIZES(draft, rows, columns);
    return true;
}

/* --- element by element ------------------------------------------------------------------------------------------- */

static void keep_elementwise(pace_op_draft *draft, double count) {
    double bytes = draft->op.element_bytes;
    bool sized = bytes > 0 && count > 0;
    PACE_SIZES(draft, count, sized ? draft->op.read_bytes / bytes / count : 1,
               sized ? draft->op.write_bytes / bytes / count : 1);
}

/* Arguments after the operands are numbers, or the tensor that is written where the caller gave one. */
bool pace_call_elementwise(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    pace_op_shapes operands = *shapes;
    if (rule->a && operands.count > (unsigned)rule->a) operands.count = (unsigned)rule->a;
    if (pace_arg_biggest(&operands) < 0) return false;
    double count = pace_arg_broadcast(&operands);
    draft->op.flop = rule->c * count;
    pace_draft_reads_all(draft, &operands);
    pace_draft_writes(draft, count, rule->b ? (unsigned)rule->b : pace_arg_widest(&operands));
    if (strstr(rule->name, "backward")) draft->op.pass = PACE_PASS_BACKWARD;
    draft->op.element_bytes = (int)pace_arg_widest(&operands);
    keep_elementwise(draft, count);
    return true;
}

bool pace_call_map(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!map_biggest(draft, shapes, rule->c)) return false;
    draft->op.size[0] = pace_arg_elements(shapes, pace_arg_biggest(shapes));
    return true;
}

bool pace_call_touch(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    int big = pace_arg_biggest(shapes);
    if (big < 0) return false;
    double count = pace_arg_elements(shapes, big);
    draft->op.flop = rule->c * count;
    pace_draft_reads_all(draft, shapes);
    pace_draft_of(draft, shapes, big);
    if (rule->family == PACE_OP_REDUCTION) PACE_SIZES(draft, 1, count);
    else keep_elementwise(draft, count);
    return true;
}

bool pace_call_generate(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!pace_arg_is_tensor(shapes, 0)) return false;
    double count = pace_arg_elements(shapes, 0);
    draft->op.flop = rule->c * count;
    pace_draft_writes_tensor(draft, shapes, 0);
    pace_draft_of(draft, shapes, 0);
    PACE_SIZES(draft, count, 0, 1);
    return true;
}

/* The caller gave the tensor, or numbers whose largest is about as many as are written. */
bool pace_call_range(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    bool square = strstr(rule->name, "indices") != NULL;
    int given = pace_arg_biggest(shapes);
    double count = given >= 0 ? pace_arg_elements(shapes, given) : 0;
    for (int i = 0; i < 3 && given < 0; i++) count = fmax(count, pace_arg_number(shapes, i, 0, 0));
    if (square) count = pace_arg_number(shapes, 0, 0, 0) * pace_arg_number(shapes, 1, 0, 0);
    if (!(count > 0)) return false;
    draft->op.element_bytes = 8;
    pace_draft_writes(draft, count, 8);
    PACE_SIZES(draft, count);
    return true;
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

bool pace_call_copy(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    (void)rule;
    if (!pace_arg_is_tensor(shapes, 0) || !pace_arg_is_tensor(shapes, 1)) return false;
    pace_draft_writes_tensor(draft, shapes, 0);
    pace_draft_reads_tensor(draft, shapes, 1);
    pace_draft_of(draft, shapes, 0);
    PACE_SIZES(draft, pace_arg_elements(shapes, 0));
    return true;
}

bool pace_call_gather_all(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    double listed = shapes->count ? shapes->list_elements[0] : 0;
    if (pace_arg_biggest(shapes) < 0 && !(listed > 0)) return false;
    unsigned bytes = shapes->element_bytes[0];
    if (listed > 0) pace_draft_reads(draft, listed, bytes);
    else pace_draft_reads_all(draft, shapes);
    draft->op.write_bytes = draft->op.read_bytes;
    draft->op.element_bytes = listed > 0 ? (int)bytes : shapes->element_bytes[pace_arg_biggest(shapes)];
    strcpy(draft->op.kind, strcmp(rule->name, "cat") == 0 || strcmp(rule->name, "stack") == 0 ? "concat" : "");
    PACE_SIZES(draft, listed > 0 ? listed : pace_arg_elements(shapes, pace_arg_biggest(shapes)));
    return true;
}

bool pace_call_fill(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    (void)rule;
    if (!pace_arg_is_tensor(shapes, 0)) return false;
    pace_draft_writes_tensor(draft, shapes, 0);
    strcpy(draft->op.kind, "fill");
    pace_draft_of(draft, shapes, 0);
    PACE_SIZES(draft, pace_arg_elements(shapes, 0));
    return true;
}

/* As many elements as are moved are read and written, and the index is read. */
static bool keep_index(pace_op_draft *draft, const pace_op_shapes *shapes, int tensor, double count, double indices) {
    if (!(count >= 0)) return false;
    pace_draft_reads(draft, count, shapes->element_bytes[tensor]);
    pace_draft_reads(draft, indices, 8);
    pace_draft_writes(draft, count, shapes->element_bytes[tensor]);
    strcpy(draft->op.kind, "index");
    pace_draft_of(draft, shapes, tensor);
    PACE_SIZES(draft, count);
    return true;
}

bool pace_call_index(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!pace_arg_is_tensor(shapes, rule->a)) return false;
    double count = pace_arg_elements(shapes, rule->a), indices = 0;
    if (rule->b >= 0) {
        if (!pace_arg_is_tensor(shapes, rule->b)) return false;
        indices = pace_arg_elements(shapes, rule->b);
        double along = rule->c >= 0 ? named_dimension(shapes, rule->a, rule->c) : 0;
        if (along > 0) count = count / along * indices;
    }
    return keep_index(draft, shapes, rule->a, count, indices);
}

/* Each index of the list stands for a dimension; they are broadcast together. Lists that do not say their sizes are
 * taken to index the first dimension whole. */
bool pace_call_index_list(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!pace_arg_has_rank(shapes, rule->a, 1) || shapes->count < 2) return false;
    double count = pace_arg_elements(shapes, rule->a), indices = shapes->list_largest[1];
    for (unsigned i = 0; i < 8 && i < shapes->rank[rule->a]; i++)
        if (shapes->list_mask[1] >> i & 1) count /= (double)shapes->dims[rule->a][i];
    if (shapes->list_mask[1]) count *= indices;
    return keep_index(draft, shapes, rule->a, count, shapes->list_elements[1]);
}

/* --- pooling ------------------------------------------------------------------------------------------------------ */

/* Gradients come first: the input is then behind them. */
bool pace_call_pooling(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    int at = rule->a, kernel = rule->b, rank = rule->c;
    if (!pace_arg_has_rank(shapes, at, rank + 1) || shapes->count <= (unsigned)kernel) return false;
    bool backward = strstr(rule->name, "backward") != NULL;
    double input = pace_arg_elements(shapes, at), output = input, window = 1, sizes[2][4];
    for (int axis = 0; axis < rank; axis++) {
        double side = (double)pace_arg_dim(shapes, at, rank - axis),
               width = pace_arg_number(shapes, kernel, (unsigned)axis, 0);
        double stride = pace_arg_number(shapes, kernel + 1, (unsigned)axis, 0),
               pad = pace_arg_number(shapes, kernel + 2, (unsigned)axis, 0);
        if (!(stride > 0)) stride = width;
        if (!(stride > 0) || !(width > 0) || !(side > 0)) return false;
        output = output / side * (floor((side + 2 * pad - width) / stride) + 1);
        window *= width;
        if (axis < 2) memcpy(sizes[axis], (double[]){side, width, stride, pad}, sizeof sizes[axis]);
    }
    if (!(output >= 0)) return false;
    unsigned bytes = shapes->element_bytes[at];
    draft->op.flop = output * window;
    pace_draft_reads(draft, backward ? output : input, bytes);
    pace_draft_writes(draft, backward ? input : output, bytes);
    draft->op.pass = backward ? PACE_PASS_BACKWARD : PACE_PASS_FORWARD;
    strcpy(draft->op.kind, strstr(rule->name, "max") ? "max" : "average");
    pace_draft_of(draft, shapes, at);
    if (rank == 2)
        PACE_SIZES(draft, (double)shapes->dims[at][0], input / (double)shapes->dims[at][0] / sizes[0][0] / sizes[1][0],
                   sizes[0][0], sizes[1][0], sizes[0][1], sizes[1][1], sizes[0][2], sizes[1][2], sizes[0][3],
                   sizes[1][3]);
    return true;
}

bool pace_call_adaptive_pooling(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (!pace_arg_has_rank(shapes, rule->a, 3)) return false;
    double h = (double)pace_arg_dim(shapes, rule->a, 2), w = (double)pace_arg_dim(shapes, rule->a, 1),
           input = pace_arg_elements(shapes, rule->a);
    bool backward = strstr(rule->name, "backward") != NULL, sized = pace_arg_has_rank(shapes, rule->b, 3);
    double out_h = sized ? (double)pace_arg_dim(shapes, rule->b, 2) : pace_arg_number(shapes, rule->b, 0, 0);
    double out_w = sized ? (double)pace_arg_dim(shapes, rule->b, 1) : pace_arg_number(shapes, rule->b, 1, 0);
    if (!(out_h > 0) || !(out_w > 0) || !(h > 0) || !(w > 0)) return false;
    double output = input / h / w * out_h * out_w, r = ceil(h / out_h), s = ceil(w / out_w), batch = input / h / w;
    unsigned bytes = shapes->element_bytes[rule->a];
    draft->op.flop = output * r * s;
    pace_draft_reads(draft, backward ? output : input, bytes);
    pace_draft_writes(draft, backward ? input : output, bytes);
    draft->op.pass = backward ? PACE_PASS_BACKWARD : PACE_PASS_FORWARD;
    strcpy(draft->op.kind, strstr(rule->name, "max") ? "max" : "average");
    pace_draft_of(draft, shapes, rule->a);
    double n = shapes->rank[rule->a] > 3 ? (double)shapes->dims[rule->a][0] : 1;
    PACE_SIZES(draft, n, n > 0 ? batch / n : 0, h, w, r, s, floor(h / out_h), floor(w / out_w), 0, 0);
    return true;
}

/* --- updates ------------------------------------------------------------------------------------------------------ */

bool pace_call_foreach(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (shapes->count == 0 || !(shapes->list_elements[0] > 0)) return false;
    double first = shapes->list_elements[0];
    draft->op.flop = rule->c * first;
    for (unsigned i = 0; i < shapes->count; i++) {
        unsigned bytes = shapes->element_bytes[i] ? shapes->element_bytes[i] : shapes->element_bytes[0];
        pace_draft_reads(draft, shapes->list_elements[i], bytes);
    }
    pace_draft_writes(draft, first, shapes->element_bytes[0]);
    pace_draft_of(draft, shapes, 0);
    PACE_SIZES(draft, first, shapes->list_count[0]);
    return true;
}

bool pace_call_optimizer(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft) {
    if (shapes->count == 0 || !(shapes->list_elements[0] > 0)) return false;
    pace_draft_of(draft, shapes, 0);
    bool momentum = rule->a && shapes->count > 2 && shapes->list_elements[2] > 0;
    strcpy(draft->op.kind, !rule->a ? "adam" : momentum ? "momentum" : "sgd");
    PACE_SIZES(draft, shapes->list_elements[0], shapes->list_count[0]);
    draft->bytes_known = pace_op_complete(&draft->op);
    return true;
}

#include "ask/rows/compound_op.h"

#include <math.h>
#include <string.h>

enum { B, HIDDEN, STEPS, INPUT, LAYERS, DIRECTIONS };
enum { TOKENS, WIDTH, INNER, EXPERTS, TOPK, TP, EP };

static const struct {
    const char *name;
    unsigned count;
    const char *sizes[PACE_OP_SIZES];
} compounds[PACE_COMPOUNDS] = {
    [PACE_COMPOUND_NONE] = {"", 0, {0}},
    [PACE_COMPOUND_RECURRENT] = {"recurrent", 6, {"b", "hidden", "steps", "input", "layers", "directions"}},
    [PACE_COMPOUND_EXPERTS] = {"experts", 7, {"tokens", "hidden", "inner", "experts", "topk", "tp", "ep"}},
};

const char *pace_compound_name(pace_compound compound) { return compounds[compound].name; }

pace_compound pace_compound_find(const char *name) {
    for (int i = PACE_COMPOUND_NONE + 1; i < PACE_COMPOUNDS; i++)
        if (strcmp(compounds[i].name, name) == 0) return (pace_compound)i;
    return PACE_COMPOUND_NONE;
}

const char *const *pace_compound_size_names(pace_compound compound, unsigned *count) {
    *count = compounds[compound].count;
    return compounds[compound].sizes;
}

static pace_op_part product(const pace_op *like, pace_pass pass, double b, double m, double n, double k, double count) {
    pace_op_part part = {.count = count};
    part.op.family = PACE_OP_GEMM;
    part.op.pass = pass;
    part.op.precision = like->precision;
    part.op.element_bytes = like->element_bytes;
    part.op.size[0] = b, part.op.size[1] = m, part.op.size[2] = n, part.op.size[3] = k;
    return part;
}

static pace_op_part pointwise(const pace_op *like, double elements, double reads, double writes, double count) {
    pace_op_part part = {.count = count};
    part.op.family = PACE_OP_ELEMENTWISE;
    part.op.precision = like->precision;
    part.op.element_bytes = like->element_bytes;
    part.op.size[0] = elements, part.op.size[1] = reads, part.op.size[2] = writes;
    return part;
}

/* Waits for the one before it: catalog/costs.yaml has figures for this kind. */
static pace_op_part in_turn(pace_op_part part) {
    memcpy(part.op.kind, "in_turn", sizeof "in_turn");
    return part;
}

/* Of all time steps at once, but in a recurrent layer's library: the catalogue has figures for this kind, too. */
static pace_op_part at_once(pace_op_part part) {
    memcpy(part.op.kind, "recurrent", sizeof "recurrent");
    return part;
}

/* Gates' products of the input run over all time steps at once; those of the state must go step by step, each followed
 * by the gates' pointwise work. The gradient of the weights needs no order: products over all steps (Appleyard,
 * Kocisky, Blunsom 2016, "Optimizing performance of recurrent neural networks on GPUs", section 3). An input of size 0
 * is added to the state without a product. */
static unsigned recurrent(pace_op_part *out, const pace_op *op) {
    const double *s = op->size;
    double gates = strcmp(op->kind, "lstm") == 0 ? 4 : strcmp(op->kind, "gru") == 0 ? 3 : 1;
    double repeat = s[LAYERS] * s[DIRECTIONS], rows = gates * s[HIDDEN], columns = s[B] * s[STEPS];
    unsigned n = 0;
    bool back = op->pass != PACE_PASS_FORWARD;
    pace_pass pass = back ? PACE_PASS_BACKWARD_DATA : PACE_PASS_FORWARD;
    if (op->pass != PACE_PASS_BACKWARD_WEIGHT) {
        if (s[INPUT] > 0) out[n++] = product(op, pass, 1, columns, rows, s[INPUT], repeat);
        out[n++] = in_turn(product(op, pass, 1, s[B], rows, s[HIDDEN], repeat * s[STEPS]));
        out[n++] = in_turn(pointwise(op, s[B] * s[HIDDEN], gates + 1, back ? gates + 1 : 2, repeat * s[STEPS]));
    }
    if (op->pass == PACE_PASS_BACKWARD_WEIGHT || op->pass == PACE_PASS_BACKWARD)
        out[n++] = at_once(product(op, PACE_PASS_BACKWARD_WEIGHT, 1, columns, rows, s[INPUT] + s[HIDDEN], repeat));
    return n;
}

/* Each token goes to any topk experts, as gates of random numbers have it: of few tokens some experts of this device
 * have none, and read no weights. Those that have some have equally many. */
static unsigned experts(pace_op_part *out, const pace_op *op) {
    const double *s = op->size;
    double here = fmax(s[EXPERTS] / s[EP], 1), copies = s[TOKENS] * s[TOPK] / s[EP];
    double chosen = here * (1 - pow(fmax(1 - s[TOPK] / s[EXPERTS], 0), s[TOKENS]));
    double active = fmax(chosen, 1), each = ceil(fmax(copies, 1) / active), inner = s[INNER] / s[TP];
    out[0] = product(op, op->pass, active, each, 2 * inner, s[WIDTH], 1);
    out[1] = pointwise(op, active * each * inner, 2, 1, 1);
    out[2] = product(op, op->pass, active, each, s[WIDTH], inner, 1);
    return 3;
}

unsigned pace_compound_parts(pace_op_part out[PACE_COMPOUND_PARTS], pace_compound compound, const pace_op *op) {
    for (unsigned i = 0; i < compounds[compound].count; i++)
        if (!(op->size[i] > 0) && !(compound == PACE_COMPOUND_RECURRENT && i == INPUT)) return 0;
    unsigned count = compound == PACE_COMPOUND_RECURRENT ? recurrent(out, op)
                     : compound == PACE_COMPOUND_EXPERTS ? experts(out, op)
                                                         : 0;
    for (unsigned i = 0; i < count; i++)
        if (!pace_op_complete(&out[i].op)) return 0;
    return count;
}

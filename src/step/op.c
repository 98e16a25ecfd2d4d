#include "step/op.h"
#include "base/intern.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

const char *const pace_pass_names[PACE_PASSES] = {"forward", "backward", "backward_data", "backward_weight"};

const char pace_block_scaled[] = "block_scaled", pace_packed_weights[] = "packed";

/* How a family's work follows from its sizes; a backward pass of a streaming family reads the gradient too. */
typedef bool (*op_amounts)(pace_op *op);

static bool positive(const pace_op *op, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (!(op->size[i] > 0)) return false;
    return op->element_bytes > 0;
}

static void move(pace_op *op, double read_elements, double written_elements) {
    op->read_bytes = read_elements * op->element_bytes;
    op->write_bytes = written_elements * op->element_bytes;
}

static bool is_backward(const pace_op *op) { return op->pass != PACE_PASS_FORWARD; }

/* Operands of 4 bits and a scale of 8 for each 16 of them (NVFP4; MXFP4 has 32), results of 16 bits. */
static void pack(pace_op *op) {
    if (op->precision != PACE_FP4) return;
    op->read_bytes *= (0.5 + 1.0 / 16) / op->element_bytes;
    op->write_bytes *= 2.0 / op->element_bytes;
}

static bool gemm(pace_op *op) {
    if (!positive(op, 4)) return false;
    double b = op->size[0], m = op->size[1], n = op->size[2], k = op->size[3];
    double products = op->pass == PACE_PASS_BACKWARD ? 2 : 1;
    op->flop = products * 2 * b * m * n * k;
    if (op->pass == PACE_PASS_BACKWARD) move(op, b * (2 * m * n + n * k + m * k), b * (m * k + n * k));
    else if (op->pass == PACE_PASS_BACKWARD_DATA) move(op, b * (m * n + n * k), b * m * k);
    else if (op->pass == PACE_PASS_BACKWARD_WEIGHT) move(op, b * (m * n + m * k), b * n * k);
    else move(op, b * (m * k + k * n), b * m * n);
    pack(op);
    return true;
}

pace_op pace_op_plain_product(const pace_op *op) {
    enum { M = 1, N, K };
    pace_op plain = *op;
    if (op->family != PACE_OP_GEMM || op->pass == PACE_PASS_BACKWARD) return plain;
    plain.pass = PACE_PASS_FORWARD;
    if (strcmp(op->kind, pace_packed_weights) == 0) plain.kind[0] = '\0';
    if (op->pass == PACE_PASS_BACKWARD_DATA) plain.size[N] = op->size[K], plain.size[K] = op->size[N];
    if (op->pass == PACE_PASS_BACKWARD_WEIGHT)
        plain.size[M] = op->size[N], plain.size[N] = op->size[K], plain.size[K] = op->size[M];
    return plain;
}

static double windows(double size, double filter, double stride, double pad, double dilation) {
    double room = size + 2 * pad - dilation * (filter - 1) - 1;
    return room < 0 || !(stride > 0) ? 0 : floor(room / stride) + 1;
}

static bool convolution(pace_op *op) {
    enum { N, C, H, W, K, R, S, STRIDE_H, STRIDE_W, PAD_H, PAD_W, DILATION, GROUPS };
    const double *s = op->size;
    if (!positive(op, PAD_H) || !(s[DILATION] > 0) || !(s[GROUPS] > 0)) return false;
    double out_h = windows(s[H], s[R], s[STRIDE_H], s[PAD_H], s[DILATION]);
    double out_w = windows(s[W], s[S], s[STRIDE_W], s[PAD_W], s[DILATION]);
    double input = s[N] * s[C] * s[H] * s[W], output = s[N] * s[K] * out_h * out_w;
    double weight = s[K] * s[C] / s[GROUPS] * s[R] * s[S];
    if (!(output > 0)) return false;
    double once = 2 * output * s[C] / s[GROUPS] * s[R] * s[S];
    op->flop = op->pass == PACE_PASS_BACKWARD ? 2 * once : once;
    if (op->pass == PACE_PASS_BACKWARD) move(op, 2 * output + input + weight, input + weight);
    else if (op->pass == PACE_PASS_BACKWARD_DATA) move(op, output + weight, input);
    else if (op->pass == PACE_PASS_BACKWARD_WEIGHT) move(op, output + input, weight);
    else move(op, input + weight, output);
    return true;
}

/* Queries on a packed cache: of its 576 values per key all are key and 512 value too, 544 on average. */
static const double latent = 576.0 / 544;
static bool is_latent(const pace_op *op) { return strcmp(op->kind, "mla_latent") == 0; }

enum { B, HEADS, KV_HEADS, QUERIES, KEYS, HEAD_DIM, CAUSAL, WINDOW }; /* sizes of attention */

void pace_attention_slide(double size[PACE_OP_SIZES], double window) {
    size[WINDOW] = window > 0 && window < size[KEYS] ? window : 0;
}

double pace_attention_keys_seen(const double size[PACE_OP_SIZES]) {
    double keys = size[KEYS], window = size[WINDOW];
    bool causal = size[CAUSAL] > 0;
    if (!(window > 0)) return causal ? keys / 2 : keys;
    return causal && size[QUERIES] > 1 ? window - window * window / (2 * keys) : window;
}

/* Backward forms the scores anew: five products where forward has two (Dao et al. 2022, appendix B). */
static bool attention(pace_op *op) {
    const double *s = op->size;
    if (!positive(op, CAUSAL)) return false;
    double scores = s[B] * s[HEADS] * s[QUERIES] * pace_attention_keys_seen(s);
    double keys = s[WINDOW] > 0 ? fmin(s[KEYS], s[WINDOW] + s[QUERIES] - 1) : s[KEYS]; /* that any query sees */
    double q = s[B] * s[HEADS] * s[QUERIES] * s[HEAD_DIM], kv = s[B] * s[KV_HEADS] * keys * s[HEAD_DIM];
    op->flop = (is_backward(op) ? 5 : 2) * 2 * scores * s[HEAD_DIM];
    if (is_backward(op)) move(op, 3 * q + 2 * kv, q + 2 * kv);
    else move(op, q + (is_latent(op) ? latent : 2) * kv, q);
    return true;
}

/* Sectors are 32 bytes; index and offset are 4-byte words (Lin et al. 2022, the plain traffic model). */
static double sectors(double bytes) { return ceil(bytes / 32) * 32; }

static bool embedding(pace_op *op) {
    if (!positive(op, 5)) return false;
    double samples = op->size[0] * op->size[1], lookups = op->size[3], row = sectors(op->size[4] * op->element_bytes);
    op->flop = samples * lookups * op->size[4];
    op->read_bytes = samples * (32 + 64 + sectors(4 * lookups) + (is_backward(op) ? lookups + 1 : lookups) * row);
    op->write_bytes = samples * row * (is_backward(op) ? lookups : 1);
    return true;
}

/* rows x columns, with the operations per element and the tensors read and written, forward and backward. */
static bool streaming(pace_op *op, double flop, double reads, double writes, double flop_back, double reads_back,
                      double writes_back) {
    if (!positive(op, 2)) return false;
    double elements = op->size[0] * op->size[1];
    op->flop = elements * (is_backward(op) ? flop_back : flop);
    if (is_backward(op)) move(op, elements * reads_back, elements * writes_back);
    else move(op, elements * reads, elements * writes);
    return true;
}

static bool normalization(pace_op *op) { return streaming(op, 8, 1, 1, 14, 2, 1); }
static bool softmax(pace_op *op) { return streaming(op, 5, 1, 1, 4, 2, 1); }
static bool loss(pace_op *op) { return streaming(op, 5, 1, 0, 2, 1, 1); }

static bool reduction(pace_op *op) {
    if (!positive(op, 2)) return false;
    op->flop = op->size[0] * op->size[1];
    if (is_backward(op)) move(op, op->size[0], op->flop);
    else move(op, op->flop, op->size[0]);
    return true;
}

static bool elementwise(pace_op *op) {
    if (!positive(op, 1)) return false;
    op->flop = op->size[0];
    move(op, op->size[0] * op->size[1], op->size[0] * op->size[2]);
    return true;
}

static bool copy(pace_op *op) {
    if (!positive(op, 1)) return false;
    move(op, strcmp(op->kind, "fill") == 0 ? 0 : op->size[0], op->size[0]);
    return true;
}

static bool transpose(pace_op *op) {
    if (!positive(op, 3)) return false;
    double elements = op->size[0] * op->size[1] * op->size[2];
    move(op, elements, elements);
    return true;
}

static bool tril(pace_op *op) {
    if (!positive(op, 3)) return false;
    double m = op->size[1], n = op->size[2], kept = 0;
    for (double row = 0; row < m && row < 1e6; row++) {
        double here = row + op->size[3];
        kept += here < n ? here : n;
    }
    move(op, op->size[0] * kept, op->size[0] * kept);
    return true;
}

static bool transfer(pace_op *op) {
    if (!(op->size[0] > 0)) return false;
    op->read_bytes = op->write_bytes = op->size[0];
    return true;
}

/* Tensors of the parameters' size an update reads and writes. */
static bool optimizer(pace_op *op) {
    if (!positive(op, 1)) return false;
    static const struct {
        const char *kind;
        double flop, reads, writes;
    } known[] = {{"adam", 12, 4, 3},
                 {"momentum", 4, 3, 2},
                 {"lamb", 20, 9, 4}, /* LAMB: model/lower_update.c */
                 {"8bit_adamw", 12, 3, 2},
                 {"lion", 8, 3, 2}};
    double flop = 2, reads = 2, writes = 1;
    for (size_t i = 0; i < PACE_COUNT(known); i++)
        if (pace_starts(op->kind, known[i].kind))
            flop = known[i].flop, reads = known[i].reads, writes = known[i].writes;
    op->flop = op->size[0] * flop;
    move(op, op->size[0] * reads, op->size[0] * writes);
    return true;
}

static bool pooling(pace_op *op) {
    enum { N, C, H, W, R, S, STRIDE_H, STRIDE_W, PAD_H, PAD_W };
    const double *s = op->size;
    if (!positive(op, PAD_H)) return false;
    double input = s[N] * s[C] * s[H] * s[W];
    double output =
        s[N] * s[C] * windows(s[H], s[R], s[STRIDE_H], s[PAD_H], 1) * windows(s[W], s[S], s[STRIDE_W], s[PAD_W], 1);
    if (!(output > 0)) return false;
    op->flop = output * s[R] * s[S];
    if (is_backward(op)) move(op, output, input);
    else move(op, input, output);
    return true;
}

static bool other(pace_op *op) {
    if (!positive(op, 1)) return false;
    move(op, op->size[0], op->size[0]);
    return true;
}

static const struct {
    const char *name;
    op_amounts amounts;
    unsigned count;
    const char *sizes[PACE_OP_SIZES];
} families[PACE_OP_FAMILIES] = {
    [PACE_OP_UNKNOWN] = {"unknown", NULL, 0, {0}},
    [PACE_OP_GEMM] = {"gemm", gemm, 4, {"b", "m", "n", "k"}},
    [PACE_OP_CONVOLUTION] = {"convolution",
                             convolution,
                             13,
                             {"n", "c", "h", "w", "k", "r", "s", "stride_h", "stride_w", "pad_h", "pad_w", "dilation",
                              "groups"}},
    [PACE_OP_ATTENTION] = {"attention",
                           attention,
                           7,
                           {"b", "heads", "kv_heads", "queries", "keys", "head_dim", "causal"}},
    [PACE_OP_EMBEDDING] = {"embedding", embedding, 5, {"b", "tables", "rows", "lookups", "d"}},
    [PACE_OP_NORMALIZATION] = {"normalization", normalization, 2, {"rows", "columns"}},
    [PACE_OP_SOFTMAX] = {"softmax", softmax, 2, {"rows", "columns"}},
    [PACE_OP_REDUCTION] = {"reduction", reduction, 2, {"rows", "columns"}},
    [PACE_OP_ELEMENTWISE] = {"elementwise", elementwise, 3, {"elements", "inputs", "outputs"}},
    [PACE_OP_COPY] = {"copy", copy, 1, {"elements"}},
    [PACE_OP_TRANSPOSE] = {"transpose", transpose, 3, {"b", "m", "n"}},
    [PACE_OP_TRIL] = {"tril", tril, 4, {"b", "m", "n", "diagonal"}},
    [PACE_OP_TRANSFER] = {"transfer", transfer, 1, {"bytes"}},
    [PACE_OP_OPTIMIZER] = {"optimizer", optimizer, 2, {"parameters", "tensors"}},
    [PACE_OP_LOSS] = {"loss", loss, 2, {"rows", "columns"}},
    [PACE_OP_POOLING] = {"pooling",
                         pooling,
                         10,
                         {"n", "c", "h", "w", "r", "s", "stride_h", "stride_w", "pad_h", "pad_w"}},
    [PACE_OP_OTHER] = {"other", other, 1, {"elements"}},
};

const char *pace_op_family_name(pace_op_family family) {
    return families[(unsigned)family < PACE_OP_FAMILIES ? family : PACE_OP_UNKNOWN].name;
}

pace_op_family pace_op_family_find(const char *name) {
    for (unsigned i = 0; i < PACE_OP_FAMILIES; i++)
        if (strcmp(families[i].name, name) == 0) return (pace_op_family)i;
    return PACE_OP_FAMILIES;
}

const char *const *pace_op_size_names(pace_op_family family, unsigned *count) {
    *count = families[family].count;
    return families[family].sizes;
}

bool pace_convolution_as_laid(const pace_op *op) {
    enum { N, C, H, W, K, R, S, STRIDE_H, STRIDE_W, VECTOR_BYTES = 16 };
    const double *s = op->size;
    bool pixel = s[R] == 1 && s[S] == 1 && s[STRIDE_H] == 1 && s[STRIDE_W] == 1;
    return pixel && fmod(op->element_bytes * s[H] * s[W], VECTOR_BYTES) == 0;
}

bool pace_op_complete(pace_op *op) {
    op->flop = op->read_bytes = op->write_bytes = 0;
    return families[op->family].amounts && families[op->family].amounts(op);
}

bool pace_op_equal(const pace_op *a, const pace_op *b) {
    return a->family == b->family && a->pass == b->pass && a->precision == b->precision &&
           a->element_bytes == b->element_bytes && strncmp(a->kind, b->kind, sizeof a->kind) == 0 &&
           memcmp(a->size, b->size, sizeof a->size) == 0 && a->flop == b->flop && a->read_bytes == b->read_bytes &&
           a->write_bytes == b->write_bytes;
}

/* Of sizes, which do not wait for each other: lowering hashes every operation that it makes. */
static uint64_t hash_sizes(const double size[PACE_OP_SIZES]) {
    uint64_t sum = 0, odd = UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < PACE_OP_SIZES; i++, odd += UINT64_C(0x3c6ef372fe94f82a)) {
        uint64_t word;
        memcpy(&word, &size[i], sizeof word);
        sum += (word ^ word >> 29) * odd;
    }
    return sum;
}

uint64_t pace_op_hash(const pace_op *op) {
    const uint64_t words[2] = {(uint64_t)op->family << 40 ^ (uint64_t)op->pass << 32 ^ (uint64_t)op->precision << 16 ^
                                   (uint64_t)op->element_bytes,
                               hash_sizes(op->size)};
    uint64_t kind = *op->kind ? pace_hash(op->kind, strnlen(op->kind, sizeof op->kind)) : 0;
    return pace_hash(words, sizeof words) ^ 3 * kind;
}

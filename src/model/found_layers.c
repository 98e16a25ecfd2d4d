#include "model/found_layers.h"

#include "base/memory.h"
#include "base/print.h"

#include <math.h>
#include <string.h>

enum {
    SHARED = 48,          /* products between two attentions at most */
    LEFT_OUT_PERCENT = 10 /* of a pass's arithmetic may have no place: with more the model is another one */
};

typedef struct {
    size_t from, to;                               /* calls of the attention itself: one, or its two products */
    double heads_of_all, kv_heads, queries, width; /* heads of all samples together */
    bool fused, causal;
} centre;

typedef struct {
    const pace_found_call *calls;
    size_t count;
    bool *placed;
    PACE_VEC(centre) centres;
} finder;

static bool is_product(const pace_found_call *call) { return call->op.family == PACE_OP_GEMM; }
static bool is_linear(const pace_found_call *call) { return is_product(call) && call->op.size[0] == 1; }
static bool is_batched(const pace_found_call *call) { return is_product(call) && call->op.size[0] > 1; }
static double rows_of(const pace_found_call *call) { return call->op.size[1]; }
static double width_of(const pace_found_call *call) { return call->op.size[2]; }
static double inner_of(const pace_found_call *call) { return call->op.size[3]; }

static bool counts(const pace_found_call *call) {
    const pace_op_family family = call->op.family;
    return family == PACE_OP_GEMM || family == PACE_OP_ATTENTION || family == PACE_OP_CONVOLUTION ||
           family == PACE_OP_EMBEDDING;
}

/* --- attention ---------------------------------------------------------------------------------------------------- */

/* Scores and their product with the values, as two products of many matrices. */
static bool is_pair(const pace_found_call *scores, const pace_found_call *values) {
    const double *s = scores->op.size, *v = values->op.size;
    return s[0] == v[0] && s[1] == v[1] && s[2] == v[3] && s[3] == v[2];
}

static pace_status find_centres(finder *f) {
    size_t before = SIZE_MAX;
    for (size_t i = 0; i < f->count; i++) {
        const pace_found_call *call = &f->calls[i];
        const double *s = call->op.size;
        if (call->op.family == PACE_OP_ATTENTION) {
            PACE_TRY(PACE_PUSH(&f->centres, ((centre){i, i, s[0] * s[1], s[2], s[3], s[5], true, s[6] > 0})));
        } else if (is_batched(call)) {
            const pace_found_call *scores = before == SIZE_MAX ? NULL : &f->calls[before];
            if (scores && is_pair(scores, call)) {
                PACE_TRY(PACE_PUSH(&f->centres, ((centre){before, i, s[0], 0, s[1], s[2], false, false})));
                before = SIZE_MAX;
            } else before = i;
        }
    }
    return PACE_OK;
}

/* --- a layer ------------------------------------------------------------------------------------------------------ */

typedef struct {
    size_t items[SHARED]; /* calls */
    size_t count;
} products;

/* Products over single tokens between two places. False: more than a layer has. */
static bool collect(products *out, const finder *f, size_t from, size_t to) {
    *out = (products){.count = 0};
    for (size_t i = from; i < to; i++) {
        if (!is_linear(&f->calls[i])) continue;
        if (out->count == SHARED) return false;
        out->items[out->count++] = i;
    }
    return true;
}

static const pace_found_call *nth(const finder *f, const products *p, size_t i) { return &f->calls[p->items[i]]; }

/* How many of the last of `before` make queries, keys and values; 0 = they cannot be told. */
static unsigned count_inputs(pace_found_layers *out, const finder *f, const products *before, const centre *c) {
    double queries = out->heads * c->width;
    for (unsigned count = PACE_FOUND_QKV; count > 0; count--) {
        double others = -queries;
        bool alike = before->count >= count;
        for (unsigned k = 0; alike && k < count; k++) {
            const pace_found_call *one = nth(f, before, before->count - count + k);
            out->qkv[k] = width_of(one);
            others += width_of(one);
            alike = inner_of(one) == out->hidden && rows_of(one) == out->samples * c->queries;
        }
        out->kv_heads = others / 2 / c->width;
        bool whole = out->kv_heads >= 1 && out->kv_heads <= out->heads && fmod(out->heads, out->kv_heads) == 0;
        if (alike && whole && (count == 1 || out->qkv[0] == queries) &&
            (count < PACE_FOUND_QKV || out->qkv[1] == out->qkv[2])) {
            for (unsigned k = count; k < PACE_FOUND_QKV; k++) out->qkv[k] = 0;
            return count;
        }
    }
    return 0;
}

/* Products behind attention: one that gives the layer's width again, then two or three of the feed-forward part. */
static unsigned count_outputs(pace_found_layers *out, const finder *f, const products *behind) {
    const pace_found_call *ups[2], *down;
    if (behind->count < 3) return 0;
    ups[0] = nth(f, behind, 1), ups[1] = nth(f, behind, 2);
    bool separate = behind->count > 3 && width_of(ups[1]) == width_of(ups[0]) && inner_of(ups[1]) == out->hidden &&
                    inner_of(nth(f, behind, 3)) == width_of(ups[0]) && width_of(nth(f, behind, 3)) == out->hidden;
    down = separate ? nth(f, behind, 3) : ups[1];
    out->ffn = inner_of(down);
    out->fused_gate = width_of(ups[0]) == 2 * out->ffn;
    out->gated = separate || out->fused_gate;
    bool fits = inner_of(ups[0]) == out->hidden && width_of(down) == out->hidden &&
                (out->fused_gate || width_of(ups[0]) == out->ffn);
    return !fits ? 0 : separate ? 4 : 3;
}

/* One layer about an attention. `samples` is told by the rows of the product behind it. */
static bool read_layer(pace_found_layers *out, finder *f, size_t number, bool place) {
    const centre *c = &f->centres.items[number];
    products before, behind;
    size_t from = number > 0 ? f->centres.items[number - 1].to + 1 : 0;
    size_t to = number + 1 < f->centres.count ? f->centres.items[number + 1].from : f->count;
    if (!collect(&before, f, from, c->from) || !collect(&behind, f, c->to + 1, to) || behind.count == 0) return false;
    const pace_found_call *first = nth(f, &behind, 0);
    out->hidden = width_of(first);
    out->samples = rows_of(first) / c->queries;
    out->heads = c->heads_of_all / out->samples;
    if (!(out->samples >= 1) || out->heads != floor(out->heads) || inner_of(first) != out->heads * c->width)
        return false;
    unsigned inputs = count_inputs(out, f, &before, c), outputs = inputs ? count_outputs(out, f, &behind) : 0;
    if (!outputs) return false;
    for (unsigned i = 0; place && i < inputs; i++) f->placed[before.items[before.count - 1 - i]] = true;
    for (unsigned i = 0; place && i < outputs; i++) f->placed[behind.items[i]] = true;
    if (place) f->placed[c->from] = f->placed[c->to] = true;
    out->head_dim = c->width;
    out->sequence = c->queries;
    out->fused_attention = c->fused;
    out->causal = c->causal;
    out->precision = first->op.precision;
    return true;
}

static bool same_layer(const pace_found_layers *a, const pace_found_layers *b) {
    return a->hidden == b->hidden && a->heads == b->heads && a->kv_heads == b->kv_heads && a->ffn == b->ffn &&
           a->head_dim == b->head_dim && a->sequence == b->sequence && a->gated == b->gated && a->samples == b->samples;
}

/* The layer that most attentions are the middle of. */
static size_t find_usual(pace_found_layers *out, finder *f) {
    size_t most = 0;
    for (size_t i = 0; i < f->centres.count && 2 * most < f->centres.count; i++) {
        pace_found_layers one = {0}, other = {0};
        size_t like = 0;
        if (!read_layer(&one, f, i, false)) continue;
        for (size_t k = 0; k < f->centres.count; k++)
            like += read_layer(&other, f, k, false) && same_layer(&one, &other);
        if (like > most) most = like, *out = one;
    }
    return most;
}

static void place_layers(pace_found_layers *out, finder *f) {
    pace_found_layers one = {0};
    for (size_t i = 0; i < f->centres.count; i++)
        if (read_layer(&one, f, i, false) && same_layer(&one, out)) {
            bool placed = read_layer(&one, f, i, true);
            out->layers += placed;
        }
}

/* --- what is around the layers ------------------------------------------------------------------------------------ */

static void find_ends(pace_found_layers *out, finder *f) {
    for (size_t i = 0; i < f->centres.items[0].from; i++) {
        const double *s = f->calls[i].op.size; /* b tables rows lookups d */
        if (f->calls[i].op.family != PACE_OP_EMBEDDING || s[4] != out->hidden) continue;
        f->placed[i] = true;
        if (s[2] > out->vocab) {
            out->positions = fmax(out->positions, out->vocab);
            out->vocab = s[2];
        } else out->positions = fmax(out->positions, s[2]);
    }
    size_t last = f->centres.items[f->centres.count - 1].to;
    for (size_t i = f->count; i-- > last + 1 && out->outputs == 0;) {
        const pace_found_call *call = &f->calls[i];
        if (!is_linear(call) || f->placed[i] || inner_of(call) != out->hidden ||
            rows_of(call) != out->samples * out->sequence)
            continue;
        out->outputs = width_of(call);
        f->placed[i] = true;
    }
}

static bool says(const char *name, const char *word) { return strstr(name, word) != NULL; }

/* Norms, what lies between the products of the feed-forward part, and biases, by the operators' names. */
static void find_between(pace_found_layers *out, const finder *f) {
    static const char *const activations[] = {"gelu", "silu", "relu", "tanh"};
    size_t norms = 0, biased = 0, linear = 0;
    out->activation = "gelu";
    for (size_t i = 0; i < f->count; i++) {
        const char *name = f->calls[i].name;
        norms += says(name, "layer_norm") || says(name, "rms_norm");
        out->root_norms |= says(name, "rms_norm");
        out->dropout |= says(name, "native_dropout") || says(name, "fused_dropout");
        linear += is_linear(&f->calls[i]);
        biased += is_linear(&f->calls[i]) && says(name, "addmm");
    }
    for (size_t k = PACE_COUNT(activations); k-- > 0;)
        for (size_t i = f->centres.items[0].to; i < f->count; i++)
            if (says(f->calls[i].name, activations[k])) out->activation = activations[k];
    out->root_norms |= norms == 0; /* written out as its arithmetic */
    out->biased = 2 * biased > linear;
}

static void count_left_out(pace_found_layers *out, const finder *f) {
    double all = 0, left = 0, most = -1;
    for (size_t i = 0; i < f->count; i++) {
        const pace_found_call *call = &f->calls[i];
        if (!counts(call)) continue;
        all += call->op.flop;
        out->calls++;
        if (f->placed[i]) continue;
        left += call->op.flop;
        out->left_out++;
        if (call->op.flop <= most) continue;
        most = call->op.flop;
        const double *s = call->op.size;
        if (is_product(call))
            pace_snprintf(out->largest, sizeof out->largest, "%.40s of %g x %g by %g", call->name, s[1], s[3], s[2]);
        else pace_snprintf(out->largest, sizeof out->largest, "%.60s", call->name);
    }
    out->left_out_share = all > 0 ? left / all : 0;
}

static pace_status find(pace_found_layers *out, finder *f) {
    PACE_TRY(find_centres(f));
    size_t products_seen = 0;
    for (size_t i = 0; i < f->count; i++) products_seen += is_product(&f->calls[i]);
    if (f->centres.count < 2)
        return pace_fail(
            PACE_E_INPUT,
            "no layers that repeat were found: expected two attentions at least, found %zu (and %zu matrix "
            "products whose sizes are known)",
            f->centres.count, products_seen);
    size_t alike = find_usual(out, f);
    if (alike < 2)
        return pace_fail(PACE_E_INPUT,
                         "no layers that repeat were found: of %zu attentions none has, before it, the products that "
                         "make queries, keys and values, and behind it one and a feed-forward part of two or three",
                         f->centres.count);
    place_layers(out, f);
    find_ends(out, f);
    find_between(out, f);
    count_left_out(out, f);
    if (100 * out->left_out_share <= LEFT_OUT_PERCENT) return PACE_OK;
    return pace_fail(PACE_E_INPUT,
                     "%g layers that repeat were found, but %zu operations with %.0f %% of the forward arithmetic have "
                     "no place in them, such as %s: expected at most %d %%",
                     out->layers, out->left_out, 100 * out->left_out_share, out->largest, LEFT_OUT_PERCENT);
}

pace_status pace_found_layers_find(pace_found_layers *out, const pace_found_call *calls, size_t count) {
    finder f = {.calls = calls, .count = count, .placed = pace_alloc(count + 1, sizeof *f.placed)};
    pace_found_layers found = {0};
    if (!f.placed) return PACE_E_MEMORY;
    pace_status status = find(&found, &f);
    if (status == PACE_OK) *out = found;
    PACE_VEC_FREE(&f.centres);
    pace_free(f.placed);
    return status;
}

/* --- as a model --------------------------------------------------------------------------------------------------- */

/* Queries, keys and values by one product, or by products of their own. */
static const char joined[] =
    "            - {linear: {out: (heads + 2*kv_heads)*head_dim, bias: biases}, shard: column, name: qkv}\n"
    "            - attention: {heads: heads, kv_heads: kv_heads, causal: causal}\n";
static const char apart[] =
    "            - {linear: {out: heads*head_dim, bias: biases}, shard: column, from: x, as: q, name: q}\n"
    "            - {linear: {out: kv_heads*head_dim, bias: biases}, shard: column, from: x, as: k, name: k}\n"
    "            - {linear: {out: kv_heads*head_dim, bias: biases}, shard: column, from: x, as: v, name: v}\n"
    "            - {attention: {heads: heads, kv_heads: kv_heads, causal: causal}, from: [q, k, v]}\n";

static void write_forward(char *out, size_t size, const pace_found_layers *l) {
    if (!l->gated) {
        pace_append(out, size,
                    "            - {linear: {out: ffn, bias: biases}, shard: column, name: up}\n"
                    "            - %s\n",
                    l->activation);
        return;
    }
    pace_append(out, size,
                "            - multiply:\n"
                "                - [{linear: {out: ffn, bias: biases}, shard: column, name: gate}, %s]\n"
                "                - [{linear: {out: ffn, bias: biases}, shard: column, name: up}]\n",
                l->activation);
}

static void write_ends(char *out, size_t size, const pace_found_layers *l) {
    if (l->vocab > 0) pace_append(out, size, "  - embedding: {rows: vocab, width: hidden}\n");
    else pace_append(out, size, "  - {linear: hidden, name: embed}\n");
    if (l->positions > 0) pace_append(out, size, "  - positions: positions\n");
    pace_append(out, size, "  - {layer: {}, repeat: layers, name: layers}\n  - %s\n",
                l->root_norms ? "rms_norm" : "layer_norm");
    if (l->outputs > 0)
        pace_append(out, size, "  - {linear: {out: outputs, bias: 0, tied: tied}, shard: column, name: head}\n");
}

void pace_found_layers_write(char *out, size_t size, const pace_found_layers *l) {
    const char *norm = l->root_norms ? "rms_norm" : "layer_norm",
               *dropout = l->dropout ? "            - dropout: 0.1\n" : "";
    pace_snprintf(
        out, size,
        "family: found\nabout: layers found in a recorded step\nsource: the recording\nparameters: {hidden: %.0f, layers: %.0f, heads: %.0f, "
        "kv_heads: %.0f, head_dim: %.0f, ffn: %.0f, vocab: %.0f, positions: %.0f, outputs: %.0f, seq: %.0f, biases: %d, "
        "causal: %d, tied: 0}\ninputs: {x: {%s}}\nloss: %s\nblocks:\n  layer:\n    layers:\n      - add:\n          - []\n"
        "          - - {%s: , as: x}\n",
        l->hidden, l->layers, l->heads, l->kv_heads, l->head_dim, l->ffn, l->vocab, l->positions, l->outputs,
        l->sequence, l->biased, l->causal, l->vocab > 0 ? "tokens: seq" : "vectors: [seq, hidden]",
        l->outputs > 0 ? "cross_entropy" : "mse", norm);
    pace_append(out, size, "%s", l->qkv[1] > 0 ? apart : joined);
    pace_append(out, size,
                "            - {linear: {out: hidden, bias: biases}, shard: row, name: out}\n%s"
                "        name: attention\n      - add:\n          - []\n          - - %s\n",
                dropout, norm);
    write_forward(out, size, l);
    pace_append(out, size,
                "            - {linear: {out: hidden, bias: biases}, shard: row, name: down}\n%s"
                "        name: mlp\nlayers:\n",
                dropout);
    write_ends(out, size, l);
}

/*
 * The layers that a recorded step repeats: a transformer read back from the operations of its forward pass.
 *
 * Every attention is the middle of a layer: the products before it whose outputs are its queries, keys and values, and
 * those behind it up to the next layer's, are told by their sizes. All layers must be alike, or nearly all. What has no
 * place in them, nor is an embedding or the output's product, is counted with its share of the pass's arithmetic.
 */
#pragma once

#include "step/op.h"

/* An operation of a forward pass, in order. */
typedef struct {
    pace_op op;
    const char *name; /* the operator's; borrowed */
} pace_found_call;

enum { PACE_FOUND_NAME = 96, PACE_FOUND_QKV = 3 };

typedef struct {
    double layers, hidden, heads, kv_heads, head_dim, ffn, sequence, samples;
    double vocab;               /* 0 = neither looked up nor multiplied by */
    double positions;           /* rows; 0 = none are learned */
    double qkv[PACE_FOUND_QKV]; /* widths of the products before attention, in order; 0 behind the last */
    double outputs;             /* of the last product over all tokens; 0 = none behind the layers */
    bool gated, fused_gate, causal, fused_attention, root_norms, dropout, biased;
    const char *activation; /* "gelu", …; a literal */
    pace_precision precision;
    size_t calls, left_out;        /* that multiply or look up; those that have no place */
    double left_out_share;         /* of their arithmetic */
    char largest[PACE_FOUND_NAME]; /* of those left out: name and sizes */
} pace_found_layers;

/** Finds them. PACE_E_INPUT says what is missing, without the file. */
pace_status pace_found_layers_find(pace_found_layers *out, const pace_found_call *calls, size_t count) PACE_MUST_CHECK;

enum { PACE_FOUND_MODEL_TEXT = 4096 };
/** As a description in the language of models (model/model_read.h), of PACE_FOUND_MODEL_TEXT bytes at most. */
void pace_found_layers_write(char *out, size_t size, const pace_found_layers *found);

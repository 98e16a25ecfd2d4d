/*
 * Models from YAML. A file describes a family; its variants are models.
 *
 *   family: resnet
 *   about: what it is                     source: where its shape is from
 *   parameters: {classes: 1000, n1: 3}    numbers or lists that expressions may name; a user may set them
 *   variants: {resnet50: {n1: 3}, …}      models of the family; without any, the family is one
 *   names: {resnet50: [resnet, …]}        what others call a variant (model_names.h)
 *   stated: [layers, vocab]               parameters that a row of a table may set; all where this is silent
 *   inputs: {image: {image: [3, 224, 224]}}   also {tokens: seq}, {vectors: [seq, 768]}, {states: [77, 768]},
 *                                             {features: 13}, {indices: 26}
 *   blocks: {NAME: {parameters: {…}, layers: […]}}
 *   layers: […]                           from the first input to the output
 *   loss: cross_entropy                   or mse, binary_cross_entropy, or a map of them to conditions
 *
 * A layer is a kind (layer.c lists them) or a block, with its options: `relu`, `linear: 1000`,
 * `conv: {out: 64, kernel: 3}`, `bottleneck: {width: 64}`. Its input is the output of the layer before. Beside it may
 * stand
 *
 *   name: conv1      its name in reports and traces; a name on a block prefixes what is inside
 *   from: x          its input, or a list of them: outputs that were named with `as`
 *   as: x            names its output; the latest holder of a name counts
 *   repeat: N        N copies, one after the other; expressions may name the copy's number `i` (0, 1, …); 0 leaves the
 *                    layer out, and its `as` too where it has `from`; directly under `layers`, full recomputation
 *                    runs each copy again
 *   when: N          it stands there where N is 1, not where it is 0, as with `repeat`; but it is no block that repeats
 *   each: {w: LIST}  one copy for each number of a list, which expressions may name `w`
 *   frozen: 1        its parameters are not trained (on a block: none of them inside)
 *   shard: column    linear layers: how tensor parallelism splits them (or row)
 *
 * `add`, `multiply`, `concat` and `append` take a list of branches: lists of layers that all start at the current
 * output ([] is that output itself), or names. `layers: […]` groups; `aux: […]` is a side branch with a loss of its
 * own, in training only. Every error has its line and column.
 */
#pragma once

#include "base/yaml.h"
#include "model/model.h"
#include "model/setting_hint.h"

/** A value that replaces a parameter's default or its variant's. */
typedef struct {
    const char *key;
    double value;
    const char *text;       /* the value as it was given */
    pace_setting_hint hint; /* where no parameter is called so */
} pace_model_setting;

/** Builds the model `name` of a family's document; NULL = its first variant. Errors: PACE_E_INPUT with the place,
 * PACE_E_MISSING for a variant that is not there, PACE_E_USAGE for a setting that names no parameter, PACE_E_LIMIT. */
pace_status pace_model_build(pace_model *out, const pace_yaml *yaml, const char *name,
                             const pace_model_setting *settings, size_t setting_count) PACE_MUST_CHECK;

/** The names of a document's models, in order; NULL behind the last. */
const char *pace_model_variant(const pace_yaml *yaml, size_t index);

/** Whether a description may have this key at its top. */
bool pace_model_is_key(const char *text, size_t length);

/*
 * ONNX graphs (onnx.proto3: ModelProto) as models: the operators of image classifiers, shapes inferred from the input.
 * Weights are skipped: of an initializer only its sizes are read, or its numbers where they are sizes.
 */
#pragma once

#include "model/model.h"

/** Reads an ONNX file. A Softmax at the end becomes the loss of training, cross entropy. Errors: PACE_E_IO,
 * PACE_E_INPUT (no ONNX, or a node that does not fit; the node is named), PACE_E_LIMIT beyond 2 GiB, PACE_E_MISSING for
 * an operator that is not understood. Free with pace_model_free(). */
pace_status pace_onnx_read(pace_model *out, const char *path) PACE_MUST_CHECK;

/** The same of bytes in memory; `name` is for messages and the model's name. */
pace_status pace_onnx_parse(pace_model *out, const char *name, const unsigned char *bytes,
                            size_t length) PACE_MUST_CHECK;

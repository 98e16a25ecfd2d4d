/*
 * Shapes as tables write them in one cell: "4096x4096x8192", "(16, 1024, 1024)", "[[1024, 512], [512, 256]]",
 * "1024x512,512x256", "m4096_n4096_k8192", "4kx4k".
 */
#pragma once

#include "step/op.h"

enum { PACE_SHAPE_TENSORS = 6, PACE_SHAPE_DIMS = 6 };

typedef struct {
    unsigned tensors;
    unsigned dims[PACE_SHAPE_TENSORS];
    double dim[PACE_SHAPE_TENSORS][PACE_SHAPE_DIMS];
    char letter[PACE_SHAPE_DIMS]; /* of the first tensor's dimensions, where the cell names them; 0 = not named */
} pace_shape_text;

/** False when the cell holds no shape. */
bool pace_shape_parse(pace_shape_text *out, const char *cell);

/** Whether a dimension in the cell is no whole number. */
bool pace_shape_has_fraction(const char *cell);

/** Adds the tensors of another shape behind those of `out`. */
void pace_shape_append(pace_shape_text *out, const pace_shape_text *more);

/** Fills in those sizes of op (family and kind are set) that are NAN, as far as the shape says them. `order` names the
 * numbers of one tensor where the column's name does ("mnk", "m_k_n"); NULL or "" = the family's usual order: b m n k
 * of products; n c h w and k c r s of convolutions and pooling; b heads queries head_dim of attention (torch). */
void pace_shape_fill(pace_op *op, const pace_shape_text *shape, const char *order);

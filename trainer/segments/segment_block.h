/* The weights of a segment: a row for each of its neurons or of all filters of a convolution, its bias behind the
 * weights. */
#pragma once

#include "segments_run.h"

typedef struct {
    size_t first, rows, columns; /* first: of its neurons; columns: inputs and the bias */
    float *weights;
} pace_segment_block;

/** With the weights that training begins with: the same whoever has the segment. `weights` NULL: no memory. */
pace_segment_block pace_segment_block_make(const pace_segments_run *run, size_t layer, int worker);
size_t pace_segment_block_count(const pace_segment_block *block);

float pace_segment_dot(const float *row, const float *in, size_t count);
/** to += by * row */
void pace_segment_add(float *to, const float *row, float by, size_t count);

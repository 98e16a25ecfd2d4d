/* A strip of a convolution: the rows of its output, behind its pool, that one worker makes. All workers have all
 * filters. */
#pragma once

#include "segment_block.h"

typedef struct {
    const pace_segment_layer *layer;
    const pace_segment_block *filters; /* a row for each */
    pace_segment_range rows;           /* of its output */
    const float *in;
    float *map, *map_errors; /* of the filters, [height][width][channels]; the strip's rows count */
    float *window;           /* room for what one place reads */
} pace_segment_strip;

/** Rows that a worker with these rows of the output reads. */
pace_segment_range pace_segment_strip_reads(const pace_segment_layer *layer, pace_segment_range rows);

/** Writes the strip's rows of `out`. */
void pace_segment_strip_forward(const pace_segment_strip *strip, float *out);
/** From errors of the strip's rows of `out` to those of its filters' map; then, added, to those of the rows that it
 * reads. */
void pace_segment_strip_errors(const pace_segment_strip *strip, const float *errors);
void pace_segment_strip_backward(const pace_segment_strip *strip, float *in_errors);
/** Moves the filters by the map's errors, times `by`. */
void pace_segment_strip_update(const pace_segment_strip *strip, float by);

#include "segment_block.h"

#include "base/each_cpu.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

size_t pace_segment_block_count(const pace_segment_block *b) { return b->rows * b->columns; }

static pace_segment_block sized(const pace_segments_run *run, size_t layer, int worker) {
    const pace_segment_layer *l = &run->layers[layer];
    if (l->convolution)
        return (pace_segment_block){.rows = l->map.channels, .columns = pace_segment_filter_values(l) + 1};
    pace_segment_range own = pace_segment_of(l->out.height, worker, run->workers);
    size_t inputs = layer ? pace_segment_values(&l[-1].out) : run->inputs;
    return (pace_segment_block){.first = own.from, .rows = own.to - own.from, .columns = inputs + 1};
}

pace_segment_block pace_segment_block_make(const pace_segments_run *run, size_t layer, int worker) {
    pace_segment_block b = sized(run, layer, worker);
    size_t inputs = b.columns - 1;
    b.weights = calloc(pace_segment_block_count(&b) + 1, sizeof *b.weights);
    double most = sqrt(1 / (double)inputs);
    for (size_t r = 0; b.weights && r < b.rows; r++) {
        uint64_t stream = pace_random_stream(run->seed, (uint64_t)layer << 32 | (b.first + r));
        for (size_t i = 0; i < inputs; i++)
            b.weights[r * b.columns + i] = (float)(most * (2 * pace_random_uniform(&stream) - 1));
    }
    return b;
}

PACE_FOR_EACH_CPU static float dot(const float *restrict row, const float *restrict in, size_t count) {
    float sum = 0;
    for (size_t i = 0; i < count; i++) sum += row[i] * in[i];
    return sum;
}

PACE_FOR_EACH_CPU static void add(float *restrict to, const float *restrict row, float by, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] += by * row[i];
}

float pace_segment_dot(const float *row, const float *in, size_t count) { return dot(row, in, count); }
void pace_segment_add(float *to, const float *row, float by, size_t count) { add(to, row, by, count); }

#include "segment_strip.h"

#include "segment_activation.h"

#include <string.h>

static pace_segment_range map_rows(const pace_segment_strip *s) {
    return pace_segment_reads(s->layer->pool[0], s->rows, s->layer->map.height);
}

pace_segment_range pace_segment_strip_reads(const pace_segment_layer *layer, pace_segment_range rows) {
    pace_segment_range made = pace_segment_reads(layer->pool[0], rows, layer->map.height);
    return pace_segment_reads(layer->filter[0], made, layer->in.height);
}

static size_t place(const pace_segment_image *image, size_t row, size_t column) {
    return (row * image->width + column) * image->channels;
}

/* --- the filters' windows ----------------------------------------------------------------------------------------- */

/* A row of a filter's window: where its places lie in the input and in the window. */
typedef struct {
    size_t at, to, count; /* count: values, 0 where all is padding */
} window_row;

static window_row row_of(const pace_segment_layer *l, size_t row, size_t column, size_t k) {
    const pace_segment_window *high = &l->filter[0], *wide = &l->filter[1];
    size_t y = row * high->stride + k, x = column * wide->stride, skip = x < wide->pad ? wide->pad - x : 0;
    size_t end = x + wide->kernel < l->in.width + wide->pad ? x + wide->kernel : l->in.width + wide->pad;
    if (y < high->pad || y >= l->in.height + high->pad || x + skip >= end) return (window_row){0};
    return (window_row){place(&l->in, y - high->pad, x + skip - wide->pad), (k * wide->kernel + skip) * l->in.channels,
                        (end - x - skip) * l->in.channels};
}

static void gather(const pace_segment_strip *s, size_t row, size_t column) {
    memset(s->window, 0, pace_segment_filter_values(s->layer) * sizeof *s->window);
    for (size_t k = 0; k < s->layer->filter[0].kernel; k++) {
        window_row r = row_of(s->layer, row, column, k);
        memcpy(s->window + r.to, s->in + r.at, r.count * sizeof *s->window);
    }
}

static void scatter(const pace_segment_strip *s, size_t row, size_t column, float *in_errors) {
    for (size_t k = 0; k < s->layer->filter[0].kernel; k++) {
        window_row r = row_of(s->layer, row, column, k);
        pace_segment_add(in_errors + r.at, s->window + r.to, 1, r.count);
    }
}

/* --- the pool ----------------------------------------------------------------------------------------------------- */

/* What a place of the pool reads of the map. */
typedef struct {
    pace_segment_range rows, columns;
} pooled;

static pooled pooled_of(const pace_segment_layer *l, size_t row, size_t column) {
    return (pooled){pace_segment_reads(l->pool[0], (pace_segment_range){row, row + 1}, l->map.height),
                    pace_segment_reads(l->pool[1], (pace_segment_range){column, column + 1}, l->map.width)};
}

static size_t places_of(const pooled *p) { return (p->rows.to - p->rows.from) * (p->columns.to - p->columns.from); }

/* Of the largest, the first one. */
static size_t largest(const pace_segment_strip *s, const pooled *p, size_t channel) {
    size_t best = place(&s->layer->map, p->rows.from, p->columns.from) + channel;
    for (size_t y = p->rows.from; y < p->rows.to; y++)
        for (size_t x = p->columns.from; x < p->columns.to; x++) {
            size_t at = place(&s->layer->map, y, x) + channel;
            if (s->map[at] > s->map[best]) best = at;
        }
    return best;
}

static float mean(const pace_segment_strip *s, const pooled *p, size_t channel) {
    float sum = 0;
    for (size_t y = p->rows.from; y < p->rows.to; y++)
        for (size_t x = p->columns.from; x < p->columns.to; x++) sum += s->map[place(&s->layer->map, y, x) + channel];
    return sum / (float)places_of(p);
}

static void share_error(const pace_segment_strip *s, const pooled *p, size_t channel, float error) {
    if (!s->layer->mean) {
        s->map_errors[largest(s, p, channel)] += error;
        return;
    }
    for (size_t y = p->rows.from; y < p->rows.to; y++)
        for (size_t x = p->columns.from; x < p->columns.to; x++)
            s->map_errors[place(&s->layer->map, y, x) + channel] += error / (float)places_of(p);
}

/* --- passes ------------------------------------------------------------------------------------------------------- */

static void fill_map(const pace_segment_strip *s) {
    const pace_segment_layer *l = s->layer;
    const pace_segment_block *b = s->filters;
    pace_segment_range rows = map_rows(s);
    for (size_t y = rows.from; y < rows.to; y++)
        for (size_t x = 0; x < l->map.width; x++) {
            float *to = s->map + place(&l->map, y, x);
            gather(s, y, x);
            for (size_t f = 0; f < b->rows; f++) {
                const float *filter = b->weights + f * b->columns;
                to[f] = pace_neuron_active(l->activation, pace_segment_dot(filter, s->window, b->columns - 1) +
                                                              filter[b->columns - 1]);
            }
        }
}

void pace_segment_strip_forward(const pace_segment_strip *s, float *out) {
    const pace_segment_image *image = &s->layer->out;
    fill_map(s);
    for (size_t y = s->rows.from; y < s->rows.to; y++)
        for (size_t x = 0; x < image->width; x++) {
            pooled p = pooled_of(s->layer, y, x);
            for (size_t c = 0; c < image->channels; c++)
                out[place(image, y, x) + c] = s->layer->mean ? mean(s, &p, c) : s->map[largest(s, &p, c)];
        }
}

void pace_segment_strip_errors(const pace_segment_strip *s, const float *errors) {
    const pace_segment_image *image = &s->layer->out, *map = &s->layer->map;
    pace_segment_range rows = map_rows(s);
    size_t from = place(map, rows.from, 0), to = place(map, rows.to, 0);
    memset(s->map_errors + from, 0, (to - from) * sizeof *s->map_errors);
    for (size_t y = s->rows.from; y < s->rows.to; y++)
        for (size_t x = 0; x < image->width; x++) {
            pooled p = pooled_of(s->layer, y, x);
            for (size_t c = 0; c < image->channels; c++) share_error(s, &p, c, errors[place(image, y, x) + c]);
        }
    for (size_t i = from; i < to; i++) s->map_errors[i] *= pace_neuron_slope(s->layer->activation, s->map[i]);
}

void pace_segment_strip_backward(const pace_segment_strip *s, float *in_errors) {
    const pace_segment_block *b = s->filters;
    pace_segment_range rows = map_rows(s);
    for (size_t y = rows.from; y < rows.to; y++)
        for (size_t x = 0; x < s->layer->map.width; x++) {
            const float *errors = s->map_errors + place(&s->layer->map, y, x);
            memset(s->window, 0, (b->columns - 1) * sizeof *s->window);
            for (size_t f = 0; f < b->rows; f++)
                if (errors[f] != 0) pace_segment_add(s->window, b->weights + f * b->columns, errors[f], b->columns - 1);
            scatter(s, y, x, in_errors);
        }
}

void pace_segment_strip_update(const pace_segment_strip *s, float by) {
    const pace_segment_block *b = s->filters;
    pace_segment_range rows = map_rows(s);
    for (size_t y = rows.from; y < rows.to; y++)
        for (size_t x = 0; x < s->layer->map.width; x++) {
            const float *errors = s->map_errors + place(&s->layer->map, y, x);
            gather(s, y, x);
            for (size_t f = 0; f < b->rows; f++) {
                float *filter = b->weights + f * b->columns;
                if (errors[f] == 0) continue;
                pace_segment_add(filter, s->window, by * errors[f], b->columns - 1);
                filter[b->columns - 1] += by * errors[f];
            }
        }
}

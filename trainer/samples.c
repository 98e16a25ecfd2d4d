#include "samples.h"

#include "base/clock.h"
#include "base/random.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* --- synthetic ---------------------------------------------------------------------------------------------------- */

/* Indices are below what their reader has rows for. */
static size_t rows_of_reader(const pace_network *n, uint32_t input) {
    size_t least = 1;
    for (size_t i = 0; i < n->model.layers.count; i++) {
        const pace_layer *layer = &n->model.layers.items[i];
        for (uint32_t k = 0; k < layer->input_count; k++)
            if (n->model.inputs.items[layer->first_input + k] == input && layer->kind == PACE_LAYER_EMBEDDING)
                least = (size_t)layer->option[PACE_OPTION_ROWS];
    }
    return least;
}

/* Numbers of one array, after those of the ranks before. */
static uint64_t stream_of_rank(const pace_samples *s, uint64_t array, size_t count) {
    uint64_t stream = pace_random_stream(s->stream, array);
    for (size_t i = 0; i < s->rank * count; i++) (void)pace_random_uniform(&stream);
    return stream;
}

static void draw_input(const pace_samples *s, pace_network *n, uint32_t layer) {
    size_t count;
    bool is_index;
    void *data = n->engine->input(n->net, layer, &count, &is_index);
    size_t rows = is_index ? rows_of_reader(n, layer) : 1;
    uint64_t stream = stream_of_rank(s, layer, data ? count : 0);
    for (size_t i = 0; data && i < count; i++) {
        double u = pace_random_uniform(&stream);
        if (is_index) ((int32_t *)data)[i] = rows > 1 ? (int32_t)(u * (double)rows) : (int32_t)(u * 2147483647);
        else ((float *)data)[i] = (float)(2 * u - 1);
    }
}

static void draw_labels(const pace_samples *s, pace_network *n) {
    size_t count, classes;
    bool is_class;
    void *labels = n->engine->labels(n->net, &count, &is_class, &classes);
    uint64_t stream = stream_of_rank(s, n->model.layers.count, count);
    for (size_t i = 0; i < count; i++) {
        double u = pace_random_uniform(&stream);
        if (is_class) ((int32_t *)labels)[i] = (int32_t)(u * (double)classes);
        else ((float *)labels)[i] = u < 0.5 ? 0 : 1;
    }
}

static void draw_synthetic(const pace_samples *s, pace_network *n) {
    for (size_t i = 0; i < n->model.layers.count; i++)
        if (n->model.layers.items[i].kind == PACE_LAYER_INPUT) draw_input(s, n, (uint32_t)i);
    draw_labels(s, n);
}

/* --- digits: seven segments, shifted, stretched, of changing strength, under noise -------------------------------- */

enum { SIDE = 28 };

/* Segments of 0 to 9: top, upper left, upper right, middle, lower left, lower right, bottom. */
static const uint8_t segments[10] = {0x77, 0x24, 0x5d, 0x6d, 0x2e, 0x6b, 0x7b, 0x25, 0x7f, 0x6f};
static const double ends[7][4] = {{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 1, 1}, {0, 1, 1, 1},
                                  {0, 1, 0, 2}, {1, 1, 1, 2}, {0, 2, 1, 2}};

static double away(const double e[4], double x, double y) {
    double dx = e[2] - e[0], dy = e[3] - e[1], t = ((x - e[0]) * dx + (y - e[1]) * dy) / (dx * dx + dy * dy);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(x - e[0] - t * dx, y - e[1] - t * dy);
}

static void draw_digit(uint64_t *stream, int digit, float *image) {
    double scale = 8 + 2 * pace_random_uniform(stream), left = 7 + 4 * pace_random_uniform(stream);
    double top = 3 + 4 * pace_random_uniform(stream), lean = 0.3 * (pace_random_uniform(stream) - 0.5);
    double strength = 0.7 + 0.3 * pace_random_uniform(stream);
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            double y = (row - top) / scale, x = (column - left) / scale + lean * (y - 1), nearest = 9;
            for (int s = 0; s < 7; s++)
                if (segments[digit] >> s & 1) nearest = fmin(nearest, away(ends[s], x, y));
            double ink = nearest < 0.16 ? strength : 0;
            image[row * SIDE + column] = (float)(ink + 0.3 * (pace_random_uniform(stream) - 0.5));
        }
}

static void draw_digits(pace_samples *s, pace_network *n) {
    size_t count, labels, classes;
    bool is_index, is_class;
    float *images = n->engine->input(n->net, 0, &count, &is_index);
    int32_t *digits = n->engine->labels(n->net, &labels, &is_class, &classes);
    uint64_t stream = pace_random_next(&s->stream);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < labels; i++) {
        uint64_t own = pace_random_stream(stream, s->rank * labels + i);
        digits[i] = (int32_t)(pace_random_uniform(&own) * 10);
        draw_digit(&own, digits[i], images + i * SIDE * SIDE);
    }
}

static bool takes_digits(const pace_network *n) {
    const pace_layer *first = &n->model.layers.items[0];
    size_t count, classes;
    bool is_class;
    n->engine->labels(n->net, &count, &is_class, &classes);
    return first->kind == PACE_LAYER_INPUT && first->shape.channels == 1 && first->shape.height == SIDE &&
           first->shape.width == SIDE && classes == 10;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

/* In the files' order, all ranks' batches of a step behind each other; behind the last image comes the first again. */
static void draw_images(pace_samples *s, pace_network *n) {
    size_t count, labels, classes, size = s->images.rows * s->images.columns;
    bool is_index, is_class;
    float *to = n->engine->input(n->net, 0, &count, &is_index);
    int32_t *digits = n->engine->labels(n->net, &labels, &is_class, &classes);
    size_t first = (s->step++ * s->ranks + s->rank) * labels;
    for (size_t i = 0; i < labels; i++) {
        size_t at = (first + i) % s->images.count;
        digits[i] = s->images.labels[at];
        for (size_t k = 0; k < size; k++) to[i * size + k] = (float)s->images.pixels[at * size + k] / 255;
    }
}

static pace_status check_images(const pace_samples *s, const pace_network *n, const char *folder) {
    const pace_layer *first = &n->model.layers.items[0];
    size_t count, classes, most = 0;
    bool is_class;
    n->engine->labels(n->net, &count, &is_class, &classes);
    for (size_t i = 0; i < s->images.count; i++)
        if (s->images.labels[i] > most) most = s->images.labels[i];
    if (first->kind == PACE_LAYER_INPUT && first->shape.channels == 1 &&
        first->shape.height == (double)s->images.rows && first->shape.width == (double)s->images.columns && is_class &&
        most < classes)
        return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "data: %.80s has images of %zu x %zu with labels up to %zu: expected a network of such", folder,
                     s->images.rows, s->images.columns, most);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static pace_status choose(pace_samples *s, pace_network *n, const char *word) {
    if (!word || strcmp(word, "synthetic") == 0) return PACE_OK;
    if (strcmp(word, "digits") == 0) {
        s->kind = PACE_SAMPLES_DIGITS;
        if (takes_digits(n)) return PACE_OK;
        return pace_fail(PACE_E_USAGE,
                         "data: digits are images of 28 x 28 in ten classes: expected a network of such, as lenet");
    }
    if (!strchr(word, '/') && access(word, R_OK) != 0)
        return pace_fail(PACE_E_USAGE, "data: expected synthetic, digits or a folder of IDX files, found \"%.80s\"",
                         word);
    s->kind = PACE_SAMPLES_FILES;
    PACE_TRY(pace_idx_images_open(&s->images, word));
    return check_images(s, n, word);
}

static void draw(pace_samples *s, pace_network *n) {
    if (s->kind == PACE_SAMPLES_DIGITS) draw_digits(s, n);
    else if (s->kind == PACE_SAMPLES_FILES) draw_images(s, n);
}

pace_status pace_samples_open(pace_samples *out, pace_network *network, const pace_samples_asked *asked) {
    pace_samples s = {.stream = pace_random_stream(asked->seed, UINT64_C(0x5a)),
                      .rank = (size_t)asked->rank,
                      .ranks = (size_t)asked->ranks,
                      .load_s = asked->load_s};
    pace_status status = choose(&s, network, asked->word);
    if (status == PACE_OK && s.kind == PACE_SAMPLES_SYNTHETIC) draw_synthetic(&s, network);
    if (status == PACE_OK) draw(&s, network);
    return PACE_GIVE(out, s, status, pace_samples_close(&s));
}

void pace_samples_close(pace_samples *s) { pace_idx_images_close(&s->images); }

void pace_samples_next(pace_samples *s, pace_network *n) {
    pace_clock_spend(s->load_s); /* as a loader that decodes keeps its thread busy */
    draw(s, n);
}

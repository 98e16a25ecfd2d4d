/*
 * Matrix products and convolutions as implicit matrix products: the roofline, with the compute part stretched by what
 * whole tiles and whole waves waste (tiles.h). Without the number of multiprocessors nothing is wasted. A product's
 * arithmetic and traffic overlap in part.
 */
#include "cost/formula.h"
#include "cost/tiles.h"

#include <math.h>
#include <string.h>

/* A kernel starts and ends in cycles: the fixed times of the catalogue are those at an A100's 1.41 GHz. */
static double start_clock(const pace_device *device) {
    static const double usual_hz = 1.41e9;
    return device->boost_hz > 0 && !device->is_cpu ? usual_hz / device->boost_hz : 1;
}

typedef pace_tiling (*tiling)(double b, double m, double n, double k, double sm_count);

static bool product(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where, tiling best, double b,
                    double m, double n, double k) {
    if (!(op->flop > 0) || !(where->flop_per_s > 0) || !(where->memory_bytes_per_s > 0)) return false;
    bool sized = m > 0 && n > 0 && k > 0 && b > 0; /* of some operators only the amounts are known */
    double waste = sized && where->device->sm_count > 0 ? best(b, m, n, k, where->device->sm_count).cost : 1;
    parts->fixed_s = where->figure->fixed_s * start_clock(where->device) * (op->pass == PACE_PASS_BACKWARD ? 2 : 1);
    parts->compute_s = waste * op->flop / (where->figure->compute * where->flop_per_s);
    parts->memory_s = (op->read_bytes + op->write_bytes) / (where->figure->memory * where->memory_bytes_per_s);
    return true;
}

/* Since Ampere kernels copy into shared memory beside their arithmetic; before, each step waits for its operands. */
enum { FIRST_ASYNC_COPY_GENERATION = 80 };

/* The steps of one tile's inner loop wait for each other, 2.5 ns each at 1.41 GHz; k of more than 1024 is cut into
 * parts that are summed up. Both as the BF16 products of few tiles on A100 and H100 have it (aiconfigurator). Of 2.5 to
 * 18 ns DeepBench's products on P100 and V100, in either precision, say 10. */
static double chain_s(const pace_device *device, double k) {
    static const double step_s = 2.5e-9, waiting_step_s = 10e-9, longest = 1024;
    bool waits = device->generation > 0 && device->generation < FIRST_ASYNC_COPY_GENERATION;
    return (waits ? waiting_step_s : step_s) * fmin(k, longest) * start_clock(device);
}

/* A CPU's caches feed its products while they run. */
static bool overlap(pace_cost_parts *parts, const pace_cost_where *where, double k) {
    parts->partly_hidden = !where->device->is_cpu;
    parts->chain_s = chain_s(where->device, k);
    return true;
}

/* The gradient of the input is m x k by n, that of the weight n x k by m; both together are shaped like neither. */
bool pace_formula_gemm(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where) {
    double b = op->size[0], m = op->size[1], n = op->size[2], k = op->size[3];
    tiling best = where->device->is_cpu ? pace_tiling_best : pace_tiling_product;
    bool known = op->pass == PACE_PASS_BACKWARD_DATA     ? product(parts, op, where, best, b, m, k, n)
                 : op->pass == PACE_PASS_BACKWARD_WEIGHT ? product(parts, op, where, best, b, n, k, m)
                                                         : product(parts, op, where, best, b, m, n, k);
    return known && overlap(parts, where,
                            op->pass == PACE_PASS_BACKWARD_DATA     ? n
                            : op->pass == PACE_PASS_BACKWARD_WEIGHT ? m
                                                                    : k);
}

enum { N, C, H, W, K, R, S, STRIDE_H, STRIDE_W, PAD_H, PAD_W, DILATION, GROUPS };

/* Of arithmetic on whole t x t tiles over that of the outputs. */
static double edges(double high, double wide, double t) {
    return ceil(high / t) * t / high * (ceil(wide / t) * t / wide);
}

/* cuDNN's Winograd in one kernel is written for Maxwell and later (maxwell_scudnn_winograd_…); Kepler has
 * Fourier transforms of tiles of 32 x 32 through memory (cuDNN's FFT_TILING), whose products are cuBLAS'. */
enum { FIRST_FUSED_GENERATION = 50 };

/* A convolution of small filters at stride 1 as products of transformed tiles of t x t outputs. */
typedef struct {
    const pace_op *op;
    const pace_cost_where *where;
    double high, wide; /* of an image of outputs */
    double sm_count;
    double flop_per_s; /* that these products sustain, whose operands lie in order */
} tiled;

/* Input, filters and output are transformed through memory; between them each of a tile's points is a product of its
 * own: (t + r - 1)^2 multiplications for t^2 outputs instead of r^2 t^2 (Lavin and Gray, CVPR 2016), or of half as many
 * complex numbers, which take four each. */
static double through_memory(const tiled *at, double t, bool fourier) {
    enum { MORE_KERNELS = 3 };
    static const double wider = 1.5; /* tiles of 9 x 9 points: DeepBench's 5 x 5 filters, 1.3 on V100 and 2 on P100 */
    const double *s = at->op->size;
    const pace_cost_figure *figure = at->where->figure;
    double r = s[R], side = t + r - 1, points = fourier ? side * (side / 2 + 1) : side * side;
    double tiles = s[N] * ceil(at->high / t) * ceil(at->wide / t), held = fourier ? 2 * points : points;
    bool data = at->op->pass == PACE_PASS_BACKWARD_DATA;
    pace_tiling best = at->op->pass == PACE_PASS_BACKWARD_WEIGHT
                           ? pace_tiling_product(points, s[K], s[C], tiles, at->sm_count)
                           : pace_tiling_product(points, tiles, data ? s[C] : s[K], data ? s[K] : s[C], at->sm_count);
    double bytes_per_s = figure->memory * at->where->memory_bytes_per_s;
    double between = 4 * held * (tiles * (s[C] + s[K]) + s[C] * s[K]); /* written and read once */
    double tensors = 4 * (s[N] * (s[C] * s[H] * s[W] + s[K] * at->high * at->wide) + s[C] * s[K] * r * r);
    double product_s = best.cost * 2 * points * (fourier ? 4 : 1) * tiles * s[C] * s[K] / at->flop_per_s;
    double all_s = fmax(product_s, between / bytes_per_s) + (tensors + between) / bytes_per_s;
    return all_s * (r == 5 && !fourier ? wider : 1) + MORE_KERNELS * figure->fixed_s * start_clock(at->where->device);
}

/* In one kernel, of 3 x 3 filters with t = 2: a block takes some filters and tiles, and all channels, which are not
 * split. Of blocks of 8 to 128 by 8 to 128, and starts of 0 to 64 channels, nearest to NeuSight's rows that name the
 * kernel (winograd_128x128_ldg1_ldg4). Gradients of weights have no such kernel (cuDNN's table of algorithms). */
static double in_one_kernel(const tiled *at) {
    enum { FILTERS = 32, TILES = 128, START = 32, POINTS = 16 };
    const double *s = at->op->size;
    bool data = at->op->pass == PACE_PASS_BACKWARD_DATA;
    double blocks = ceil((data ? s[C] : s[K]) / FILTERS) * ceil(s[N] * ceil(at->high / 2) * ceil(at->wide / 2) / TILES);
    double waves = ceil(blocks / at->sm_count), deep = (data ? s[K] : s[C]) + START;
    return waves * at->sm_count * FILTERS * TILES * POINTS * 2 * deep / at->flop_per_s;
}

/* Outside the matrix units libraries compute small filters at stride 1 by Winograd's F(t x t, r x r): 3 x 3 in one
 * kernel with t = 2, or through memory, with t = 4 for 3 x 3 and t = 5 for 5 x 5, as the names of cuDNN's kernels say.
 * Returns the least time. */
static double winograd(const pace_op *op, const pace_cost_where *where, double direct_s) {
    static const double in_order = 1.2;
    const double *s = op->size;
    const pace_device *device = where->device;
    double r = s[R], high = s[H] + 2 * s[PAD_H] - r + 1, wide = s[W] + 2 * s[PAD_W] - r + 1;
    bool fits =
        (r == 3 || r == 5) && s[S] == r && s[STRIDE_H] == 1 && s[STRIDE_W] == 1 && s[DILATION] == 1 && s[GROUPS] == 1;
    bool single = op->element_bytes == 4 || (op->element_bytes == 2 && pace_device_widens_half(device, PACE_FP16));
    bool vector = single && where->flop_per_s <= device->flop_per_s[PACE_FP32];
    if (!fits || !vector || !(high >= 1) || !(wide >= 1)) return direct_s;
    if (device->is_cpu) return r == 3 ? direct_s * 16 / 36 * edges(high, wide, 2) : direct_s;
    bool kepler = device->generation > 0 && device->generation < FIRST_FUSED_GENERATION;
    double share = kepler ? where->product_share : in_order * where->figure->compute;
    tiled at = {op, where, high, wide, fmax(device->sm_count, 1), share * where->flop_per_s};
    double products = op->pass == PACE_PASS_BACKWARD ? 2 : 1;
    double least = fmin(direct_s, products * through_memory(&at, kepler ? 33 - r : r == 3 ? 4 : 5, kepler));
    bool fused = r == 3 && !kepler && op->pass != PACE_PASS_BACKWARD_WEIGHT;
    return fused ? fmin(least, products * in_one_kernel(&at)) : least;
}

/* Groups of one channel each have no product to tile: each output is a sum over its window on the vector units, and
 * tensors stream. Libraries run these as kernels of their own (conv_depthwise2d_forward_kernel and its like), in which
 * each multiplication waits for a value of its own. */
static bool depthwise(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where) {
    double vector = pace_device_rate(where->device, PACE_FP32), sustained = where->figure->compute * vector;
    double own = where->depthwise_flop_per_s;
    if (!pace_formula_stream(parts, op, where) || !(vector > 0)) return false;
    parts->compute_s = op->flop / (own > 0 && own < sustained ? own : sustained);
    return true;
}

bool pace_convolution_depthwise(const pace_op *op, const pace_device *device) {
    double groups = op->size[GROUPS];
    return op->family == PACE_OP_CONVOLUTION && !device->is_cpu && groups > 1 && groups == op->size[C];
}

/* Matrix units take this many bytes of channels at a time; libraries fill up what is less (NVIDIA, Convolutional Layers
 * User's Guide; cuDNN from 7.3 on). */
enum { CHANNEL_BYTES = 16 };

/* Libraries for processors keep so many channels of a pixel side by side, a vector of AVX-512, and fill up the last
 * (oneDNN's developer guide, Understanding Memory Formats: nChw16c, recalled; rows measured on an EPYC of Zen 5 agree).
 * With AVX2 it is 8: such processors are taken for slower than they are. Images of up to three channels are read as
 * they are (recalled, and as measured). */
enum { BLOCK_CHANNELS = 16, IMAGE_CHANNELS = 3 };

static double filled(double channels, double whole) { return ceil(channels / whole) * whole; }

/* Channels and filters of a group as they are filled up, on matrix units or on a processor. */
static void fill_channels(double *c, double *n, const pace_op *op, const pace_device *device, bool matrix) {
    double whole = matrix ? CHANNEL_BYTES / op->element_bytes : 1;
    bool blocked = device->is_cpu && op->size[GROUPS] <= 1;
    bool image = *c <= IMAGE_CHANNELS && op->pass != PACE_PASS_BACKWARD_DATA;
    *c = filled(*c, blocked && !image ? BLOCK_CHANNELS : whole);
    *n = filled(*n, blocked ? BLOCK_CHANNELS : whole);
}

double pace_convolution_filled(const pace_op *op, const pace_device *device) {
    double c = op->size[C], n = op->size[K], work = c * n;
    if (!device->is_cpu || !(work > 0)) return 1;
    fill_channels(&c, &n, op, device, false);
    return c * n / work;
}

bool pace_device_copies_nchw(const pace_device *device) {
    enum { FIRST_GENERATION = 70 };
    return device->generation >= FIRST_GENERATION;
}

/* Kernels of matrix units take a pixel's channels side by side (NHWC). Frameworks keep single precision an image a
 * channel (NCHW), and half precision where its operation says so; then copies stand before and after, each reading and
 * writing a tensor (nchwToNhwcKernel, nhwcToNchwKernel), but where single precision is a plain product on images as
 * they lie. Copies stream as fast as what else streams, faster than convolutions read. */
static bool changes_layout(const pace_op *op, const pace_device *device) {
    if (strcmp(op->kind, "nhwc") == 0) return false;
    if (op->element_bytes == 2) return strcmp(op->kind, "nchw") == 0 && pace_device_copies_nchw(device);
    return op->element_bytes == 4 && !pace_convolution_as_laid(op);
}

/* Of the peak rate, what a convolution sustains. Boards whose matrix units are held back fetch and address operands as
 * fast as others: beside slower products that takes no longer, up to what plain products reach. Gradients of strided
 * filters were made faster for nhwc in half precision (cuDNN 7.4.1's release notes). */
static double convolution_share(const pace_op *op, const pace_cost_where *where, bool matrix) {
    bool last = strcmp(op->kind, "nhwc") == 0;
    bool strided = (!matrix || !last) && (op->size[STRIDE_H] > 1 || op->size[STRIDE_W] > 1);
    bool pixel = op->size[R] == 1 && op->size[S] == 1;
    const pace_cost_figure *figure = where->figure;
    double share = strided ? figure->strided : figure->compute, product = where->product_share;
    if (pixel) share *= figure->pixel / figure->compute;
    double units = pace_device_unit_rate(where->device, op->precision);
    if (!matrix || !(units > where->flop_per_s) || !(product > share)) return share;
    return fmin(product, share * units / where->flop_per_s);
}

/* A block of threads reads both operands of its tile from the L2, an image once for each place of the window, and again
 * for the filters that the widest tile does not hold. Matrix units are faster than that where channels are few. */
static double feed_s(const pace_op *op, const pace_cost_where *where, double c, double n, double flop) {
    double narrow = op->pass == PACE_PASS_BACKWARD_DATA     ? c
                    : op->pass == PACE_PASS_BACKWARD_WEIGHT ? fmin(n, c * op->size[R] * op->size[S])
                                                            : n;
    double values = flop / 2 * (ceil(narrow / pace_tile_n[0]) / narrow + 1 / pace_tile_m[0]);
    return values * op->element_bytes / (where->figure->memory * where->l2_bytes_per_s);
}

/* Kernels that sum over channels and the window leave that sum to one block of threads each (the names of cuDNN's say
 * no other); those that sum over pixels, for gradients of filters, share it among many. With outputs for less than one
 * round DeepBench's forward convolutions are 9, 0 and 30 % too fast so (V100 in half and single precision, P100), and
 * 30, 13 and 35 % where sums are shared; the steps of a sum wait for each other as in plain products. */
static bool implicit_product(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where, double groups,
                             double m, double n, double c) {
    bool cpu = where->device->is_cpu;
    double window = op->size[R] * op->size[S], k = c * window;
    tiling shared = pace_tiling_best, whole = cpu ? pace_tiling_best : pace_tiling_whole;
    pace_pass pass = op->pass;
    double sum = pass == PACE_PASS_BACKWARD_DATA ? n * window : pass == PACE_PASS_BACKWARD_WEIGHT ? m : k;
    if (!cpu) parts->chain_s = chain_s(where->device, sum);
    if (pass == PACE_PASS_BACKWARD_DATA) return product(parts, op, where, whole, groups, m, k, n);
    if (pass == PACE_PASS_BACKWARD_WEIGHT) return product(parts, op, where, shared, groups, n, k, m);
    return product(parts, op, where, pass == PACE_PASS_BACKWARD ? shared : whole, groups, m, n, k);
}

/* Output pixels x filters, over the window: the sizes follow from the work (2 m n k of each group). */
bool pace_formula_convolution(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where) {
    double groups = op->size[GROUPS] > 0 ? op->size[GROUPS] : 1;
    double n = op->size[K] / groups, c = op->size[C] / groups, window = op->size[R] * op->size[S];
    double products = op->pass == PACE_PASS_BACKWARD ? 2 : 1;
    if (pace_convolution_depthwise(op, where->device)) return depthwise(parts, op, where);
    if (!(n > 0) || !(c * window > 0)) return false;
    double m = op->flop / (2 * products * n * c * window * groups);
    if (!(m >= 1)) m = 1;
    bool matrix = !where->device->is_cpu && pace_cost_on_matrix_units(op, where->device) && op->element_bytes > 0;
    double work = c * n;
    fill_channels(&c, &n, op, where->device, matrix);
    double more = c * n / work;
    if (!implicit_product(parts, op, where, groups, m, n, c)) return false;
    if (matrix && where->l2_bytes_per_s > 0) parts->l2_s = feed_s(op, where, c, n, more * op->flop);
    if (!where->device->is_cpu) more *= where->figure->compute / convolution_share(op, where, matrix);
    parts->compute_s = winograd(op, where, parts->compute_s * more);
    if (matrix && changes_layout(op, where->device))
        parts->layout_s = 2 * where->figure->memory / pace_usual_memory * parts->memory_s;
    return true;
}

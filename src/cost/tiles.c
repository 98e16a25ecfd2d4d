#include "cost/tiles.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Sizes of the kernels in cuBLAS and CUTLASS (their names carry them). A tile of m x n reads (m + n) values per m n
 * multiply-adds, so that small tiles wait for the caches: shares are m n / (m n + c (m + n)) over that of 256 x 128,
 * with c = 16, and 4 for plain products.
 */
const pace_tile pace_tiles[PACE_TILES] = {
    {256, 128, 1.00, 1.00}, {128, 256, 1.00, 1.00}, {128, 128, 0.97, 0.99}, {128, 64, 0.88, 0.96},
    {64, 128, 0.88, 0.96},  {64, 64, 0.80, 0.93},   {128, 32, 0.74, 0.90},  {32, 32, 0.60, 0.84},
};

/* What a tile of a product takes before its inner loop runs and after it ends, in steps of that loop: the first
 * operands come from memory, the result goes there, and nothing of another tile covers it. Of 0 to 128, with c of 0 to
 * 32, the best within a hundredth for each three of four devices' FP32 products (NeuSight), and no worse for two
 * devices' BF16 ones (aiconfigurator). DeepBench's convolutions are nearer without. */
static const double start_and_end = 32;

static const double splitting = 1.05, shortest_k = 128;
enum { MOST_SPLITS = 16, SPLITS = 5 };

/* In parts of at least `shortest_k` each: the times of a longer k are then never less. */
static double split_of(unsigned i, double most) {
    double power = (double)(1u << i);
    return power < most ? power : most;
}

/* ceil() of what is not negative, without a call: this is most of what a product's price takes. */
static double round_up(double x) {
    static const double all_whole = 4503599627370496.0; /* 2^52 */
    if (!(x < all_whole)) return x;
    double whole = (double)(int64_t)x;
    return whole < x ? whole + 1 : whole;
}

/* Ways to cut k: into how many parts, and how many steps a tile takes for one. */
typedef struct {
    double parts[SPLITS], steps[SPLITS];
    unsigned count;
} ways;

static ways ways_of(double k, bool product) {
    double most = k < shortest_k ? 1 : k < shortest_k * MOST_SPLITS ? k / shortest_k : MOST_SPLITS, last = 0;
    ways out = {.count = 0};
    for (; out.count < SPLITS && split_of(out.count, most) > last; out.count++) {
        out.parts[out.count] = last = split_of(out.count, most);
        out.steps[out.count] = k / last + (product ? start_and_end : 0);
    }
    return out;
}

/* What costs more than the best so far even if all multiprocessors have work throughout is not divided: divisions are
 * most of what a price takes. */
static pace_tiling best_of(double b, double m, double n, double k, double sm_count, bool product) {
    const ways cut = ways_of(k, product);
    pace_tiling best = {INFINITY, 1, 0, 1};
    double work = b * m * n * k;
    if (!(sm_count >= 1)) sm_count = 1;
    for (int i = 0; i < PACE_TILES; i++) {
        const pace_tile *tile = &pace_tiles[i];
        double tiles = b * round_up(m / tile->m) * round_up(n / tile->n);
        double share = product ? tile->product_share : tile->share, scale = work * share * (1 + 16 * DBL_EPSILON);
        for (unsigned j = 0; j < cut.count; j++) {
            if (tiles * cut.parts[j] * tile->m * tile->n * cut.steps[j] > best.cost * scale) continue;
            double waves = round_up(tiles * cut.parts[j] / sm_count);
            double steps = waves * sm_count * tile->m * tile->n * cut.steps[j];
            double cost = steps / work / share * (cut.parts[j] > 1 ? splitting : 1);
            if (cost < best.cost) best = (pace_tiling){cost, waves, i, cut.parts[j]};
        }
    }
    return best;
}

pace_tiling pace_tiling_best(double b, double m, double n, double k, double sm_count) {
    return best_of(b, m, n, k, sm_count, false);
}

pace_tiling pace_tiling_product(double b, double m, double n, double k, double sm_count) {
    return best_of(b, m, n, k, sm_count, true);
}

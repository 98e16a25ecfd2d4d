#include "cost/tiles.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Sizes of the kernels in cuBLAS and CUTLASS (their names carry them). A tile of m x n reads (m + n) values per m n
 * multiply-adds, so that small tiles wait for the caches: shares are m n / (m n + c (m + n)) over that of 256 x 128,
 * with c = 16, and 4 for plain products.
 */
#define TILE(m, n, share, product_share) \
    { m, n, 1.0 / (m), 1.0 / (n), share, product_share }
const pace_tile pace_tiles[PACE_TILES] = {
    TILE(256, 128, 1.00, 1.00), TILE(128, 256, 1.00, 1.00), TILE(128, 128, 0.97, 0.99), TILE(128, 64, 0.88, 0.96),
    TILE(64, 128, 0.88, 0.96),  TILE(64, 64, 0.80, 0.93),   TILE(128, 32, 0.74, 0.90),  TILE(32, 32, 0.60, 0.84),
};

/* What a tile of a product takes before its inner loop runs and after it ends, in steps of that loop: the first
 * operands come from memory, the result goes there, and nothing of another tile covers it. Of 0 to 128, with c of 0 to
 * 32, the best within a hundredth for each three of four devices' FP32 products (NeuSight), and no worse for two
 * devices' BF16 ones (aiconfigurator). DeepBench's convolutions are nearer without. */
static const double start_and_end = 32;

static const double splitting = 1.05, shortest_k = 128;
enum { MOST_SPLITS = 16, SPLITS = 5 };

/* ceil() of what is not negative, without a call: this is most of what a product's price takes. */
static double round_up(double x) {
    static const double all_whole = 4503599627370496.0; /* 2^52 */
    if (!(x < all_whole)) return x;
    double whole = (double)(int64_t)x;
    return whole < x ? whole + 1 : whole;
}

/* Ways to cut k: into how many parts, how many steps a tile takes for one, and how many times as long that lasts. */
typedef struct {
    double parts[SPLITS], steps[SPLITS], more[SPLITS];
    unsigned count;
} ways;

/* In parts of at least `shortest_k` each: the times of a longer k are then never less. */
static ways ways_of(double k, bool product) {
    double most = k < shortest_k ? 1 : k < shortest_k * MOST_SPLITS ? k / shortest_k : MOST_SPLITS, last = 0;
    ways out = {.count = 0};
    for (double power = 1; out.count < SPLITS && last < most; out.count++, power *= 2) {
        out.parts[out.count] = last = power < most ? power : most;
        out.steps[out.count] = k / last + (product ? start_and_end : 0);
        out.more[out.count] = last > 1 ? splitting : 1;
    }
    return out;
}

/* A way to tile a product. In the order of `near` ways cost more and more, but for rounding. */
typedef struct {
    double near, waves;
    int tile;
    unsigned cut;
} candidate;

/* Divisions are most of what a price takes. So the cost is worked out of those alone that rounding may tell from the
 * least, and waves not of what is above it even if all multiprocessors have work throughout. */
static pace_tiling best_of(double b, double m, double n, double k, double sm_count, bool product) {
    static const double rounding = 1 + 16 * DBL_EPSILON;
    const ways cut = ways_of(k, product);
    candidate found[PACE_TILES * SPLITS];
    unsigned count = 0;
    double least = INFINITY, work = b * m * n * k;
    if (!(sm_count >= 1)) sm_count = 1;
    for (int i = 0; i < PACE_TILES; i++) {
        const pace_tile *tile = &pace_tiles[i];
        double tiles = b * round_up(m * tile->per_m) * round_up(n * tile->per_n);
        double slow = tile->m * tile->n / (product ? tile->product_share : tile->share);
        for (unsigned j = 0; j < cut.count; j++) {
            double each = slow * cut.steps[j] * cut.more[j];
            if (tiles * cut.parts[j] * each > least * rounding) continue;
            double waves = round_up(tiles * cut.parts[j] / sm_count), near = waves * sm_count * each;
            if (near > least * rounding) continue;
            found[count++] = (candidate){near, waves, i, j};
            if (near < least) least = near;
        }
    }
    pace_tiling best = {INFINITY, 1, 0, 1};
    for (const candidate *one = found; one < found + count; one++) {
        if (one->near > least * rounding) continue;
        const pace_tile *tile = &pace_tiles[one->tile];
        double share = product ? tile->product_share : tile->share;
        double steps = one->waves * sm_count * tile->m * tile->n * cut.steps[one->cut];
        double cost = steps / work / share * cut.more[one->cut];
        if (cost < best.cost) best = (pace_tiling){cost, one->waves, one->tile, cut.parts[one->cut]};
    }
    return best;
}

pace_tiling pace_tiling_best(double b, double m, double n, double k, double sm_count) {
    return best_of(b, m, n, k, sm_count, false);
}

pace_tiling pace_tiling_product(double b, double m, double n, double k, double sm_count) {
    return best_of(b, m, n, k, sm_count, true);
}

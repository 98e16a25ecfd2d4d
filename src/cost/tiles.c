#include "cost/tiles.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Sizes of the kernels in cuBLAS and CUTLASS (their names carry them), and the share of the peak that each reaches in
 * its inner loop; [1] = of a plain product, whose operands come in order. A tile of m x n reads (m + n) values per m n
 * multiply-adds, so that small tiles wait for the caches: shares are m n / (m n + c (m + n)) over that of 256 x 128,
 * with c = 16, and 4 for plain products. Columns, since a price goes through all of them.
 */
const double pace_tile_m[PACE_TILES] = {256, 128, 128, 128, 64, 64, 128, 32};
const double pace_tile_n[PACE_TILES] = {128, 256, 128, 64, 128, 64, 32, 32};
static const double tile_share[2][PACE_TILES] = {{1.00, 1.00, 0.97, 0.88, 0.88, 0.80, 0.74, 0.60},
                                                 {1.00, 1.00, 0.99, 0.96, 0.96, 0.93, 0.90, 0.84}};

/* What a tile of a product takes before its inner loop runs and after it ends, in steps of that loop: the first
 * operands come from memory, the result goes there, and nothing of another tile covers it. Of 0 to 128, with c of 0 to
 * 32, the best within a hundredth for each three of four devices' FP32 products (NeuSight), and no worse for two
 * devices' BF16 ones (aiconfigurator). DeepBench's convolutions are nearer without. */
static const double start_and_end = 32;

static const double splitting = 1.05, shortest_k = 128;
enum { MOST_SPLITS = 16, SPLITS = 5 };

/* ceil() of what is not negative, without a branch, so that a loop of it may be vectors. */
static inline double round_up(double x) {
    static const double all_whole = 4503599627370496.0; /* 2^52, from where on all numbers are */
    double whole = (x + all_whole) - all_whole;         /* the nearest */
    whole += whole < x ? 1 : 0;
    return x < all_whole ? whole : x;
}

/* Ways to cut k: into how many parts, how many steps a tile takes for one, and how many times as long that lasts. */
typedef struct {
    double parts[SPLITS], steps[SPLITS], more[SPLITS];
    unsigned count;
} ways;

/* In at most `most` parts of at least `shortest_k` each: the times of a longer k are then never less. */
static ways ways_of(double k, bool product, double most) {
    double last = 0;
    ways out = {.count = 0};
    most = k < shortest_k ? 1 : k < shortest_k * most ? k / shortest_k : most;
    for (double power = 1; out.count < SPLITS && last < most; out.count++, power *= 2) {
        out.parts[out.count] = last = power < most ? power : most;
        out.steps[out.count] = k / last + (product ? start_and_end : 0);
        out.more[out.count] = last > 1 ? splitting : 1;
    }
    return out;
}

/* Every way to tile a product, by cut and tile. */
typedef struct {
    double waves[SPLITS][PACE_TILES],
        near[SPLITS][PACE_TILES]; /* near: in its order ways cost more and more, but for rounding */
    double least;                 /* of it */
} candidates;

static void find_candidates(candidates *out, const ways *cut, double b, double m, double n, double sm_count,
                            bool product) {
    double tiles[PACE_TILES], slow[PACE_TILES];
    for (int i = 0; i < PACE_TILES; i++) {
        tiles[i] = b * round_up(m / pace_tile_m[i]) * round_up(n / pace_tile_n[i]);
        slow[i] = pace_tile_m[i] * pace_tile_n[i] / tile_share[product][i];
    }
    out->least = INFINITY;
    for (unsigned j = 0; j < cut->count; j++)
        for (int i = 0; i < PACE_TILES; i++) {
            double waves = round_up(tiles[i] * cut->parts[j] / sm_count);
            double near = waves * sm_count * (slow[i] * cut->steps[j] * cut->more[j]);
            out->waves[j][i] = waves;
            out->near[j][i] = near;
            out->least = near < out->least ? near : out->least;
        }
}

/* The cost is worked out of those alone that rounding may tell from the least. */
static pace_tiling best_of(double b, double m, double n, double k, double sm_count, bool product, double most) {
    static const double rounding = 1 + 16 * DBL_EPSILON;
    const ways cut = ways_of(k, product, most);
    candidates found;
    if (!(sm_count >= 1)) sm_count = 1;
    find_candidates(&found, &cut, b, m, n, sm_count, product);
    double work = b * m * n * k;
    pace_tiling best = {INFINITY, 1, 0, 1};
    for (int i = 0; i < PACE_TILES; i++)
        for (unsigned j = 0; j < cut.count; j++) {
            if (found.near[j][i] > found.least * rounding) continue;
            double steps = found.waves[j][i] * sm_count * pace_tile_m[i] * pace_tile_n[i] * cut.steps[j];
            double cost = steps / work / tile_share[product][i] * cut.more[j];
            if (cost < best.cost) best = (pace_tiling){cost, found.waves[j][i], i, cut.parts[j]};
        }
    return best;
}

pace_tiling pace_tiling_best(double b, double m, double n, double k, double sm_count) {
    return best_of(b, m, n, k, sm_count, false, MOST_SPLITS);
}

pace_tiling pace_tiling_product(double b, double m, double n, double k, double sm_count) {
    return best_of(b, m, n, k, sm_count, true, MOST_SPLITS);
}

pace_tiling pace_tiling_whole(double b, double m, double n, double k, double sm_count) {
    return best_of(b, m, n, k, sm_count, false, 1);
}

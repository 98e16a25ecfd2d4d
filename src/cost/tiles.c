#include "cost/tiles.h"

#include <math.h>

/* Sizes of the kernels in cuBLAS and CUTLASS (their names carry them). A tile of m x n reads (m + n) values per m n
 * multiply-adds, so that small tiles wait for the caches: shares are m n / (m n + 16 (m + n)) over that of 256 x 128.
 */
const pace_tile pace_tiles[PACE_TILES] = {
    {256, 128, 1.00}, {128, 256, 1.00}, {128, 128, 0.97}, {128, 64, 0.88},
    {64, 128, 0.88},  {64, 64, 0.80},   {128, 32, 0.74},  {32, 32, 0.60},
};

static const double splits[] = {1, 2, 4, 8, 16};
enum { SPLITS = sizeof splits / sizeof *splits, SHORTEST_K = 128 };

pace_tiling pace_tiling_best(double b, double m, double n, double k, double sm_count) {
    pace_tiling best = {INFINITY, 1, 0, 1};
    if (!(sm_count >= 1)) sm_count = 1;
    for (int i = 0; i < PACE_TILES; i++) {
        const pace_tile *tile = &pace_tiles[i];
        double tiles = b * ceil(m / tile->m) * ceil(n / tile->n);
        for (int j = 0; j < SPLITS; j++) {
            double split = splits[j];
            if (split > 1 && k / split < SHORTEST_K) break;
            double waves = ceil(tiles * split / sm_count);
            double work = waves * sm_count * tile->m * tile->n / split;
            double cost = work / (b * m * n) / tile->share * (split > 1 ? 1.05 : 1);
            if (cost < best.cost) best = (pace_tiling){cost, waves, i, split};
        }
    }
    return best;
}

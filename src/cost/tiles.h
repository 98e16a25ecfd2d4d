/*
 * How a matrix product is cut into tiles and the tiles into waves over a device's multiprocessors: what is lost at
 * the edges of the matrix (tiles are whole), at the end (the last wave is rarely full) and around each tile's inner
 * loop (its start and end).
 */
#pragma once

/* A tile size a library has kernels for, and the share of the peak it reaches in its inner loop; of a plain product
 * its operands come in order, and it reaches more. Sizes are powers of two, so that a product with
 * `per_m` is exactly the quotient by m. */
typedef struct {
    double m, n, per_m, per_n, share, product_share;
} pace_tile;

enum { PACE_TILES = 8 };
extern const pace_tile pace_tiles[PACE_TILES];

typedef struct {
    double cost;  /* (all work over useful work) / share: at least 1; multiplies the roofline's compute time */
    double waves; /* rounds over the multiprocessors */
    int tile;     /* index of pace_tiles */
    double split; /* parts that k is cut into */
} pace_tiling;

/** The cheapest way to compute b products of m x n x k on sm_count multiprocessors. Sizes are at least 1. */
pace_tiling pace_tiling_best(double b, double m, double n, double k, double sm_count);

/** The same for a plain product, with the start and end of each tile. */
pace_tiling pace_tiling_product(double b, double m, double n, double k, double sm_count);

/*
 * How a matrix product is cut into tiles and the tiles into waves over a device's multiprocessors: what is lost at
 * the edges of the matrix (tiles are whole), at the end (the last wave is rarely full) and around each tile's inner
 * loop (its start and end).
 */
#pragma once

/* Sizes of tiles, the widest first. */
enum { PACE_TILES = 8 };
extern const double pace_tile_m[PACE_TILES], pace_tile_n[PACE_TILES];

typedef struct {
    double cost;  /* (all work over useful work) / share: at least 1; multiplies the roofline's compute time */
    double waves; /* rounds over the multiprocessors */
    int tile;     /* its size's number, from 0 */
    double split; /* parts that k is cut into */
} pace_tiling;

/** The cheapest way to compute b products of m x n x k on sm_count multiprocessors. Sizes are at least 1. */
pace_tiling pace_tiling_best(double b, double m, double n, double k, double sm_count);

/** The same where k is not cut: one block of threads sums all of it. */
pace_tiling pace_tiling_whole(double b, double m, double n, double k, double sm_count);

/** The same for a plain product, with the start and end of each tile. */
pace_tiling pace_tiling_product(double b, double m, double n, double k, double sm_count);

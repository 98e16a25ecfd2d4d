/*
 * How a matrix product is cut into tiles and the tiles into waves over a device's multiprocessors: what is lost at
 * the edges of the matrix (tiles are whole) and at the end (the last wave is rarely full).
 */
#ifndef PACE_COST_TILES_H
#define PACE_COST_TILES_H

/* A tile size a library has kernels for, and the share of the peak it reaches in its inner loop. */
typedef struct {
    double m, n, share;
} pace_tile;

enum { PACE_TILES = 8 };
extern const pace_tile pace_tiles[PACE_TILES];

typedef struct {
    double cost;  /* (padded work over useful work) / share: at least 1; multiplies the roofline's compute time */
    double waves; /* rounds over the multiprocessors */
    int tile;     /* index of pace_tiles */
    double split; /* parts that k is cut into */
} pace_tiling;

/** The cheapest way to compute b products of m x n x k on sm_count multiprocessors. Sizes are at least 1. */
pace_tiling pace_tiling_best(double b, double m, double n, double k, double sm_count);

#endif

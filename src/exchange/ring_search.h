/*
 * Rings over devices that are joined pairwise: as many as find links of their own. NCCL searches for them likewise
 * (graph/search.cc); on DGX-1 V100 there are six, on DGX-1 P100 four, and none leaves the bricks.
 */
#pragma once

#include "machine/machine.h"

enum { PACE_RINGS_MOST = 32 };

typedef struct pace_rings {
    int count, devices;
    unsigned char order[PACE_RINGS_MOST][PACE_MESH_MOST]; /* ring -> devices in order */
} pace_rings;

/* One link of `links` is one way between two devices, so many times. */
typedef unsigned char pace_ring_links[PACE_MESH_MOST][PACE_MESH_MOST];

/** Closed rings through the first `devices` devices, each link in one ring at most: as many as are found, at most
 * `most`. None: count 0. */
void pace_rings_closed(pace_rings *out, pace_ring_links links, int devices, int most);

/** The same with open ends: ring i begins at first[i] and ends at last[i], which differ. All `count` of them are found,
 * or fewer: as many of the first ones as there is room for. */
void pace_rings_open(pace_rings *out, pace_ring_links links, int devices, const unsigned char *first,
                     const unsigned char *last, int count);

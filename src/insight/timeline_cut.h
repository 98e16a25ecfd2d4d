/* What a drawing shows of a lane: tasks, or runs of neighbours too short for the zone (insight/timeline_zones.h). */
#pragma once

#include "insight/timeline_zones.h"

/* One task, or `count` consecutive tasks of the lane from `first` on, what they enclose included. */
typedef struct {
    int64_t start_ns, end_ns;
    uint32_t first, count;
    uint32_t longest; /* of them */
} pace_drawn;

typedef PACE_VEC(pace_drawn) pace_drawn_slices;

/** Replaces *out by what is shown of a lane, by start, enclosing tasks before enclosed ones. */
pace_status pace_lane_cut(pace_drawn_slices *out, const pace_step *step, const pace_lane *lane,
                          const pace_zones *zones) PACE_MUST_CHECK;

/* Tiles in a row of one stage or of one resource, or a run of short ones: `longest` is the one that lasts longest. */
typedef struct {
    int64_t start_ns, end_ns;
    size_t count;
    uint8_t key; /* pace_stage or pace_resource of the longest */
} pace_drawn_tile;

typedef PACE_VEC(pace_drawn_tile) pace_drawn_tiles;

typedef enum { PACE_TILES_BY_STAGE, PACE_TILES_BY_RESOURCE } pace_tile_key;

/** Replaces *out by what is shown of tiles. */
pace_status pace_tiles_cut(pace_drawn_tiles *out, const pace_tiles *tiles, pace_tile_key key,
                           const pace_zones *zones) PACE_MUST_CHECK;

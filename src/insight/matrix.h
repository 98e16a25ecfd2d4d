/*
 * The matrix stage × resource. Every instant of the device is one tile: exactly one stage and one resource
 * (DESIGN §1). A window's matrix is the sum of the tiles clipped to it, so its cells add up to the window.
 */
#pragma once

#include "insight/steps/steps.h"
#include "insight/work.h"

typedef enum {
    PACE_COMPUTE_BOUND,
    PACE_MEMORY_BOUND,
    PACE_COPY,
    PACE_EXPOSED_COMMUNICATION,
    PACE_IDLE_HOST,
    PACE_IDLE_RANK,
    PACE_IDLE_INPUT,
    PACE_IDLE_OTHER,
    PACE_RESOURCES
} pace_resource;

extern const char *const pace_resource_names[PACE_RESOURCES];

/* It ends where the next one begins. */
typedef struct {
    int64_t start_ns;
    uint32_t item; /* index into work->items of what runs, or of what is waited for; PACE_NO_TASK = nothing */
    uint8_t stage, resource;
} pace_tile;

/* Behind the last of a set that is not empty stands one more, not counted: where that ends. */
typedef PACE_VEC(pace_tile) pace_tiles;

static inline int64_t pace_tile_end(const pace_tile *tile) { return tile[1].start_ns; }

typedef struct {
    int64_t cell_ns[PACE_STAGES][PACE_RESOURCES];
} pace_matrix;

/** Whether a piece of work may fill tiles of a resource; an exchange that waits for a late rank does. */
bool pace_work_is_of(const pace_work_item *item, pace_resource resource);

/** Tiles the device's time from the first step (or first work) to the last work. */
pace_status pace_tiles_build(pace_tiles *out, const pace_work *work, const pace_marks *marks) PACE_MUST_CHECK;

/** The matrix of [start, end), which must lie inside the tiles. */
pace_matrix pace_matrix_of(const pace_tiles *tiles, int64_t start_ns, int64_t end_ns);

/** The time of resources from one to another, in all stages; of all. */
int64_t pace_matrix_columns(const pace_matrix *matrix, pace_resource from, pace_resource to);
int64_t pace_matrix_total(const pace_matrix *matrix);

/** Sets every step's device interval; steps without compute work get an empty one. */
pace_status pace_marks_set_intervals(pace_marks *marks, const pace_work *work) PACE_MUST_CHECK;

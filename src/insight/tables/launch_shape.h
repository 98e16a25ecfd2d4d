/* How a kernel was launched, from the text that the step keeps of it. */
#pragma once

typedef struct {
    double grid[3], block[3]; /* 0 = unknown */
    double blocks_per_sm;     /* of the whole grid, so often above what fits at once; NAN = unknown */
    double occupancy;         /* the profiler's estimate, 0 to 1; NAN = unknown */
} pace_launch_shape;

/** Reads the lines of pace_step_launch(). An occupancy of 0 beside a whole warp on every multiprocessor contradicts
 * itself (the profiler's estimate fails for kernels with much shared memory): it counts as unknown. */
pace_launch_shape pace_launch_shape_read(const char *text);

/* One rank, read and understood: its tasks, steps, work and tiles. The unit every insight works on. */
#ifndef PACE_INSIGHT_RANK_H
#define PACE_INSIGHT_RANK_H

#include "insight/matrix.h"

typedef struct {
    char *path;
    uint64_t bytes; /* of the file as decompressed */
    pace_step step;
    pace_marks marks;
    pace_work work;
    pace_tiles tiles;
    const pace_device *device; /* NULL = unknown; borrowed from the catalogue */
    int64_t shift_ns;          /* to be added to its clock to agree with the first rank's */
} pace_rank;

/** Marks, stages, work; the tiles come later (pace_rank_tile), once the other ranks are known.
 * `rank->step` must be finished. */
pace_status pace_rank_understand(pace_rank *rank, const pace_kernel_classes *classes,
                                 const char *step_regex) PACE_MUST_CHECK;
pace_status pace_rank_tile(pace_rank *rank) PACE_MUST_CHECK;
void pace_rank_free(pace_rank *rank);

#endif

/* The step a report speaks of: the one of median length among those that are neither warm-up nor outliers. */
#pragma once

#include "insight/rank.h"
#include "insight/spread.h"

typedef struct {
    size_t mark;     /* index of the step; SIZE_MAX = no step did work: all is of the whole trace */
    size_t steps;    /* that did work and are usual; the median, range and spread are theirs */
    size_t left_out; /* warm-up and outliers */
    int64_t from_ns, to_ns;
    pace_matrix matrix; /* of [from, to); all zero before the rank is tiled */
} pace_typical_step;

/** `spread` is the rank's (insight/spread.h). */
pace_status pace_typical_step_find(pace_typical_step *out, const pace_rank *rank,
                                   const pace_spread *spread) PACE_MUST_CHECK;

/** The same where the spread is of no other use. */
pace_status pace_typical_step_of(pace_typical_step *out, const pace_rank *rank) PACE_MUST_CHECK;

/** The steps around the typical one that stand for those that repeat, at most so many, as --steps names them: "6:8". Of
 * an annotated trace warm-up and a lone pause are left out. *out is the caller's to free; NULL = all steps: they are no
 * more, and their mean is that of those that repeat within 5 %. */
pace_status pace_repeating_steps(char **out, const pace_rank *rank, size_t typical, size_t most) PACE_MUST_CHECK;

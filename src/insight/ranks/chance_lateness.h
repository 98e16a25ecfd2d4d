/* Whether it is always the same rank that is late, or another one in each step, as by chance: the lateness of the
 * latest over all steps, held against that of lateness that changes hands at random within each step. */
#pragma once

#include "base/memory.h"

typedef struct {
    bool by_chance;  /* in more than one case of twenty a rank is as late by chance */
    int64_t late_ns; /* by how much whichever rank was the latest came, summed over steps */
} pace_chance_lateness;

/** `late_ns`: steps x ranks, how late each came in each, which is shuffled. Never by chance where so few steps and
 * ranks could not tell. The same figures give the same answer: the shuffles are seeded. */
pace_chance_lateness pace_chance_lateness_of(int64_t *late_ns, size_t steps, size_t ranks);

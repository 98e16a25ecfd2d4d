/* Whose steps a column of steps a second counts. */
#pragma once

#include "base/memory.h"

/** How many times as many steps a second row `many` has as row `few`, which differs from it by having fewer workers
 * alone; 0 = they differ otherwise. */
typedef double (*pace_step_gain)(const void *rows, size_t few, size_t many);

/** Whether a table counts each worker's steps: a synchronous step takes no less time with more workers of one batch
 * each, so that more of them make more steps a second, mostly, only where each one's are counted. */
bool pace_counts_each_step(size_t rows, pace_step_gain gain, const void *context);

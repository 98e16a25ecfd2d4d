/* Which server, or which rank that merges, a tensor lies on. */
#pragma once

#include "../gradient_exchange.h"

/** Each tensor on the shard with the fewest bytes so far, in the list's order or, with `largest_first`, by size, equal
 * ones in the list's order. False: out of memory. */
bool pace_shards_place(int *shard_of, int shards, const pace_train_tensor *tensors, size_t count, bool largest_first);

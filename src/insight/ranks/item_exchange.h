/* What a communication kernel exchanges, by its own metadata or that of the host operator that launched it. */
#pragma once

#include "insight/rank.h"

/** NULL = the trace does not say. */
const pace_exchange_info *pace_item_exchange(const pace_rank *rank, uint32_t item);

/** The members of its group as the trace writes them ("[0, 1]"); "" = not said, or cut short. */
const char *pace_item_members(const pace_rank *rank, uint32_t item);

/* What a communication kernel exchanges, by its own metadata or that of the host operator that launched it. */
#pragma once

#include "insight/rank.h"

/** NULL = the trace does not say. */
const pace_exchange_info *pace_item_exchange(const pace_rank *rank, uint32_t item);

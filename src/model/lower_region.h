/* Regions of a step that one operator issues: what torch.compile makes of a pass, and device graphs of parts. */
#pragma once

#include "model/emit.h"

/** Opens a region whose operator is called `compiled`, or replays a graph: then one call launches all of it. */
void pace_region_open(pace_lowering *to, const char *compiled);

/** Closes it. Behind a graph autograd keeps, adds and exchanges the gradients that the graph has formed. */
void pace_region_close(pace_lowering *to);

/** Opens one around a whole pass, if one operator issues it. pace_region_leave_pass() closes it. */
void pace_region_enter_pass(pace_lowering *to, const char *compiled);
void pace_region_leave_pass(pace_lowering *to);

/** The host reads how many tokens each expert gets, for which it waits, and sends them: the next launch is made by the
 * call "dispatch". */
void pace_region_dispatch(pace_lowering *to);

/** Before a layer of a pass is lowered, in either direction: closes the graph of a block that ended before it, and
 * opens that of the block that begins with it. What a layer waits for is issued between the two. */
void pace_region_leave_block(pace_lowering *to, uint32_t layer);
void pace_region_enter_block(pace_lowering *to, uint32_t layer);
/** Closes the last of a pass. */
void pace_region_end_blocks(pace_lowering *to);

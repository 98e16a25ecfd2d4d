/* What a block keeps for its backward pass lies in the host's memory in between (offload=activations). */
#pragma once

#include "model/emit.h"

/** Forward, behind a layer: copies what its block keeps to the host, if the block ends here and another one follows in
 * the part. The block after the next waits for the copy: so many lie on the device. */
void pace_lower_copy_out(pace_lowering *to, uint32_t layer);

/** Backward, before a layer: if its block begins here, brings what the next block needs, and waits for its own. */
void pace_lower_copy_in(pace_lowering *to, uint32_t layer);

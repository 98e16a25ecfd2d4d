/* What this machine has for a training. */
#pragma once

/** Processors that this program may use. */
int pace_cores_here(void);
/** Bytes that programs may take without others being swapped out; 0 = nobody knows. */
double pace_free_bytes(void);

/* What workers and the servers that MPI started for them agree on. */
#pragma once

enum { PACE_SPAWNED_ADDRESS = 96, PACE_SPAWNED_END = 1 << 20 }; /* the tag of the message that ends a server */

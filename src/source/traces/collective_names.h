/* Collectives by the names that kernels, operators and profilers give them. Private to source/. */
#pragma once

/** "allreduce", "allgather", … as pace_graph_exchange has them, found anywhere in `text`, in any capitalisation and
 * with any underscores; "" when there is none. */
const char *pace_collective_in(const char *text);

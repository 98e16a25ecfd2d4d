/* Less than this no exchange takes, whatever the algorithm: bytes that must cross a cut, over all links of the cut. */
#pragma once

#include "exchange/collective.h"
#include "machine/doubts.h"
#include "machine/machine.h"

/** Seconds at the links' peaks, and what the doubt link_headroom says beyond them, without any latency. Cuts are around
 * a node, which all its NICs leave, and around a device. Switches between nodes may add and copy (SHARP), and inside a
 * node where the machine says so: then an all-reduce leaves, and enters, each part once. `bytes` is nccl-tests' size;
 * there are at least two ranks. */
double pace_exchange_least_s(const pace_machine *machine, const pace_doubts *doubts, pace_collective collective,
                             double bytes, int ranks_per_node, int nodes);

/*
 * What networks with shared links leave of the NICs' rate, in closed form: the most that the links above switches must
 * carry when every node sends to the one so much further, by what they can.
 */
#pragma once

#include "exchange/algorithms.h"
#include "machine/machine.h"

/** How many times as long bytes take when each of `nodes` nodes sends to the one `distance` further, from the NIC of
 * one rail to the same rail. At least 1. */
double pace_network_slowness_at(const pace_machine *machine, int nodes, int distance);

/** The same where one NIC sends alone. */
double pace_network_slowness_alone(const pace_machine *machine);

/** Switches beyond the first that a message passes when every node sends to the one `distance` further, or k to
 * k ^ distance: mean over the nodes. */
double pace_network_extra_hops(const pace_machine *machine, int nodes, int distance, bool pairs);

/** The first two, and the last, for all powers of two, and the mean of the first over all distances. */
void pace_network_slowness_of(pace_network_slowness *out, const pace_machine *machine, int nodes);

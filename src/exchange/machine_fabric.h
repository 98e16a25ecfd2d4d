/*
 * A machine as a fabric: the links inside its nodes (exchange/node_graph.h) and between them
 * (exchange/network_links.h), so that any machine that can be described can be simulated.
 */
#pragma once

#include "exchange/fabric.h"
#include "machine/machine.h"

/** Places are devices, node by node. `with_switch`: behind them a place for each node, the switch inside, which adds
 * and multiplies (NVLink SHARP). Messages take the machine's latency, and between nodes its network's for every
 * switch beyond the first; half of it to and from the switch.
 * PACE_E_INPUT when devices are not joined, or there is no such switch. */
pace_status pace_fabric_of_machine(pace_fabric *out, const pace_machine *machine, bool with_switch) PACE_MUST_CHECK;

/** Takes a share of every link between nodes away: traffic of others. 0 <= share < 1; PACE_E_USAGE. */
pace_status pace_fabric_load_network(pace_fabric *fabric, double share) PACE_MUST_CHECK;

/** Makes ranks slow, each at 1 / slowness[rank] of its rate: the links that are a device's own, and its way to its NIC,
 * which other devices may share. What it takes of links that all share stays as it is. After pace_fabric_put(). */
pace_status pace_fabric_slow_ranks(pace_fabric *fabric, const double *slowness) PACE_MUST_CHECK;

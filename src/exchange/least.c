#include "exchange/least.h"

#include <math.h>

/* Bytes that leave, or enter, the busiest of `parts` alike over those of the whole vector. Without a switch that adds,
 * an all-reduce moves 2(n - 1) vectors in all (Patarasu and Yuan 2009). */
static double crossing(pace_collective collective, int parts, bool switch_adds) {
    return collective == PACE_ALLREDUCE && switch_adds ? 1 : pace_bus_factor(collective, parts);
}

/* Of one device, one direction, over all its links. */
static double device_rate(const pace_machine *m) {
    int most = 0;
    if (m->mesh_devices == 0) return m->inside.bytes_per_s;
    for (int i = 0; i < m->mesh_devices; i++) {
        int bricks = 0;
        for (int j = 0; j < m->mesh_devices; j++) bricks += m->bricks[i][j];
        if (bricks > most) most = bricks;
    }
    return most * m->brick_bytes_per_s + m->pcie_bytes_per_s;
}

static double around_device_s(const pace_machine *m, pace_collective collective, double bytes, int ranks, int nodes) {
    double rate = device_rate(m) + (nodes > 1 ? m->nics * m->between.bytes_per_s : 0);
    return rate > 0 ? bytes * crossing(collective, ranks, m->multicast || nodes > 1) / rate : 0;
}

/* All-to-all counts what one rank starts with. */
static double around_node_s(const pace_machine *m, pace_collective collective, double bytes, int ranks_per_node,
                            int nodes) {
    double rate = m->nics * m->between.bytes_per_s, vectors = collective == PACE_ALLTOALL ? ranks_per_node : 1;
    return nodes > 1 && rate > 0 ? bytes * vectors * crossing(collective, nodes, true) / rate : 0;
}

double pace_exchange_least_s(const pace_machine *machine, const pace_doubts *doubts, pace_collective collective,
                             double bytes, int ranks_per_node, int nodes) {
    double device_s = around_device_s(machine, collective, bytes, ranks_per_node * nodes, nodes);
    double node_s = around_node_s(machine, collective, bytes, ranks_per_node, nodes);
    return fmax(device_s, node_s) / doubts->figure[PACE_DOUBT_LINK_HEADROOM];
}

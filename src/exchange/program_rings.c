/*
 * Rings as NCCL makes them on a machine: one for every NIC, or on a mesh of bricks as many as find bricks of their own.
 * Each carries an equal part of the vector.
 *
 *   a mesh, one node         closed rings over the bricks (ring_search.h)
 *   a NIC to a device        each ring is the one before, turned by one device: ring c enters a node at device c and
 *                            visits all devices. With an even number of nodes every other node is visited backwards,
 *                            so that a ring leaves on the rail it came in on; with an odd number it changes rails.
 *   a NIC to some devices    ring c enters at one of NIC c's devices and leaves at another, always on its rail
 *   a mesh, several nodes    the same, and each ring has bricks of its own
 *
 * On a switch inside one node one ring fills all ports.
 */
#include "exchange/node_graph.h"
#include "exchange/program_build.h"
#include "exchange/ring_search.h"

typedef pace_program_question sizes;

/* Patarasuk, Yuan: "Bandwidth optimal all-reduce algorithms for clusters of workstations" (JPDC 2009). */
static pace_status one_ring(pace_program *p, const sizes *q) {
    const pace_ring_blocks blocks = {{0, 1, 1, q->ranks}, 1, pace_program_viewer(q)};
    double part = q->bytes / q->ranks;
    PACE_TRY(pace_program_open_class(p));
    if (pace_program_reduces(q)) PACE_TRY(pace_program_around(p, 1, q->ranks, 0, part, true, &blocks));
    return pace_program_gathers(q) ? pace_program_around(p, 1, q->ranks, 0, part, false, &blocks) : PACE_OK;
}

/* A rank's neighbours on one ring. */
typedef struct {
    pace_peer next, before;
} place;

static pace_peer on(pace_peer peer, uint32_t channel) {
    peer.channel = (uint16_t)channel;
    return peer;
}

/* --- what a rank does on one ring --------------------------------------------------------------------------------- */

static pace_status around(pace_program *p, const sizes *q, const place *at, double part, bool reduce) {
    for (uint32_t step = 1; step < q->ranks; step++) {
        PACE_TRY(pace_program_send(p, at->next, 0, part));
        PACE_TRY(pace_program_receive(p, at->before, 0, part));
        if (reduce) PACE_TRY(pace_program_local(p, PACE_OPERATION_REDUCE, part));
    }
    return PACE_OK;
}

static pace_status add_lane(pace_program *p, const sizes *q, uint32_t lane, uint32_t rings, const place *at) {
    double part = q->bytes / rings / q->ranks;
    PACE_TRY(lane ? pace_program_open_lane(p) : pace_program_open_class(p));
    if (q->collective != PACE_ALLGATHER) PACE_TRY(around(p, q, at, part, true));
    return q->collective != PACE_REDUCESCATTER ? around(p, q, at, part, false) : PACE_OK;
}

/* --- rings that are each other's turns ---------------------------------------------------------------------------- */

/* Between any two devices bricks of their own: the turns of 0, 1, -1, 2, -2, ... use each once (Walecki's paths). */
void pace_program_way_through(uint32_t *way, uint32_t devices, bool zigzag) {
    for (uint32_t i = 0; i < devices; i++) way[i] = !zigzag ? i : i % 2 ? (i + 1) / 2 : (devices - i / 2) % devices;
}

/* Lane i of a device is the ring on which it comes i-th. The number of a message's channel is the lane it goes to. */
static pace_status add_turned(pace_program *p, const sizes *q, const uint32_t *way, pace_peer out, pace_peer in) {
    uint32_t g = q->group;
    for (uint32_t i = 0; i < g; i++) {
        place at = {on(out, 0), on(in, 0)};
        if (i + 1 < g) at.next = on(pace_peer_shift(1, g, (int64_t)way[i + 1] - way[i]), i + 1);
        if (i > 0) at.before = on(pace_peer_shift(1, g, (int64_t)way[i - 1] - way[i]), i);
        PACE_TRY(add_lane(p, q, i, g, &at));
    }
    return PACE_OK;
}

static pace_status there_and_back(pace_program *p, const sizes *q, const uint32_t *way) {
    uint32_t g = q->group, back[UINT8_MAX];
    pace_peer next = pace_peer_shift(g, q->ranks / g, 1), before = pace_peer_shift(g, q->ranks / g, -1);
    for (uint32_t i = 0; i < g; i++) back[i] = way[g - 1 - i];
    for (uint32_t rank = 0; rank < q->ranks; rank++) p->class_of[rank] = rank / g % 2;
    PACE_TRY(add_turned(p, q, way, next, before));
    return add_turned(p, q, back, next, before);
}

/* From the last device of a ring to its first one of the next node: a shift, greater where device numbers begin anew.
 */
static pace_status onward(pace_program *p, const sizes *q, const uint32_t *way) {
    uint32_t g = q->group, ahead = (g - way[g - 1]) % g;
    for (uint32_t rank = 0; rank < q->ranks; rank++)
        p->class_of[rank] = 2u * (rank % g + ahead >= g) + (rank % g < ahead);
    for (uint32_t class = 0; class < 4; class ++) {
        int64_t out = class & 2 ? ahead : (int64_t)g + ahead, in = class & 1 ? ahead : (int64_t)g + ahead;
        PACE_TRY(add_turned(p, q, way, pace_peer_shift(1, q->ranks, out), pace_peer_shift(1, q->ranks, -in)));
    }
    return PACE_OK;
}

static pace_status turned(pace_program *p, const sizes *q, bool zigzag) {
    uint32_t way[UINT8_MAX];
    pace_program_way_through(way, q->group, zigzag);
    return q->ranks / q->group % 2 == 0 ? there_and_back(p, q, way) : onward(p, q, way);
}

/* A NIC for `m` devices: ring c enters at the second of NIC c's and comes back to the first. A device that is the b-th
 * of its NIC stands on lane j at j m + b - 1. */
static pace_status shared_nics(pace_program *p, const sizes *q, uint32_t nics) {
    uint32_t g = q->group, m = g / nics;
    for (uint32_t rank = 0; rank < q->ranks; rank++) p->class_of[rank] = rank % m;
    for (uint32_t b = 0; b < m; b++)
        for (uint32_t lane = 0; lane < nics; lane++) {
            uint32_t stands = (lane * m + b + g - 1) % g;
            place at = {on(pace_peer_shift(1, q->ranks, (int64_t)g + 1), 0),
                        on(pace_peer_shift(1, q->ranks, -(int64_t)g - 1), 0)};
            if (stands + 1 < g) at.next = on(pace_peer_shift(1, g, 1), stands + 1);
            if (stands > 0) at.before = on(pace_peer_shift(1, g, -1), stands);
            PACE_TRY(add_lane(p, q, lane, nics, &at));
        }
    return PACE_OK;
}

/* --- rings that are listed ---------------------------------------------------------------------------------------- */

/* The neighbours of device d on a ring: in a digit of `extent` values; from the last device of a node `onward` more. */
static place listed_at(const pace_rings *rings, uint32_t r, uint32_t d, uint32_t extent, int64_t onward) {
    const unsigned char *order = rings->order[r];
    uint32_t last = (uint32_t)rings->devices - 1, i = 0;
    while (order[i] != d) i++;
    int64_t next = i < last ? (int64_t)order[i + 1] - d : order[0] + onward - d;
    int64_t before = i > 0 ? (int64_t)order[i - 1] - d : order[last] - onward - d;
    return (place){on(pace_peer_shift(1, extent, next), r), on(pace_peer_shift(1, extent, before), r)};
}

static pace_status listed(pace_program *p, const sizes *q, const pace_rings *rings) {
    uint32_t g = q->group, count = (uint32_t)rings->count;
    for (uint32_t rank = 0; rank < q->ranks; rank++) p->class_of[rank] = rank % g;
    for (uint32_t d = 0; d < g; d++)
        for (uint32_t r = 0; r < count; r++) {
            const place at = listed_at(rings, r, d, q->ranks, q->ranks > g ? g : 0);
            PACE_TRY(add_lane(p, q, r, count, &at));
        }
    return PACE_OK;
}

/* "rails" on a mesh: reduce-scatter on all rings of a node, then lane 0 along the rail when all lanes are done, then
 * all lanes again. */
static pace_status rail_lane(pace_program *p, const sizes *q, uint32_t lane, uint32_t rings, const place *at) {
    const sizes node = {.ranks = q->group};
    uint32_t nodes = q->ranks / q->group, done = 0;
    bool reduces = q->collective != PACE_ALLGATHER, gathers = q->collective != PACE_REDUCESCATTER;
    double part = q->bytes / q->group;
    if (reduces) {
        PACE_TRY(around(p, &node, at, part / rings, true));
        done = 3 * (q->group - 1);
    }
    for (uint32_t other = 1; other < rings && lane == 0 && reduces; other++)
        PACE_TRY(pace_program_wait(p, other, done - 1));
    if (lane == 0 && reduces) PACE_TRY(pace_program_around(p, q->group, nodes, 1, part / nodes, true, NULL));
    if (!gathers) return PACE_OK;
    if (lane == 0) PACE_TRY(pace_program_around(p, q->group, nodes, 1, part / nodes, false, NULL));
    else PACE_TRY(pace_program_wait(p, 0, done + (reduces ? rings - 1 + 3 * (nodes - 1) : 0) + 2 * (nodes - 1) - 1));
    return around(p, &node, at, part / rings, false);
}

static pace_status rails_on_rings(pace_program *p, const sizes *q, const pace_rings *rings) {
    for (uint32_t rank = 0; rank < q->ranks; rank++) p->class_of[rank] = rank % q->group;
    for (uint32_t d = 0; d < q->group; d++) {
        PACE_TRY(pace_program_open_class(p));
        for (uint32_t r = 0; r < (uint32_t)rings->count; r++) {
            const place at = listed_at(rings, r, d, q->group, 0);
            if (r) PACE_TRY(pace_program_open_lane(p));
            PACE_TRY(rail_lane(p, q, r, (uint32_t)rings->count, &at));
        }
    }
    return PACE_OK;
}

/* Bricks, or where a switch or the host joins all, links enough for any ring. */
static void links_of(pace_ring_links out, const pace_machine *m) {
    for (int i = 0; i < m->devices; i++)
        for (int j = 0; j < m->devices; j++)
            out[i][j] = m->mesh_devices > 0 ? m->bricks[i][j] : i == j ? 0 : PACE_RINGS_MOST;
}

/* The two devices nearest to a NIC; of one alone, that and the next NIC's. */
static void ends_at(unsigned char *first, unsigned char *last, const pace_node_graph *g, uint32_t nic) {
    uint32_t near[2] = {UINT32_MAX, UINT32_MAX}, found[2] = {0, 0};
    for (uint32_t d = 0; d < g->devices; d++) {
        uint32_t cell = d * g->ends + g->devices + nic, away = g->first[cell + 1] - g->first[cell];
        if (g->nic_of[d] != nic) continue;
        if (away < near[0]) near[1] = near[0], found[1] = found[0], near[0] = away, found[0] = d;
        else if (away < near[1]) near[1] = away, found[1] = d;
    }
    for (uint32_t d = 0; d < g->devices && near[1] == UINT32_MAX; d++)
        if (d != found[0] && g->nic_of[d] == (nic + 1) % g->nics) near[1] = 0, found[1] = d;
    if (near[1] == UINT32_MAX) found[1] = (found[0] + 1) % g->devices;
    *first = (unsigned char)found[0];
    *last = (unsigned char)found[1];
}

pace_status pace_program_open_rings(pace_rings *out, const pace_machine *m) {
    pace_ring_links links = {{0}};
    unsigned char first[PACE_RINGS_MOST], last[PACE_RINGS_MOST];
    pace_node_graph graph;
    int count = 0;
    links_of(links, m);
    PACE_TRY(pace_node_graph_init(&graph, m));
    for (uint32_t nic = 0; nic < graph.nics && count < PACE_RINGS_MOST; nic++) {
        bool taken = false; /* a NIC no device takes joins nothing */
        for (uint32_t d = 0; d < graph.devices; d++) taken |= graph.nic_of[d] == nic;
        if (taken) ends_at(&first[count], &last[count], &graph, nic), count++;
    }
    pace_node_graph_free(&graph);
    pace_rings_open(out, links, m->devices, first, last, count);
    return PACE_OK;
}

/* --- which -------------------------------------------------------------------------------------------------------- */

static pace_status rings_of_several(pace_program *p, const sizes *q) {
    const pace_machine *m = q->machine;
    bool mesh = m->mesh_devices > 0;
    uint32_t nics = m->nics > 0 ? (uint32_t)m->nics : 1;
    pace_rings rings = {0};
    if (m->host.count == 0 && (!mesh || (pace_machine_mesh_is_full(m) && q->group % 2 == 0)))
        return mesh || nics >= q->group || q->group % nics ? turned(p, q, mesh) : shared_nics(p, q, nics);
    if (q->group <= PACE_MESH_MOST) PACE_TRY(pace_program_open_rings(&rings, m));
    return rings.count ? listed(p, q, &rings) : one_ring(p, q);
}

static pace_status machine_rings(pace_program *p, const sizes *q) {
    const pace_machine *m = q->machine;
    pace_rings rings = {0};
    pace_ring_links links = {{0}};
    if (q->group < 2 || q->group > UINT8_MAX || q->ranks < 2) return one_ring(p, q);
    if (q->ranks > q->group) return rings_of_several(p, q);
    if (q->group <= PACE_MESH_MOST) links_of(links, m);
    if (m->mesh_devices > 0) pace_rings_closed(&rings, links, (int)q->group, PACE_RINGS_MOST);
    return rings.count ? listed(p, q, &rings) : one_ring(p, q);
}

pace_status pace_program_mesh_rails(bool *done, pace_program *p, const sizes *q) {
    const pace_machine *m = q->machine;
    pace_rings rings = {0};
    pace_ring_links links = {{0}};
    *done = false;
    if (!m || m->mesh_devices == 0 || (int)q->group != m->devices) return PACE_OK;
    links_of(links, m);
    pace_rings_closed(&rings, links, m->devices, PACE_RINGS_MOST);
    *done = rings.count > 0;
    return *done ? rails_on_rings(p, q, &rings) : PACE_OK;
}

/* --- the row "ring" ---------------------------------------------------------------------------------------------- */

pace_status pace_program_ring(pace_program *p, const sizes *q) {
    return q->machine ? machine_rings(p, q) : one_ring(p, q);
}

/*
 * Double binary trees. Over nodes as NCCL makes them: a channel for every NIC, with two trees of nodes that carry half
 * of its bytes each. Inside a node a channel's devices are a chain that begins at its NIC's device, the head; only
 * heads send to other nodes, and always on their rail. Up the trees the vector is added, down them the sum is handed
 * out.
 *
 * Where nodes are switched, or every pair of devices has bricks, channels are turns of the first by as many devices as
 * a NIC has, and a node's devices are of few classes.
 *
 * Inside one node every rank is a node of its own.
 */
#include "exchange/program_build.h"
#include "exchange/ring_search.h"

#include <string.h>

typedef pace_program_question sizes;

/* The chains of a node: channel -> devices from the head on; of turned ones channel 0's. */
typedef struct {
    uint32_t devices, channels;
    uint8_t wire; /* between nodes */
    bool turned;
    unsigned char order[PACE_RINGS_MOST][UINT8_MAX + 1];
} chains;

/* Where a device stands in one channel. The tags tell messages of two channels between the same devices apart. */
typedef struct {
    int64_t next, before; /* devices further; 0 = it is the last, the head */
    uint32_t next_tag, before_tag;
    const pace_tree_branches *across; /* of a head: its nodes; NULL for others */
    uint8_t wire;                     /* to other nodes */
    uint32_t first, of;               /* the tree's first block of the vector's */
} place;

static uint32_t segments_of(const sizes *q) { return q->segments ? q->segments : 1; }

static pace_peer near(const sizes *q, int64_t by, uint32_t tag, bool down, int tree) {
    pace_peer peer = pace_peer_shift(1, q->group, by);
    peer.channel = (uint16_t)(4 * tag + 2 * (uint32_t)tree + down);
    return peer;
}

static pace_peer far(const sizes *q, int64_t by, bool down, int tree) {
    pace_peer peer = pace_peer_shift(q->group, q->ranks / q->group, by);
    peer.channel = (uint16_t)(2 * tree + down);
    return peer;
}

static pace_status take(pace_program *p, pace_peer from, uint8_t wire, double bytes) {
    PACE_TRY(pace_program_receive(p, from, wire, bytes));
    return pace_program_local(p, PACE_OPERATION_REDUCE, bytes);
}

/* From the end of the chain and the nodes below towards the root. */
static pace_status up(pace_program *p, const sizes *q, const place *at, int tree, double piece) {
    if (at->next) PACE_TRY(take(p, near(q, at->next, at->next_tag, false, tree), 0, piece));
    if (!at->across) return pace_program_send(p, near(q, at->before, at->before_tag, false, tree), 0, piece);
    for (int i = 0; i < 2; i++)
        if (at->across->down[i]) PACE_TRY(take(p, far(q, at->across->down[i], false, tree), at->wire, piece));
    return at->across->up ? pace_program_send(p, far(q, at->across->up, false, tree), at->wire, piece) : PACE_OK;
}

/* Operations that up() adds at the root. */
static uint32_t taken(const place *at) {
    return 2 * ((at->next != 0) + (at->across->down[0] != 0) + (at->across->down[1] != 0));
}

/* The same way back; a head passes on inside its node first, which is soon done. */
static pace_status down(pace_program *p, const sizes *q, const place *at, int tree, uint32_t lane_up, uint32_t segment,
                        double piece) {
    if (!at->across) PACE_TRY(pace_program_receive(p, near(q, at->before, at->before_tag, true, tree), 0, piece));
    else if (at->across->up) PACE_TRY(pace_program_receive(p, far(q, at->across->up, true, tree), at->wire, piece));
    else if (taken(at)) PACE_TRY(pace_program_wait(p, lane_up, (segment + 1) * taken(at) - 1));
    if (at->next) PACE_TRY(pace_program_send(p, near(q, at->next, at->next_tag, true, tree), 0, piece));
    if (at->across && at->across->down[0])
        PACE_TRY(pace_program_send(p, far(q, at->across->down[0], true, tree), at->wire, piece));
    return PACE_OK;
}

static void at_segment(pace_program *p, const place *at, uint32_t segment) {
    pace_program_at(p, at->first + segment, 1, 1, at->of);
}

/* To a head's second child from a lane of its own: both are sent to at once. */
static pace_status down_second(pace_program *p, const sizes *q, const place *at, int tree, uint32_t lane_down,
                               double piece) {
    uint32_t a_segment = 1u + (at->next != 0) + (at->across->down[0] != 0);
    PACE_TRY(pace_program_open_lane(p));
    for (uint32_t s = 0; s < segments_of(q); s++) {
        at_segment(p, at, s);
        PACE_TRY(pace_program_wait(p, lane_down, s * a_segment)); /* it has come */
        PACE_TRY(pace_program_send(p, far(q, at->across->down[1], true, tree), at->wire, piece));
    }
    return PACE_OK;
}

/* Both ways of one tree of a channel. */
static pace_status add_lanes(pace_program *p, const sizes *q, const place *at, int tree, uint32_t *lane, double piece) {
    uint32_t lane_up = *lane;
    if (lane_up) PACE_TRY(pace_program_open_lane(p));
    for (uint32_t s = 0; s < segments_of(q); s++) {
        at_segment(p, at, s);
        PACE_TRY(up(p, q, at, tree, piece));
    }
    PACE_TRY(pace_program_open_lane(p));
    for (uint32_t s = 0; s < segments_of(q); s++) {
        at_segment(p, at, s);
        PACE_TRY(down(p, q, at, tree, lane_up, s, piece));
    }
    *lane += 2;
    if (!at->across || !at->across->down[1]) return PACE_OK;
    *lane += 1;
    return down_second(p, q, at, tree, lane_up + 1, piece);
}

/* Turned channels are told apart by how far from the head the upper end of a message is: a device is so far from the
 * head in one of them only. */
static place place_in(const chains *c, uint32_t channel, uint32_t device) {
    uint32_t g = c->devices, i = 0, turn = c->turned ? channel * (g / c->channels) : 0;
    const unsigned char *order = c->order[c->turned ? 0 : channel];
    while ((order[i] + turn) % g != device) i++;
    place at = {.wire = c->wire, .next_tag = c->turned ? i : channel, .before_tag = c->turned ? i - 1 : channel};
    if (i + 1 < g) at.next = (int64_t)order[i + 1] - order[i];
    if (i > 0) at.before = (int64_t)order[i - 1] - order[i];
    return at;
}

static pace_status add_class(pace_program *p, const sizes *q, const chains *c, uint32_t device,
                             const pace_tree_branches of[PACE_TREES]) {
    uint32_t lane = 0;
    double piece = q->bytes / PACE_TREES / c->channels / segments_of(q);
    PACE_TRY(pace_program_open_class(p));
    for (uint32_t channel = 0; channel < c->channels; channel++)
        for (int tree = 0; tree < PACE_TREES; tree++) {
            place at = place_in(c, channel, device);
            at.across = at.before ? NULL : &of[tree];
            at.first = (channel * PACE_TREES + (uint32_t)tree) * segments_of(q);
            at.of = c->channels * PACE_TREES * segments_of(q);
            PACE_TRY(add_lanes(p, q, &at, tree, &lane, piece));
        }
    return PACE_OK;
}

/* --- chains of a machine ------------------------------------------------------------------------------------------ */

static void turn_chains(chains *c, uint32_t devices, uint32_t channels, bool zigzag) {
    uint32_t way[UINT8_MAX];
    pace_program_way_through(way, devices, zigzag);
    c->devices = devices;
    c->channels = channels;
    c->turned = true;
    for (uint32_t i = 0; i < devices; i++) c->order[0][i] = (unsigned char)way[i];
}

static void list_chains(chains *c, const pace_rings *rings) {
    c->devices = (uint32_t)rings->devices;
    c->channels = (uint32_t)rings->count;
    for (uint32_t r = 0; r < c->channels; r++) memcpy(c->order[r], rings->order[r], c->devices);
}

static pace_status find_chains(chains *c, const sizes *q) {
    const pace_machine *m = q->machine;
    uint32_t g = q->group, nics = m && m->nics > 0 ? (uint32_t)m->nics : g;
    bool mesh = m && m->mesh_devices > 0;
    pace_rings rings = {0};
    if (!m || (m->host.count == 0 && (!mesh || (pace_machine_mesh_is_full(m) && g % 2 == 0)))) {
        turn_chains(c, g, mesh || nics >= g || g % nics ? g : nics, mesh);
        return PACE_OK;
    }
    if (g <= PACE_MESH_MOST) PACE_TRY(pace_program_open_rings(&rings, m));
    if (rings.count) list_chains(c, &rings);
    else turn_chains(c, g, 1, false);
    return PACE_OK;
}

/* --- classes ------------------------------------------------------------------------------------------------------ */

/* Nodes with the same branches in both trees are alike, and of a node devices that are turns of each other. */
static pace_status of_nodes(pace_program *p, const sizes *q, const chains *c) {
    uint32_t g = q->group, nodes = q->ranks / g, kinds = c->turned ? g / c->channels : g, *kind_of;
    pace_tree_branches *known;
    size_t count;
    PACE_TRY(pace_program_branches(&known, &count, &kind_of, nodes, PACE_TREES));
    pace_status status = PACE_OK;
    for (size_t k = 0; k < count && status == PACE_OK; k++)
        for (uint32_t d = 0; d < kinds && status == PACE_OK; d++)
            status = add_class(p, q, c, d, &known[k * PACE_TREES]);
    for (uint32_t rank = 0; rank < q->ranks; rank++) p->class_of[rank] = kind_of[rank / g] * kinds + rank % g % kinds;
    PACE_FREE(known, kind_of);
    return status;
}

pace_status pace_program_double_tree(pace_program *p, const sizes *q) {
    bool nodes = q->group && q->group <= UINT8_MAX && q->ranks > q->group && q->ranks % q->group == 0;
    chains c = {.wire = nodes};
    sizes flat = *q;
    if (!nodes) flat.group = 1, flat.machine = NULL;
    PACE_TRY(find_chains(&c, &flat));
    return of_nodes(p, &flat, &c);
}

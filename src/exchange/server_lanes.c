#include "exchange/server_lanes.h"
#include "base/numbers.h"

static double over(double bytes, double rate) { return rate > 0 ? bytes / rate : 0; }

enum { WORKER_LINK, STAGING, CONTROL, WORKER_LANES };

static const char *const worker_names[WORKER_LANES] = {"worker link", "staging copies", "control messages"};

/* A server moves a byte at its link's rate, or at what its processor passes on, whichever is slower. */
typedef struct {
    const pace_approach *approach;
    double senders, servers, colocated; /* of a node over its NICs; colocated: 1 when each server has a worker's host */
    double server_s_per_byte, worker_s_per_byte, stage_s_per_byte, stream_rate;
} terms;

static void terms_of(terms *out, const pace_approach *a, const pace_machine *m, const pace_approach_setup *setup) {
    int near = setup->ranks_per_node ? setup->ranks_per_node : m->devices,
        nodes = setup->nodes ? setup->nodes : m->nodes;
    double each = a->local_first > 0 ? 1 : near,
           link = nodes > 1 ? pace_machine_node_rate(m) : pace_machine_inside_rate(m);
    double encode = m->server_bytes_per_s > 0 ? 1 / m->server_bytes_per_s : a->encode_s_per_byte;
    *out = (terms){.approach = a, .senders = each * nodes, .servers = a->servers > 0 ? a->servers : nodes};
    out->colocated = out->servers <= nodes;
    if (a->encode_s_per_byte <= 0) encode = 0; /* nothing is encoded: the link alone */
    out->server_s_per_byte = pace_most(over(1, link), encode) + (a->on_device > 0 ? 1 / setup->copy_rate : 0);
    out->worker_s_per_byte = pace_most(over(each, link), encode);
    out->stage_s_per_byte = a->copies * (a->local_first > 0 ? near : 1) / setup->copy_rate;
    if (a->local_first > 0 && a->copies <= 0) out->stage_s_per_byte = over(near - 1, pace_machine_inside_rate(m));
    out->stream_rate = a->streams > 0 ? m->stream_bytes_per_s : 0;
}

/* What a worker sends to the server on its own host crosses no wire. */
static double arriving(const terms *t) { return t->senders - (t->colocated > 0 ? 1 : 0); }

/* All workers send to the server at a time; one connection may carry less than its share of that. */
static double server_work(const terms *t, double bytes) {
    const pace_approach *a = t->approach;
    if (arriving(t) <= 0) return 0;
    double fresh = a->fresh_bytes > 0 && bytes > a->fresh_bytes ? a->fresh_s_per_byte : 0;
    return pace_most(bytes * arriving(t) * (t->server_s_per_byte + fresh), over(bytes, t->stream_rate));
}

static double worker_work(const terms *t, int lane, double bytes) {
    const pace_approach *a = t->approach;
    switch (lane) {
    case WORKER_LINK: return bytes * t->worker_s_per_byte * (t->senders > 1 || t->servers > 1 ? 1 : 0);
    case STAGING: return bytes * t->stage_s_per_byte;
    default: /* one thread does all of a tensor before the next, or threads do as many as there are servers */
        return a->serial > 0 ? a->control_s + bytes * t->worker_s_per_byte : a->control_s / t->servers;
    }
}

/* What of a worker's bytes crosses its link: those for the server beside it do not, if each worker has one. The worker
 * that counts is the one beside the server with the fewest. */
static double share_sent(const terms *t, size_t server, size_t emptiest) {
    if (!(t->colocated > 0) || t->servers < t->senders) return 1;
    return t->approach->splits > 0 ? 1 - 1 / t->servers : server != emptiest;
}

/* Tensors are made in the order of the forward pass, each on the server that has the fewest bytes so far. `sent`: what
 * of each goes over the worker's link. */
static pace_status place(double *work_s, double *sent, const terms *t, const pace_gradients *gradients) {
    size_t servers = (size_t)t->servers, emptiest = 0, *server_of = pace_alloc(gradients->count + 1, sizeof *server_of);
    double *held = pace_alloc(servers + 1, sizeof *held);
    if (!held || !server_of) {
        PACE_FREE(held, server_of);
        return PACE_E_MEMORY;
    }
    for (size_t i = gradients->count; i-- > 0;) {
        size_t best = 0;
        for (size_t k = 1; k < servers; k++)
            if (held[k] < held[best]) best = k;
        double each = server_work(t, gradients->bytes[i]);
        held[best] += gradients->bytes[i];
        server_of[i] = best;
        if (t->approach->splits > 0)
            for (size_t k = 0; k < servers; k++) work_s[k * gradients->count + i] = each / t->servers;
        else work_s[best * gradients->count + i] = each;
    }
    for (size_t k = 1; k < servers; k++)
        if (held[k] < held[emptiest]) emptiest = k;
    for (size_t i = 0; i < gradients->count; i++) sent[i] = share_sent(t, server_of[i], emptiest);
    PACE_FREE(held, server_of);
    return PACE_OK;
}

pace_status pace_server_lanes_make(pace_server_lanes *out, const pace_approach *approach, const pace_machine *machine,
                                   const pace_gradients *gradients, const pace_approach_setup *setup) {
    terms t;
    terms_of(&t, approach, machine, setup);
    if (t.servers != (double)(size_t)t.servers || t.servers > 1 << 20)
        return pace_fail(PACE_E_USAGE, "%s: expected a whole number of servers up to 2^20, found %g", approach->name,
                         t.servers);
    if (!(setup->copy_rate > 0)) return pace_fail(PACE_E_USAGE, "expected a rate of copies above 0");
    size_t servers = (size_t)t.servers, count = gradients->count;
    double *work_s = pace_alloc((servers + WORKER_LANES) * count + 1, sizeof *work_s);
    if (!work_s) return PACE_E_MEMORY;
    double *worker_s = work_s + servers * count; /* first what of each tensor is sent */
    pace_status status = place(work_s, worker_s, &t, gradients);
    for (int lane = WORKER_LANES; lane-- > WORKER_LINK;)
        for (size_t i = 0; i < count; i++) {
            double sent = lane == WORKER_LINK ? worker_s[i] : 1;
            worker_s[(size_t)lane * count + i] = sent * worker_work(&t, lane, gradients->bytes[i]);
        }
    for (size_t i = 0; setup->slowness > 0 && i < (servers + WORKER_LANES) * count; i++) work_s[i] *= setup->slowness;
    return PACE_GIVE(out, ((pace_server_lanes){servers + WORKER_LANES, count, servers, work_s}), status,
                     pace_free(work_s));
}

void pace_server_lanes_free(pace_server_lanes *lanes) {
    pace_free(lanes->work_s);
    *lanes = (pace_server_lanes){0};
}

const char *pace_server_lane_name(const pace_server_lanes *lanes, size_t lane) {
    return lane < lanes->servers ? "fullest server" : worker_names[lane - lanes->servers];
}

/* What NCCL reaches of what it believes: docs/exchange.md, "What is reached". The constants are catalog/nccl.yaml,
 * section "reached". */
#include "base/numbers.h"
#include "exchange/nccl.h"

#include <math.h>

static pace_nccl_reached_kind kind_of(const pace_nccl_curves *c, int algorithm, int protocol) {
    if (c->nodes > 1)
        return c->over_xgmi                      ? PACE_REACHED_ACROSS_XGMI
               : algorithm == PACE_NCCL_NVLSTREE ? PACE_REACHED_ACROSS_SWITCH
               : protocol == PACE_NCCL_LL        ? PACE_REACHED_ACROSS_LL
               : protocol == PACE_NCCL_LL128     ? PACE_REACHED_ACROSS_LL128
                                                 : PACE_REACHED_ACROSS;
    if (pace_collective_rows[c->collective].sends) return PACE_REACHED_SENDS;
    if (algorithm == PACE_NCCL_DIRECT) return PACE_REACHED_DIRECT;
    if (algorithm == PACE_NCCL_NVLS || algorithm == PACE_NCCL_NVLSTREE) return PACE_REACHED_SWITCH;
    return protocol == PACE_NCCL_LL      ? PACE_REACHED_LL
           : protocol == PACE_NCCL_LL128 ? PACE_REACHED_LL128
           : c->over_pcie                ? PACE_REACHED_PCIE
                                         : PACE_REACHED_SIMPLE;
}

/* A rank copies its own part from buffer to buffer with the same threads: one part more than there are steps. Networks
 * are so slow that it does not count. */
static double with_own_part(const pace_nccl_curves *c, pace_nccl_reached_kind kind) {
    if (kind == PACE_REACHED_SWITCH || kind >= PACE_REACHED_DIRECT || c->ranks < 2) return 1;
    int passes = pace_collective_rows[c->collective].passes;
    return passes ? 1 + c->own_part / ((double)passes * (c->ranks - 1)) : 1;
}

/* One thread starts device after device: each takes a call, a start of every send, and of more channels for more
 * bytes; RCCL starts all of a device's with one call. Over several nodes every device has a process, which is ready
 * before the network is. */
static double host_s(const pace_nccl *nccl, const pace_nccl_curves *c, double bytes, pace_nccl_stack stack) {
    const pace_nccl_host *host = &nccl->reached.host[stack];
    if (c->nodes > 1 && stack != PACE_STACK_FRAMEWORK) return 0;
    double devices = (double)c->ranks / c->nodes, sends = c->collective == PACE_ALLTOALL ? c->ranks : 0;
    if (c->over_xgmi) return host->call_s + devices * host->device_s;
    double channels =
        pace_collective_rows[c->collective].sends ? 0 : pace_least(1, bytes / nccl->reached.full_channels_bytes);
    return host->call_s + devices * (host->device_s + host->send_s * sends + host->channels_s * channels);
}

/* T = launch + max(w r + v f u / (1 + u), w l) + e X, where w is NCCL's latency without its base, v the same without
 * what hops take beyond NCCL's figures, X its time of bytes, and u = sqrt(X / v) says how far the pipeline of chunks is
 * filled. e X is at least what the channels of a message take. The host works while devices do: both add as squares. */
double pace_nccl_reached_time(double *waiting_share, const pace_nccl *nccl, const pace_nccl_curves *c, int algorithm,
                              int protocol, double bytes, pace_nccl_stack stack) {
    const pace_nccl_reached *reached = &nccl->reached;
    double believed = pace_nccl_time(nccl, c, algorithm, protocol, bytes);
    double latency_s = pace_nccl_latency(c, algorithm, protocol, bytes);
    *waiting_share = latency_s / believed;
    if (stack == PACE_STACK_BELIEF || !isfinite(believed)) return believed;
    pace_nccl_reached_kind kind = kind_of(c, algorithm, protocol);
    int base = protocol == PACE_NCCL_SIMPLE ? PACE_NCCL_SIMPLE : PACE_NCCL_LL;
    double hops_s = latency_s - nccl->base_s[PACE_NCCL_RING][base] + c->late_s[algorithm][protocol];
    double wait = reached->hop * pace_most(hops_s, 1e-7);
    double moving = (believed - latency_s) * reached->bytes[kind] * c->slowness[algorithm] * with_own_part(c, kind);
    moving = pace_most(moving, pace_nccl_channels_s(&c->message, bytes));
    double hops = reached->hop * pace_most(hops_s - c->late_s[algorithm][protocol], 1e-7);
    double filled = sqrt(pace_most(moving, 0) / hops);
    double held = wait * reached->wait[kind] + hops * reached->fill[kind] * filled / (1 + filled);
    double waiting = reached->launch * c->launch_s + pace_most(held, wait * reached->least[kind]);
    double device_s = waiting + moving, time_s = hypot(device_s, host_s(nccl, c, bytes, stack));
    *waiting_share = 1 - moving / time_s;
    return time_s;
}

#include "plan/partition.h"

#include "schedule/gradients.h"

#include <math.h>

const char *const pace_partition_exchange_names[PACE_PARTITION_EXCHANGES + 1] = {"async", "sync", "stale", NULL};

/* --- what can be -------------------------------------------------------------------------------------------------- */

static pace_status check_segments(const pace_partition_case *c, const pace_partition *p) {
    for (size_t l = 0; l < c->chain->layers.count; l++) {
        double most = pace_partition_most_segments(&c->chain->layers.items[l]);
        if (p->segments[l] > p->workers)
            return pace_fail(PACE_E_USAGE,
                             "segments: %.0f of layer %zu on %.0f workers (tp): each has a worker of its own",
                             p->segments[l], l + 1, p->workers);
        if (p->segments[l] > most)
            return pace_fail(PACE_E_USAGE, "segments: %.0f of layer %zu, which can be cut into %.0f at most",
                             p->segments[l], l + 1, most);
    }
    return PACE_OK;
}

static bool copies_filters(const pace_partition_case *c, const pace_partition *p) {
    for (size_t l = 0; l < c->chain->layers.count; l++)
        if (c->chain->layers.items[l].convolution && p->segments[l] > 1) return true;
    return false;
}

static pace_status check(const pace_partition_case *c, const pace_partition *p) {
    double machines = p->replicas * p->workers + p->servers;
    PACE_TRY(check_segments(c, p));
    if (machines > c->hosts->machines)
        return pace_fail(PACE_E_USAGE, "dp %.0f x tp %.0f + %.0f servers are %.0f machines, of which there are %.0f",
                         p->replicas, p->workers, p->servers, machines, c->hosts->machines);
    if (p->servers < 1 && p->replicas > 1)
        return pace_fail(PACE_E_USAGE, "servers: %.0f replicas exchange weights through at least 1, found 0",
                         p->replicas);
    if (p->servers < 1 && copies_filters(c, p))
        return pace_fail(PACE_E_USAGE,
                         "servers: the segments of a convolution share filters through at least 1, found 0");
    if (p->servers > 0 && p->replicas == 1 && !copies_filters(c, p))
        return pace_fail(PACE_E_USAGE,
                         "servers: one replica whose weights are on one worker each has no use for servers");
    return PACE_OK;
}

/* --- servers ------------------------------------------------------------------------------------------------------ */

/* The slowest of R replicas, whose times differ by the jitter; what is spread over more exchanges evens out. */
static double wait_share(const pace_partition_case *c, double replicas) {
    if (c->exchange == PACE_PARTITION_ASYNC || replicas < 2) return 0;
    double ahead = c->exchange == PACE_PARTITION_STALE ? c->staleness : 0;
    return c->jitter * pace_expected_most((int)replicas) / sqrt(ahead + 1);
}

void pace_partition_finish(pace_partition_time *time, const pace_partition_case *c, const pace_partition *p,
                           double sent, double replica_sent) {
    double at_once = p->replicas * p->threads, exchange_s = 0;
    time->compute_s /= at_once;
    time->contention_s /= at_once;
    time->traffic_s /= at_once;
    double busy_s = time->compute_s + time->contention_s + time->traffic_s;
    if (p->servers > 0) {
        double worker_s = sent / c->hosts->bytes_per_s;
        double server_s = p->replicas * replica_sent / (p->servers * c->hosts->bytes_per_s);
        exchange_s = (2 * c->hosts->message_s + fmax(worker_s, server_s)) / c->global_batch;
    }
    bool hidden = c->exchange != PACE_PARTITION_SYNC;
    time->hidden_s = hidden ? fmin(exchange_s, busy_s) : 0;
    time->exchange_s = exchange_s - time->hidden_s;
    time->wait_s = p->servers > 0 ? busy_s * wait_share(c, p->replicas) : 0;
    time->sample_s = busy_s + time->exchange_s + time->wait_s;
}

/* --- a configuration ---------------------------------------------------------------------------------------------- */

static double held_bytes(const pace_partition_case *c, const pace_partition *p) {
    double held = 0;
    for (size_t l = 0; l < c->chain->layers.count; l++) held += pace_partition_held_bytes(c, l, p->segments[l]);
    return held;
}

static double work_s(const pace_partition_work *w) { return w->forward_s + w->backward_s + w->update_s; }

static void add_layer(pace_partition_time *time, const pace_partition_case *c, const pace_partition *p, size_t l,
                      double held) {
    pace_partition_work real = pace_partition_work_of(c, p->threads, l, p->segments[l], held);
    pace_partition_case small = *c;
    pace_hosts alone = *c->hosts;
    alone.host.size_count = 1; /* everything fits the least measured size */
    small.hosts = &alone;
    pace_partition_work ideal = pace_partition_work_of(&small, 1, l, p->segments[l], held);
    time->compute_s += work_s(&ideal);
    time->contention_s += work_s(&real) - work_s(&ideal);
    if (l == 0) return;
    pace_partition_traffic traffic =
        pace_partition_pair(c, p->threads, l, (size_t)p->segments[l - 1], (size_t)p->segments[l]);
    time->traffic_s += traffic.forward_s + traffic.backward_s;
}

pace_status pace_partition_time_of(pace_partition_time *out, const pace_partition_case *c, const pace_partition *p) {
    pace_partition_time time = {0};
    double held = held_bytes(c, p), sent = 0, replica_sent = 0;
    PACE_TRY(check(c, p));
    for (size_t l = 0; l < c->chain->layers.count; l++) {
        double one = pace_partition_sent_bytes(c, l, p->segments[l], p->replicas);
        add_layer(&time, c, p, l, held);
        sent += one;
        replica_sent += one * p->segments[l];
    }
    time.worker_bytes = held + pace_partition_activation_bytes(c, p->threads);
    time.model_only = p->threads > pace_host_measured_threads(&c->hosts->host);
    if (time.worker_bytes > c->hosts->host.memory_bytes)
        return pace_fail(PACE_E_USAGE, "a worker needs %.4g GB of memory, of which a machine has %.4g",
                         time.worker_bytes / 1e9, c->hosts->host.memory_bytes / 1e9);
    pace_partition_finish(&time, c, p, sent, replica_sent);
    *out = time;
    return PACE_OK;
}

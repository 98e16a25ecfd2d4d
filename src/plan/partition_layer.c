/* Layers cut into segments: greedy placement, traffic between two layers, work of one. */
#include "plan/partition.h"

#include <math.h>

/* Of all rows of a layer, from 0 to 1. */
typedef struct {
    double from, to;
} part;

static part strip(size_t index, size_t of, double reach) {
    double from = (double)index / (double)of - reach, to = (double)(index + 1) / (double)of + reach;
    return (part){fmax(from, 0), fmin(to, 1)};
}

static double common(part a, part b) { return fmax(0, fmin(a.to, b.to) - fmax(a.from, b.from)); }

/* Which segment of the layer before lies on the worker of each segment; `of` of them at most. */
typedef struct {
    int before[PACE_PARTITION_WORKERS], here[PACE_PARTITION_WORKERS]; /* -1 = none */
} placement;

/* The pair with most connections first; of equal ones the lowest numbers. */
static void place(placement *out, double reach, size_t before, size_t here) {
    for (size_t i = 0; i < PACE_PARTITION_WORKERS; i++) out->before[i] = out->here[i] = -1;
    for (size_t placed = 0; placed < before && placed < here; placed++) {
        double most = -1;
        size_t s_best = 0, t_best = 0;
        for (size_t s = 0; s < here; s++) {
            if (out->before[s] >= 0) continue;
            part need = strip(s, here, reach);
            for (size_t t = 0; t < before; t++) {
                double local = out->here[t] >= 0 ? -1 : common(need, strip(t, before, 0));
                if (local > most + 1e-12) most = local, s_best = s, t_best = t;
            }
        }
        if (most <= 0) return; /* nothing at home */
        out->before[s_best] = (int)t_best;
        out->here[t_best] = (int)s_best;
    }
}

/* Seconds until a part has what it needs of a layer's segments, but for the one on its own worker (-1 = none). */
static double fetch_s(const pace_partition_case *c, double threads, part need, double values, size_t of, int own) {
    double sources = 0, share = 0;
    for (size_t t = 0; t < of; t++) {
        double local = (int)t == own ? 0 : common(need, strip(t, of, 0));
        if (local > 1e-12) sources++, share += local;
    }
    return sources * c->hosts->message_s + c->value_bytes * threads * share * values / c->hosts->bytes_per_s;
}

/* Fully connected: all lie alike, so the segment that waits longest is one without a worker of the other layer's. */
static double fetch_all_s(const pace_partition_case *c, double threads, double values, size_t of, bool alone) {
    double sources = (double)of - (alone ? 0 : 1), share = sources / (double)of;
    return sources * c->hosts->message_s + c->value_bytes * threads * share * values / c->hosts->bytes_per_s;
}

pace_partition_traffic pace_partition_pair(const pace_partition_case *c, double threads, size_t layer, size_t before,
                                           size_t here) {
    const pace_neuron_layer *to = &c->chain->layers.items[layer], *from = to - 1;
    pace_partition_traffic traffic = {0};
    placement placed;
    if (to->reach >= 1)
        return (pace_partition_traffic){fetch_all_s(c, threads, from->outputs, before, here > before),
                                        fetch_all_s(c, threads, to->neurons, here, before > here)};
    place(&placed, to->reach, before, here);
    for (size_t s = 0; s < here; s++)
        traffic.forward_s = fmax(traffic.forward_s, fetch_s(c, threads, strip(s, here, to->reach), from->outputs,
                                                            before, placed.before[s]));
    for (size_t t = 0; t < before; t++)
        traffic.backward_s = fmax(traffic.backward_s,
                                  fetch_s(c, threads, strip(t, before, to->reach), to->neurons, here, placed.here[t]));
    return traffic;
}

double pace_partition_most_segments(const pace_neuron_layer *layer) {
    return fmin(layer->rows, PACE_PARTITION_WORKERS);
}

/* Strips of a convolution share its filters, so each worker has them all. */
double pace_partition_held_bytes(const pace_partition_case *c, size_t layer, double segments) {
    const pace_neuron_layer *one = &c->chain->layers.items[layer];
    return one->weights * c->value_bytes / (one->convolution ? 1 : segments);
}

/* A dense layer sends up the vectors whose product is its update, where they are fewer (Chilimbi et al. 2014). */
double pace_partition_sent_bytes(const pace_partition_case *c, size_t layer, double segments, double replicas) {
    const pace_neuron_layer *one = &c->chain->layers.items[layer];
    double samples = c->global_batch / replicas, fan_in = one->connections / one->neurons;
    if (one->convolution) return 2 * one->weights * c->value_bytes;
    double up = fmin(one->weights, samples * (fan_in + one->neurons));
    return (up + one->weights) * c->value_bytes / segments;
}

double pace_partition_activation_bytes(const pace_partition_case *c, double threads) {
    double values = 0;
    for (size_t l = 0; l < c->chain->layers.count; l++) values += c->chain->layers.items[l].neurons;
    return 2 * values * threads * c->value_bytes;
}

/* `bytes` are those of the worker; a convolution reads its filters again at every position. */
static double read_again(const pace_partition_case *c, size_t layer, double segments, double bytes) {
    return c->chain->layers.items[layer].convolution ? pace_partition_held_bytes(c, layer, segments) : bytes;
}

pace_partition_work pace_partition_work_of(const pace_partition_case *c, double threads, size_t layer, double segments,
                                           double bytes) {
    const pace_host *host = &c->hosts->host;
    const pace_neuron_layer *one = &c->chain->layers.items[layer];
    bool last = layer + 1 == c->chain->layers.count;
    double again = read_again(c, layer, segments, bytes);
    double evaluations_s = one->evaluations / segments * host->activation_s;
    pace_partition_work work = {.forward_s =
                                    one->connections / segments * pace_host_multiply_add_s(host, threads, again) +
                                    evaluations_s,
                                .backward_s = evaluations_s,
                                .update_s = one->connections / segments * pace_host_update_s(host, threads, again)};
    if (last) return work;
    again = read_again(c, layer + 1, segments, bytes);
    work.backward_s += one[1].connections / segments * pace_host_multiply_add_s(host, threads, again);
    return work;
}

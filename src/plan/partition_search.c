#include "plan/partition_search.h"
#include "base/order.h"

#include <math.h>
#include <string.h>

/* Numbers of segments, workers, replicas and servers that are tried: all up to 16, then 2^a and 3 x 2^a. */
enum { VALUES = 24 };
static const double values[VALUES] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12,
                                      13, 14, 15, 16, 24, 32, 48, 64, 96, 128, 192, 256};

/* --- segments ----------------------------------------------------------------------------------------------------- */

/* A way to cut the layers up to one: no other is better in all of these. */
typedef struct {
    double sample_s, held, sent, replica_sent;
    uint32_t parent; /* of the layer before */
    uint8_t value;   /* its segments, a number of values[] */
} label;

typedef struct {
    PACE_VEC(label) labels; /* of one layer, by rising `value` */
    size_t first[VALUES + 1];
} stage;

/* Ways to share machines that differ in their servers alone, the best segments of each, and how fast these are. */
typedef struct {
    pace_partition *ways;
    double best_s[VALUES];
    size_t count;
} siblings;

typedef struct {
    const pace_partition_case *c;
    const pace_partition *p;
    size_t count, looked; /* of values[] */
    double bytes;         /* of weights that threads read again: prices are those of this size */
    double most;          /* bytes that a worker may hold */
    stage stages[PACE_PARTITION_LAYERS];
    double rest_s[PACE_PARTITION_LAYERS][VALUES]; /* of the layers behind one cut so, at least */
    double rest_sent[PACE_PARTITION_LAYERS], rest_replica_sent[PACE_PARTITION_LAYERS]; /* of the layers behind */
    const siblings *best;                                                              /* that a way must beat */
    double paired_threads;                                 /* that the traffic below is of */
    double pairs_s[PACE_PARTITION_LAYERS][VALUES][VALUES]; /* forward and backward; below 0 = not computed yet */
} table;

static bool is_as_good(const label *a, const label *b) {
    const double slack = 1 + 1e-12; /* sums in another order */
    return a->sample_s <= b->sample_s * slack && a->held <= b->held * slack && a->sent <= b->sent * slack &&
           a->replica_sent <= b->replica_sent * slack;
}

/* Keeps a label unless another of the same segments is as good, and drops those that it beats. */
static pace_status keep(stage *s, size_t first, const label *one) {
    size_t kept = first;
    for (size_t i = first; i < s->labels.count; i++)
        if (is_as_good(&s->labels.items[i], one)) return PACE_OK;
    for (size_t i = first; i < s->labels.count; i++)
        if (!is_as_good(one, &s->labels.items[i])) s->labels.items[kept++] = s->labels.items[i];
    s->labels.count = kept;
    return PACE_PUSH(&s->labels, *one);
}

/* Without servers nobody merges the filters of a convolution's segments. */
static bool may_be(const table *t, size_t layer, double segments) {
    const pace_neuron_layer *one = &t->c->chain->layers.items[layer];
    bool merged = t->p->servers > 0 || !one->convolution || segments == 1;
    return merged && segments <= t->p->workers && segments <= pace_partition_most_segments(one);
}

static label layer_alone(const table *t, size_t layer, size_t value) {
    pace_partition_work work = pace_partition_work_of(t->c, t->p->threads, layer, values[value], t->bytes);
    label one = {.sample_s = work.forward_s + work.backward_s + work.update_s,
                 .held = pace_partition_held_bytes(t->c, layer, values[value]),
                 .value = (uint8_t)value};
    if (t->p->servers > 0) one.sent = pace_partition_sent_bytes(t->c, layer, values[value], t->p->replicas);
    one.replica_sent = one.sent * values[value];
    return one;
}

static void forget_pairs(table *t) {
    t->paired_threads = t->p->threads;
    for (size_t i = 0; i < sizeof t->pairs_s / sizeof(double); i++) (&t->pairs_s[0][0][0])[i] = -1;
}

/* Traffic between two layers, computed once for each two numbers of segments. */
static double pair_s(table *t, size_t layer, size_t before, size_t here) {
    double *known = &t->pairs_s[layer][before][here];
    if (*known >= 0) return *known;
    pace_partition_traffic traffic =
        pace_partition_pair(t->c, t->p->threads, layer, (size_t)values[before], (size_t)values[here]);
    return *known = traffic.forward_s + traffic.backward_s;
}

/* Whether a way is longer than the best known for any number of servers, whatever its other layers are. */
static bool is_beaten(const table *t, size_t layer, const label *one) {
    for (size_t k = 0; k < t->best->count; k++) {
        pace_partition_time time = {.compute_s = one->sample_s + t->rest_s[layer][one->value]};
        pace_partition_finish(&time, t->c, &t->best->ways[k], one->sent + t->rest_sent[layer],
                              one->replica_sent + t->rest_replica_sent[layer]);
        if (time.sample_s <= t->best->best_s[k] * (1 + 1e-9)) return false;
    }
    return true;
}

/* Behind every label of the layer before. */
static pace_status extend(table *t, size_t layer, size_t value) {
    stage *here = &t->stages[layer], *before = here - 1;
    const label alone = layer_alone(t, layer, value);
    for (size_t v = 0; v < t->count; v++) {
        if (before->first[v] == before->first[v + 1]) continue;
        double traffic_s = pair_s(t, layer, v, value);
        for (size_t i = before->first[v]; i < before->first[v + 1]; i++) {
            const label *from = &before->labels.items[i];
            label one = {.sample_s = from->sample_s + alone.sample_s + traffic_s,
                         .held = from->held + alone.held,
                         .sent = from->sent + alone.sent,
                         .replica_sent = from->replica_sent + alone.replica_sent,
                         .parent = (uint32_t)i,
                         .value = alone.value};
            t->looked++;
            if (one.held <= t->most && !is_beaten(t, layer, &one)) PACE_TRY(keep(here, here->first[value], &one));
        }
    }
    return PACE_OK;
}

static pace_status fill(table *t) {
    for (size_t l = 0; l < t->c->chain->layers.count; l++) {
        stage *s = &t->stages[l];
        s->labels.count = 0;
        for (size_t v = 0; v < t->count; v++) {
            s->first[v] = s->labels.count;
            if (!may_be(t, l, values[v])) continue;
            label alone = layer_alone(t, l, v);
            if (l > 0) PACE_TRY(extend(t, l, v));
            else if (alone.held <= t->most) PACE_TRY(keep(s, s->first[v], &alone));
        }
        s->first[t->count] = s->labels.count;
    }
    return PACE_OK;
}

static void read_back(pace_partition *out, const table *t, size_t last) {
    for (size_t l = t->c->chain->layers.count, i = last; l-- > 0; i = t->stages[l].labels.items[i].parent)
        out->segments[l] = values[t->stages[l].labels.items[i].value];
}

static void choose(siblings *out, const table *t) {
    const stage *s = &t->stages[t->c->chain->layers.count - 1];
    for (size_t i = 0; i < s->labels.count; i++)
        for (size_t k = 0; k < out->count; k++) {
            pace_partition_time time = {.compute_s = s->labels.items[i].sample_s};
            pace_partition_finish(&time, t->c, &out->ways[k], s->labels.items[i].sent, s->labels.items[i].replica_sent);
            if (!(time.sample_s < out->best_s[k])) continue;
            out->best_s[k] = time.sample_s;
            read_back(&out->ways[k], t, i);
        }
}

/* For weights. */
static double worker_memory(const table *t) {
    return t->c->hosts->host.memory_bytes - pace_partition_activation_bytes(t->c, t->p->threads);
}

/* What the weights of a worker need at least and at most, however the layers are cut. */
static double held_bytes(const table *t, bool least) {
    double held = 0;
    for (size_t l = 0; l < t->c->chain->layers.count; l++) {
        double most = fmin(t->p->workers, pace_partition_most_segments(&t->c->chain->layers.items[l]));
        held += pace_partition_held_bytes(t->c, l, least ? most : 1);
    }
    return held;
}

/* Behind every number of segments of every layer the least that the others take, whatever they need of memory. */
static void find_rest(table *t) {
    size_t layers = t->c->chain->layers.count;
    for (size_t l = layers; l-- > 0;) {
        double sent = INFINITY, replica_sent = INFINITY; /* of the next layer */
        for (size_t n = 0; l + 1 < layers && n < t->count; n++) {
            if (!may_be(t, l + 1, values[n])) continue;
            label next = layer_alone(t, l + 1, n);
            sent = fmin(sent, next.sent);
            replica_sent = fmin(replica_sent, next.replica_sent);
        }
        t->rest_sent[l] = l + 1 < layers ? t->rest_sent[l + 1] + sent : 0;
        t->rest_replica_sent[l] = l + 1 < layers ? t->rest_replica_sent[l + 1] + replica_sent : 0;
        for (size_t v = 0; v < t->count; v++) {
            t->rest_s[l][v] = l + 1 < layers ? INFINITY : 0;
            for (size_t n = 0; l + 1 < layers && n < t->count; n++) {
                if (!may_be(t, l + 1, values[n])) continue;
                double one_s = layer_alone(t, l + 1, n).sample_s + pair_s(t, l + 1, v, n) + t->rest_s[l + 1][n];
                t->rest_s[l][v] = fmin(t->rest_s[l][v], one_s);
            }
        }
    }
}

/* All layers in as many segments, as far as they can: a number of values[] for each. */
static void cut_alike(size_t cuts[PACE_PARTITION_LAYERS], const table *t, size_t value) {
    for (size_t l = 0; l < t->c->chain->layers.count; l++) {
        cuts[l] = value;
        while (cuts[l] > 0 && !may_be(t, l, values[cuts[l]])) cuts[l]--;
    }
}

/* What others must beat. */
static void try_alike(siblings *out, table *t, size_t value) {
    size_t cuts[PACE_PARTITION_LAYERS], layers = t->c->chain->layers.count;
    label sum = {0};
    cut_alike(cuts, t, value);
    t->bytes = 0;
    for (size_t l = 0; l < layers; l++) t->bytes += pace_partition_held_bytes(t->c, l, values[cuts[l]]);
    if (t->bytes > worker_memory(t)) return;
    for (size_t l = 0; l < layers; l++) {
        label alone = layer_alone(t, l, cuts[l]);
        sum.sample_s += alone.sample_s + (l > 0 ? pair_s(t, l, cuts[l - 1], cuts[l]) : 0);
        sum.sent += alone.sent;
        sum.replica_sent += alone.replica_sent;
    }
    for (size_t k = 0; k < out->count; k++) {
        pace_partition_time time = {.compute_s = sum.sample_s};
        pace_partition_finish(&time, t->c, &out->ways[k], sum.sent, sum.replica_sent);
        if (!(time.sample_s < out->best_s[k])) continue;
        out->best_s[k] = time.sample_s;
        for (size_t l = 0; l < layers; l++) out->ways[k].segments[l] = values[cuts[l]];
    }
}

/* One pass for each measured size of weights: a worker holds that much at most, and pays the size's prices. Sizes that
 * hold nothing, and those above one that holds everything, are left out. */
static pace_status pass_all(siblings *out, table *t) {
    const pace_host *host = &t->c->hosts->host;
    double memory = worker_memory(t);
    double least = held_bytes(t, true), most = held_bytes(t, false);
    for (size_t i = 0; i < host->size_count; i++) {
        bool largest = i + 1 == host->size_count;
        if (!largest && host->sizes[i].bytes < least) continue;
        t->bytes = host->sizes[i].bytes;
        t->most = largest ? memory : fmin(t->bytes, memory);
        find_rest(t);
        PACE_TRY(fill(t));
        choose(out, t);
        if (t->bytes >= most) break;
    }
    return PACE_OK;
}

/* Fills in the segments of all; those that cannot be keep an infinite time. */
static pace_status cut(siblings *out, table *t) {
    t->p = &out->ways[0];
    t->best = out;
    t->count = 0;
    while (t->count < VALUES && values[t->count] <= t->p->workers) t->count++;
    if (t->paired_threads != t->p->threads) forget_pairs(t);
    for (size_t k = 0; k < out->count; k++) out->best_s[k] = INFINITY;
    for (size_t v = 0; v < t->count; v++) try_alike(out, t, v);
    return pass_all(out, t);
}

static pace_status open_table(table **out, const pace_partition_case *c) {
    *out = pace_alloc(1, sizeof **out);
    if (*out) (*out)->c = c;
    return *out ? PACE_OK : PACE_E_MEMORY;
}

static void close_table(table *t) {
    for (size_t l = 0; l < PACE_PARTITION_LAYERS; l++) PACE_VEC_FREE(&t->stages[l].labels);
    pace_free(t);
}

static pace_status fail_memory(const pace_partition_case *c, const pace_partition *p) {
    return pace_fail(PACE_E_USAGE, "no segments of the layers fit into %.4g GB of memory on %.0f workers",
                     c->hosts->host.memory_bytes / 1e9, p->workers);
}

/* --- everything else ---------------------------------------------------------------------------------------------- */

typedef struct {
    pace_partition_found *found;
    const pace_partition_case *c;
    const pace_partition_fixed *fixed;
    table *table;
} searcher;

/* A way that cannot be is counted, with the message of the last. */
static pace_status keep_way(const searcher *s, const pace_partition *p, bool fits) {
    pace_partition_choice one = {.partition = *p};
    s->found->tried++;
    pace_status status = fits ? pace_partition_time_of(&one.time, s->c, p) : fail_memory(s->c, p);
    if (status == PACE_OK) return PACE_PUSH(&s->found->choices, one);
    if (status == PACE_E_USAGE) s->found->too_large++;
    return status == PACE_E_USAGE ? PACE_OK : status;
}

/* More servers that make nothing faster are left out. */
static bool is_needed(const siblings *all, size_t k) {
    for (size_t i = 0; i < k; i++)
        if (all->best_s[i] <= all->best_s[k] * (1 + 1e-9)) return false;
    return true;
}

/* Whether each worker has a segment of some layer; else fewer workers are as fast. */
static bool uses_workers(const searcher *s, const pace_partition *p) {
    double most = 1;
    for (size_t l = 0; l < s->c->chain->layers.count; l++) most = fmax(most, p->segments[l]);
    return most >= p->workers || s->fixed->workers > 0;
}

static pace_status visit(const searcher *s, pace_partition *ways, size_t count) {
    siblings all = {.ways = ways, .count = count};
    if (s->fixed->segments) {
        for (size_t k = 0; k < count; k++) {
            memcpy(ways[k].segments, s->fixed->segments, sizeof ways[k].segments);
            PACE_TRY(keep_way(s, &ways[k], true));
        }
        return PACE_OK;
    }
    PACE_TRY(cut(&all, s->table));
    for (size_t k = 0; k < count; k++)
        if (!isfinite(all.best_s[k]) || (is_needed(&all, k) && uses_workers(s, &ways[k])))
            PACE_TRY(keep_way(s, &ways[k], isfinite(all.best_s[k])));
    return PACE_OK;
}

static pace_status visit_servers(const searcher *s, pace_partition p) {
    double left = s->c->hosts->machines - p.replicas * p.workers;
    pace_partition ways[VALUES];
    size_t count = 0;
    p.servers = fmax(s->fixed->servers, 0);
    if (s->fixed->servers >= 0 || p.replicas == 1) PACE_TRY(visit(s, &p, 1));
    if (s->fixed->servers >= 0 || p.replicas * p.workers == 1) return PACE_OK;
    for (size_t i = 0; i < VALUES && values[i] <= left; i++) {
        ways[count] = p;
        ways[count++].servers = values[i];
    }
    return count ? visit(s, ways, count) : PACE_OK;
}
static pace_status visit_workers(const searcher *s, pace_partition p) {
    double fixed = s->fixed->workers;
    p.workers = fixed;
    if (fixed > 0) return visit_servers(s, p);
    for (size_t i = 0; i < VALUES && p.replicas * values[i] <= s->c->hosts->machines; i++) {
        p.workers = values[i];
        PACE_TRY(visit_servers(s, p));
    }
    return PACE_OK;
}

static pace_status visit_replicas(const searcher *s, double threads) {
    pace_partition p = {.replicas = s->fixed->replicas, .threads = threads};
    if (p.replicas > 0) return visit_workers(s, p);
    for (size_t i = 0; i < VALUES && values[i] <= fmin(s->c->hosts->machines, s->c->global_batch); i++) {
        p.replicas = values[i];
        PACE_TRY(visit_workers(s, p));
    }
    return PACE_OK;
}

static pace_status visit_threads(const searcher *s) {
    double cores = s->c->hosts->host.cores;
    if (s->fixed->threads > 0) return visit_replicas(s, s->fixed->threads);
    for (double threads = 1; threads < cores; threads *= 2) PACE_TRY(visit_replicas(s, threads));
    return visit_replicas(s, cores);
}

/* Of equal times the one with fewer machines, then fewer threads. */
#define MACHINES(c) ((c)->partition.replicas * (c)->partition.workers + (c)->partition.servers)
PACE_ORDER(by_time, pace_partition_choice, PACE_UP(time.sample_s) PACE_UP_OF(MACHINES) PACE_UP(partition.threads))

pace_status pace_partition_search(pace_partition_found *out, const pace_partition_case *c,
                                  const pace_partition_fixed *fixed) {
    searcher s = {.found = out, .c = c, .fixed = fixed};
    *out = (pace_partition_found){0};
    PACE_TRY(open_table(&s.table, c));
    pace_status status = visit_threads(&s);
    out->segmentations = s.table->looked;
    close_table(s.table);
    PACE_TRY(status);
    if (out->choices.count == 0) return PACE_E_USAGE; /* with the message of the last that cannot be */
    PACE_SORT(&out->choices, by_time);
    return PACE_OK;
}

void pace_partition_found_free(pace_partition_found *found) { PACE_VEC_FREE(&found->choices); }

/* Copies are followed from event to event, and those under way share links fairly. */
#include "exchange/device_store.h"
#include "base/numbers.h"
#include "exchange/machine_fabric.h"
#include "exchange/rates.h"

#include <math.h>

typedef struct {
    int root;           /* the device that merges it */
    uint32_t came;      /* devices whose copies have begun, as bits */
    int missing, going; /* copies that have not arrived there; the next device that the sum goes to */
    int left;           /* copies back that have not arrived */
    double merged_s;    /* INFINITY = not yet */
} tensor;

/* Largest first, each on the device with the fewest bytes; equal ones in order. */
static void place(tensor *out, int ranks, const pace_gradients *g) {
    double held[PACE_MESH_MOST] = {0}, below = -1;
    for (size_t left = g->count; left > 0;) {
        double size = -1;
        for (size_t i = 0; i < g->count; i++)
            if ((below < 0 || g->bytes[i] < below) && g->bytes[i] > size) size = g->bytes[i];
        if (size < 0) return;
        for (size_t i = 0; i < g->count; i++) {
            if (g->bytes[i] != size) continue;
            int best = 0;
            for (int r = 1; r < ranks; r++)
                if (held[r] < held[best]) best = r;
            held[best] += size;
            out[i].root = best;
            left--;
        }
        below = size;
    }
}

pace_status pace_merge_buffers_find(pace_merge_buffers *out, int ranks, const pace_gradients *g) {
    tensor *t = pace_alloc(g->count + 1, sizeof *t);
    double held[PACE_MESH_MOST] = {0};
    if (!t) return PACE_E_MEMORY;
    place(t, ranks, g);
    for (size_t i = 0; i < g->count && ranks > 1; i++) held[t[i].root] += ranks * g->bytes[i];
    pace_free(t);
    *out = (pace_merge_buffers){held[0], held[0]};
    for (int r = 1; r < ranks; r++) out->most_bytes = pace_most(out->most_bytes, held[r]);
    return PACE_OK;
}

/* A copy under way: first its launch, then its bytes. */
typedef struct {
    size_t tensor;
    int from, to;
    double launch_s, bytes, bytes_per_s;
} copying;

enum { MOST_THREADS = 4, MOST_COPIES = PACE_MESH_MOST * MOST_THREADS };

typedef struct {
    const pace_device_store *store;
    const pace_gradients *gradients;
    const double *ready_s;
    double *ends_s;
    tensor *tensors;
    size_t ready; /* so many tensors are ready, the first ones */
    pace_fabric fabric;
    pace_rates rates;
    pace_route ways;
    uint32_t first[PACE_MESH_MOST * PACE_MESH_MOST + 1]; /* from * ranks + to -> its first hop in ways */
    copying copies[MOST_COPIES];
    int copy_count, busy[PACE_MESH_MOST]; /* threads of a device that copy */
    double adds_s[PACE_MESH_MOST];        /* of a device's time, what additions took so far */
    double now_s, end_s;
} walk;

/* --- links -------------------------------------------------------------------------------------------------------- */

/* Pairs without a brick are on different sockets of a DGX-1: their copies are staged in host memory, which is the way
 * over the host tree. */
static pace_status open_links(walk *w) {
    pace_machine node = *w->store->machine;
    uint32_t ranks = (uint32_t)w->store->ranks;
    node.nodes = 1;
    PACE_TRY(pace_fabric_of_machine(&w->fabric, &node, false));
    PACE_TRY(pace_rates_init(&w->rates, w->fabric.bytes_per_s, w->fabric.link_count));
    for (uint32_t cell = 0; cell < ranks * ranks; cell++) {
        w->first[cell] = (uint32_t)w->ways.count;
        if (cell / ranks != cell % ranks) PACE_TRY(pace_fabric_route(&w->ways, &w->fabric, cell / ranks, cell % ranks));
        w->first[cell + 1] = (uint32_t)w->ways.count;
    }
    return PACE_OK;
}

/* Of copies that are launched. */
static pace_status give_rates(walk *w) {
    pace_flow flows[MOST_COPIES];
    double rates[MOST_COPIES];
    uint32_t count = 0;
    for (int i = 0; i < w->copy_count; i++) {
        const copying *c = &w->copies[i];
        uint32_t cell = (uint32_t)(c->from * w->store->ranks + c->to), first = w->first[cell];
        if (!(c->launch_s > 0))
            flows[count++] = (pace_flow){w->ways.items + first, w->first[cell + 1] - first, (double)INFINITY};
    }
    PACE_TRY(pace_rates_solve(rates, &w->rates, flows, count));
    for (int i = w->copy_count; i-- > 0;) w->copies[i].bytes_per_s = w->copies[i].launch_s > 0 ? 0 : rates[--count];
    return PACE_OK;
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

static void begin(walk *w, size_t i, int from, int to) {
    double slower = w->store->slowness > 0 ? w->store->slowness : 1;
    w->copies[w->copy_count++] = (copying){i, from, to, slower * w->store->copy_s, slower * w->gradients->bytes[i], 0};
    w->busy[from]++;
}

/* What a device copies next. The engine's queue has the tensors of the model's first layers first, which backward makes
 * last. */
static bool begin_next(walk *w, int device) {
    for (size_t i = w->ready; i-- > 0;) {
        tensor *t = &w->tensors[i];
        if (t->root != device && !(t->came >> device & 1)) {
            t->came |= 1u << device;
            begin(w, i, device, t->root);
            return true;
        }
        if (t->root != device || t->merged_s > w->now_s) continue;
        if (t->going == device) t->going++;
        if (t->going >= w->store->ranks) continue;
        begin(w, i, device, t->going++);
        return true;
    }
    return false;
}

static pace_status begin_copies(walk *w) {
    for (int d = 0; d < w->store->ranks; d++)
        while (w->busy[d] < w->store->threads && begin_next(w, d)) continue;
    return give_rates(w);
}

/* Times that a tensor crosses the memory of the device that merges it, beside once for each rank: the sum is written;
 * its own gradient is copied into the buffer that is summed, and the sum back to where it is used, each read and
 * written (CommDevice's Reduce and Broadcast). */
enum { MERGING_PASSES = 5 };

static void arrive(walk *w, const copying *c) {
    tensor *t = &w->tensors[c->tensor];
    w->busy[c->from]--;
    if (c->to != t->root) {
        if (--t->left > 0) return;
        w->end_s = w->now_s;
        if (w->ends_s) w->ends_s[c->tensor] = w->now_s;
    } else if (--t->missing == 0) {
        double passes = w->store->ranks + MERGING_PASSES;
        double add_s = w->store->add_rate > 0 ? passes * w->gradients->bytes[c->tensor] / w->store->add_rate : 0;
        t->merged_s = w->now_s + add_s;
        w->adds_s[t->root] += add_s;
    }
}

/* --- events ------------------------------------------------------------------------------------------------------- */

/* Additions take turns with the backward pass: what it makes after them comes that much later. */
static double ready_at(const walk *w, size_t i) {
    double most = 0;
    for (int r = 0; r < w->store->ranks; r++) most = pace_most(most, w->adds_s[r]);
    return w->ready_s ? w->ready_s[i] + most : 0;
}

static double next_event(const walk *w) {
    double next = w->ready < w->gradients->count ? pace_most(ready_at(w, w->ready), w->now_s) : (double)INFINITY;
    for (size_t i = 0; i < w->ready; i++)
        if (w->tensors[i].merged_s > w->now_s) next = pace_least(next, w->tensors[i].merged_s);
    for (int i = 0; i < w->copy_count; i++) {
        const copying *c = &w->copies[i];
        next = pace_least(next, w->now_s + (c->launch_s > 0 ? c->launch_s : c->bytes / c->bytes_per_s));
    }
    return next;
}

/* Copies that end within a rounding error of each other end together. */
static void pass(walk *w, double until_s) {
    double span = until_s - w->now_s, least = 1e-12 + 1e-12 * until_s;
    int kept = 0;
    w->now_s = until_s;
    for (int i = 0; i < w->copy_count; i++) {
        copying c = w->copies[i];
        bool launched = !(c.launch_s > 0);
        if (launched) c.bytes -= span * c.bytes_per_s;
        else if ((c.launch_s -= span) < least) c.launch_s = 0;
        if (launched && c.bytes <= least * c.bytes_per_s) arrive(w, &c);
        else w->copies[kept++] = c;
    }
    w->copy_count = kept;
    while (w->ready < w->gradients->count && ready_at(w, w->ready) <= w->now_s) w->ready++;
}

static pace_status run(walk *w) {
    size_t n = w->gradients->count;
    int others = w->store->ranks - 1;
    PACE_TRY(open_links(w));
    place(w->tensors, w->store->ranks, w->gradients);
    for (size_t i = 0; i < n; i++) {
        tensor *t = &w->tensors[i];
        t->missing = t->left = others;
        t->merged_s = INFINITY;
    }
    for (double next; !isinf(next = next_event(w));) {
        pass(w, next);
        PACE_TRY(begin_copies(w));
    }
    if (w->ready_s && n) w->end_s = pace_most(w->end_s, ready_at(w, n - 1));
    if (w->ready_s && n && w->ends_s) w->ends_s[n - 1] = pace_most(w->ends_s[n - 1], w->end_s);
    return PACE_OK;
}

pace_status pace_device_store_s(double *out_s, double *ends_s, const pace_device_store *store,
                                const pace_gradients *gradients, const double *ready_s) {
    *out_s = 0;
    if (store->ranks < 2 || store->ranks > PACE_MESH_MOST || store->ranks > store->machine->devices) return PACE_OK;
    if (!(store->threads >= 1) || store->threads > MOST_THREADS || store->threads != floor(store->threads))
        return pace_fail(PACE_E_USAGE, "copy_threads: expected 1 to %d threads a device, found %g", MOST_THREADS,
                         store->threads);
    walk *w = pace_alloc(1, sizeof *w);
    if (!w) return PACE_E_MEMORY;
    *w = (walk){.store = store, .gradients = gradients, .ready_s = ready_s, .ends_s = ends_s};
    pace_status status = PACE_MAKE(w->tensors, gradients->count + 1) ? run(w) : PACE_E_MEMORY;
    *out_s = w->end_s;
    pace_fabric_free(&w->fabric);
    pace_rates_free(&w->rates);
    PACE_VEC_FREE(&w->ways);
    PACE_FREE(w->tensors, w);
    return status;
}

pace_status pace_approach_device_s(double *out_s, double *ends_s, const pace_approach *approach,
                                   const pace_machine *machine, const pace_approach_setup *setup,
                                   const pace_gradients *gradients, const double *ready_s) {
    int near = setup->ranks_per_node ? setup->ranks_per_node : machine->devices,
        nodes = setup->nodes ? setup->nodes : machine->nodes;
    pace_device_store store = {.machine = machine,
                               .ranks = near,
                               .threads = pace_most(approach->copy_threads, 1),
                               .add_rate = setup->memory_rate,
                               .copy_s = approach->copy_s,
                               .slowness = setup->slowness};
    if (nodes > 1 || near > PACE_MESH_MOST)
        return pace_fail(PACE_E_USAGE, "%s is for one node of at most %d devices, found %d nodes of %d", approach->name,
                         PACE_MESH_MOST, nodes, near);
    return pace_device_store_s(out_s, ends_s, &store, gradients, ready_s);
}

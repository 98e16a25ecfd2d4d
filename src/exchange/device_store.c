/* MXNet's device store: every tensor is merged on one device and copied back to all (src/kvstore/comm.h). */
#include "base/numbers.h"
#include "exchange/approaches.h"

#include <math.h>

typedef struct {
    size_t *root;  /* of each tensor: the device that merges it */
    double *ready; /* merged: it may go back */
    bool *sent;
    double roots; /* devices that merge, by bytes: all of them over the most of one */
} tensors;

/* Largest first, each on the device with the fewest bytes; equal ones in order. */
static void place(tensors *out, int ranks, const pace_gradients *g) {
    double held[PACE_MESH_MOST] = {0}, below = -1;
    for (size_t left = g->count; left > 0;) {
        double size = -1;
        for (size_t i = 0; i < g->count; i++)
            if ((below < 0 || g->bytes[i] < below) && g->bytes[i] > size) size = g->bytes[i];
        if (size < 0) return;
        for (size_t i = 0; i < g->count; i++) {
            if (g->bytes[i] != size) continue;
            size_t best = 0;
            for (int r = 1; r < ranks; r++)
                if (held[r] < held[best]) best = (size_t)r;
            held[best] += size;
            out->root[i] = best;
            left--;
        }
        below = size;
    }
}

static double roots_of(const tensors *t, const pace_gradients *g) {
    double held[PACE_MESH_MOST] = {0}, all = 0, largest = 0;
    for (size_t i = 0; i < g->count; i++) held[t->root[i]] += g->bytes[i], all += g->bytes[i];
    for (int r = 0; r < PACE_MESH_MOST; r++) largest = pace_most(largest, held[r]);
    return largest > 0 ? all / largest : 1;
}

pace_status pace_merge_buffers_find(pace_merge_buffers *out, int ranks, const pace_gradients *g) {
    tensors t = {.root = pace_alloc(g->count + 1, sizeof *t.root)};
    double held[PACE_MESH_MOST] = {0};
    if (!t.root) return PACE_E_MEMORY;
    place(&t, ranks, g);
    for (size_t i = 0; i < g->count && ranks > 1; i++) held[t.root[i]] += ranks * g->bytes[i];
    pace_free(t.root);
    *out = (pace_merge_buffers){held[0], held[0]};
    for (int r = 1; r < ranks; r++) out->most_bytes = pace_most(out->most_bytes, held[r]);
    return PACE_OK;
}

static double socket_rate(const pace_machine *m) {
    for (int i = 0; i < m->host.count; i++)
        if (m->host.above[i] == PACE_NOWHERE) return m->host.bytes_per_s[i];
    return 0;
}

/* Bricks are a pair's own. Without one a copy is staged in host memory, and shares the switch above its device and the
 * link between sockets with the others that copy: all devices while they gather, then those that merged much. In a
 * switch or tree all that gather on a device share its port. */
static double copy_rate(const pace_device_store *s, double roots, size_t from, size_t to, bool gathers) {
    const pace_machine *m = s->machine;
    if (m->mesh_devices == 0) return pace_machine_inside_rate(m) / (gathers ? s->ranks - 1 : 1);
    if (m->bricks[from][to] > 0) return m->bricks[from][to] * m->brick_bytes_per_s * m->inside.efficiency;
    double copying = gathers ? s->ranks : roots, between = socket_rate(m), sharing = pace_most(1, copying / 2.0);
    double slot = pace_machine_slot_rate(m, (int)from, copying / s->ranks);
    return between > 0 ? pace_least(slot, between / sharing) : slot;
}

typedef struct {
    const pace_device_store *store;
    const pace_gradients *gradients;
    tensors t;
    double free_s[PACE_MESH_MOST]; /* the one thread of a device that copies away from it */
    double adds_s[PACE_MESH_MOST]; /* of a device's time, what additions took so far */
    double end_s, *ends_s;         /* of all; of each, NULL = not asked */
} walk;

static double copy(walk *w, size_t i, size_t from, size_t to, double ready_s, bool gathers) {
    const pace_device_store *s = w->store;
    double took = s->copy_s + w->gradients->bytes[i] / copy_rate(s, w->t.roots, from, to, gathers);
    w->free_s[from] = pace_most(w->free_s[from], ready_s) + took * (s->slowness > 0 ? s->slowness : 1);
    return w->free_s[from];
}

/* Times that a tensor crosses the memory of the device that merges it, beside once for each rank: the sum is written;
 * its own gradient is copied into the buffer that is summed, and the sum back to where it is used, each read and
 * written (CommDevice's Reduce and Broadcast). */
enum { MERGING_PASSES = 5 };

static void gather(walk *w, size_t i, double ready_s) {
    double end = ready_s;
    for (int j = 0; j < w->store->ranks; j++)
        if ((size_t)j != w->t.root[i]) end = pace_most(end, copy(w, i, (size_t)j, w->t.root[i], ready_s, true));
    double passes = w->store->ranks + MERGING_PASSES;
    double add_s = w->store->add_rate > 0 ? passes * w->gradients->bytes[i] / w->store->add_rate : 0;
    w->t.ready[i] = end + add_s;
    w->adds_s[w->t.root[i]] += add_s;
}

/* Additions take turns with the backward pass: what it makes after them comes that much later. */
static double delayed(const walk *w) {
    double most = 0;
    for (int r = 0; r < w->store->ranks; r++) most = pace_most(most, w->adds_s[r]);
    return most;
}

/* Sums go back in the order in which they are there, those that are by `until_s`. */
static void send_back(walk *w, size_t count, double until_s) {
    for (;;) {
        size_t first = count;
        for (size_t i = 0; i < count; i++)
            if (!w->t.sent[i] && w->t.ready[i] <= until_s && (first == count || w->t.ready[i] < w->t.ready[first]))
                first = i;
        if (first == count) return;
        size_t root = w->t.root[first];
        double end = 0;
        for (int j = 0; j < w->store->ranks; j++)
            if ((size_t)j != root) end = pace_most(end, copy(w, first, root, (size_t)j, w->t.ready[first], false));
        w->end_s = pace_most(w->end_s, end);
        if (w->ends_s) w->ends_s[first] = end;
        w->t.sent[first] = true;
    }
}

pace_status pace_device_store_s(double *out_s, double *ends_s, const pace_device_store *store,
                                const pace_gradients *gradients, const double *ready_s) {
    walk w = {.store = store, .gradients = gradients, .ends_s = ends_s};
    size_t n = gradients->count;
    *out_s = 0;
    if (store->ranks < 2 || store->ranks > PACE_MESH_MOST || store->ranks > store->machine->devices) return PACE_OK;
    w.t = (tensors){pace_alloc(n + 1, sizeof *w.t.root), pace_alloc(n + 1, sizeof *w.t.ready),
                    pace_alloc(n + 1, sizeof *w.t.sent), 1};
    bool good = w.t.root && w.t.ready && w.t.sent;
    if (good) {
        place(&w.t, store->ranks, gradients);
        w.t.roots = roots_of(&w.t, gradients);
        for (size_t i = 0; i < n; i++) {
            double ready = ready_s ? ready_s[i] + delayed(&w) : 0;
            send_back(&w, i, ready);
            gather(&w, i, ready);
        }
        send_back(&w, n, INFINITY);
        if (ready_s && n) w.end_s = pace_most(w.end_s, ready_s[n - 1] + delayed(&w));
        if (ready_s && n && ends_s) ends_s[n - 1] = pace_most(ends_s[n - 1], w.end_s);
        *out_s = w.end_s;
    }
    PACE_FREE(w.t.root, w.t.ready, w.t.sent);
    return good ? PACE_OK : PACE_E_MEMORY;
}

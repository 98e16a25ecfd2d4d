/* MXNet's device store: every tensor is merged on one device and copied back to all. */
#include "exchange/approaches.h"

typedef struct {
    double merged[PACE_MESH_MOST]; /* bytes by the device that merges them */
    size_t merges[PACE_MESH_MOST];
} placement;

/* The largest tensor not yet placed: sizes are few, and equal ones stay in order. */
static void place(placement *out, int ranks, const pace_gradients *gradients) {
    double below = -1;
    size_t left = gradients->count;
    while (left > 0) {
        double size = -1;
        for (size_t i = 0; i < gradients->count; i++)
            if ((below < 0 || gradients->bytes[i] < below) && gradients->bytes[i] > size) size = gradients->bytes[i];
        if (size < 0) return;
        for (size_t i = 0; i < gradients->count; i++) {
            if (gradients->bytes[i] != size) continue;
            int best = 0;
            for (int r = 1; r < ranks; r++)
                if (out->merged[r] < out->merged[best]) best = r;
            out->merged[best] += size;
            out->merges[best]++;
            left--;
        }
        below = size;
    }
}

static double most(double a, double b) { return a > b ? a : b; }

/* All others send to the device that merges: over bricks of their own where there are, else over the one host link. */
static double gather_s(const pace_machine *m, int ranks, const placement *p) {
    double slowest = 0, total = 0;
    for (int r = 0; r < ranks; r++) total += p->merged[r];
    for (int r = 0; r < ranks; r++) {
        double in_host = 0, out_host = 0;
        for (int j = 0; j < ranks; j++) {
            if (j == r) continue;
            double bricks = m->mesh_devices > 0 ? m->bricks[j][r] : 0;
            if (bricks > 0)
                slowest = most(slowest, p->merged[r] / (bricks * m->brick_bytes_per_s * m->inside.efficiency));
            else in_host += p->merged[r], out_host += p->merged[j];
        }
        if (m->mesh_devices > 0) slowest = most(slowest, most(in_host, out_host) / m->pcie_bytes_per_s);
        else
            slowest =
                most(slowest, most((ranks - 1) * p->merged[r], total - p->merged[r]) / pace_machine_inside_rate(m));
    }
    return slowest;
}

double pace_device_store_s(const pace_machine *machine, int ranks, const pace_gradients *gradients, double add_rate) {
    placement p = {0};
    double added = 0;
    size_t merges = 0;
    if (ranks < 2 || ranks > PACE_MESH_MOST || ranks > machine->devices) return 0;
    place(&p, ranks, gradients);
    for (int r = 0; r < ranks; r++) {
        added = most(added, add_rate > 0 ? ranks * p.merged[r] / add_rate : 0);
        if (p.merges[r] > merges) merges = p.merges[r];
    }
    return 2 * gather_s(machine, ranks, &p) + added + 2 * (double)merges * machine->inside.latency_s;
}

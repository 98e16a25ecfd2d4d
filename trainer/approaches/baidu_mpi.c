/*
 * baidu-allreduce: every tensor alone goes around the ring of ranks in as many parts as there are ranks, first to be
 * summed, then to be handed out, by MPI's messages between neighbours. Nothing is fused, nobody coordinates.
 */
#include "over_mpi.h"

#include <stdlib.h>

typedef struct {
    MPI_Comm comm;
    float *room; /* a part that came in */
} ring;

static pace_result open_ring(pace_lane *lane) {
    ring *own = lane->own = calloc(1, sizeof *own);
    if (!own) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
    PACE_LANE_TRY(pace_mpi_open(&own->comm, lane));
    own->room = malloc((pace_lane_largest(lane) / (size_t)lane->setup.ranks + 1) * sizeof *own->room);
    if (!own->room) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
    return pace_mpi_share_weights(lane, own->comm);
}

/* One hop: `sends` goes to the next rank, `receives` comes from the one before; summed, or put in its place. */
static pace_result hop(pace_lane *lane, const pace_train_tensor *t, int sends, int receives, bool sums) {
    const ring *own = lane->own;
    int rank = lane->setup.rank, ranks = lane->setup.ranks;
    size_t out = pace_part_from(t->elements, sends, ranks), in = pace_part_from(t->elements, receives, ranks);
    int out_count = (int)(pace_part_from(t->elements, sends + 1, ranks) - out);
    int in_count = (int)(pace_part_from(t->elements, receives + 1, ranks) - in);
    MPI_Request moving[2];
    float *to = sums ? own->room : t->gradient + in;
    PACE_MPI_TRY(lane, t->name,
                 MPI_Irecv(to, in_count, MPI_FLOAT, (rank + ranks - 1) % ranks, 0, own->comm, &moving[0]));
    PACE_MPI_TRY(lane, t->name,
                 MPI_Isend(t->gradient + out, out_count, MPI_FLOAT, (rank + 1) % ranks, 0, own->comm, &moving[1]));
    PACE_LANE_TRY(pace_mpi_await(lane, t->name, moving, 2));
    if (sums) pace_add(t->gradient + in, own->room, (size_t)in_count);
    lane->counts.exchanges++;
    lane->counts.sent_bytes += 4 * (uint64_t)out_count;
    lane->counts.received_bytes += 4 * (uint64_t)in_count;
    return PACE_EXCHANGER_OK;
}

static pace_result around(pace_lane *lane, const pace_train_tensor *t) {
    int rank = lane->setup.rank, ranks = lane->setup.ranks;
    for (int s = 0; s < ranks - 1; s++)
        PACE_LANE_TRY(hop(lane, t, (rank - s + ranks) % ranks, (rank - s - 1 + ranks) % ranks, true));
    int mine = (rank + 1) % ranks;
    size_t from = pace_part_from(t->elements, mine, ranks);
    pace_scale(t->gradient + from, pace_part_from(t->elements, mine + 1, ranks) - from, 1.0F / (float)ranks);
    for (int s = 0; s < ranks - 1; s++)
        PACE_LANE_TRY(hop(lane, t, (rank - s + 1 + ranks) % ranks, (rank - s + ranks) % ranks, false));
    return PACE_EXCHANGER_OK;
}

static pace_result step(pace_lane *lane) {
    size_t i;
    for (size_t at = 0; pace_lane_next(lane, at, &i); at++) {
        const pace_train_tensor *t = &lane->setup.tensors[i];
        int64_t start_ns = pace_clock_ns();
        if (lane->setup.ranks < 2) continue;
        PACE_LANE_TRY(around(lane, t));
        pace_lane_record(lane, t->name, "allreduce", t->elements, start_ns);
    }
    return PACE_EXCHANGER_OK;
}

static void close_ring(pace_lane *lane, bool failed) {
    ring *own = lane->own;
    if (!own || failed) return;
    pace_mpi_close(&own->comm, failed);
    free(own->room);
    free(own);
}

PACE_LANE_EXCHANGER(baidu_mpi, "baidu-mpi", false, open_ring, step, close_ring);

/*
 * baidu-allreduce: every tensor alone goes around the ring of ranks in as many parts as there are ranks, first to be
 * summed, then to be handed out, by MPI's messages between neighbours. Nothing is fused, nobody coordinates.
 */
#include "over_mpi.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

/* Between hosts a part goes in messages of so many elements, so many at once. Over TCP, Open MPI shakes hands for
 * larger ones, and two that pass each other then take turns on a link that carries both (docs/train.md). */
enum { MESSAGE = 12 * 1024, AT_ONCE = 16 };

typedef struct {
    MPI_Comm comm;
    float *room;    /* a part that came in */
    size_t message; /* elements of one, at most */
} ring;

static pace_result open_ring(pace_lane *lane) {
    ring *own = lane->own = calloc(1, sizeof *own);
    if (!own) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
    PACE_LANE_TRY(pace_mpi_open(&own->comm, lane));
    own->message = pace_mpi_is_one_host(own->comm) ? SIZE_MAX : MESSAGE;
    own->room = malloc((pace_lane_largest(lane) / (size_t)lane->setup.ranks + 1) * sizeof *own->room);
    if (!own->room) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
    return pace_mpi_share_weights(lane, own->comm);
}

/* A part on its way: to or from whom, and which of its messages are posted. */
typedef struct {
    float *elements;
    size_t count, posted; /* elements */
    int peer;
    bool sends;
} part;

static pace_result post(pace_lane *lane, const char *what, part *p, MPI_Request *request) {
    const ring *own = lane->own;
    size_t left = p->count - p->posted, count = left < own->message ? left : own->message;
    float *elements = p->elements + p->posted;
    p->posted += count;
    if (p->sends) PACE_MPI_TRY(lane, what, MPI_Isend(elements, (int)count, MPI_FLOAT, p->peer, 0, own->comm, request));
    else PACE_MPI_TRY(lane, what, MPI_Irecv(elements, (int)count, MPI_FLOAT, p->peer, 0, own->comm, request));
    return PACE_EXCHANGER_OK;
}

/* Both ways at once. Who waits gives the processor away: where ranks have none to spare for this thread, one that spins
 * takes it from the rank's own layers. */
static pace_result move(pace_lane *lane, const char *what, part way[2]) {
    MPI_Request moving[2 * AT_ONCE];
    int index[2 * AT_ONCE], ended;
    for (int i = 0; i < 2 * AT_ONCE; i++) moving[i] = MPI_REQUEST_NULL;
    for (;; sched_yield()) {
        for (int i = 0; i < 2 * AT_ONCE; i++) {
            part *p = &way[i / AT_ONCE];
            if (moving[i] == MPI_REQUEST_NULL && p->posted < p->count) PACE_LANE_TRY(post(lane, what, p, &moving[i]));
        }
        PACE_MPI_TRY(lane, what, MPI_Testsome(2 * AT_ONCE, moving, &ended, index, MPI_STATUSES_IGNORE));
        if (ended == MPI_UNDEFINED) return PACE_EXCHANGER_OK; /* nothing is on its way */
    }
}

/* One hop: `sends` goes to the next rank, `receives` comes from the one before; summed, or put in its place. */
static pace_result hop(pace_lane *lane, const pace_train_tensor *t, int sends, int receives, bool sums) {
    const ring *own = lane->own;
    int rank = lane->setup.rank, ranks = lane->setup.ranks;
    size_t out = pace_part_from(t->elements, sends, ranks), in = pace_part_from(t->elements, receives, ranks);
    size_t out_count = pace_part_from(t->elements, sends + 1, ranks) - out;
    size_t in_count = pace_part_from(t->elements, receives + 1, ranks) - in;
    part way[2] = {{sums ? own->room : t->gradient + in, in_count, 0, (rank + ranks - 1) % ranks, false},
                   {t->gradient + out, out_count, 0, (rank + 1) % ranks, true}};
    PACE_LANE_TRY(move(lane, t->name, way));
    if (sums) pace_add(t->gradient + in, own->room, in_count);
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

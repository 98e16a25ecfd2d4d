/*
 * MXNet's device store among ranks of one host: each tensor has a rank that merges it, tensors are placed largest first
 * on the rank with the fewest bytes. All others send it their gradient, and get the sum back. Tensors go side by side.
 */
#include "over_mpi.h"
#include "shards.h"

#include <sched.h>
#include <stdlib.h>

/* A tensor on its way: at first gradients travel to the rank that merges, then the mean travels back. */
typedef struct {
    size_t tensor;
    bool back;
    int64_t start_ns;
    int count;
    MPI_Request *requests; /* one for each other rank */
    float *room;           /* on the rank that merges: the gradients of all others */
} merging;

typedef struct {
    MPI_Comm comm;
    int *root_of;
    merging *going; /* as many as there are tensors; those that came first stand first */
} peers;

static pace_result out_of_memory(pace_lane *lane) {
    return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
}

static pace_result open_peers(pace_lane *lane) {
    size_t n = lane->setup.tensor_count;
    peers *own = lane->own = calloc(1, sizeof *own);
    if (!own) return out_of_memory(lane);
    PACE_LANE_TRY(pace_mpi_open(&own->comm, lane));
    own->root_of = calloc(n + 1, sizeof *own->root_of);
    own->going = calloc(n + 1, sizeof *own->going);
    if (!own->root_of || !own->going ||
        !pace_shards_place(own->root_of, lane->setup.ranks, lane->setup.tensors, n, true))
        return out_of_memory(lane);
    if (lane->setup.ranks > 1 && !pace_mpi_is_one_host(own->comm))
        return pace_lane_fail(lane, PACE_EXCHANGER_USAGE, "the device store merges within one host, here are several");
    return pace_mpi_share_weights(lane, own->comm);
}

/* --- one tensor --------------------------------------------------------------------------------------------------- */

static const pace_train_tensor *tensor_of(const pace_lane *lane, const merging *m) {
    return &lane->setup.tensors[m->tensor];
}

static pace_result counted(pace_lane *lane, const merging *m, int error, bool sends) {
    uint64_t *bytes = sends ? &lane->counts.sent_bytes : &lane->counts.received_bytes;
    if (error != MPI_SUCCESS) return pace_mpi_failed(lane, error, tensor_of(lane, m)->name);
    *bytes += 4 * tensor_of(lane, m)->elements;
    lane->counts.exchanges++;
    return PACE_EXCHANGER_OK;
}

/* Message to or from one other rank. */
static pace_result message(pace_lane *lane, merging *m, float *data, int other, bool sends) {
    const peers *own = lane->own;
    int count = (int)tensor_of(lane, m)->elements, tag = (int)m->tensor;
    MPI_Request *request = &m->requests[m->count++];
    return counted(lane, m,
                   sends ? MPI_Isend(data, count, MPI_FLOAT, other, tag, own->comm, request)
                         : MPI_Irecv(data, count, MPI_FLOAT, other, tag, own->comm, request),
                   sends);
}

/* All others' gradients come, or the mean goes to all others. */
static pace_result with_all_others(pace_lane *lane, merging *m, bool sends) {
    const pace_train_tensor *t = tensor_of(lane, m);
    m->count = 0;
    for (int r = 0; r < lane->setup.ranks; r++) {
        if (r == lane->setup.rank) continue;
        float *room = m->room + (size_t)m->count * t->elements;
        PACE_LANE_TRY(message(lane, m, sends ? t->gradient : room, r, sends));
    }
    return PACE_EXCHANGER_OK;
}

static bool merges_here(const pace_lane *lane, const merging *m) {
    const peers *own = lane->own;
    return own->root_of[m->tensor] == lane->setup.rank;
}

static pace_result start(pace_lane *lane, merging *m, size_t tensor) {
    const peers *own = lane->own;
    size_t others = (size_t)lane->setup.ranks - 1;
    *m = (merging){.tensor = tensor, .start_ns = pace_clock_ns(), .requests = calloc(others, sizeof *m->requests)};
    if (merges_here(lane, m)) m->room = malloc((others * tensor_of(lane, m)->elements + 1) * sizeof *m->room);
    if (!m->requests || (merges_here(lane, m) && !m->room)) return out_of_memory(lane);
    if (merges_here(lane, m)) return with_all_others(lane, m, false);
    return message(lane, m, tensor_of(lane, m)->gradient, own->root_of[tensor], true);
}

/* What had to travel first has: sum and send back, or wait for the mean. */
static pace_result turn(pace_lane *lane, merging *m) {
    const peers *own = lane->own;
    const pace_train_tensor *t = tensor_of(lane, m);
    m->back = true;
    m->count = 0;
    if (!merges_here(lane, m)) return message(lane, m, t->gradient, own->root_of[m->tensor], false);
    for (int k = 0; k < lane->setup.ranks - 1; k++)
        pace_add(t->gradient, m->room + (size_t)k * t->elements, t->elements);
    pace_scale(t->gradient, t->elements, 1.0F / (float)lane->setup.ranks);
    return with_all_others(lane, m, true);
}

static void end(pace_lane *lane, merging *m) {
    pace_lane_record(lane, tensor_of(lane, m)->name, "allreduce", tensor_of(lane, m)->elements, m->start_ns);
    free(m->requests);
    free(m->room);
    *m = (merging){0};
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

/* Whether something moved. */
static pace_result poll(pace_lane *lane, merging *m, bool *moved) {
    int done = 0;
    if (!m->requests) return PACE_EXCHANGER_OK;
    PACE_MPI_TRY(lane, tensor_of(lane, m)->name, MPI_Testall(m->count, m->requests, &done, MPI_STATUSES_IGNORE));
    if (!done) return PACE_EXCHANGER_OK;
    *moved = true;
    if (!m->back) return turn(lane, m);
    end(lane, m);
    return PACE_EXCHANGER_OK;
}

/* Gradients that are not there yet, with nothing on its way, are waited for; else looked for. */
static bool is_there(pace_lane *lane, size_t at, bool idle, size_t *tensor) {
    return (idle || at < pace_lane_seen(lane)) && pace_lane_next(lane, at, tensor);
}

static pace_result step(pace_lane *lane) {
    peers *own = lane->own;
    size_t begun = 0, ended = 0, tensor;
    if (lane->setup.ranks < 2) return PACE_EXCHANGER_OK;
    while (ended < lane->setup.tensor_count && !lane->stop) {
        bool moved = is_there(lane, begun, ended == begun, &tensor);
        if (moved) PACE_LANE_TRY(start(lane, &own->going[begun++], tensor));
        for (size_t k = ended; k < begun; k++) PACE_LANE_TRY(poll(lane, &own->going[k], &moved));
        while (ended < begun && !own->going[ended].requests) ended++;
        if (!moved) sched_yield();
    }
    return PACE_EXCHANGER_OK;
}

static void close_peers(pace_lane *lane, bool failed) {
    peers *own = lane->own;
    if (!own || failed) return;
    pace_mpi_close(&own->comm, failed);
    free(own->root_of);
    free(own->going);
    free(own);
}

PACE_LANE_EXCHANGER(device_peers, "p2p", false, open_peers, step, close_peers);

/*
 * The coordinator of horovod_mpi.c over libpaceline_collective, its buffer in memory that all ranks of a host see.
 * PEARL's dense part goes the same way; its tables are trainer/shard_rows.h.
 */
#include "coordinator.h"
#include "paceline/collective.h"

#include <stdlib.h>

typedef struct {
    MPI_Comm comm;
    pace_comm *ours;
    pace_coordinator *coordinator;
    void *buffer;
} optimized;

static pace_result failed(pace_lane *lane) {
    return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "%s", pace_comm_message());
}

static float *room(void *context, size_t elements) {
    pace_lane *lane = context;
    optimized *own = lane->own;
    return pace_buffer_alloc(&own->buffer, own->ours, elements * sizeof(float)) == PACE_OK ? own->buffer : NULL;
}

static pace_result allreduce(void *context, float *data, size_t elements) {
    pace_lane *lane = context;
    const optimized *own = lane->own;
    pace_status status = pace_comm_allreduce(own->ours, NULL, data, elements, PACE_ELEMENT_F32, PACE_REDUCTION_SUM);
    return status == PACE_OK ? PACE_EXCHANGER_OK : failed(lane);
}

static pace_result open_optimized(pace_lane *lane) {
    optimized *own = lane->own = calloc(1, sizeof *own);
    if (!own) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
    PACE_LANE_TRY(pace_mpi_open(&own->comm, lane));
    if (lane->setup.ranks < 2) return PACE_EXCHANGER_OK;
    if (pace_comm_open(&own->ours, &own->comm) != PACE_OK) return failed(lane);
    pace_coordinator_setup setup = {lane, own->comm, "pace_comm_allreduce", room, allreduce, lane};
    own->coordinator = pace_coordinator_open(&setup);
    return own->coordinator ? pace_mpi_share_weights(lane, own->comm) : PACE_EXCHANGER_FAILED;
}

static pace_result step(pace_lane *lane) {
    const optimized *own = lane->own;
    return own->coordinator ? pace_coordinator_step(own->coordinator) : PACE_EXCHANGER_OK;
}

static void close_optimized(pace_lane *lane, bool after_failure) {
    optimized *own = lane->own;
    if (!own || after_failure) return;
    pace_coordinator_close(own->coordinator);
    pace_comm_close(own->ours);
    pace_mpi_close(&own->comm, after_failure);
    free(own);
}

PACE_LANE_EXCHANGER(mpi_opt, "mpi-opt", false, open_optimized, step, close_optimized);
PACE_LANE_EXCHANGER(pearl, "pearl", false, open_optimized, step, close_optimized);

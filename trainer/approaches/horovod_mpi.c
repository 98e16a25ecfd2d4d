/* Horovod over MPI: a coordinator, a fusion buffer, MPI_Allreduce. */
#include "coordinator.h"

#include <stdlib.h>

typedef struct {
    MPI_Comm comm;
    pace_coordinator *coordinator;
    float *buffer;
} fused;

static float *room(void *context, size_t elements) {
    pace_lane *lane = context;
    fused *own = lane->own;
    return own->buffer = malloc(elements * sizeof *own->buffer);
}

static pace_result allreduce(void *context, float *data, size_t elements) {
    pace_lane *lane = context;
    const fused *own = lane->own;
    PACE_MPI_TRY(lane, "MPI_Allreduce",
                 MPI_Allreduce(MPI_IN_PLACE, data, (int)elements, MPI_FLOAT, MPI_SUM, own->comm));
    return PACE_EXCHANGER_OK;
}

static pace_result open_fused(pace_lane *lane) {
    fused *own = lane->own = calloc(1, sizeof *own);
    if (!own) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
    PACE_LANE_TRY(pace_mpi_open(&own->comm, lane));
    if (lane->setup.ranks < 2) return PACE_EXCHANGER_OK;
    pace_coordinator_setup setup = {lane, own->comm, "MPI_Allreduce", room, allreduce, lane};
    own->coordinator = pace_coordinator_open(&setup);
    return own->coordinator ? pace_mpi_share_weights(lane, own->comm) : PACE_EXCHANGER_FAILED;
}

static pace_result step(pace_lane *lane) {
    const fused *own = lane->own;
    return own->coordinator ? pace_coordinator_step(own->coordinator) : PACE_EXCHANGER_OK;
}

static void close_fused(pace_lane *lane, bool failed) {
    fused *own = lane->own;
    if (!own || failed) return;
    pace_coordinator_close(own->coordinator);
    pace_mpi_close(&own->comm, failed);
    free(own->buffer);
    free(own);
}

PACE_LANE_EXCHANGER(horovod_mpi, "horovod-mpi", false, open_fused, step, close_fused);

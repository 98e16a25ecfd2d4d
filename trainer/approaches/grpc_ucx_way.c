/*
 * Parameter servers whose calls come by gRPC and whose tensors travel by UCX: a server gets gradients out of a worker's
 * memory and puts weights there. What UCX really chose is the transport.
 */
#include "server_processes.h"
#include "store_client.h"
#include "ucx_carrier.h"

#include "base/print.h"

#include <stdlib.h>

typedef struct {
    MPI_Comm comm;
    pace_server_processes servers;
    pace_ucx *ucx;
    pace_carrier carrier;
    pace_store_client *client;
} memories;

static const char *address(void *context, int server) { return ((const memories *)context)->servers.address[server]; }

static pace_result open_memories(pace_lane *lane) {
    char reason[128];
    memories *own = lane->own = calloc(1, sizeof *own);
    if (!own) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
    own->comm = MPI_COMM_NULL;
    PACE_LANE_TRY(pace_mpi_open(&own->comm, lane));
    PACE_LANE_TRY(pace_servers_start(&own->servers, lane, own->comm, "paceline-train-server-ucx"));
    own->ucx = pace_ucx_open(lane->setup.tensors, lane->setup.tensor_count, reason);
    if (!own->ucx) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "UCX: %s", reason);
    own->carrier = pace_ucx_carrier_of(own->ucx);
    pace_store_client_setup setup = {lane, own->servers.count, address, own, &own->carrier, own->comm};
    PACE_LANE_TRY(pace_store_client_open(&own->client, &setup));
    pace_snprintf(lane->counts.transport, sizeof lane->counts.transport, "UCX (%s), asked for by gRPC",
                  pace_ucx_transport(own->ucx));
    return PACE_EXCHANGER_OK;
}

static pace_result step(pace_lane *lane) {
    const memories *own = lane->own;
    return pace_store_client_step(own->client);
}

static void close_memories(pace_lane *lane, bool failed) {
    memories *own = lane->own;
    if (!own) return;
    if (!failed && own->comm != MPI_COMM_NULL) MPI_Barrier(own->comm);
    if (!failed) pace_store_client_close(own->client);
    pace_servers_end(&own->servers);
    if (!failed) pace_ucx_close(own->ucx);
    pace_mpi_close(&own->comm, failed);
    if (!failed) free(own);
}

PACE_LANE_EXCHANGER(grpc_ucx_way, "grpc+ucx", true, open_memories, step, close_memories);

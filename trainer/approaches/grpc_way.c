/*
 * gRPC with parameter servers: each variable lies whole on one server, workers push gradients and pull weights, as
 * TensorFlow's distributed training did. Servers are processes beside the workers. With `asynchronous` nobody waits for
 * other workers.
 */
#include "server_processes.h"
#include "store_client.h"

#include "base/print.h"

#include <stdlib.h>

typedef struct {
    MPI_Comm comm;
    pace_server_processes servers;
    pace_store_client *client;
} stores;

static const char *address(void *context, int server) { return ((const stores *)context)->servers.address[server]; }

static pace_result open_stores(pace_lane *lane) {
    stores *own = lane->own = calloc(1, sizeof *own);
    if (!own) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
    own->comm = MPI_COMM_NULL;
    PACE_LANE_TRY(pace_mpi_open(&own->comm, lane));
    PACE_LANE_TRY(pace_servers_start(&own->servers, lane, own->comm, "paceline-train-server"));
    pace_store_client_setup setup = {lane, own->servers.count, address, own, NULL, own->comm};
    PACE_LANE_TRY(pace_store_client_open(&own->client, &setup));
    pace_snprintf(lane->counts.transport, sizeof lane->counts.transport, "gRPC over TCP, %d server%s",
                  own->servers.count, own->servers.count == 1 ? "" : "s");
    return PACE_EXCHANGER_OK;
}

static pace_result step(pace_lane *lane) {
    const stores *own = lane->own;
    return pace_store_client_step(own->client);
}

/* A server ends when all ranks have come here. */
static void close_stores(pace_lane *lane, bool failed) {
    stores *own = lane->own;
    if (!own) return;
    if (!failed && own->comm != MPI_COMM_NULL) MPI_Barrier(own->comm);
    if (!failed) pace_store_client_close(own->client);
    pace_servers_end(&own->servers);
    pace_mpi_close(&own->comm, failed);
    if (!failed) free(own);
}

PACE_LANE_EXCHANGER(grpc_way, "grpc", true, open_stores, step, close_stores);

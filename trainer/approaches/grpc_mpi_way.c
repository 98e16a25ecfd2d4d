/*
 * Parameter servers whose calls come by gRPC and whose tensors travel by MPI, one after another, all from one thread:
 * TensorFlow's gRPC+MPI. MPI starts the servers.
 */
#include "mpi_carrier.h"
#include "server_program_path.h"
#include "spawned_servers.h"
#include "store_client.h"

#include "base/print.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct {
    MPI_Comm comm, workers, servers; /* `workers` NULL for one; those that were started */
    int count;
    char (*address)[PACE_SPAWNED_ADDRESS];
    pace_mpi_carrier mpi;
    pace_carrier carrier;
    pace_store_client *client;
} spawned;

static const char *address(void *context, int server) { return ((const spawned *)context)->address[server]; }

static pace_result start_servers(spawned *own, pace_lane *lane, int hosts) {
    char path[1024], name[64] = "127.0.0.1", port[16];
    char *words[] = {hosts == 1 ? name : "0.0.0.0", name, port, NULL};
    if (hosts > 1) gethostname(name, sizeof name - 1);
    pace_server_program_path(path, sizeof path, "paceline-train-server-mpi");
    pace_snprintf(port, sizeof port, "%u", lane->setup.port);
    if (access(path, X_OK)) return pace_lane_fail(lane, PACE_EXCHANGER_MISSING, "there is no server %s", path);
    PACE_MPI_TRY(lane, "MPI starts no servers (mpirun --oversubscribe allows more processes than slots)",
                 MPI_Comm_spawn(path, words, own->count, MPI_INFO_NULL, 0, own->comm, &own->servers,
                                MPI_ERRCODES_IGNORE));
    PACE_MPI_TRY(lane, "servers", MPI_Intercomm_merge(own->servers, 0, &own->mpi.all));
    MPI_Comm_set_errhandler(own->mpi.all, MPI_ERRORS_RETURN);
    PACE_MPI_TRY(lane, "addresses of servers",
                 MPI_Allreduce(MPI_IN_PLACE, own->address, own->count * PACE_SPAWNED_ADDRESS, MPI_UNSIGNED_CHAR,
                               MPI_BOR, own->mpi.all));
    for (int s = 0; s < own->count; s++)
        if (!own->address[s][0])
            return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "port %u is in use: a server listens there already",
                                  lane->setup.port + (unsigned)s);
    return PACE_EXCHANGER_OK;
}

static pace_result open_comm(spawned *own, pace_lane *lane) {
    int started = 0;
    PACE_LANE_TRY(pace_mpi_open(&own->workers, lane));
    own->comm = own->workers;
    MPI_Initialized(&started);
    if (!started) return pace_lane_fail(lane, PACE_EXCHANGER_USAGE, "MPI starts the servers: start it by mpirun");
    if (own->comm == MPI_COMM_NULL) PACE_MPI_TRY(lane, "a communicator", MPI_Comm_dup(MPI_COMM_SELF, &own->comm));
    MPI_Comm_set_errhandler(own->comm, MPI_ERRORS_RETURN);
    return PACE_EXCHANGER_OK;
}

static pace_result open_spawned(pace_lane *lane) {
    int hosts, my_host;
    bool leads;
    spawned *own = lane->own = calloc(1, sizeof *own);
    if (!own) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
    PACE_LANE_TRY(open_comm(own, lane));
    pace_mpi_hosts(&hosts, &leads, &my_host, own->comm);
    own->count = lane->setup.servers ? (int)lane->setup.servers : hosts;
    own->address = calloc((size_t)own->count, sizeof *own->address);
    if (!own->address) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
    PACE_LANE_TRY(start_servers(own, lane, hosts));
    own->mpi.first = lane->setup.ranks;
    own->carrier = pace_mpi_carrier_of(&own->mpi);
    pace_store_client_setup setup = {lane, own->count, address, own, &own->carrier, own->workers};
    PACE_LANE_TRY(pace_store_client_open(&own->client, &setup));
    pace_snprintf(lane->counts.transport, sizeof lane->counts.transport, "MPI, asked for by gRPC, %d server%s",
                  own->count, own->count == 1 ? "" : "s");
    return PACE_EXCHANGER_OK;
}

static pace_result step(pace_lane *lane) {
    const spawned *own = lane->own;
    return pace_store_client_step(own->client);
}

/* After a failure MPI_Abort() ends the servers too. */
static void close_spawned(pace_lane *lane, bool failed) {
    spawned *own = lane->own;
    if (!own || failed) return;
    pace_store_client_close(own->client);
    MPI_Barrier(own->comm);
    for (int s = 0; s < own->count && lane->setup.rank == 0; s++)
        MPI_Send(NULL, 0, MPI_INT, own->mpi.first + s, PACE_SPAWNED_END, own->mpi.all);
    MPI_Comm_free(&own->mpi.all);
    MPI_Comm_disconnect(&own->servers);
    MPI_Comm_free(&own->comm);
    free(own->address);
    free(own);
}

PACE_LANE_EXCHANGER(grpc_mpi_way, "grpc+mpi", true, open_spawned, step, close_spawned);

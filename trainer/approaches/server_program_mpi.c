/*
 * A parameter server that MPI started for workers: paceline-train-server-mpi INTERFACE NAME PORT. Calls come by gRPC,
 * tensors by MPI. The address of each server, or nothing where its port is in use, goes to all workers.
 */
#include "mpi_carrier.h"
#include "server_loop.h"
#include "spawned_servers.h"

#include "base/print.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static bool goes_on(void *context) {
    const pace_mpi_carrier *mpi = context;
    int ended = 0;
    return MPI_Iprobe(0, PACE_SPAWNED_END, mpi->all, &ended, MPI_STATUS_IGNORE) == MPI_SUCCESS && !ended;
}

/* All servers' addresses, on all ranks: each is of one, the others leave its place empty. */
static int listen_and_tell(pace_server **server, char **words, int mine, int servers, MPI_Comm all,
                           const pace_carrier *carrier) {
    char(*address)[PACE_SPAWNED_ADDRESS] = calloc((size_t)servers, sizeof *address);
    int wanted = (int)strtol(words[3], NULL, 10), port;
    if (!address) return 0;
    port = pace_server_open(server, words[1], wanted ? wanted + mine : 0, carrier);
    if (port) pace_snprintf(address[mine], PACE_SPAWNED_ADDRESS, "%s:%d", words[2], port);
    MPI_Allreduce(MPI_IN_PLACE, address, servers * PACE_SPAWNED_ADDRESS, MPI_UNSIGNED_CHAR, MPI_BOR, all);
    free(address);
    return port;
}

int main(int argc, char **argv) {
    int level, mine, servers, none;
    MPI_Comm parents;
    pace_mpi_carrier mpi = {MPI_COMM_NULL, 0};
    pace_server *server = NULL;
    signal(SIGUSR1, SIG_IGN); /* what mpirun hands on: workers end after their step, then servers */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_get_parent(&parents);
    if (parents == MPI_COMM_NULL || argc != 4) {
        fputs("paceline-train-server-mpi INTERFACE NAME PORT: started by paceline train\n", stderr);
        MPI_Finalize();
        return 2;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    MPI_Comm_size(MPI_COMM_WORLD, &servers);
    MPI_Intercomm_merge(parents, 1, &mpi.all);
    pace_carrier carrier = pace_mpi_carrier_of(&mpi);
    if (listen_and_tell(&server, argv, mine, servers, mpi.all, &carrier)) pace_server_run(server, goes_on, &mpi);
    if (server) MPI_Recv(&none, 0, MPI_INT, 0, PACE_SPAWNED_END, mpi.all, MPI_STATUS_IGNORE);
    MPI_Comm_free(&mpi.all);
    MPI_Comm_disconnect(&parents);
    MPI_Finalize();
    return server ? 0 : 3;
}

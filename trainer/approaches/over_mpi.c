#include "over_mpi.h"

#include "base/print.h"

#include <limits.h>
#include <string.h>

pace_result pace_mpi_failed(pace_lane *lane, int error, const char *what) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(error, text, &length);
    return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "%s: %.*s", what, length, text);
}

static pace_result check_mpi(pace_lane *lane) {
    int started = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&started);
    if (started) MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
        return pace_lane_fail(lane, PACE_EXCHANGER_USAGE, "MPI was not started with MPI_THREAD_MULTIPLE");
    if (pace_lane_largest(lane) > INT_MAX)
        return pace_lane_fail(lane, PACE_EXCHANGER_USAGE, "a tensor has more elements than MPI counts: %zu",
                              pace_lane_largest(lane));
    return PACE_EXCHANGER_OK;
}

bool pace_mpi_is_one_host(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return true;
    MPI_Comm near;
    int here = 0, all = 1;
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near) != MPI_SUCCESS) return false;
    MPI_Comm_size(near, &here);
    MPI_Comm_size(comm, &all);
    MPI_Comm_free(&near);
    return here == all;
}

/* "Open MPI v4.1.4, one host" */
static void name_transport(pace_lane *lane, MPI_Comm comm) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    pace_snprintf(lane->counts.transport, sizeof lane->counts.transport, "%.*s, %s", (int)strcspn(version, ",\n"),
                  version, pace_mpi_is_one_host(comm) ? "one host" : "several hosts");
}

pace_result pace_mpi_open(MPI_Comm *out, pace_lane *lane) {
    *out = MPI_COMM_NULL;
    pace_snprintf(lane->counts.transport, sizeof lane->counts.transport, "none: one rank");
    if (lane->setup.ranks < 2) return PACE_EXCHANGER_OK;
    PACE_LANE_TRY(check_mpi(lane));
    MPI_Comm given = lane->setup.communicator ? *(const MPI_Comm *)lane->setup.communicator : MPI_COMM_WORLD;
    PACE_MPI_TRY(lane, "a communicator of its own", MPI_Comm_dup(given, out));
    MPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN);
    name_transport(lane, *out);
    return PACE_EXCHANGER_OK;
}

void pace_mpi_close(MPI_Comm *comm, bool failed) {
    if (*comm != MPI_COMM_NULL && !failed) MPI_Comm_free(comm);
    *comm = MPI_COMM_NULL;
}

pace_result pace_mpi_share_weights(pace_lane *lane, MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return PACE_EXCHANGER_OK;
    for (size_t i = 0; i < lane->setup.tensor_count; i++) {
        const pace_train_tensor *t = &lane->setup.tensors[i];
        PACE_MPI_TRY(lane, t->name, MPI_Bcast(t->weights, (int)t->elements, MPI_FLOAT, 0, comm));
        pace_lane_moved(lane);
    }
    return PACE_EXCHANGER_OK;
}

void pace_mpi_hosts(int *hosts, bool *leads, int *my_host, MPI_Comm comm) {
    int first = 1, before = 0;
    MPI_Comm near;
    *hosts = 1, *leads = true, *my_host = 0;
    if (comm == MPI_COMM_NULL || MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near)) return;
    int rank_here;
    MPI_Comm_rank(near, &rank_here);
    first = rank_here == 0;
    MPI_Exscan(&first, &before, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allreduce(&first, hosts, 1, MPI_INT, MPI_SUM, comm);
    *leads = first;
    *my_host = before;
    MPI_Comm_free(&near);
}

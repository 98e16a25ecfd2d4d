/* What approaches over MPI share. */
#pragma once

#include "lane.h"

#include <mpi.h>

/** A communicator of the lane's own, whose errors are results; MPI_COMM_NULL for one rank. Collective. */
pace_result pace_mpi_open(MPI_Comm *out, pace_lane *lane);
void pace_mpi_close(MPI_Comm *comm, bool failed);

/** Whether all ranks share memory, as one rank does (MPI_COMM_NULL). Collective. */
bool pace_mpi_is_one_host(MPI_Comm comm);

/** How many hosts there are, the number of this rank's, and whether it is the first there. Collective. */
void pace_mpi_hosts(int *hosts, bool *leads, int *my_host, MPI_Comm comm);

/** What MPI says of an error, as the lane's failure. */
pace_result pace_mpi_failed(pace_lane *lane, int error, const char *what);

#define PACE_MPI_TRY(lane, what, call)                                                 \
    do {                                                                               \
        int mpi_error_ = (call);                                                       \
        if (mpi_error_ != MPI_SUCCESS) return pace_mpi_failed(lane, mpi_error_, what); \
    } while (0)

/** The weights of rank 0 become everybody's. Collective. */
pace_result pace_mpi_share_weights(pace_lane *lane, MPI_Comm comm);

/** Where part i of n begins: parts differ by one element at most. */
static inline size_t pace_part_from(size_t count, int i, int n) {
    size_t whole = count / (size_t)n, rest = count % (size_t)n, at = (size_t)i;
    return whole * at + (at < rest ? at : rest);
}

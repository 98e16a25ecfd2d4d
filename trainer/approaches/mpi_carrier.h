/* Tensors by MPI's messages, between workers and servers of one communicator: first the workers, then the servers. */
#pragma once

#include "carrier.h"

#include <mpi.h>

typedef struct {
    MPI_Comm all;
    int first; /* rank of the other side's number 0 */
} pace_mpi_carrier;

/** The functions of a carrier over it; borrowed. */
pace_carrier pace_mpi_carrier_of(pace_mpi_carrier *mpi);

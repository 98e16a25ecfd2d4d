/* Messages that are given up when nobody answers for as long as the time-out. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/** False: not all are there in time, or MPI failed. */
bool pace_segment_wait(MPI_Request *requests, int count, double timeout_s);

/* A worker of a replica: its segments of all layers, its threads, what it exchanges with the others and with
 * servers. */
#pragma once

#include "segment_block.h"

#include <mpi.h>

pace_exchanger_result pace_segment_work(pace_segments_run *run, MPI_Comm all);

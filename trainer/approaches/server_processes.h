/* Parameter servers as processes: started by the ranks that they stand beside, ended with them. */
#pragma once

#include "over_mpi.h"

#include <sys/types.h>

enum { PACE_SERVER_ADDRESS = 96 };

typedef struct {
    int count;
    char (*address)[PACE_SERVER_ADDRESS]; /* of each server: "127.0.0.1:40001" */
    pid_t *process;                       /* those that this rank started; 0 = another rank did */
} pace_server_processes;

/** Starts as many of a program as were asked for, spread over the ranks, or else one on every host; all ranks get their
 * addresses. Collective. */
pace_result pace_servers_start(pace_server_processes *out, pace_lane *lane, MPI_Comm comm, const char *program);

/** Ends those that this rank started, and frees. */
void pace_servers_end(pace_server_processes *servers);

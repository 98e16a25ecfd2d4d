/* A worker's side of parameter servers: gradients are pushed as they become ready, weights are pulled at the end of the
 * step. */
#pragma once

#include "carrier.h"
#include "over_mpi.h"

typedef struct pace_store_client pace_store_client;

typedef struct {
    pace_lane *lane;
    int servers;
    const char *(*address)(void *context, int server);
    void *context;
    const pace_carrier *carrier; /* NULL: gRPC's messages hold the numbers; borrowed */
    MPI_Comm comm;               /* of the workers; MPI_COMM_NULL for one */
} pace_store_client_setup;

/** Connects, places the variables on the servers, hands rank 0's weights over and gets them. Collective. The client is
 * there to be closed after a failure too. */
pace_result pace_store_client_open(pace_store_client **out, const pace_store_client_setup *setup);

/** All tensors of a step. */
pace_result pace_store_client_step(pace_store_client *client);
void pace_store_client_close(pace_store_client *client);

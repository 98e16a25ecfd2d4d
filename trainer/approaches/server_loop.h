/* A parameter server: one thread that answers gRPC calls of all workers until it is ended. */
#pragma once

#include "carrier.h"

/* Where it listens. */
typedef struct pace_server pace_server;

/** Listens on a port of an interface ("127.0.0.1", "0.0.0.0"); port 0 = any that is free. Its port; 0: it is in use. */
int pace_server_open(pace_server **out, const char *interface, int port, const pace_carrier *carrier);

/** Answers until the process is ended, or `goes_on`, asked now and then, says no. */
void pace_server_run(pace_server *server, bool (*goes_on)(void *context), void *context);

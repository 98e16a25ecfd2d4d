/*
 * Tensors by UCX: servers get gradients out of workers' memory and put weights there, by shared memory or TCP, by RDMA
 * where the hardware is. Workers only keep UCX going.
 */
#pragma once

#include "../gradient_exchange.h"
#include "carrier.h"

typedef struct pace_ucx pace_ucx;

enum { PACE_UCX_TRANSPORT = 48 };

/** `tensors` of a worker; NULL on a server. NULL: UCX cannot be used; `reason` has room for 128 characters. */
pace_ucx *pace_ucx_open(const pace_train_tensor *tensors, size_t count, char *reason);
void pace_ucx_close(pace_ucx *ucx);

/** The functions of a carrier over it. */
pace_carrier pace_ucx_carrier_of(pace_ucx *ucx);

/** On a worker that has met a server: what UCX really chose, "cma, posix". Borrowed. */
const char *pace_ucx_transport(const pace_ucx *ucx);

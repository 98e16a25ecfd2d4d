/* Module: tensors by UCX (Debian packages libucx-dev and libgrpc-dev). */
#include "../gradient_exchange.h"

extern const pace_exchanger pace_exchanger_grpc_ucx_way;

const pace_exchanger *pace_train_exchanger(size_t i) { return i == 0 ? &pace_exchanger_grpc_ucx_way : NULL; }

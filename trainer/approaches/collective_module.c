/* Module: the approach over libpaceline_collective. */
#include "../gradient_exchange.h"

extern const pace_exchanger pace_exchanger_mpi_opt;

const pace_exchanger *pace_train_exchanger(size_t i) { return i == 0 ? &pace_exchanger_mpi_opt : NULL; }

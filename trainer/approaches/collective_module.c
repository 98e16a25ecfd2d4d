/* Module: the approaches over libpaceline_collective. */
#include "base/memory.h"
#include "../gradient_exchange.h"

extern const pace_exchanger pace_exchanger_mpi_opt, pace_exchanger_pearl;

const pace_exchanger *pace_train_exchanger(size_t i) {
    static const pace_exchanger *const all[] = {&pace_exchanger_mpi_opt, &pace_exchanger_pearl};
    return i < PACE_COUNT(all) ? all[i] : NULL;
}

/* Module: approaches over MPI alone (Debian package libopenmpi-dev). */
#include "base/memory.h"
#include "../gradient_exchange.h"

extern const pace_exchanger pace_exchanger_baidu_mpi, pace_exchanger_horovod_mpi, pace_exchanger_device_peers;

const pace_exchanger *pace_train_exchanger(size_t i) {
    static const pace_exchanger *const all[] = {&pace_exchanger_baidu_mpi, &pace_exchanger_horovod_mpi,
                                                &pace_exchanger_device_peers};
    return i < PACE_COUNT(all) ? all[i] : NULL;
}

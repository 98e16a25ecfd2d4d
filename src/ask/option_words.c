/* Options whose values are words of a closed list, as completions offer them. tests/golden/test_completions.py compares
 * the lists with what the program takes. */
#include "base/numbers.h"
#include "paceline/paceline.h"

#include <string.h>

#define COLLECTIVES "allreduce allgather reducescatter alltoall broadcast reduce sendrecv"
#define LIBRARIES "nccl rccl textbook"

static const struct {
    const char *verb, *option, *words;
} rows[] = {
    {"analyze", "format", "table json csv html perfetto folded folded_device"},
    {"predict", "format", "table json csv html perfetto"},
    {"compare", "format", "table json csv html junit"},
    {"history", "format", "table json csv html junit"},
    {NULL, "format", "table json csv html"},
    {"analyze", "stage", "input forward recompute backward update prefill decode other"},
    {"predict", "precision", "fp32 tf32 fp16 bf16 fp8"},
    {"predict", "kind", "kernel exchange step scaling job"},
    {"fit", "kind", "kernel exchange step scaling job overhead profiler"},
    {"train", "overlap", "on off"},
    {NULL, "overlap", "none ideal"},
    {NULL, "contention", "none projected all"},
    {NULL, "nvlink", "link aggregate"},
    {NULL, "collective", COLLECTIVES},
    {NULL, "library", LIBRARIES},
    {"tune", "dialect", "nccl rccl torchcomms"},
    {"predict", "algorithm", "tree ring nvls nvls_tree pat direct"},
    {"predict", "protocol", "ll ll128 simple"},
    {"train", "clock", "wall thread"},
    {"train", "runner", "torch horovod tensorflow paceline"},
    {"validate", "runner", "torch paceline"},
    {"train", "study", "approaches batch scaling stages referees partition"},
    {"train", "data", "synthetic digits"},
    {"train", "approach", "baidu-mpi horovod-mpi p2p mpi-opt pearl grpc grpc+mpi grpc+ucx segments"},
    {"validate", "approach", "baidu-mpi horovod-mpi p2p mpi-opt pearl grpc grpc+mpi grpc+ucx segments"},
    {"predict", "approach",
     "grpc grpc+verbs grpc+mpi grpc+gdr baidu-mpi horovod-mpi mpi-default horovod-cpu mpi-opt horovod-nccl p2p nccl "
     "ddp ps byteps pearl"},
};

const char *pace_option_words(const char *verb, const char *option) {
    for (size_t i = 0; i < PACE_COUNT(rows); i++)
        if ((!rows[i].verb || strcmp(rows[i].verb, verb) == 0) && strcmp(rows[i].option, option) == 0)
            return rows[i].words;
    return NULL;
}

/* Compiled where NCCL's headers of plug-ins are (-DPACE_NCCL_TUNER_HEADERS=DIR, where DIR/nccl/tuner.h lies, as beside
 * NCCL's example plug-in): what nccl_abi.h declares is what NCCL has. */
#include <nccl/tuner.h>

#include "nccl_abi.h"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs)
#define PLACED(ours, member, theirs, other) \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, other), #ours "." #member " lies elsewhere")

SAME(TUNER_SUCCESS, ncclSuccess);
SAME(TUNER_SYSTEM_ERROR, ncclSystemError);
SAME(TUNER_INTERNAL_ERROR, ncclInternalError);
SAME(TUNER_BROADCAST, ncclFuncBroadcast);
SAME(TUNER_REDUCE, ncclFuncReduce);
SAME(TUNER_ALLGATHER, ncclFuncAllGather);
SAME(TUNER_REDUCESCATTER, ncclFuncReduceScatter);
SAME(TUNER_ALLREDUCE, ncclFuncAllReduce);
SAME(TUNER_TREE, NCCL_ALGO_TREE);
SAME(TUNER_RING, NCCL_ALGO_RING);
SAME(TUNER_COLLNET_DIRECT, NCCL_ALGO_COLLNET_DIRECT);
SAME(TUNER_COLLNET_CHAIN, NCCL_ALGO_COLLNET_CHAIN);
SAME(TUNER_NVLS, NCCL_ALGO_NVLS);
SAME(TUNER_NVLS_TREE, NCCL_ALGO_NVLS_TREE);
#ifdef NCCL_ALGO_PAT
SAME(TUNER_PAT, NCCL_ALGO_PAT);
#endif
SAME(TUNER_LL, NCCL_PROTO_LL);
SAME(TUNER_LL128, NCCL_PROTO_LL128);
SAME(TUNER_SIMPLE, NCCL_PROTO_SIMPLE);
SAME(TUNER_LOG_WARN, NCCL_LOG_WARN);
SAME(TUNER_LOG_INFO, NCCL_LOG_INFO);
SAME(TUNER_LOG_TUNING, NCCL_TUNING);
#ifdef NCCL_NUM_ALGORITHMS_V5
PLACED(tuner_v5, name, ncclTuner_v5_t, name);
PLACED(tuner_v5, init, ncclTuner_v5_t, init);
PLACED(tuner_v5, get_choice, ncclTuner_v5_t, getCollInfo);
PLACED(tuner_v5, finalize, ncclTuner_v5_t, finalize);
_Static_assert(sizeof(tuner_v5) == sizeof(ncclTuner_v5_t), "version 5 has another size");
#else
PLACED(tuner_v4, name, ncclTuner_t, name);
PLACED(tuner_v4, init, ncclTuner_t, init);
PLACED(tuner_v4, get_choice, ncclTuner_t, getCollInfo);
PLACED(tuner_v4, destroy, ncclTuner_t, destroy);
_Static_assert(sizeof(tuner_v4) == sizeof(ncclTuner_t), "version 3 or 4 has another size");
#endif

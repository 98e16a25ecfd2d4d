/* Module: layers over workers by MPI (Debian package libopenmpi-dev). */
#include "base/print.h"
#include "segment_server.h"
#include "segment_wait.h"
#include "segment_worker.h"

/* Whoever is not here yet is waited for with patience. */
static bool meet(const pace_segments_run *run, MPI_Comm *all) {
    MPI_Request request;
    return MPI_Comm_idup(MPI_COMM_WORLD, all, &request) == MPI_SUCCESS &&
           pace_segment_wait(&request, 1, run->timeout_s) &&
           MPI_Comm_set_errhandler(*all, MPI_ERRORS_RETURN) == MPI_SUCCESS;
}

pace_exchanger_result pace_train_segments_run(pace_segments_run *run) {
    static MPI_Comm all; /* stays where it is for an MPI that is waiting still */
    if (run->replicas * run->workers + run->servers == 1) return pace_segment_work(run, MPI_COMM_NULL);
    if (!meet(run, &all)) {
        pace_snprintf(run->message, sizeof run->message, "segments, rank %d: a rank does not answer", run->rank);
        return PACE_EXCHANGER_FAILED;
    }
    bool serves = run->rank >= run->replicas * run->workers;
    pace_exchanger_result result = serves ? pace_segment_serve(run, all) : pace_segment_work(run, all);
    if (result == PACE_EXCHANGER_OK) MPI_Comm_free(&all);
    return result;
}

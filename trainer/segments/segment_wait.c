#include "segment_wait.h"
#include "base/clock.h"

#include <sched.h>

bool pace_segment_wait(MPI_Request *requests, int count, double timeout_s) {
    double until = pace_clock_s() + timeout_s;
    int done = 0;
    if (!count) return true; /* one rank has no MPI */
    while (MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS) {
        if (done) return true;
        if (pace_clock_s() > until) return false;
        sched_yield();
    }
    return false;
}

#include "segment_wait.h"

#include <sched.h>
#include <time.h>

double pace_segment_now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool pace_segment_wait(MPI_Request *requests, int count, double timeout_s) {
    double until = pace_segment_now_s() + timeout_s;
    int done = 0;
    if (!count) return true; /* one rank has no MPI */
    while (MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS) {
        if (done) return true;
        if (pace_segment_now_s() > until) return false;
        sched_yield();
    }
    return false;
}

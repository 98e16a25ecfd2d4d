#include "base/parallel.h"

#include <stdio.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { MESSAGE_BYTES = 1024 };

size_t pace_workers(void) {
#ifdef _OPENMP
    return (size_t)omp_get_max_threads();
#else
    return 1;
#endif
}

static size_t this_worker(void) {
#ifdef _OPENMP
    return (size_t)omp_get_thread_num();
#else
    return 0;
#endif
}

/* A failure's message belongs to the thread it happened on, so it is carried over. Which of several failures is told
 * does not depend on who was first. */
pace_status pace_for_each(size_t count, pace_body_fn body, void *context) {
    pace_status status = PACE_OK;
    char message[MESSAGE_BYTES] = "";
    size_t failed = count;
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
    for (size_t i = 0; i < count; i++) {
        pace_status own = body(context, this_worker(), i);
        if (own == PACE_OK) continue;
#pragma omp critical(pace_failure)
        if (i < failed) {
            failed = i;
            status = own;
            snprintf(message, sizeof message, "%s", pace_message());
        }
    }
    return status == PACE_OK ? PACE_OK : pace_fail(status, "%s", message);
}

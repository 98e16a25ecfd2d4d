#include "base/parallel.h"
#include "base/input.h"
#include "base/memory.h"

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

/* A failure's message and the count of failed allocations belong to the thread they happened on, so they are carried
 * over, as the limit of inputs is to the threads. Which of several failures is told never depends on who was first. */
pace_status pace_for_each(size_t count, pace_body_fn body, void *context) {
    pace_status status = PACE_OK;
    char message[MESSAGE_BYTES] = "";
    size_t failed = count;
    uint64_t limit = pace_input_limit();
    uint64_t elsewhere = 0; /* allocations that failed on other threads than this */
#pragma omp parallel for schedule(dynamic, 1) if (count > 1) reduction(+ : elsewhere)
    for (size_t i = 0; i < count; i++) {
        uint64_t before = pace_memory_failures();
        pace_input_set_limit(limit);
        pace_status own = body(context, this_worker(), i);
        if (this_worker() != 0) elsewhere += pace_memory_failures() - before;
        if (own == PACE_OK) continue;
#pragma omp critical(pace_failure)
        if (i < failed) {
            failed = i;
            status = own;
            snprintf(message, sizeof message, "%s", pace_message_marked());
        }
    }
    pace_memory_add_failures(elsewhere);
    return status == PACE_OK ? PACE_OK : pace_fail(status, "%s", message);
}

#include "base/parallel.h"
#include "base/input.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { MESSAGE_BYTES = 1024, MOST_WORKERS = 256 };

typedef struct {
    pace_body_fn body;
    void *context;
    size_t count;
    atomic_size_t next;   /* call that nobody has taken yet */
    atomic_size_t worker; /* that has not begun yet */
    uint64_t limit;
    pthread_mutex_t lock; /* of what follows */
    uint64_t elsewhere;   /* allocations that failed on other threads than the caller's */
    size_t failed;
    pace_status status;
    char message[MESSAGE_BYTES];
} loop;

static _Thread_local bool within; /* a body runs on this thread: loops that it begins have no other */

/* As many as OpenMP's loops have (OMP_NUM_THREADS), so that calibrate and train follow the same rule. Its waiting
 * threads spin, which costs a machine that others use a fifth of a fleet's processor time; those below sleep. */
size_t pace_workers(void) {
#ifdef _OPENMP
    size_t count = (size_t)omp_get_max_threads();
    return count < MOST_WORKERS ? count : MOST_WORKERS;
#else
    return 1;
#endif
}

static void keep_failure(loop *l, size_t i, pace_status status) {
    pthread_mutex_lock(&l->lock);
    if (i < l->failed) {
        l->failed = i;
        l->status = status;
        snprintf(l->message, sizeof l->message, "%s", pace_message_marked());
    }
    pthread_mutex_unlock(&l->lock);
}

static void work(loop *l) {
    size_t worker = atomic_fetch_add(&l->worker, 1);
    bool outer = within;
    within = true;
    for (size_t i; (i = atomic_fetch_add(&l->next, 1)) < l->count;) {
        pace_status status = l->body(l->context, worker, i);
        if (status != PACE_OK) keep_failure(l, i, status);
    }
    within = outer;
}

static void *work_elsewhere(void *context) {
    loop *l = context;
    pace_input_set_limit(l->limit);
    work(l);
    pthread_mutex_lock(&l->lock);
    l->elsewhere += pace_memory_failures();
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* A failure's message and the count of failed allocations belong to the thread they happened on, so they are carried
 * over, as the limit of inputs is to the threads. Which of several failures is told never depends on who was first.
 * Where a thread cannot be had, the others do its work. */
pace_status pace_for_each(size_t count, pace_body_fn body, void *context) {
    loop l = {.body = body, .context = context, .count = count, .failed = count, .limit = pace_input_limit()};
    pthread_t threads[MOST_WORKERS];
    size_t most = within ? 1 : pace_workers(), others = 0;
    pthread_mutex_init(&l.lock, NULL);
    while (others + 1 < most && others + 1 < count && pthread_create(&threads[others], NULL, work_elsewhere, &l) == 0)
        others++;
    work(&l);
    for (size_t i = 0; i < others; i++) pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&l.lock);
    pace_memory_add_failures(l.elsewhere);
    return l.status == PACE_OK ? PACE_OK : pace_fail(l.status, "%s", l.message);
}

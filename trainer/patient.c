#include "patient.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

/* One call. It outlives the caller where its thread is stuck. */
typedef struct {
    const pace_processes *real;
    const void *bytes;
    size_t length;
    const void *const *each;
    const size_t *lengths;
    pace_gathered_fn take;
    void *context;
    int result;
    bool done;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} call;

static void *run(void *argument) {
    call *c = argument;
    int result = c->each ? c->real->exchange(c->real, c->each, c->lengths, c->take, c->context)
                         : c->real->gather(c->real, c->bytes, c->length, c->take, c->context);
    pthread_mutex_lock(&c->mutex);
    c->result = result, c->done = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->mutex);
    return NULL;
}

static void prepare(call *c) {
    pthread_condattr_t attributes;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static bool is_done_within(call *c, double seconds) {
    struct timespec until = pace_clock_after(seconds);
    pthread_mutex_lock(&c->mutex);
    while (!c->done)
        if (pthread_cond_timedwait(&c->changed, &c->mutex, &until) == ETIMEDOUT) break;
    bool done = c->done;
    pthread_mutex_unlock(&c->mutex);
    return done;
}

/* What is stuck keeps its call: it is not freed. */
static int call_with_patience(pace_patient *p, const call *asked) {
    pthread_t thread;
    call *c = pace_alloc(1, sizeof *c);
    if (!c) return -1;
    *c = *asked;
    c->real = p->real;
    prepare(c);
    if (pthread_create(&thread, NULL, run, c) != 0) {
        run(c);
    } else if (is_done_within(c, p->timeout_s)) {
        pthread_join(thread, NULL);
    } else {
        pthread_detach(thread);
        p->lost = true;
        return -1;
    }
    int result = c->result;
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->mutex);
    pace_free(c);
    return result;
}

static pace_patient *patient_of(const pace_processes *processes) { return (pace_patient *)(uintptr_t)processes; }

static int gather(const pace_processes *processes, const void *bytes, size_t length, pace_gathered_fn take,
                  void *context) {
    return call_with_patience(patient_of(processes),
                              &(call){.bytes = bytes, .length = length, .take = take, .context = context});
}

static int exchange(const pace_processes *processes, const void *const *bytes, const size_t *lengths,
                    pace_gathered_fn take, void *context) {
    return call_with_patience(patient_of(processes),
                              &(call){.each = bytes, .lengths = lengths, .take = take, .context = context});
}

void pace_patient_open(pace_patient *out, const pace_processes *real, double timeout_s) {
    enum { USUAL_S = 60 };
    *out = (pace_patient){.is = *real, .real = real, .timeout_s = timeout_s > 0 ? timeout_s : USUAL_S};
    out->is.gather = gather;
    out->is.exchange = exchange;
}

pace_status pace_patient_failed(const pace_processes *processes, const char *otherwise) {
    const pace_patient *p = patient_of(processes);
    if (!p->lost) return pace_fail(PACE_E_INTERNAL, "%s", otherwise);
    return pace_fail(PACE_E_IO, "rank %d of %d: nothing came from the others for %.0f s: a rank does not answer",
                     p->is.rank, p->is.count, p->timeout_s);
}

#include "lane.h"

#include "base/print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void pace_scale(float *data, size_t count, float factor) {
    for (size_t i = 0; i < count; i++) data[i] *= factor;
}

void pace_add(float *restrict sum, const float *restrict data, size_t count) {
    for (size_t i = 0; i < count; i++) sum[i] += data[i];
}

size_t pace_lane_largest(const pace_lane *lane) {
    size_t most = 0;
    for (size_t i = 0; i < lane->setup.tensor_count; i++)
        if (lane->setup.tensors[i].elements > most) most = lane->setup.tensors[i].elements;
    return most;
}

pace_result pace_lane_fail(pace_lane *lane, pace_result result, const char *format, ...) {
    char text[PACE_EXCHANGER_MESSAGE - 80];
    va_list arguments;
    va_start(arguments, format);
    pace_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pace_snprintf(lane->message, sizeof lane->message, "%s, rank %d of %d: %s", lane->way->name, lane->setup.rank,
                  lane->setup.ranks, text);
    return lane->result = result;
}

void pace_lane_moved(pace_lane *lane) { atomic_fetch_add(&lane->progress, 1); }

void pace_lane_record(pace_lane *lane, const char *name, const char *collective, size_t elements, int64_t start_ns) {
    pace_exchange_event event = {name, collective, elements, 1, start_ns, pace_clock_ns()};
    lane->counts.busy_ns += event.end_ns - start_ns;
    pace_lane_moved(lane);
    if (lane->setup.record) lane->setup.record(lane->setup.record_context, &event);
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

bool pace_lane_next(pace_lane *lane, size_t at, size_t *tensor) {
    pthread_mutex_lock(&lane->mutex);
    while (at >= lane->seen && !lane->stop && !(lane->finishing && at >= lane->said))
        pthread_cond_wait(&lane->changed, &lane->mutex);
    bool there = at < lane->seen && !lane->stop;
    if (there) *tensor = lane->order[at];
    pthread_mutex_unlock(&lane->mutex);
    return there;
}

size_t pace_lane_seen(pace_lane *lane) {
    pthread_mutex_lock(&lane->mutex);
    size_t seen = lane->seen;
    pthread_mutex_unlock(&lane->mutex);
    return seen;
}

bool pace_lane_passed(pace_lane *lane) {
    pthread_mutex_lock(&lane->mutex);
    while (!lane->finishing && !lane->stop) pthread_cond_wait(&lane->changed, &lane->mutex);
    pthread_mutex_unlock(&lane->mutex);
    return !lane->stop;
}

static bool wait_for_step(pace_lane *lane) {
    pthread_mutex_lock(&lane->mutex);
    while (!lane->stop && !(lane->stepping && (lane->seen || lane->finishing)))
        pthread_cond_wait(&lane->changed, &lane->mutex);
    pthread_mutex_unlock(&lane->mutex);
    return !lane->stop;
}

static void say(pace_lane *lane, bool *over, bool failed) {
    pthread_mutex_lock(&lane->mutex);
    if (failed) lane->failed = true;
    *over = false;
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->mutex);
}

static void *run(void *state) {
    pace_lane *lane = state;
    pace_result opened = lane->way->open(lane);
    say(lane, &lane->opening, opened != PACE_EXCHANGER_OK);
    while (opened == PACE_EXCHANGER_OK && wait_for_step(lane)) {
        pace_result result = lane->way->step(lane);
        if (result == PACE_EXCHANGER_OK) pace_lane_passed(lane); /* all is exchanged before backward has ended */
        say(lane, &lane->stepping, result != PACE_EXCHANGER_OK);
        if (result != PACE_EXCHANGER_OK) break;
    }
    if (!lane->failed && !lane->stepping) lane->way->close(lane, false);
    say(lane, &lane->closing, false);
    return NULL;
}

/* --- a step ------------------------------------------------------------------------------------------------------- */

static pace_result forward(const pace_lane *lane, char *message) {
    memcpy(message, lane->message, PACE_EXCHANGER_MESSAGE);
    return lane->result;
}

static void begin_step(pace_lane *lane) {
    if (lane->stepping) return;
    lane->stepping = true;
    lane->finishing = false;
    lane->said = lane->seen = 0;
    lane->step++;
}

pace_result pace_lane_ready(void *state, size_t tensor, char *message) {
    pace_lane *lane = state;
    pthread_mutex_lock(&lane->mutex);
    bool good = !lane->failed;
    if (good) {
        begin_step(lane);
        if (tensor >= lane->setup.tensor_count || lane->said == lane->setup.tensor_count) {
            pace_lane_fail(lane, PACE_EXCHANGER_USAGE, "tensor %zu of %zu became ready after %zu others", tensor,
                           lane->setup.tensor_count, lane->said);
            good = false;
        } else lane->order[lane->said++] = tensor;
        if (good && lane->setup.overlap) {
            lane->seen = lane->said;
            pthread_cond_broadcast(&lane->changed);
        }
    }
    pthread_mutex_unlock(&lane->mutex);
    return good ? PACE_EXCHANGER_OK : forward(lane, message);
}

/* Locked. Patience begins anew with everything that is exchanged. */
static void wait_while(pace_lane *lane, const bool *busy, const char *during, uint64_t step) {
    double patience = lane->setup.timeout_s > 0 ? lane->setup.timeout_s : 60;
    uint64_t before = lane->progress;
    struct timespec until = pace_clock_after(patience);
    while (*busy && !lane->failed) {
        if (pthread_cond_timedwait(&lane->changed, &lane->mutex, &until) != ETIMEDOUT || !*busy) continue;
        if (lane->progress == before) {
            lane->stuck = lane->failed = true;
            pace_lane_fail(lane, PACE_EXCHANGER_FAILED,
                           "nothing came from the others for %ld s %s %llu: a rank or a server does not answer",
                           (long)patience, during, (unsigned long long)step);
            return;
        }
        before = lane->progress;
        until = pace_clock_after(patience);
    }
}

static void record_wait(pace_lane *lane, int64_t start_ns) {
    pace_exchange_event event = {"wait", NULL, 0, 0, start_ns, pace_clock_ns()};
    lane->counts.waited_ns += event.end_ns - start_ns;
    if (lane->setup.record) lane->setup.record(lane->setup.record_context, &event);
}

pace_result pace_lane_finish(void *state, char *message) {
    pace_lane *lane = state;
    int64_t start_ns = pace_clock_ns();
    pthread_mutex_lock(&lane->mutex);
    if (!lane->failed) {
        begin_step(lane);
        if (lane->said < lane->setup.tensor_count) {
            lane->failed = true;
            pace_lane_fail(lane, PACE_EXCHANGER_USAGE, "%zu of %zu tensors were not ready at the end of a step",
                           lane->setup.tensor_count - lane->said, lane->setup.tensor_count);
        } else {
            lane->seen = lane->said;
            lane->finishing = true;
            pthread_cond_broadcast(&lane->changed);
            wait_while(lane, &lane->stepping, "in step", lane->step);
        }
    }
    bool failed = lane->failed;
    pthread_mutex_unlock(&lane->mutex);
    if (failed) return forward(lane, message);
    record_wait(lane, start_ns);
    return PACE_EXCHANGER_OK;
}

/* --- its life ----------------------------------------------------------------------------------------------------- */

static void release(pace_lane *lane) {
    pthread_cond_destroy(&lane->changed);
    pthread_mutex_destroy(&lane->mutex);
    free(lane->order);
    free(lane);
}

static pace_lane *make(const pace_way *way, const pace_exchanger_setup *setup) {
    pthread_condattr_t attributes;
    pace_lane *lane = calloc(1, sizeof *lane);
    size_t *order = calloc(setup->tensor_count + 1, sizeof *order);
    if (!lane || !order) return free(lane), free(order), NULL;
    memcpy(&lane->setup, setup, setup->size < sizeof lane->setup ? setup->size : sizeof lane->setup);
    lane->way = way;
    lane->order = order;
    pthread_mutex_init(&lane->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&lane->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return lane;
}

pace_result pace_lane_open(void **state, const pace_way *way, const pace_exchanger_setup *setup, char *message) {
    pace_lane *lane = make(way, setup);
    if (!lane) {
        pace_snprintf(message, PACE_EXCHANGER_MESSAGE, "%s: out of memory", way->name);
        return PACE_EXCHANGER_FAILED;
    }
    lane->opening = lane->closing = true;
    if (pthread_create(&lane->thread, NULL, run, lane) != 0) {
        pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "no thread could be made");
        pace_result result = forward(lane, message);
        release(lane);
        return result;
    }
    pthread_mutex_lock(&lane->mutex);
    wait_while(lane, &lane->opening, "before step", 1);
    bool failed = lane->failed;
    pthread_mutex_unlock(&lane->mutex);
    if (!failed) return *state = lane, PACE_EXCHANGER_OK;
    pace_result result = forward(lane, message);
    pace_lane_close(lane);
    return result;
}

void pace_lane_count(const void *state, pace_exchanger_counts *out) { *out = ((const pace_lane *)state)->counts; }

/* A thread that is stuck in a library cannot be ended: what it may touch stays. */
void pace_lane_close(void *state) {
    pace_lane *lane = state;
    if (!lane) return;
    pthread_mutex_lock(&lane->mutex);
    bool failed = lane->failed || lane->stepping;
    if (failed) lane->failed = true;
    lane->stop = true;
    pthread_cond_broadcast(&lane->changed);
    if (!failed) wait_while(lane, &lane->closing, "behind step", lane->step);
    bool stuck = lane->stuck;
    pthread_mutex_unlock(&lane->mutex);
    if (stuck) pthread_detach(lane->thread);
    else pthread_join(lane->thread, NULL);
    if (failed || stuck) lane->way->close(lane, true);
    if (!stuck) release(lane);
}

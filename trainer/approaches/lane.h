/*
 * What all approaches share: a thread of its own that communicates while the trainer goes on, what it may see of a
 * step, how failures and waits are told. An approach is a pace_way: it opens its connections and exchanges the tensors
 * of one step.
 */
#pragma once

#include "../gradient_exchange.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>

#if defined(__GNUC__)
#define PACE_LANE_TEXT(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define PACE_LANE_TEXT(text, first)
#endif

typedef struct pace_lane pace_lane;
typedef pace_exchanger_result pace_result;

typedef struct {
    const char *name;
    /** Collective, on the thread of the lane. Keeps what it needs in lane->own. */
    pace_result (*open)(pace_lane *lane);
    /** On the thread of the lane: all tensors of one step, as pace_lane_next() gives them. */
    pace_result (*step)(pace_lane *lane);
    /** On the thread of the lane; after a failure on that of the trainer, and nothing collective, since the others may
     * be gone. */
    void (*close)(pace_lane *lane, bool failed);
} pace_way;

struct pace_lane {
    pace_exchanger_setup setup;
    const pace_way *way;
    void *own;     /* of the way */
    uint64_t step; /* the one under way, from 1 on */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t *order;     /* tensors as they became ready in this step */
    size_t said, seen; /* of them: ready, and shown to the lane */
    bool finishing, stepping, failed, stuck;
    bool opening, closing; /* what the thread is about, and the trainer waits for */
    _Atomic bool stop;     /* leave whatever waits */
    _Atomic uint64_t progress;
    char message[PACE_EXCHANGER_MESSAGE];
    pace_result result;
    pace_exchanger_counts counts;
};

/** The functions of a pace_exchanger, for every way. */
pace_result pace_lane_open(void **state, const pace_way *way, const pace_exchanger_setup *setup, char *message);
pace_result pace_lane_ready(void *state, size_t tensor, char *message);
pace_result pace_lane_finish(void *state, char *message);
void pace_lane_count(const void *state, pace_exchanger_counts *out);
void pace_lane_close(void *state);

/** Waits for the tensor that became ready as the at-th of this step; false when there is none, or all is over. */
bool pace_lane_next(pace_lane *lane, size_t at, size_t *tensor);

/** How many tensors the lane may see by now. */
size_t pace_lane_seen(pace_lane *lane);

/** Waits until the trainer has come to finish(): from then on nobody reads weights. False when all is over. */
bool pace_lane_passed(pace_lane *lane);

/** Something moved: whoever waits is patient again. */
void pace_lane_moved(pace_lane *lane);

/** Something has been exchanged since start_ns: counted, and told to whoever draws. */
void pace_lane_record(pace_lane *lane, const char *name, const char *collective, size_t elements, int64_t start_ns);

/** Writes the message, with the approach and the rank in front; returns the result. */
pace_result pace_lane_fail(pace_lane *lane, pace_result result, const char *format, ...) PACE_LANE_TEXT(3, 4);

/** Most elements that a tensor of the list has. */
size_t pace_lane_largest(const pace_lane *lane);

/** What is scaled: a sum over ranks becomes a mean. */
void pace_scale(float *data, size_t count, float factor);
void pace_add(float *sum, const float *data, size_t count);

#define PACE_LANE_TRY(expression)                                   \
    do {                                                            \
        pace_result lane_result_ = (expression);                    \
        if (lane_result_ != PACE_EXCHANGER_OK) return lane_result_; \
    } while (0)

/** Defines a way, and pace_exchanger_ID of it. */
#define PACE_LANE_EXCHANGER(id, text, updates, opens, steps, closes)                                   \
    static pace_result open_##id(void **state, const pace_exchanger_setup *setup, char *message) {     \
        static const pace_way way = {text, opens, steps, closes};                                      \
        return pace_lane_open(state, &way, setup, message);                                            \
    }                                                                                                  \
    const pace_exchanger pace_exchanger_##id = {                                                       \
        PACE_EXCHANGER_VERSION, text,           updates, open_##id, pace_lane_ready, pace_lane_finish, \
        pace_lane_count,        pace_lane_close}

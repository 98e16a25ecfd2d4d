#include "coordinator.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Horovod's own defaults (2017), which catalog/approaches.yaml has too. */
static const double usual_fusion_bytes = 64 << 20;
static const int64_t cycle_ns = 5000000;

struct pace_coordinator {
    pace_coordinator_setup is;
    float *buffer;
    size_t most;                /* elements of the buffer */
    int64_t looked_ns, free_ns; /* when the last cycle was agreed upon, the same on all ranks; when it had ended */
    /* of a cycle: what this rank says, and what rank 0 answers: tensors in buffers, each its count and its tensors */
    int *says, *answer;
    /* rank 0: how many each rank says, where that begins in `heard`; by how many ranks a tensor is ready */
    int *counts, *starts, *heard, *ready_on;
};

static size_t buffer_elements(const pace_lane *lane) {
    double bytes = lane->setup.fusion_bytes > 0 ? lane->setup.fusion_bytes : usual_fusion_bytes;
    size_t all = 0;
    for (size_t i = 0; i < lane->setup.tensor_count; i++) all += lane->setup.tensors[i].elements;
    return (double)all * 4 < bytes ? all : (size_t)(bytes / 4);
}

pace_coordinator *pace_coordinator_open(const pace_coordinator_setup *setup) {
    size_t n = setup->lane->setup.tensor_count, ranks = (size_t)setup->lane->setup.ranks;
    pace_coordinator *c = calloc(1, sizeof *c);
    if (c) {
        c->is = *setup;
        c->most = buffer_elements(setup->lane);
        c->buffer = setup->room(setup->context, c->most + 1);
        c->says = calloc(n + 1, sizeof *c->says);
        c->answer = calloc(2 * n + 1, sizeof *c->answer);
        c->counts = calloc(ranks, sizeof *c->counts);
        c->starts = calloc(ranks, sizeof *c->starts);
        c->heard = calloc(n * ranks + 1, sizeof *c->heard);
        c->ready_on = calloc(n + 1, sizeof *c->ready_on);
        if (c->buffer && c->says && c->answer && c->counts && c->starts && c->heard && c->ready_on) return c;
    }
    pace_coordinator_close(c);
    pace_lane_fail(setup->lane, PACE_EXCHANGER_FAILED, "out of memory");
    return NULL;
}

void pace_coordinator_close(pace_coordinator *c) {
    if (!c) return;
    free(c->says);
    free(c->answer);
    free(c->counts);
    free(c->starts);
    free(c->heard);
    free(c->ready_on);
    free(c);
}

/* --- what is ready everywhere ------------------------------------------------------------------------------------- */

/* Tensors in the order in which the last rank had them, as many to a buffer as fit; the length of the answer. */
static int decide(pace_coordinator *c) {
    const pace_lane *lane = c->is.lane;
    int length = 0, head = -1;
    size_t held = 0;
    for (int r = 0; r < lane->setup.ranks; r++) {
        for (int k = 0; k < c->counts[r]; k++) {
            int tensor = c->heard[c->starts[r] + k];
            if (++c->ready_on[tensor] < lane->setup.ranks) continue;
            size_t elements = lane->setup.tensors[tensor].elements;
            c->ready_on[tensor] = 0;
            if (head < 0 || held + elements > c->most) {
                head = length++;
                c->answer[head] = 0;
                held = 0;
            }
            c->answer[length++] = tensor;
            c->answer[head]++;
            held += elements;
        }
    }
    return length;
}

/* All ranks tell rank 0, and get the same answer. */
static pace_result negotiate(pace_coordinator *c, int says, int *length) {
    pace_lane *lane = c->is.lane;
    const char *what = "asking what is ready";
    PACE_MPI_TRY(lane, what, MPI_Gather(&says, 1, MPI_INT, c->counts, 1, MPI_INT, 0, c->is.comm));
    if (lane->setup.rank == 0)
        for (int r = 1; r < lane->setup.ranks; r++) c->starts[r] = c->starts[r - 1] + c->counts[r - 1];
    PACE_MPI_TRY(lane, what,
                 MPI_Gatherv(c->says, says, MPI_INT, c->heard, c->counts, c->starts, MPI_INT, 0, c->is.comm));
    if (lane->setup.rank == 0) *length = decide(c);
    PACE_MPI_TRY(lane, what, MPI_Bcast(length, 1, MPI_INT, 0, c->is.comm));
    if (*length) PACE_MPI_TRY(lane, what, MPI_Bcast(c->answer, *length, MPI_INT, 0, c->is.comm));
    return PACE_EXCHANGER_OK;
}

/* --- buffers ------------------------------------------------------------------------------------------------------ */

static pace_result reduce(pace_coordinator *c, float *data, size_t elements) {
    pace_lane *lane = c->is.lane;
    int64_t start_ns = pace_clock_ns();
    PACE_LANE_TRY(c->is.allreduce(c->is.context, data, elements));
    pace_scale(data, elements, 1.0F / (float)lane->setup.ranks);
    lane->counts.exchanges++;
    lane->counts.sent_bytes += 4 * elements;
    lane->counts.received_bytes += 4 * elements;
    pace_lane_record(lane, c->is.what, "allreduce", elements, start_ns);
    return PACE_EXCHANGER_OK;
}

/* To the buffer, or back. */
static size_t move(pace_coordinator *c, const int *tensors, int count, bool back) {
    size_t at = 0;
    for (int k = 0; k < count; k++) {
        const pace_train_tensor *t = &c->is.lane->setup.tensors[tensors[k]];
        if (back) memcpy(t->gradient, c->buffer + at, t->elements * sizeof *c->buffer);
        else memcpy(c->buffer + at, t->gradient, t->elements * sizeof *c->buffer);
        at += t->elements;
    }
    return at;
}

static pace_result exchange(pace_coordinator *c, const int *tensors, int count) {
    const pace_train_tensor *first = &c->is.lane->setup.tensors[tensors[0]];
    if (count == 1) return reduce(c, first->gradient, first->elements);
    PACE_LANE_TRY(reduce(c, c->buffer, move(c, tensors, count, false)));
    move(c, tensors, count, true);
    return PACE_EXCHANGER_OK;
}

/* --- cycles ------------------------------------------------------------------------------------------------------- */

/* As Horovod's loop: a cycle begins a cycle's length after the last began, or when that ended; they go on between
 * steps. */
static void sleep_until_cycle(const pace_coordinator *c) {
    int64_t now = pace_clock_ns(), next = c->looked_ns + cycle_ns;
    if (next < c->free_ns) next = c->free_ns;
    if (next < now) next += (now - next + cycle_ns - 1) / cycle_ns * cycle_ns;
    struct timespec left = {(time_t)((next - now) / 1000000000), (long)((next - now) % 1000000000)};
    nanosleep(&left, NULL);
}

pace_result pace_coordinator_step(pace_coordinator *c) {
    pace_lane *lane = c->is.lane;
    size_t said = 0, done = 0;
    while (done < lane->setup.tensor_count && !lane->stop) {
        int length = 0, says = 0;
        sleep_until_cycle(c);
        for (size_t seen = pace_lane_seen(lane), tensor; said < seen && pace_lane_next(lane, said, &tensor); said++)
            c->says[says++] = (int)tensor;
        PACE_LANE_TRY(negotiate(c, says, &length));
        c->looked_ns = pace_clock_ns();
        for (int at = 0; at < length; at += 1 + c->answer[at]) {
            PACE_LANE_TRY(exchange(c, &c->answer[at + 1], c->answer[at]));
            done += (size_t)c->answer[at];
        }
        c->free_ns = pace_clock_ns();
    }
    return PACE_EXCHANGER_OK;
}

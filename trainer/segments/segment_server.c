#include "segment_server.h"

#include "base/clock.h"
#include "base/print.h"
#include "segment_wait.h"

#include <sched.h>
#include <stdlib.h>

typedef struct {
    pace_segments_run *run;
    MPI_Comm all;
    pace_segment_block *kept; /* [layer][worker]; weights NULL: another server's */
    int *came;                /* [layer][replica]: workers that sent their changes of its filters */
    float *room;
    int left; /* workers that have not ended */
} server;

static pace_exchanger_result fail(const server *s, const char *what) {
    pace_snprintf(s->run->message, PACE_EXCHANGER_MESSAGE, "segments, rank %d, a parameter server: %s", s->run->rank,
                  what);
    return PACE_EXCHANGER_FAILED;
}

static bool make_kept(server *s) {
    const pace_segments_run *run = s->run;
    size_t largest = 1, workers = (size_t)run->workers;
    s->kept = calloc(run->layer_count * workers, sizeof *s->kept);
    for (size_t i = 0; s->kept && i < run->layer_count * workers; i++) {
        int worker = (int)(i % workers);
        if (pace_segment_kept_as(run, i / workers, worker) != worker) continue;
        if (pace_segment_server_of(run, i / workers, worker) != run->rank) continue;
        s->kept[i] = pace_segment_block_make(run, i / workers, worker);
        if (!s->kept[i].weights) return false;
        size_t count = pace_segment_block_count(&s->kept[i]);
        if (count > largest) largest = count;
    }
    s->room = malloc(largest * sizeof *s->room);
    s->came = calloc(run->layer_count * (size_t)run->replicas, sizeof *s->came);
    return s->kept && s->room && s->came;
}

static void release(server *s) {
    for (size_t i = 0; s->kept && i < s->run->layer_count * (size_t)s->run->workers; i++) free(s->kept[i].weights);
    free(s->kept);
    free(s->came);
    free(s->room);
}

static bool give(const server *s, const pace_segment_block *b, int worker, int layer) {
    MPI_Request request;
    return MPI_Isend(b->weights, (int)pace_segment_block_count(b), MPI_FLOAT, worker, layer, s->all, &request) ==
               MPI_SUCCESS &&
           pace_segment_wait(&request, 1, s->run->timeout_s);
}

/* Filters go back when all workers of a replica have sent their changes. */
static bool give_all(server *s, const pace_segment_block *b, int replica, int layer) {
    int workers = s->run->workers, *came = &s->came[layer * s->run->replicas + replica];
    if (++*came < workers) return true;
    *came = 0;
    for (int k = 0; k < workers; k++)
        if (!give(s, b, replica * workers + k, layer)) return false;
    return true;
}

static bool answer(server *s, int worker, int layer) {
    int workers = s->run->workers, kept = pace_segment_kept_as(s->run, (size_t)layer, worker % workers);
    const pace_segment_block *b = &s->kept[layer * workers + kept];
    size_t count = pace_segment_block_count(b);
    if (MPI_Recv(s->room, (int)count, MPI_FLOAT, worker, layer, s->all, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    pace_segment_add(b->weights, s->room, 1, count);
    return s->run->layers[layer].convolution ? give_all(s, b, worker / workers, layer) : give(s, b, worker, layer);
}

static pace_exchanger_result serve(server *s) {
    double heard_s = pace_clock_s();
    while (s->left) {
        int there = 0;
        MPI_Status from;
        if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->all, &there, &from) != MPI_SUCCESS) return fail(s, "MPI failed");
        if (!there) {
            if (pace_clock_s() - heard_s > s->run->timeout_s) return fail(s, "no worker said anything in time");
            sched_yield();
            continue;
        }
        heard_s = pace_clock_s();
        if (from.MPI_TAG == PACE_SEGMENT_END) {
            MPI_Recv(NULL, 0, MPI_FLOAT, from.MPI_SOURCE, PACE_SEGMENT_END, s->all, MPI_STATUS_IGNORE);
            s->left--;
        } else if (!answer(s, from.MPI_SOURCE, from.MPI_TAG))
            return fail(s, "a worker did not take its weights in time");
    }
    return PACE_EXCHANGER_OK;
}

pace_exchanger_result pace_segment_serve(pace_segments_run *run, MPI_Comm all) {
    server s = {.run = run, .all = all, .left = run->replicas * run->workers};
    pace_exchanger_result result = make_kept(&s) ? serve(&s) : fail(&s, "out of memory");
    release(&s);
    return result;
}

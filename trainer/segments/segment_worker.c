#include "segment_worker.h"

#include "base/print.h"
#include "segment_server.h"
#include "segment_wait.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    pace_segments_run *run;
    MPI_Comm all;               /* workers, then servers */
    int mine;                   /* which worker */
    pace_segment_block *blocks; /* by layer */
    float **pulled;             /* weights as the servers sent them last; NULL without servers */
    pthread_barrier_t together;
    atomic_bool failed, stops;
    int says_stop;
    _Atomic uint64_t sent_bytes;
    struct trainer *trainers;
} worker;

/* A thread. */
typedef struct trainer {
    worker *of;
    int number;
    pthread_t thread;
    float **values, **errors; /* by layer; values[0]: the sample */
    float *room;              /* errors that other workers send */
    MPI_Request *requests;
    double part_s[PACE_SEGMENT_PARTS], at_s; /* of this step; since when the present part runs */
    double loss;
    size_t right;
} trainer;

static size_t neurons_at(const pace_segments_run *run, size_t level) {
    return level ? run->layers[level - 1].neurons : run->inputs;
}

static void end_part(trainer *t, pace_segment_part part) {
    double now = pace_segment_now_s();
    t->part_s[part] += now - t->at_s;
    t->at_s = now;
}

static void fail(worker *w, const char *what) {
    if (atomic_exchange(&w->failed, true)) return;
    pace_snprintf(w->run->message, PACE_EXCHANGER_MESSAGE, "segments, rank %d, worker %d of replica %d: %s",
                  w->run->rank, w->mine, w->run->rank / w->run->workers, what);
}

static void wait_for(trainer *t, int count) {
    if (!pace_segment_wait(t->requests, count, t->of->run->timeout_s))
        fail(t->of, "nothing came from the others in time: a rank does not answer");
}

/* --- what workers tell each other --------------------------------------------------------------------------------------- */

/* Of a worker of this replica. */
static int rank_of(const worker *w, int number) { return w->run->rank - w->mine + number; }

typedef struct {
    size_t from, count;
} range;

static range segment_of(const pace_segments_run *run, size_t level, int number) {
    size_t all = neurons_at(run, level), from = pace_segment_from(all, number, run->workers);
    return (range){from, pace_segment_from(all, number + 1, run->workers) - from};
}

static void send(trainer *t, int *count, const float *data, range what, int to, int tag) {
    MPI_Isend(data + what.from, (int)what.count, MPI_FLOAT, rank_of(t->of, to), tag, t->of->all,
              &t->requests[(*count)++]);
    atomic_fetch_add(&t->of->sent_bytes, 4 * (uint64_t)what.count);
}

/* Each worker's activations of a layer go to all others. */
static void share_values(trainer *t, size_t level) {
    const pace_segments_run *run = t->of->run;
    int count = 0, tag = 2 * t->number;
    for (int other = 0; other < run->workers; other++) {
        if (other == t->of->mine) continue;
        range theirs = segment_of(run, level, other);
        MPI_Irecv(t->values[level] + theirs.from, (int)theirs.count, MPI_FLOAT, rank_of(t->of, other), tag, t->of->all,
                  &t->requests[count++]);
        send(t, &count, t->values[level], segment_of(run, level, t->of->mine), other, tag);
    }
    wait_for(t, count);
}

/* What each worker's weights say of the errors below goes to the worker that has the neuron. */
static void share_errors(trainer *t, size_t level) {
    const pace_segments_run *run = t->of->run;
    range own = segment_of(run, level, t->of->mine);
    int count = 0, tag = 2 * t->number + 1, rooms = 0;
    for (int other = 0; other < run->workers; other++) {
        if (other == t->of->mine) continue;
        MPI_Irecv(t->room + (size_t)rooms++ * own.count, (int)own.count, MPI_FLOAT, rank_of(t->of, other), tag,
                  t->of->all, &t->requests[count++]);
        send(t, &count, t->errors[level], segment_of(run, level, other), other, tag);
    }
    wait_for(t, count);
    for (int k = 0; k < rooms; k++)
        pace_segment_add(t->errors[level] + own.from, t->room + (size_t)k * own.count, 1, own.count);
}

/* --- a sample ----------------------------------------------------------------------------------------------------------- */

static float active(pace_neuron_activation kind, float x) {
    return kind == PACE_NEURON_RELU      ? (x > 0 ? x : 0)
           : kind == PACE_NEURON_SIGMOID ? 1 / (1 + expf(-x))
           : kind == PACE_NEURON_TANH    ? tanhf(x)
                                         : x;
}

/* Of the activation's value. */
static float slope(pace_neuron_activation kind, float y) {
    return kind == PACE_NEURON_RELU      ? (y > 0 ? 1.0F : 0.0F)
           : kind == PACE_NEURON_SIGMOID ? y * (1 - y)
           : kind == PACE_NEURON_TANH    ? 1 - y * y
                                         : 1.0F;
}

static void forward(trainer *t, size_t layer) {
    const pace_segment_block *b = &t->of->blocks[layer];
    const float *in = t->values[layer];
    float *out = t->values[layer + 1];
    for (size_t r = 0; r < b->rows; r++) {
        const float *row = b->weights + r * b->columns;
        out[b->first + r] = active(t->of->run->layers[layer].activation,
                                   pace_segment_dot(row, in, b->columns - 1) + row[b->columns - 1]);
    }
    end_part(t, PACE_SEGMENT_FORWARD);
    if (t->of->run->workers > 1) share_values(t, layer + 1);
    end_part(t, PACE_SEGMENT_EXCHANGE);
}

/* Softmax and cross entropy; all workers have all scores. */
static void find_errors(trainer *t, int32_t label) {
    size_t last = t->of->run->layer_count, count = neurons_at(t->of->run, last), best = 0;
    const float *scores = t->values[last];
    double sum = 0;
    for (size_t i = 1; i < count; i++)
        if (scores[i] > scores[best]) best = i;
    for (size_t i = 0; i < count; i++) sum += exp((double)scores[i] - (double)scores[best]);
    for (size_t i = 0; i < count; i++)
        t->errors[last][i] =
            (float)(exp((double)scores[i] - (double)scores[best]) / sum) - (i == (size_t)label ? 1.0F : 0.0F);
    t->loss += log(sum) + (double)scores[best] - (double)scores[label];
    t->right += best == (size_t)label;
}

static void backward(trainer *t, size_t layer) {
    const pace_segments_run *run = t->of->run;
    const pace_segment_block *b = &t->of->blocks[layer];
    const float *errors = t->errors[layer + 1];
    if (layer) {
        memset(t->errors[layer], 0, neurons_at(run, layer) * sizeof *t->errors[layer]);
        for (size_t r = 0; r < b->rows; r++)
            pace_segment_add(t->errors[layer], b->weights + r * b->columns, errors[b->first + r], b->columns - 1);
    }
    end_part(t, PACE_SEGMENT_BACKWARD);
    for (size_t r = 0; r < b->rows; r++) { /* HOGWILD: what another thread writes at the same time may be lost */
        float by = -run->rate * errors[b->first + r], *row = b->weights + r * b->columns;
        pace_segment_add(row, t->values[layer], by, b->columns - 1);
        row[b->columns - 1] += by;
    }
    end_part(t, PACE_SEGMENT_UPDATE);
    if (!layer) return;
    if (run->workers > 1) share_errors(t, layer);
    end_part(t, PACE_SEGMENT_EXCHANGE);
    range own = segment_of(run, layer, t->of->mine);
    for (size_t i = own.from; i < own.from + own.count; i++)
        t->errors[layer][i] *= slope(run->layers[layer - 1].activation, t->values[layer][i]);
}

static void train_sample(trainer *t, size_t sample) {
    const pace_segments_run *run = t->of->run;
    memcpy(t->values[0], run->samples + sample * run->inputs, run->inputs * sizeof *t->values[0]);
    for (size_t l = 0; l < run->layer_count && !t->of->failed; l++) forward(t, l);
    find_errors(t, run->labels[sample]);
    for (size_t l = run->layer_count; l-- && !t->of->failed;) backward(t, l);
}

/* --- servers -------------------------------------------------------------------------------------------------------------- */

/* What changed since the last time goes there, the weights of all replicas come back. */
static bool with_server(worker *w, size_t layer) {
    const pace_segment_block *b = &w->blocks[layer];
    size_t count = pace_segment_block_count(b);
    int server = pace_segment_server_of(w->run, layer, w->mine);
    float *changed = w->pulled[layer];
    MPI_Request requests[2];
    for (size_t i = 0; i < count; i++) changed[i] = b->weights[i] - changed[i];
    MPI_Irecv(b->weights, (int)count, MPI_FLOAT, server, (int)layer, w->all, &requests[0]);
    MPI_Isend(changed, (int)count, MPI_FLOAT, server, (int)layer, w->all, &requests[1]);
    if (!pace_segment_wait(requests, 2, w->run->timeout_s)) return false;
    atomic_fetch_add(&w->sent_bytes, 4 * (uint64_t)count);
    memcpy(changed, b->weights, count * sizeof *changed);
    return true;
}

static void with_servers(worker *w) {
    for (size_t l = 0; w->pulled && l < w->run->layer_count && !w->failed; l++)
        if (!with_server(w, l)) fail(w, "a parameter server does not answer in time");
}

static void say_end(worker *w) {
    for (int s = 0; w->pulled && s < w->run->servers; s++)
        MPI_Send(NULL, 0, MPI_FLOAT, w->run->replicas * w->run->workers + s, PACE_SEGMENT_END, w->all);
}

/* --- steps ----------------------------------------------------------------------------------------------------------------- */

/* The first worker of a replica decides: all of it end after the same step. */
static void ask_whether_to_stop(worker *w) {
    const pace_segments_run *run = w->run;
    MPI_Request *requests = w->trainers[0].requests;
    int count = 0;
    w->says_stop = w->mine == 0 && run->stopped(run->context);
    for (int other = 1; other < run->workers && w->mine == 0; other++)
        MPI_Isend(&w->says_stop, 1, MPI_INT, rank_of(w, other), PACE_SEGMENT_STOP, w->all, &requests[count++]);
    if (w->mine) MPI_Irecv(&w->says_stop, 1, MPI_INT, rank_of(w, 0), PACE_SEGMENT_STOP, w->all, &requests[count++]);
    wait_for(&w->trainers[0], count);
    w->stops = w->says_stop || w->failed;
}

static void note_step(worker *w, size_t step, double start_s) {
    pace_segments_run *run = w->run;
    size_t right = 0;
    for (int k = 0; k < run->threads; k++) {
        run->losses[step] += w->trainers[k].loss / (double)run->batch;
        right += w->trainers[k].right;
        w->trainers[k].loss = 0, w->trainers[k].right = 0;
    }
    run->rights[step] = (double)right / (double)run->batch;
    for (int part = 0; part < PACE_SEGMENT_PARTS; part++) run->part_s[part][step] = w->trainers[0].part_s[part];
    run->step_s[step] = pace_segment_now_s() - start_s;
    run->done = step + 1;
}

static void *train(void *argument) {
    trainer *t = argument;
    worker *w = t->of;
    bool first = t->number == 0;
    for (size_t step = 0; step < w->run->steps; step++) {
        if (first) ask_whether_to_stop(w);
        pthread_barrier_wait(&w->together);
        if (w->stops) break;
        double start_s = t->at_s = pace_segment_now_s();
        memset(t->part_s, 0, sizeof t->part_s);
        for (size_t i = (size_t)t->number; i < w->run->batch && !w->failed; i += (size_t)w->run->threads)
            train_sample(t, i);
        pthread_barrier_wait(&w->together);
        if (!first) continue;
        with_servers(w);
        end_part(t, PACE_SEGMENT_EXCHANGE);
        if (!w->failed) note_step(w, step, start_s);
    }
    return NULL;
}

/* --- its life --------------------------------------------------------------------------------------------------------------- */

static bool make_trainer(trainer *t, worker *w, int number) {
    const pace_segments_run *run = w->run;
    size_t largest = 1;
    t->of = w, t->number = number;
    t->values = calloc(run->layer_count + 1, sizeof *t->values);
    t->errors = calloc(run->layer_count + 1, sizeof *t->errors);
    t->requests = calloc(2 * (size_t)run->workers, sizeof *t->requests);
    for (size_t l = 0; t->values && t->errors && l <= run->layer_count; l++) {
        size_t count = neurons_at(run, l);
        if (count > largest) largest = count;
        t->values[l] = calloc(count + 1, sizeof *t->values[l]);
        t->errors[l] = calloc(count + 1, sizeof *t->errors[l]);
        if (!t->values[l] || !t->errors[l]) return false;
    }
    t->room = calloc(largest + (size_t)run->workers * (size_t)run->workers, sizeof *t->room);
    return t->values && t->errors && t->requests && t->room;
}

static bool make_pulled(worker *w) {
    if (!w->run->servers) return true;
    w->pulled = calloc(w->run->layer_count, sizeof *w->pulled);
    for (size_t l = 0; w->pulled && l < w->run->layer_count; l++) {
        size_t count = pace_segment_block_count(&w->blocks[l]);
        w->pulled[l] = malloc((count + 1) * sizeof *w->pulled[l]);
        if (!w->pulled[l]) return false;
        memcpy(w->pulled[l], w->blocks[l].weights, count * sizeof *w->pulled[l]);
    }
    return w->pulled != NULL;
}

static bool make(worker *w) {
    pace_segments_run *run = w->run;
    w->blocks = calloc(run->layer_count, sizeof *w->blocks);
    w->trainers = calloc((size_t)run->threads, sizeof *w->trainers);
    if (!w->blocks || !w->trainers) return false;
    for (size_t l = 0; l < run->layer_count; l++) {
        w->blocks[l] = pace_segment_block_make(run, l, w->mine);
        if (!w->blocks[l].weights) return false;
    }
    for (int k = 0; k < run->threads; k++)
        if (!make_trainer(&w->trainers[k], w, k)) return false;
    return make_pulled(w);
}

static void release(worker *w) {
    size_t layers = w->run->layer_count;
    for (size_t l = 0; w->blocks && l < layers; l++) free(w->blocks[l].weights);
    for (size_t l = 0; w->pulled && l < layers; l++) free(w->pulled[l]);
    for (int k = 0; w->trainers && k < w->run->threads; k++) {
        trainer *t = &w->trainers[k];
        for (size_t l = 0; t->values && t->errors && l <= layers; l++) free(t->values[l]), free(t->errors[l]);
        free(t->values);
        free(t->errors);
        free(t->room);
        free(t->requests);
    }
    free(w->blocks);
    free(w->pulled);
    free(w->trainers);
}

static void run_threads(worker *w) {
    int started = 1;
    pthread_barrier_init(&w->together, NULL, (unsigned)w->run->threads);
    for (; started < w->run->threads; started++)
        if (pthread_create(&w->trainers[started].thread, NULL, train, &w->trainers[started]) != 0) break;
    if (started < w->run->threads) abort(); /* those that wait for it cannot be ended */
    train(&w->trainers[0]);
    for (int k = 1; k < started; k++) pthread_join(w->trainers[k].thread, NULL);
    pthread_barrier_destroy(&w->together);
}

pace_exchanger_result pace_segment_work(pace_segments_run *run, MPI_Comm all) {
    worker w = {.run = run, .all = all, .mine = run->rank % run->workers};
    if (make(&w)) run_threads(&w);
    else fail(&w, "out of memory");
    if (!w.failed) say_end(&w);
    run->sent_bytes = w.sent_bytes;
    bool failed = w.failed;
    if (!failed) release(&w); /* else a message may still come */
    return failed ? PACE_EXCHANGER_FAILED : PACE_EXCHANGER_OK;
}

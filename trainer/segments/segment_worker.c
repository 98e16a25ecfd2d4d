#include "segment_worker.h"

#include "base/clock.h"
#include "base/print.h"
#include "segment_activation.h"
#include "segment_server.h"
#include "segment_strip.h"
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
    float **pulled;             /* weights as all knew them last; NULL where a layer is this worker's alone */
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
    float **values, **errors;   /* by layer; values[0]: the sample */
    pace_segment_strip *strips; /* by layer: of convolutions */
    float *room;                /* errors that other workers send, or what they changed */
    MPI_Request *requests;
    double part_s[PACE_SEGMENT_PARTS], at_s; /* of this step; since when the present part runs */
    double loss;
    size_t right;
} trainer;

static size_t neurons_at(const pace_segments_run *run, size_t level) {
    return level ? pace_segment_values(&run->layers[level - 1].out) : run->inputs;
}

static void end_part(trainer *t, pace_segment_part part) {
    double now = pace_clock_s();
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

/* --- what workers tell each other --------------------------------------------------------------------------------- */

/* Of a worker of this replica. */
static int rank_of(const worker *w, int number) { return w->run->rank - w->mine + number; }

/* Of a layer's values, level by level: 0 is the sample. */
typedef struct {
    size_t from, count;
} range;

static pace_segment_range rows_of(const worker *w, size_t level, int number) {
    return pace_segment_of(w->run->layers[level - 1].out.height, number, w->run->workers);
}

/* Rows that the worker's segment of the next layer reads. Behind the last layer all read all scores. */
static pace_segment_range reads_of(const worker *w, size_t level, int number) {
    const pace_segment_layer *next = &w->run->layers[level];
    if (level < w->run->layer_count && next->convolution)
        return pace_segment_strip_reads(next, rows_of(w, level + 1, number));
    return (pace_segment_range){0, next[-1].out.height};
}

static range common(const worker *w, size_t level, pace_segment_range a, pace_segment_range b) {
    const pace_segment_image *image = &w->run->layers[level - 1].out;
    size_t row = image->width * image->channels, from = a.from > b.from ? a.from : b.from;
    size_t to = a.to < b.to ? a.to : b.to;
    return from < to ? (range){from * row, (to - from) * row} : (range){0, 0};
}

/* What one worker has and another one reads. */
static range between(const worker *w, size_t level, int has, int reads) {
    return common(w, level, rows_of(w, level, has), reads_of(w, level, reads));
}

static void send(trainer *t, int *count, const float *data, range what, int to, int tag) {
    if (!what.count) return;
    MPI_Isend(data + what.from, (int)what.count, MPI_FLOAT, rank_of(t->of, to), tag, t->of->all,
              &t->requests[(*count)++]);
    atomic_fetch_add(&t->of->sent_bytes, 4 * (uint64_t)what.count);
}

static void receive(trainer *t, int *count, float *data, size_t values, int from, int tag) {
    if (!values) return;
    MPI_Irecv(data, (int)values, MPI_FLOAT, rank_of(t->of, from), tag, t->of->all, &t->requests[(*count)++]);
}

/* Each worker's activations of a layer go to those who read them. */
static void share_values(trainer *t, size_t level) {
    const worker *w = t->of;
    int count = 0, tag = 2 * t->number;
    for (int other = 0; other < w->run->workers; other++) {
        if (other == w->mine) continue;
        range theirs = between(w, level, other, w->mine);
        receive(t, &count, t->values[level] + theirs.from, theirs.count, other, tag);
        send(t, &count, t->values[level], between(w, level, w->mine, other), other, tag);
    }
    wait_for(t, count);
}

/* What each worker's weights say of the errors below goes to the worker that has the neuron. */
static void share_errors(trainer *t, size_t level) {
    const worker *w = t->of;
    int count = 0, tag = 2 * t->number + 1;
    float *room = t->room;
    for (int other = 0; other < w->run->workers; other++) {
        if (other == w->mine) continue;
        size_t own = between(w, level, w->mine, other).count;
        receive(t, &count, room, own, other, tag);
        send(t, &count, t->errors[level], between(w, level, other, w->mine), other, tag);
        room += own;
    }
    wait_for(t, count);
    room = t->room;
    for (int other = 0; other < w->run->workers; other++) {
        range own = between(w, level, w->mine, other);
        if (other == w->mine) continue;
        pace_segment_add(t->errors[level] + own.from, room, 1, own.count);
        room += own.count;
    }
}

/* --- a sample ----------------------------------------------------------------------------------------------------- */

static pace_segment_strip *strip_of(trainer *t, size_t layer) {
    t->strips[layer].in = t->values[layer];
    return &t->strips[layer];
}

static void forward_neurons(trainer *t, size_t layer) {
    const pace_segment_block *b = &t->of->blocks[layer];
    for (size_t r = 0; r < b->rows; r++) {
        const float *row = b->weights + r * b->columns;
        float sum = pace_segment_dot(row, t->values[layer], b->columns - 1) + row[b->columns - 1];
        t->values[layer + 1][b->first + r] = pace_neuron_active(t->of->run->layers[layer].activation, sum);
    }
}

static void forward(trainer *t, size_t layer) {
    if (t->of->run->layers[layer].convolution) pace_segment_strip_forward(strip_of(t, layer), t->values[layer + 1]);
    else forward_neurons(t, layer);
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

static void backward_neurons(trainer *t, size_t layer) {
    const pace_segment_block *b = &t->of->blocks[layer];
    float *errors = t->errors[layer + 1] + b->first;
    for (size_t r = 0; r < b->rows; r++)
        errors[r] *= pace_neuron_slope(t->of->run->layers[layer].activation, t->values[layer + 1][b->first + r]);
    for (size_t r = 0; layer && r < b->rows; r++)
        pace_segment_add(t->errors[layer], b->weights + r * b->columns, errors[r], b->columns - 1);
}

static void update_neurons(trainer *t, size_t layer) {
    const pace_segment_block *b = &t->of->blocks[layer];
    for (size_t r = 0; r < b->rows; r++) {
        float by = -t->of->run->rate * t->errors[layer + 1][b->first + r], *row = b->weights + r * b->columns;
        pace_segment_add(row, t->values[layer], by, b->columns - 1);
        row[b->columns - 1] += by;
    }
}

/* HOGWILD: what another thread updates at the same time may be lost. */
static void backward(trainer *t, size_t layer) {
    const pace_segments_run *run = t->of->run;
    bool convolution = run->layers[layer].convolution;
    if (layer) memset(t->errors[layer], 0, neurons_at(run, layer) * sizeof *t->errors[layer]);
    if (convolution) pace_segment_strip_errors(strip_of(t, layer), t->errors[layer + 1]);
    if (!convolution) backward_neurons(t, layer);
    else if (layer) pace_segment_strip_backward(strip_of(t, layer), t->errors[layer]);
    end_part(t, PACE_SEGMENT_BACKWARD);
    if (convolution) pace_segment_strip_update(strip_of(t, layer), -run->rate);
    else update_neurons(t, layer);
    end_part(t, PACE_SEGMENT_UPDATE);
    if (layer && run->workers > 1) share_errors(t, layer);
    end_part(t, PACE_SEGMENT_EXCHANGE);
}

static void train_sample(trainer *t, size_t sample) {
    const pace_segments_run *run = t->of->run;
    memcpy(t->values[0], run->samples + sample * run->inputs, run->inputs * sizeof *t->values[0]);
    for (size_t l = 0; l < run->layer_count && !t->of->failed; l++) forward(t, l);
    find_errors(t, run->labels[sample]);
    for (size_t l = run->layer_count; l-- && !t->of->failed;) backward(t, l);
}

/* --- weights of several workers ----------------------------------------------------------------------------------- */

/* What changed since the last time goes to its server, the weights of all replicas come back. */
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

/* Without servers: each worker adds what all of them changed a convolution's filters by, in their order. */
static void with_workers(worker *w, size_t layer) {
    const pace_segment_block *b = &w->blocks[layer];
    trainer *t = &w->trainers[0];
    size_t count = pace_segment_block_count(b);
    int tag = PACE_SEGMENT_MERGE + (int)layer, posted = 0;
    float *kept = w->pulled[layer];
    for (size_t i = 0; i < count; i++) b->weights[i] -= kept[i];
    for (int other = 0; other < w->run->workers; other++) {
        if (other == w->mine) continue;
        receive(t, &posted, t->room + (size_t)other * count, count, other, tag);
        send(t, &posted, b->weights, (range){0, count}, other, tag);
    }
    wait_for(t, posted);
    for (int k = 0; k < w->run->workers; k++)
        pace_segment_add(kept, k == w->mine ? b->weights : t->room + (size_t)k * count, 1, count);
    memcpy(b->weights, kept, count * sizeof *kept);
}

static void share_weights(worker *w) {
    for (size_t l = 0; l < w->run->layer_count && !w->failed; l++) {
        if (!w->pulled[l]) continue;
        if (!w->run->servers) with_workers(w, l);
        else if (!with_server(w, l)) fail(w, "a parameter server does not answer in time");
    }
}

static void say_end(worker *w) {
    for (int s = 0; s < w->run->servers; s++)
        MPI_Send(NULL, 0, MPI_FLOAT, w->run->replicas * w->run->workers + s, PACE_SEGMENT_END, w->all);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

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
    run->step_s[step] = pace_clock_s() - start_s;
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
        double start_s = t->at_s = pace_clock_s();
        memset(t->part_s, 0, sizeof t->part_s);
        for (size_t i = (size_t)t->number; i < w->run->batch && !w->failed; i += (size_t)w->run->threads)
            train_sample(t, i);
        pthread_barrier_wait(&w->together);
        if (!first) continue;
        share_weights(w);
        end_part(t, PACE_SEGMENT_EXCHANGE);
        if (!w->failed) note_step(w, step, start_s);
    }
    return NULL;
}

/* --- its life ----------------------------------------------------------------------------------------------------- */

/* Values that other workers send at once: errors of this worker's rows, or changes of all filters. */
static size_t room_of(const worker *w) {
    size_t most = 1, workers = (size_t)w->run->workers;
    for (size_t l = 0; l < w->run->layer_count; l++) {
        const pace_segment_image *out = &w->run->layers[l].out;
        size_t rows = (out->height / workers + 1) * out->width * out->channels;
        size_t filters = w->run->layers[l].convolution ? pace_segment_block_count(&w->blocks[l]) : 0;
        if (rows > most) most = rows;
        if (filters > most) most = filters;
    }
    return most * workers;
}

static bool make_strip(trainer *t, size_t layer) {
    const pace_segment_layer *l = &t->of->run->layers[layer];
    pace_segment_strip *s = &t->strips[layer];
    if (!l->convolution) return true;
    *s = (pace_segment_strip){.layer = l,
                              .filters = &t->of->blocks[layer],
                              .rows = rows_of(t->of, layer + 1, t->of->mine),
                              .map = calloc(pace_segment_values(&l->map), sizeof *s->map),
                              .map_errors = calloc(pace_segment_values(&l->map), sizeof *s->map_errors),
                              .window = calloc(pace_segment_filter_values(l), sizeof *s->window)};
    return s->map && s->map_errors && s->window;
}

static bool make_trainer(trainer *t, worker *w, int number) {
    const pace_segments_run *run = w->run;
    t->of = w, t->number = number;
    t->values = calloc(run->layer_count + 1, sizeof *t->values);
    t->errors = calloc(run->layer_count + 1, sizeof *t->errors);
    t->strips = calloc(run->layer_count, sizeof *t->strips);
    t->requests = calloc(2 * (size_t)run->workers, sizeof *t->requests);
    t->room = calloc(room_of(w), sizeof *t->room);
    if (!t->values || !t->errors || !t->strips || !t->requests || !t->room) return false;
    for (size_t l = 0; l <= run->layer_count; l++) {
        t->values[l] = calloc(neurons_at(run, l) + 1, sizeof *t->values[l]);
        t->errors[l] = calloc(neurons_at(run, l) + 1, sizeof *t->errors[l]);
        if (!t->values[l] || !t->errors[l]) return false;
        if (l < run->layer_count && !make_strip(t, l)) return false;
    }
    return true;
}

static bool make_pulled(worker *w) {
    w->pulled = calloc(w->run->layer_count, sizeof *w->pulled);
    for (size_t l = 0; w->pulled && l < w->run->layer_count; l++) {
        if (!w->run->servers && (w->run->workers == 1 || !w->run->layers[l].convolution)) continue;
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

static void release_trainer(trainer *t, size_t layers) {
    for (size_t l = 0; t->values && t->errors && l <= layers; l++) free(t->values[l]), free(t->errors[l]);
    for (size_t l = 0; t->strips && l < layers; l++)
        free(t->strips[l].map), free(t->strips[l].map_errors), free(t->strips[l].window);
    free(t->values);
    free(t->errors);
    free(t->strips);
    free(t->room);
    free(t->requests);
}

static void release(worker *w) {
    size_t layers = w->run->layer_count;
    for (size_t l = 0; w->blocks && l < layers; l++) free(w->blocks[l].weights);
    for (size_t l = 0; w->pulled && l < layers; l++) free(w->pulled[l]);
    for (int k = 0; w->trainers && k < w->run->threads; k++) release_trainer(&w->trainers[k], layers);
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

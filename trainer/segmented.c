#include "segmented.h"

#include "base/decimal.h"
#include "base/median.h"
#include "base/random.h"
#include "base/shared_object.h"
#include "here.h"
#include "segments/segments_run.h"
#include "trained_network.h"

#include <math.h>
#include <string.h>

enum { MOST_SET = 64, MOST_LAYERS = 256, MOST_STEPS = 1 << 20, USUAL_TIMEOUT_S = 60 };

typedef struct {
    const pace_question *question;
    pace_network network; /* described, not computed by the engine */
    pace_segment_layer layers[MOST_LAYERS];
    pace_segments_run run;
    size_t warm_up;
    float *samples;
    int32_t *labels;
    double *times; /* all of the run's lists, one behind the other */
    pace_trained_part parts[PACE_SEGMENT_PARTS];
    char transport[96];
    const char *model;
    const pace_processes *processes;
    pace_training_done done;
} segmented;

bool pace_segments_asked(const pace_question *question) {
    const char *approach = pace_question_text(question, "approach");
    return approach && strcmp(approach, "segments") == 0;
}

/* --- the question ------------------------------------------------------------------------------------------------- */

static pace_status refuse_others(const pace_question *q) {
    static const char *const others[] = {"overlap", "asynchronous", "port", "fusion",
                                         "trace",   "clock",        "data", "loader"};
    for (size_t i = 0; i < PACE_COUNT(others); i++)
        if (pace_question_has(q, others[i]))
            return pace_fail(PACE_E_USAGE, "%s: it has no effect on " PACE_FIELD "approach segments", others[i]);
    return PACE_OK;
}

static pace_status whole(size_t *out, const pace_question *q, const char *field, size_t usual, size_t least) {
    double value = pace_question_has(q, field) ? pace_question_number(q, field) : (double)usual;
    if (!(value >= (double)least && value <= MOST_STEPS) || value != floor(value))
        return pace_fail(PACE_E_USAGE, "%s: expected a whole number from %zu to %d, found %g", field, least, MOST_STEPS,
                         value);
    *out = (size_t)value;
    return PACE_OK;
}

/* "dp=2" and "tp=2" are replicas and workers; the rest is the model's. */
static pace_status read_set(segmented *s, const char **rest, size_t *rest_count, double *dp, double *tp) {
    const char *item;
    for (size_t i = 0; (item = pace_question_item(s->question, "set", i)); i++) {
        double *to = strncmp(item, "dp=", 3) == 0 ? dp : strncmp(item, "tp=", 3) == 0 ? tp : NULL;
        if (!to && *rest_count < MOST_SET) rest[(*rest_count)++] = item;
        if (!to) continue;
        if (!pace_number_parse(to, item + 3) || !(*to >= 1 && *to <= 4096) || *to != floor(*to))
            return pace_fail(PACE_E_USAGE, "set: %.40s: expected a whole number from 1 to 4096", item);
    }
    return PACE_OK;
}

/* What is not said follows from the number of ranks: all that no server takes are workers of one replica. */
static pace_status divide(segmented *s, double dp, double tp) {
    pace_segments_run *run = &s->run;
    int ranks = s->processes ? s->processes->count : 1;
    if (isnan(dp)) dp = isnan(tp) ? 1 : fmax(floor((ranks - run->servers) / tp), 1);
    if (isnan(tp)) tp = fmax(floor((ranks - run->servers) / dp), 1);
    run->replicas = (int)dp, run->workers = (int)tp;
    run->rank = s->processes ? s->processes->rank : 0;
    if (run->replicas * run->workers + run->servers != ranks)
        return pace_fail(PACE_E_USAGE, "ranks: %d replica%s of %d worker%s and %d server%s are %d ranks, %d %s here",
                         run->replicas, run->replicas == 1 ? "" : "s", run->workers, run->workers == 1 ? "" : "s",
                         run->servers, run->servers == 1 ? "" : "s", run->replicas * run->workers + run->servers, ranks,
                         ranks == 1 ? "is" : "are");
    if (run->replicas > 1 && run->servers == 0)
        return pace_fail(PACE_E_USAGE, "servers: %d replicas share weights by parameter servers: expected one or more",
                         run->replicas);
    return PACE_OK;
}

static pace_status read_numbers(segmented *s, double dp, double tp) {
    const pace_question *q = s->question;
    pace_segments_run *run = &s->run;
    size_t servers = 0, threads = 1, seed = 1;
    PACE_TRY(whole(&run->batch, q, "batch", 32, 1));
    PACE_TRY(whole(&run->steps, q, "steps", 20, 1));
    PACE_TRY(whole(&s->warm_up, q, "warm_up", 5, 0));
    PACE_TRY(whole(&servers, q, "servers", 0, 0));
    PACE_TRY(whole(&threads, q, "threads", 1, 1));
    PACE_TRY(whole(&seed, q, "seed", 1, 0));
    run->servers = (int)servers, run->threads = (int)threads, run->seed = seed;
    run->steps += s->warm_up;
    run->rate = pace_question_number(q, "rate") > 0 ? (float)pace_question_number(q, "rate") : 0.01F;
    run->timeout_s = pace_question_number(q, "timeout") > 0 ? pace_question_number(q, "timeout") : USUAL_TIMEOUT_S;
    return divide(s, dp, tp);
}

/* --- the chain of layers ------------------------------------------------------------------------------------------ */

static pace_neuron_activation activation_of(const char *word) {
    return strcmp(word, "relu") == 0      ? PACE_NEURON_RELU
           : strcmp(word, "sigmoid") == 0 ? PACE_NEURON_SIGMOID
           : strcmp(word, "tanh") == 0    ? PACE_NEURON_TANH
                                          : PACE_NEURON_NONE;
}

static pace_status refuse_layer(const segmented *s, size_t i) {
    return pace_fail(PACE_E_USAGE,
                     "%s: layer \"%.60s\" (%s): segments are of convolutions and fully connected layers with biases; "
                     "relu, sigmoid or tanh behind each, one pool behind that of a convolution, and cross_entropy",
                     s->model, s->network.names[i], s->network.model.layers.items[i].word);
}

static pace_segment_image image_of(const pace_shape *shape) {
    return (pace_segment_image){(size_t)shape->height, (size_t)shape->width, (size_t)shape->channels};
}

/* Of both sides. */
static void read_windows(pace_segment_window *window, const pace_layer *layer) {
    for (int side = 0; side < 2; side++)
        window[side] = (pace_segment_window){(size_t)layer->option[PACE_OPTION_KERNEL + side],
                                             (size_t)layer->option[PACE_OPTION_STRIDE + side],
                                             (size_t)layer->option[PACE_OPTION_PAD + side]};
}

static bool add_convolution(pace_segment_layer *to, const pace_layer *layer, const pace_shape *in) {
    if (layer->option[PACE_OPTION_GROUPS] > 1 || layer->option[PACE_OPTION_DILATION] > 1) return false;
    *to = (pace_segment_layer){.convolution = true,
                               .in = image_of(in),
                               .map = image_of(&layer->shape),
                               .out = image_of(&layer->shape),
                               .pool = {{1, 1, 0}, {1, 1, 0}}};
    read_windows(to->filter, layer);
    return true;
}

/* No mean over places that are padded. */
static bool add_pool(pace_segment_layer *to, const pace_layer *layer) {
    bool pooled = to->pool[0].kernel * to->pool[1].kernel > 1;
    to->mean = layer->kind == PACE_LAYER_AVERAGE_POOL;
    if (!to->convolution || pooled ||
        (to->mean && layer->option[PACE_OPTION_PAD] + layer->option[PACE_OPTION_PAD_WIDTH] > 0))
        return false;
    read_windows(to->pool, layer);
    to->out = image_of(&layer->shape);
    return true;
}

/* Before the pool, wherever it stands: the largest value stays the largest. A mean does not. */
static bool add_activation(pace_segment_layer *to, const pace_layer *layer) {
    if (to->activation != PACE_NEURON_NONE || to->mean) return false;
    to->activation = activation_of(layer->word);
    return to->activation != PACE_NEURON_NONE;
}

static bool joins(segmented *s, size_t i) {
    const pace_layer *layer = &s->network.model.layers.items[i];
    pace_segments_run *run = &s->run;
    pace_segment_layer *next = &s->layers[run->layer_count], *last = run->layer_count ? next - 1 : NULL;
    bool room = run->layer_count < MOST_LAYERS && layer->option[PACE_OPTION_BIAS] > 0;
    switch (layer->kind) {
    case PACE_LAYER_INPUT: return i == 0 && (run->inputs = (size_t)pace_shape_elements(&layer->shape, 1)) > 0;
    case PACE_LAYER_CONVOLUTION:
        if (!room || !add_convolution(next, layer, &pace_layer_input(&s->network.model, layer, 0)->shape)) return false;
        run->layer_count++;
        return true;
    case PACE_LAYER_LINEAR:
        *next = (pace_segment_layer){.out = {(size_t)layer->option[PACE_OPTION_OUT], 1, 1}};
        run->layer_count += room;
        return room;
    case PACE_LAYER_MAX_POOL:
    case PACE_LAYER_AVERAGE_POOL: return last && add_pool(last, layer);
    case PACE_LAYER_ACTIVATION: return last && add_activation(last, layer);
    case PACE_LAYER_FLATTEN: return !last || last->convolution;
    case PACE_LAYER_LOSS:
        return strcmp(layer->word, "cross_entropy") == 0 && last && !last->convolution &&
               last->activation == PACE_NEURON_NONE;
    default: return false;
    }
}

static pace_status add_layer(segmented *s, size_t i) {
    const pace_layer *layer = &s->network.model.layers.items[i];
    bool chained = layer->kind == PACE_LAYER_INPUT ||
                   (layer->input_count == 1 && s->network.model.inputs.items[layer->first_input] + 1 == i);
    return chained && joins(s, i) ? PACE_OK : refuse_layer(s, i);
}

static pace_status check_widths(const segmented *s) {
    for (size_t l = 0; l < s->run.layer_count; l++)
        if (s->layers[l].out.height < (size_t)s->run.workers)
            return pace_fail(PACE_E_USAGE, "set: tp=%d: a layer of %zu %s has no segment for each worker",
                             s->run.workers, s->layers[l].out.height, s->layers[l].convolution ? "rows" : "neurons");
    return PACE_OK;
}

/* Each worker has all filters of a convolution. */
static double weights_of_worker(const pace_segments_run *run) {
    double sum = 0;
    for (size_t l = 0; l < run->layer_count; l++) {
        const pace_segment_layer *one = &run->layers[l];
        double inputs = (double)(l ? pace_segment_values(&one[-1].out) : run->inputs);
        sum += one->convolution ? (double)one->map.channels * (double)(pace_segment_filter_values(one) + 1)
                                : ceil((double)one->out.height / run->workers) * (inputs + 1);
    }
    return 4 * sum;
}

/* Activations and errors of all threads. */
static double values_of_worker(const pace_segments_run *run) {
    double sum = (double)run->inputs;
    for (size_t l = 0; l < run->layer_count; l++)
        sum += (double)(pace_segment_values(&run->layers[l].out) + pace_segment_values(&run->layers[l].map));
    return 8 * sum * run->threads;
}

static pace_status check_memory(segmented *s) {
    double asked = pace_question_number(s->question, "memory"), there = pace_free_bytes();
    double most = asked > 0 && (there <= 0 || asked < there) ? asked : there;
    s->done.memory_bytes = weights_of_worker(&s->run) * (s->run.servers ? 2 : 1) + values_of_worker(&s->run);
    if (most <= 0 || s->done.memory_bytes <= most) return PACE_OK;
    return pace_fail(PACE_E_NO_FIT,
                     "%s: a worker takes %.1f MB of memory, and %.1f MB are there: expected more workers", s->model,
                     s->done.memory_bytes / 1e6, most / 1e6);
}

static pace_status read_model(segmented *s) {
    const char *rest[MOST_SET];
    double dp = NAN, tp = NAN;
    pace_network_asked asked = {.model = s->model, .batch = 1, .seed = 1};
    PACE_TRY(read_set(s, rest, &asked.set.count, &dp, &tp));
    asked.set.items = rest;
    PACE_TRY(read_numbers(s, dp, tp));
    PACE_TRY(pace_network_plan(&s->network, &asked));
    for (size_t i = 0; i < s->network.model.layers.count; i++) PACE_TRY(add_layer(s, i));
    if (s->network.config.optimizer != PACE_SGD)
        for (size_t i = 0; i < asked.set.count; i++)
            if (strncmp(rest[i], "optimizer=", 10) == 0)
                return pace_fail(PACE_E_USAGE, "set: %.40s: segments are updated by plain SGD", rest[i]);
    s->run.layers = s->layers;
    for (size_t i = 0; i < s->network.model.layers.count; i++)
        s->done.parameters += s->network.model.layers.items[i].parameters;
    PACE_TRY(check_widths(s));
    return check_memory(s);
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

static pace_status draw(segmented *s) {
    const pace_segments_run *run = &s->run;
    size_t classes = s->layers[run->layer_count - 1].out.height;
    int replica = run->rank / run->workers;
    s->samples = pace_alloc(run->batch * run->inputs, sizeof *s->samples);
    s->labels = pace_alloc(run->batch, sizeof *s->labels);
    if (!s->samples || !s->labels) return PACE_E_MEMORY;
    for (size_t i = 0; i < run->batch; i++) {
        uint64_t stream = pace_random_stream(~run->seed, (size_t)replica * run->batch + i);
        s->labels[i] = (int32_t)(pace_random_uniform(&stream) * (double)classes);
        for (size_t k = 0; k < run->inputs; k++)
            s->samples[i * run->inputs + k] = (float)(2 * pace_random_uniform(&stream) - 1);
    }
    return PACE_OK;
}

static bool stopped(void *context) { return pace_question_stopped(context); }

static pace_status prepare(segmented *s) {
    enum { LISTS = PACE_SEGMENT_PARTS + 3 };
    pace_segments_run *run = &s->run;
    PACE_TRY(draw(s));
    s->times = pace_alloc(LISTS * run->steps, sizeof *s->times);
    if (!s->times) return PACE_E_MEMORY;
    for (int part = 0; part < PACE_SEGMENT_PARTS; part++) run->part_s[part] = s->times + (size_t)part * run->steps;
    run->step_s = s->times + PACE_SEGMENT_PARTS * run->steps;
    run->losses = run->step_s + run->steps, run->rights = run->losses + run->steps;
    run->samples = s->samples, run->labels = s->labels;
    run->stopped = stopped, run->context = (void *)(uintptr_t)s->question;
    return PACE_OK;
}

static pace_status run_module(segmented *s) {
    static const pace_status statuses[] = {[PACE_EXCHANGER_MISSING] = PACE_E_MISSING,
                                           [PACE_EXCHANGER_USAGE] = PACE_E_USAGE,
                                           [PACE_EXCHANGER_FAILED] = PACE_E_IO};
    char path[2048], reason[256];
    pace_segments_fn run = NULL;
    if (!pace_shared_object_find(path, sizeof path, NULL, "paceline-train-segments.so"))
        return pace_fail(PACE_E_MISSING,
                         "approach segments: build Paceline where there is the Debian package libopenmpi-dev%s",
                         pace_shared_object_elsewhere());
    *(void **)&run = pace_shared_object_symbol(path, "pace_train_segments_run", reason, sizeof reason);
    if (!run) return pace_fail(PACE_E_MISSING, "approach segments: %s (the Debian package libopenmpi-dev)", reason);
    pace_exchanger_result result = run(&s->run);
    return result == PACE_EXCHANGER_OK ? PACE_OK : pace_fail(statuses[result], "%s", s->run.message);
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

static pace_status find_part(segmented *s, int part) {
    static const char *const names[] = {"forward", "backward", "exposed_exchange", "update"};
    pace_median_interval m;
    PACE_TRY(pace_series_median_of(&m, s->run.part_s[part] + s->warm_up, s->done.steps, 0.9));
    s->parts[part] = (pace_trained_part){.name = names[part],
                                         .median_s = m.median,
                                         .low_s = m.low,
                                         .high_s = m.high,
                                         .share = m.median / s->done.step_s};
    return PACE_OK;
}

static pace_status find_figures(segmented *s) {
    const pace_segments_run *run = &s->run;
    pace_training_done *d = &s->done;
    if (run->done <= s->warm_up) return pace_fail(PACE_E_STOPPED, "stopped before the first step that counts");
    d->stopped = run->done < run->steps;
    d->steps = run->done - s->warm_up, d->warm_up = s->warm_up, d->batch = run->batch;
    d->first_loss = run->losses[s->warm_up], d->last_loss = run->losses[run->done - 1];
    d->accuracy = run->rights[run->done - 1];
    pace_median_interval step;
    PACE_TRY(pace_series_median_of(&step, run->step_s + s->warm_up, d->steps, 0.9));
    double samples = (double)run->batch * run->replicas;
    d->step_s = step.median, d->step_low_s = step.low, d->step_high_s = step.high;
    d->samples_per_s = samples / step.median;
    d->samples_per_s_low = samples / step.high, d->samples_per_s_high = samples / step.low;
    for (int part = 0; part < PACE_SEGMENT_PARTS; part++) PACE_TRY(find_part(s, part));
    return PACE_OK;
}

static pace_status answer(pace_answer **out, segmented *s) {
    const pace_segments_run *run = &s->run;
    pace_training_done *d = &s->done;
    PACE_TRY(find_figures(s));
    d->size = sizeof *d;
    d->command = pace_question_command(s->question, &d->command_count);
    d->model = pace_names_text(&s->network.model.names, s->network.model.name);
    d->optimizer = "sgd", d->software = "Paceline, a sample a thread", d->data = "synthetic", d->approach = "segments";
    d->ranks = s->processes ? s->processes->count : 1, d->threads = run->threads;
    d->oversubscribed = run->replicas * run->workers * run->threads + run->servers > pace_cores_here();
    d->exchanged_bytes = run->sent_bytes / run->done * d->steps;
    pace_snprintf(s->transport, sizeof s->transport, "%s: %d x %d workers, %d server%s",
                  d->ranks > 1 ? "MPI" : "nothing", run->replicas, run->workers, run->servers,
                  run->servers == 1 ? "" : "s");
    d->transport = s->transport;
    d->parts = s->parts, d->part_count = PACE_SEGMENT_PARTS;
    d->replicas = run->replicas, d->workers = run->workers, d->servers = run->servers;
    d->worker_weight_bytes = weights_of_worker(run);
    return pace_training_answer(out, d);
}

static pace_status run(pace_answer **out, segmented *s) {
    PACE_TRY(refuse_others(s->question));
    if (pace_question_input_count(s->question) != 1)
        return pace_fail(PACE_E_USAGE, "expected one model, found %zu", pace_question_input_count(s->question));
    s->model = pace_question_input(s->question, 0);
    PACE_TRY(read_model(s));
    PACE_TRY(prepare(s));
    PACE_TRY(run_module(s));
    return s->run.rank == 0 ? answer(out, s) : PACE_OK;
}

pace_status pace_train_segments(pace_answer **out, const pace_question *question) {
    segmented *s = pace_alloc(1, sizeof *s);
    if (!s) return PACE_E_MEMORY;
    s->question = question, s->processes = pace_question_processes(question);
    s->run.size = sizeof s->run;
    pace_status status = run(out, s);
    pace_network_close(&s->network);
    pace_free(s->samples);
    pace_free(s->labels);
    pace_free(s->times);
    pace_free(s);
    return status;
}

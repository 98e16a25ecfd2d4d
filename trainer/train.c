/*
 * The verb "train": what a question says, the loop over steps, and what is made of their times.
 */
#include "base/median.h"
#include "base/signal_stack.h"
#include "base/sort.h"
#include "base/words.h"
#include "here.h"
#include "ranks.h"
#include "referee.h"
#include "segmented.h"
#include "study.h"
#include "train_trace.h"
#include "training.h"

#include "paceline/train.h"

#include <math.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { MOST_SET = 64, MOST_BATCH = 1 << 20, MOST_STEPS = 1 << 20, MOST_THREADS = 4096, THREADS_OF_CORE = 16 };

typedef struct {
    const pace_question *question;
    const char *model, *data, *trace_path;
    pace_words set;
    const char *set_items[MOST_SET];
    size_t batch, steps, warm_up;
    int threads, cores;
    uint64_t seed;
    bool own_time;
    double rate, memory_bytes;
    pace_train_ranks ranks;
} train_asked;

typedef struct {
    train_asked asked;
    pace_training training;
    pace_step_record record;
    pace_trained_part parts[PACE_STEP_PARTS];
    pace_trained_part *layers;
    double *losses, *rights;
    size_t done;                  /* steps that count */
    pace_exchanger_counts before; /* they */
    uint64_t rows_before;         /* sent of split tables */
    pace_training_done found;
    pace_exchanger_counts transport; /* of the whole run */
} training_run;

/* --- the question ------------------------------------------------------------------------------------------------- */

/* A whole number of a field, or what it is unless given. */
static pace_status whole_number(size_t *out, const pace_question *question, const char *field, size_t usual,
                                size_t least, size_t most) {
    double value = pace_question_has(question, field) ? pace_question_number(question, field) : (double)usual;
    if (value < (double)least || value > (double)most || value != floor(value))
        return pace_fail(PACE_E_USAGE, "%s: expected a whole number from %zu to %zu, found %g", field, least, most,
                         value);
    *out = (size_t)value;
    return PACE_OK;
}

/* One thread may be timed by its processor time, as calibrate does it: time slices of others do not count. */
static pace_status read_clock(train_asked *a, const pace_question *question) {
    size_t clock = 0; /* wall, thread */
    if (pace_question_has(question, "clock"))
        PACE_TRY(pace_option_word_find(&clock, "train", "clock", pace_question_text(question, "clock")));
    a->own_time = clock == 1;
    if (a->own_time && a->threads > 1)
        return pace_fail(PACE_E_USAGE, "clock: several threads wait for each other: expected wall with %d threads",
                         a->threads);
    return PACE_OK;
}

static pace_status read_numbers(train_asked *a, const pace_question *question) {
    size_t threads = 1, seed = 1;
    PACE_TRY(whole_number(&a->batch, question, "batch", 32, 1, MOST_BATCH));
    PACE_TRY(whole_number(&a->steps, question, "steps", 20, 1, MOST_STEPS));
    PACE_TRY(whole_number(&a->warm_up, question, "warm_up", 5, 0, MOST_STEPS));
    PACE_TRY(pace_train_ranks_read(&a->ranks, question));
    size_t share = (size_t)(a->cores > a->ranks.near ? a->cores / a->ranks.near : 1);
    PACE_TRY(whole_number(&threads, question, "threads", share, 1, MOST_THREADS));
    PACE_TRY(whole_number(&seed, question, "seed", 1, 0, INT32_MAX));
    a->threads = (int)threads;
    if (a->threads > THREADS_OF_CORE * a->cores)
        return pace_fail(
            PACE_E_USAGE,
            "threads: %d threads of each rank would wait for each other on %d core%s for most of the time: "
            "expected at most %d",
            a->threads, a->cores, a->cores == 1 ? "" : "s", THREADS_OF_CORE * a->cores);
    PACE_TRY(read_clock(a, question));
    a->seed = seed;
    a->rate = pace_question_number(question, "rate");
    double memory = pace_question_number(question, "memory"), there = pace_free_bytes() / a->ranks.near;
    a->memory_bytes = memory > 0 && (there <= 0 || memory < there) ? memory : there;
    return PACE_OK;
}

static pace_status read_question(train_asked *a, const pace_question *question) {
    size_t inputs = pace_question_input_count(question);
    *a = (train_asked){.question = question, .cores = pace_cores_here()};
    if (inputs != 1) return pace_fail(PACE_E_USAGE, "expected one model, found %zu", inputs);
    a->model = pace_question_input(question, 0);
    a->data = pace_question_text(question, "data");
    a->trace_path = pace_question_text(question, "trace");
    while (a->set.count < MOST_SET && pace_question_item(question, "set", a->set.count)) {
        a->set_items[a->set.count] = pace_question_item(question, "set", a->set.count);
        a->set.count++;
    }
    a->set.items = a->set_items;
    return read_numbers(a, question);
}

/* --- the steps ---------------------------------------------------------------------------------------------------- */

/* Sparse tables of several ranks: split, or the same on all. */
static pace_status open_tables(pace_training *t, const train_asked *a, bool splits) {
    if (!splits) return pace_table_rows_open(&t->rows, &t->network, a->ranks.processes);
    PACE_TRY(pace_shard_rows_open(&t->shards, &t->network, a->ranks.processes));
    if (t->shards.layer_count) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "approach: pearl splits tables over ranks, and %s has none: expected a model with embedding_bag",
                     a->model);
}

static pace_status open_training(training_run *r) {
    const train_asked *a = &r->asked;
    pace_network_asked network = {
        .model = a->model, .set = a->set, .batch = a->batch, .seed = a->seed, .most_bytes = a->memory_bytes};
    pace_training *t = &r->training;
#ifdef _OPENMP
    omp_set_dynamic(0);
    omp_set_num_threads(a->threads);
#endif
    bool splits = a->ranks.count > 1 && strcmp(a->ranks.approach, "pearl") == 0;
    if (splits) network.shards = (size_t)a->ranks.count, network.shard = (size_t)a->ranks.rank;
    PACE_TRY(pace_network_open(&t->network, &network));
    PACE_TRY(pace_updater_open(&t->updater, &t->network, a->rate));
    pace_samples_asked samples = {.word = a->data,
                                  .seed = a->seed,
                                  .rank = a->ranks.rank,
                                  .ranks = a->ranks.count,
                                  .load_s = pace_question_number(a->question, "loader")};
    if (!(samples.load_s >= 0 && samples.load_s <= 3600))
        return pace_fail(PACE_E_USAGE, "loader: expected 0 to 3600 seconds, found %g", samples.load_s);
    PACE_TRY(pace_samples_open(&t->samples, &t->network, &samples));
    PACE_TRY(pace_step_record_open(&r->record, a->steps, t->network.model.layers.count, a->trace_path != NULL));
    t->record = &r->record;
    r->record.own_time = a->own_time;
    r->losses = pace_alloc(a->steps + 1, sizeof *r->losses);
    r->rights = pace_alloc(a->steps + 1, sizeof *r->rights);
    if (!r->losses || !r->rights) return PACE_E_MEMORY;
    PACE_TRY(open_tables(t, a, splits));
    return pace_train_ranks_begin(&t->exchange, &a->ranks, &t->network, &t->updater.rule, &r->record);
}

/* Whether one of the ranks was told to stop: all stop after the same step. Ranks that wait for nobody are not
 * stopped. */
static pace_status stops(bool *out, const train_asked *a) {
    *out = a->ranks.count == 1 && pace_question_stopped(a->question);
    if (a->ranks.count == 1 || a->ranks.asynchronous) return PACE_OK;
    return pace_train_ranks_any(out, &a->ranks, pace_question_stopped(a->question));
}

static pace_status run_steps(training_run *r) {
    const train_asked *a = &r->asked;
    double loss, right;
    for (size_t i = 0; i < a->warm_up + a->steps; i++) {
        PACE_TRY(stops(&r->found.stopped, a));
        if (r->found.stopped) return PACE_OK;
        pace_question_progress(a->question, "steps", i, a->warm_up + a->steps);
        r->record.step = i < a->warm_up ? PACE_WARMING : i - a->warm_up;
        if (i == a->warm_up) {
            r->before = pace_exchange_counts(&r->training.exchange);
            r->rows_before = r->training.shards.sent_bytes;
        }
        PACE_TRY(pace_training_step(&r->training, &loss, &right));
        if (i < a->warm_up) continue;
        r->losses[r->done] = loss;
        r->rights[r->done++] = right;
    }
    return r->record.status;
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

static const double level = 0.9;

static pace_status add_part(training_run *r, int part) {
    pace_median_interval m;
    PACE_TRY(pace_series_median_of(&m, r->record.parts[part], r->done, level));
    r->parts[r->found.part_count++] = (pace_trained_part){.name = pace_step_part_names[part],
                                                          .median_s = m.median,
                                                          .low_s = m.low,
                                                          .high_s = m.high,
                                                          .share = m.median / r->found.step_s};
    return PACE_OK;
}

static double layer_median(const training_run *r, double *room, size_t layer, int pass) {
    const float *times = r->record.layer_s + (layer * PACE_ENGINE_PASSES + (size_t)pass) * r->record.steps;
    for (size_t i = 0; i < r->done; i++) room[i] = times[i];
    return pace_median(room, r->done);
}

static pace_status find_layers(training_run *r) {
    const pace_network *n = &r->training.network;
    size_t count = n->model.layers.count;
    double *room = pace_alloc(r->done + 1, sizeof *room);
    r->layers = pace_alloc(count, sizeof *r->layers);
    if (!room || !r->layers) {
        pace_free(room);
        return PACE_E_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        pace_trained_part *p = &r->layers[r->found.layer_count];
        *p = (pace_trained_part){.name = n->names[i], .kind = n->model.layers.items[i].word};
        p->forward_s = layer_median(r, room, i, PACE_PASS_FORWARD);
        p->backward_data_s = layer_median(r, room, i, PACE_PASS_DATA);
        p->backward_weights_s = layer_median(r, room, i, PACE_PASS_WEIGHTS);
        p->median_s = p->forward_s + p->backward_data_s + p->backward_weights_s;
        p->share = p->median_s / r->found.step_s;
        if (p->median_s > 0) r->found.layer_count++;
    }
    pace_free(room);
    return PACE_OK;
}

static void find_losses(training_run *r) {
    size_t last = r->done - (r->done + 9) / 10;
    double sum = 0;
    for (size_t i = last; i < r->done; i++) sum += r->rights[i];
    r->found.first_loss = r->losses[0];
    r->found.last_loss = r->losses[r->done - 1];
    r->found.accuracy = sum / (double)(r->done - last);
}

static pace_status find_figures(training_run *r) {
    pace_training_done *f = &r->found;
    if (r->done == 0) return pace_fail(PACE_E_STOPPED, "stopped before the first step that counts");
    find_losses(r);
    pace_median_interval step;
    PACE_TRY(pace_series_median_of(&step, r->record.whole, r->done, level));
    double samples = (double)r->asked.batch * r->asked.ranks.count;
    f->step_s = step.median, f->step_low_s = step.low, f->step_high_s = step.high;
    f->samples_per_s = samples / step.median;
    f->samples_per_s_low = samples / step.high, f->samples_per_s_high = samples / step.low;
    for (int i = 0; i < PACE_STEP_PARTS; i++) {
        if (i == PACE_PART_OF_WAIT && !r->training.exchange.kind) continue;
        PACE_TRY(add_part(r, i));
    }
    return find_layers(r);
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

static const char *optimizer_of(const pace_config *config) { return pace_config_word(config, "optimizer"); }

static pace_status answer(pace_answer **out, training_run *r) {
    const pace_network *n = &r->training.network;
    pace_training_done *f = &r->found;
    PACE_TRY(find_figures(r));
    f->size = sizeof *f;
    f->command = pace_question_command(r->asked.question, &f->command_count);
    f->model = pace_names_text(&n->model.names, n->model.name);
    f->optimizer = optimizer_of(&n->config);
    f->software = n->engine->software();
    f->data = r->asked.data ? r->asked.data : "synthetic";
    f->trace_path = r->asked.trace_path;
    f->ranks = r->asked.ranks.count;
    f->approach = r->asked.ranks.approach;
    pace_exchanger_counts counts = pace_exchange_counts(&r->training.exchange);
    r->transport = counts;
    f->exchanged_bytes = counts.sent_bytes - r->before.sent_bytes +
                         r->done * pace_table_rows_sent_bytes(&r->training.rows) + r->training.shards.sent_bytes -
                         r->rows_before;
    if (f->approach) f->transport = r->transport.transport;
    f->threads = r->asked.threads;
    f->oversubscribed = r->asked.ranks.near * f->threads > r->asked.cores;
    f->batch = r->asked.batch, f->steps = r->done, f->warm_up = r->asked.warm_up;
    f->parameters = n->parameters, f->memory_bytes = n->memory_bytes;
    f->parts = r->parts;
    f->layers = r->layers;
    return pace_training_answer(out, f);
}

static pace_status write_trace(const training_run *r) {
    pace_train_trace trace = {.network = &r->training.network,
                              .record = &r->record,
                              .rank = r->asked.ranks.rank,
                              .ranks = r->asked.ranks.count,
                              .approach = r->asked.ranks.approach};
    return r->asked.trace_path ? pace_train_trace_write(r->asked.trace_path, &trace) : PACE_OK;
}

static pace_status run(pace_answer **out, training_run *r) {
    PACE_TRY(open_training(r));
    PACE_TRY(run_steps(r));
    PACE_TRY(write_trace(r));
    PACE_TRY(pace_train_ranks_mean(&r->asked.ranks, r->losses, r->done));
    PACE_TRY(pace_train_ranks_mean(&r->asked.ranks, r->rights, r->done));
    PACE_TRY(pace_train_ranks_steps(&r->asked.ranks, &r->record, r->done));
    return r->asked.ranks.rank == 0 ? answer(out, r) : PACE_OK;
}

static void close_run(training_run *r) {
    pace_exchange_close(&r->training.exchange);
    pace_table_rows_close(&r->training.rows);
    pace_shard_rows_close(&r->training.shards);
    pace_samples_close(&r->training.samples);
    pace_updater_close(&r->training.updater);
    pace_network_close(&r->training.network);
    pace_step_record_close(&r->record);
    pace_free(r->layers);
    pace_free(r->losses);
    pace_free(r->rights);
    pace_free(r);
}

static pace_status train_layers(pace_answer **out, const pace_question *question) {
    training_run *r = pace_alloc(1, sizeof *r);
    if (!r) return PACE_E_MEMORY;
    pace_status status = read_question(&r->asked, question);
    if (status == PACE_OK) status = run(out, r);
    close_run(r);
    return status;
}

pace_status pace_train(pace_answer **out, pace_context *context, const pace_question *question) {
    PACE_GIVEN(out);
    PACE_GIVEN(question);
    if (strcmp(pace_question_verb(question), "train") != 0)
        return pace_fail(PACE_E_USAGE, "%s: expected a question of train", pace_question_verb(question));
    size_t ranks; /* as each reads them */
    PACE_TRY(whole_number(&ranks, question, "ranks", 1, 1, 4096));
    if (pace_question_has(question, "study")) return pace_train_study(out, context, question);
    if (pace_question_has(question, "on"))
        return pace_fail(PACE_E_USAGE, "on: it has no effect without " PACE_FIELD "study partition");
    bool segments = pace_segments_asked(question);
    if (!segments && pace_referee_asked(question)) return pace_train_referee(out, question);
    pace_signal_stack stack = pace_signal_stack_open();
    pace_status status = segments ? pace_train_segments(out, question) : train_layers(out, question);
    pace_signal_stack_close(&stack);
    return status;
}

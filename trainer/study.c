#include "study.h"

#include "base/memory.h"
#include "exchangers.h"
#include "here.h"
#include "study_predict.h"
#include "study_run.h"
#include "study_words.h"
#include "trained_network.h"

#include <math.h>
#include <string.h>

typedef struct {
    const pace_question *question;
    const char *kind, *approach;
    int ranks;
    size_t batch;
    PACE_VEC(pace_study_row) rows;
} study;

/* --- which runs --------------------------------------------------------------------------------------------------- */

static pace_status add(study *s, const char *model, const char *approach, int ranks, size_t batch,
                       const char *scaling) {
    pace_study_row row = {
        .model = model, .approach = ranks > 1 ? approach : NULL, .ranks = ranks, .batch = batch, .scaling = scaling};
    row.efficiency = row.speedup = row.against_referee = NAN;
    row.samples_per_s = row.samples_low_per_s = row.samples_high_per_s = row.last_loss = NAN;
    row.compute_share = row.exchange_share = row.update_share = NAN;
    row.predicted_samples_per_s = row.error = NAN;
    row.step_ns = INT64_MIN;
    return PACE_PUSH(&s->rows, row);
}

/* Whether a model has tables that ranks can split; one that cannot be read has: its run says why. */
static bool has_tables(const study *s, const char *model) {
    const char *set[64];
    pace_network network;
    pace_network_asked asked = {.model = model, .set = {.items = set}, .batch = 1};
    while (asked.set.count < PACE_COUNT(set) &&
           (set[asked.set.count] = pace_question_item(s->question, "set", asked.set.count)))
        asked.set.count++;
    if (pace_network_plan(&network, &asked) != PACE_OK) return true;
    bool found = pace_model_has_layer(&network.model, PACE_LAYER_EMBEDDING_BAG);
    pace_network_close(&network);
    return found;
}

/* One rank, then every approach on as many as were asked for; PEARL's where there is something to split. */
static pace_status list_approaches(study *s, const char *model) {
    PACE_TRY(add(s, model, NULL, 1, s->batch, NULL));
    bool tables = has_tables(s, model);
    for (size_t i = 0; pace_exchange_name(i); i++)
        if (tables || strcmp(pace_exchange_name(i), "pearl") != 0)
            PACE_TRY(add(s, model, pace_exchange_name(i), s->ranks, s->batch, NULL));
    return PACE_OK;
}

static pace_status list_batches(study *s, const char *model) {
    for (size_t batch = 1; batch <= s->batch; batch *= 2) PACE_TRY(add(s, model, s->approach, s->ranks, batch, NULL));
    return PACE_OK;
}

/* Weak: the batch of a rank stays; strong: that of all together. */
static pace_status list_scaling(study *s, const char *model) {
    for (int strong = 0; strong < 2; strong++)
        for (int ranks = 1; ranks <= s->ranks; ranks *= 2) {
            size_t batch = strong ? s->batch / (size_t)ranks : s->batch;
            if (batch) PACE_TRY(add(s, model, s->approach, ranks, batch, strong ? "strong" : "weak"));
        }
    return PACE_OK;
}

/* Replicas share weights by a server. */
static pace_status add_partition(study *s, const char *model, int threads, int replicas, int workers) {
    int servers = replicas > 1;
    if (replicas * workers + servers > s->ranks) return PACE_OK;
    PACE_TRY(add(s, model, "segments", replicas * workers + servers, s->batch, NULL));
    pace_study_row *row = &s->rows.items[s->rows.count - 1];
    row->approach = "segments";
    row->threads = threads, row->replicas = replicas, row->workers = workers, row->servers = servers;
    return PACE_OK;
}

/* Threads x segments x replicas, each doubling, with as many servers as that needs. */
static pace_status list_partitions(study *s, const char *model) {
    bool asked = pace_question_has(s->question, "threads");
    int only = (int)pace_question_number(s->question, "threads"), most = asked ? only : pace_cores_here();
    for (int threads = asked ? only : 1; threads <= most; threads *= 2)
        for (int replicas = 1; replicas <= s->ranks; replicas *= 2)
            for (int workers = 1; workers <= s->ranks; workers *= 2)
                PACE_TRY(add_partition(s, model, threads, replicas, workers));
    return PACE_OK;
}

/* Approaches, and who runs them for real. One rank has none. */
static const struct {
    const char *approach, *runner;
} referees[] = {{NULL, "torch"}, {"mpi-opt", "torch"}, {"horovod-mpi", "horovod"}, {"grpc", "tensorflow"}};

static pace_status list_referees(study *s, const char *model) {
    for (size_t i = 0; i < PACE_COUNT(referees); i++) {
        int ranks = referees[i].approach ? s->ranks : 1;
        PACE_TRY(add(s, model, referees[i].approach, ranks, s->batch, NULL));
        PACE_TRY(add(s, model, referees[i].approach, ranks, s->batch, NULL));
        s->rows.items[s->rows.count - 1].runner = referees[i].runner;
    }
    return PACE_OK;
}

/* In the order of the option's words. */
static const struct {
    pace_status (*list)(study *s, const char *model);
    int ranks; /* unless given */
    size_t batch;
} kinds[] = {{list_approaches, 2, 32}, {list_batches, 1, 128}, {list_scaling, 4, 32},
             {list_scaling, 8, 32},    {list_referees, 2, 32}, {list_partitions, 4, 32}};

static pace_status check_partition(const study *s, bool partitions) {
    if (partitions && s->approach) return pace_fail(PACE_E_USAGE, "approach: the study partition runs segments");
    if (partitions || !pace_question_has(s->question, "on")) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "on: it has no effect on the study %s: expected " PACE_FIELD "study partition",
                     s->kind);
}

static pace_status read_question(study *s, const pace_question *question) {
    *s = (study){.question = question, .kind = pace_question_text(question, "study")};
    s->approach = pace_question_text(question, "approach");
    size_t k;
    PACE_TRY(pace_option_word_find(&k, "train", "study", s->kind));
    s->ranks = pace_question_has(question, "ranks") ? (int)pace_question_number(question, "ranks") : kinds[k].ranks;
    s->batch = pace_question_has(question, "batch") ? (size_t)pace_question_number(question, "batch") : kinds[k].batch;
    if (s->ranks < 1 || s->batch < 1) return pace_fail(PACE_E_USAGE, "ranks: expected one or more, as of batch");
    if (k == 0 && s->ranks < 2) return pace_fail(PACE_E_USAGE, "ranks: approaches exchange between two or more");
    if (k == 0 && s->approach) return pace_fail(PACE_E_USAGE, "approach: the study runs all of them");
    PACE_TRY(check_partition(s, kinds[k].list == list_partitions));
    for (size_t i = 0; i < pace_question_input_count(question); i++)
        PACE_TRY(kinds[k].list(s, pace_question_input(question, i)));
    return s->rows.count ? PACE_OK : pace_fail(PACE_E_USAGE, "expected a model, found none");
}

/* --- the runs ----------------------------------------------------------------------------------------------------- */

/* All runs have as many threads a rank, so that one rank is what several are held against. */
static int threads_of_rank(int most_ranks) {
    int here = pace_cores_here();
    return here > most_ranks ? here / most_ranks : 1;
}

/* What the question says of every run. */
static void put_asked(pace_study_words *w, const pace_question *question, int threads) {
    static const char *const numbers[][2] = {{"steps", "--steps"},  {"warm_up", "--warm-up"}, {"threads", "--threads"},
                                             {"seed", "--seed"},    {"loader", "--loader"},   {"rate", "--rate"},
                                             {"memory", "--memory"}};
    const char *item;
    if (!pace_question_has(question, "threads") && threads) pace_study_words_number(w, "--threads", threads);
    for (size_t i = 0; i < PACE_COUNT(numbers); i++)
        if (pace_question_has(question, numbers[i][0]))
            pace_study_words_number(w, numbers[i][1], pace_question_number(question, numbers[i][0]));
    pace_study_words_put(w, "--data", pace_question_text(question, "data"));
    for (size_t i = 0; (item = pace_question_item(question, "set", i)); i++) pace_study_words_put(w, "--set", item);
}

static void put_partition(pace_study_words *w, const pace_question *question, pace_study_row *row) {
    static const char *const dp[] = {"dp=1", "dp=2", "dp=4", "dp=8", "dp=16", "dp=32", "dp=64"};
    static const char *const tp[] = {"tp=1", "tp=2", "tp=4", "tp=8", "tp=16", "tp=32", "tp=64"};
    int r = 0, k = 0;
    while (1 << r < row->replicas) r++;
    while (1 << k < row->workers) k++;
    pace_study_words_put(w, "--set", dp[r]);
    pace_study_words_put(w, "--set", tp[k]);
    pace_study_words_number(w, "--servers", row->servers);
    if (!pace_question_has(question, "threads")) pace_study_words_number(w, "--threads", row->threads);
}

static pace_status run_one(study *s, pace_study_row *row) {
    pace_study_words w;
    PACE_TRY(pace_study_words_begin(&w, NULL, row->ranks));
    pace_study_words_put(&w, NULL, row->model);
    put_asked(&w, s->question, row->replicas ? 0 : threads_of_rank(s->ranks));
    if (row->replicas) put_partition(&w, s->question, row);
    pace_study_words_number(&w, "--batch", (double)row->batch);
    if (row->replicas) pace_study_words_put(&w, "--approach", row->approach);
    if (row->ranks > 1) {
        pace_study_words_number(&w, "--ranks", row->ranks);
        if (!row->runner && !row->replicas) pace_study_words_put(&w, "--approach", row->approach);
        if (!row->runner && !row->replicas)
            pace_study_words_put(&w, "--overlap", pace_question_text(s->question, "overlap"));
    }
    pace_study_words_put(&w, "--runner", row->runner);
    return pace_study_run(row, pace_study_words_end(&w));
}

static pace_status run_all(study *s, bool *stopped) {
    for (size_t i = 0; i < s->rows.count; i++) {
        *stopped = pace_question_stopped(s->question);
        if (*stopped) {
            s->rows.count = i;
            return i ? PACE_OK : pace_fail(PACE_E_STOPPED, "stopped before the first run");
        }
        pace_question_progress(s->question, "runs", i, s->rows.count);
        PACE_TRY(run_one(s, &s->rows.items[i]));
    }
    return PACE_OK;
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

static bool same_runner(const pace_study_row *a, const pace_study_row *b) {
    return a->runner == b->runner || (a->runner && b->runner && strcmp(a->runner, b->runner) == 0);
}

/* The run on one rank that a row is held against: the same model, and where that grows the same kind of scaling. */
static const pace_study_row *alone(const study *s, const pace_study_row *row) {
    for (size_t i = 0; i < s->rows.count; i++) {
        const pace_study_row *other = &s->rows.items[i];
        if (row->replicas && (other->replicas != 1 || other->workers != 1 || other->threads != 1)) continue;
        bool alike = other->scaling == row->scaling ||
                     (other->scaling && row->scaling && strcmp(other->scaling, row->scaling) == 0);
        if (other->done && (other->ranks == 1 || row->replicas) && alike && strcmp(other->model, row->model) == 0 &&
            same_runner(row, other) && (row->scaling || other->batch == row->batch))
            return other;
    }
    return NULL;
}

/* Ranks that share processors say nothing of a machine that has enough. */
static void compare(study *s) {
    for (size_t i = 0; i < s->rows.count; i++) {
        pace_study_row *row = &s->rows.items[i];
        const pace_study_row *one = row->done && !row->oversubscribed ? alone(s, row) : NULL;
        if (!one) continue;
        row->speedup = row->samples_per_s / one->samples_per_s;
        row->efficiency = row->speedup / (row->replicas ? row->replicas * row->workers * row->threads : row->ranks);
    }
}

/* A run of ours stands before its referee's. */
static void hold_against_referees(study *s) {
    for (size_t i = 0; i + 1 < s->rows.count; i++) {
        const pace_study_row *referee = &s->rows.items[i + 1];
        if (referee->runner && referee->done && s->rows.items[i].done)
            s->rows.items[i].against_referee = s->rows.items[i].samples_per_s / referee->samples_per_s;
    }
}

static pace_status predict_partitions(study *s, pace_context *context) {
    const char *on = pace_question_text(s->question, "on");
    for (size_t i = 0; on && i < s->rows.count; i++) {
        pace_study_row *row = &s->rows.items[i];
        PACE_TRY(pace_study_predict(row, context, on));
        if (row->done && !row->oversubscribed) row->error = row->predicted_samples_per_s / row->samples_per_s - 1;
    }
    return PACE_OK;
}

static pace_status check_any(const study *s) {
    for (size_t i = 0; i < s->rows.count; i++)
        if (s->rows.items[i].done) return PACE_OK;
    return pace_fail(PACE_E_MISSING, "no run of the study could be made; the first: %s",
                     s->rows.items[0].status ? s->rows.items[0].status : "nobody knows why");
}

pace_status pace_train_study(pace_answer **out, pace_context *context, const pace_question *question) {
    study s;
    pace_study_done done = {.size = sizeof done};
    pace_status status = read_question(&s, question);
    if (status == PACE_OK) status = run_all(&s, &done.stopped);
    if (status == PACE_OK) status = check_any(&s);
    if (status == PACE_OK) {
        compare(&s);
        hold_against_referees(&s);
        status = predict_partitions(&s, context);
    }
    if (status == PACE_OK) {
        done.command = pace_question_command(question, &done.command_count);
        done.study = s.kind, done.rows = s.rows.items, done.row_count = s.rows.count;
        status = pace_study_answer(out, &done);
    }
    for (size_t i = 0; i < s.rows.count; i++) pace_study_row_free(&s.rows.items[i]);
    PACE_VEC_FREE(&s.rows);
    return status;
}

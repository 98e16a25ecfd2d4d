/*
 * The closed loop: predict says what a step takes on this machine from calibrate's figures, train takes it, several times in
 * turn, so that what others do on the machine meanwhile meets all alike. Everything is asked as anybody would ask it.
 */
#include "base/decimal.h"
#include "base/median.h"
#include "base/memory.h"

#include "paceline/calibrate.h"
#include "paceline/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RUNS = 64 };

typedef struct {
    pace_live_step step;
    double runs[MOST_RUNS], parts[3][MOST_RUNS];
} live_step;

typedef struct {
    pace_context *context;
    const pace_question *question;
    size_t runs, steps, threads;
    char entry[96]; /* made here; "" = given */
    const char *on;
    char software[64];
    PACE_VEC(live_step) all;
} live;

static const char *const stages[3] = {"forward", "backward", "update"};

/* --- questions to the other verbs --------------------------------------------------------------------------------------- */

static pace_status set_whole(pace_question *q, const char *field, size_t value) {
    return pace_question_set_number(q, field, (double)value);
}

static pace_status word_calibration(pace_question *q, const live *l) {
    PACE_TRY(pace_question_set_flag(q, "quick", true));
    PACE_TRY(set_whole(q, "threads", l->threads));
    return pace_question_set(q, "entry", l->entry);
}

static pace_status calibrate_here(live *l) {
    pace_question *q;
    pace_answer *answer = NULL;
    pace_snprintf(l->entry, sizeof l->entry, "/tmp/paceline-live-%ld.yaml", (long)getpid());
    PACE_TRY(pace_question_new(&q, l->context, "calibrate"));
    pace_status status = word_calibration(q, l);
    if (status == PACE_OK) status = pace_calibrate(&answer, l->context, q);
    pace_answer_free(answer);
    pace_question_free(q);
    l->on = l->entry;
    return status;
}

static pace_status word_prediction(pace_question *q, const live *l, const pace_live_step *step) {
    char batch[64];
    pace_snprintf(batch, sizeof batch, "micro_batch=%zu", step->batch);
    PACE_TRY(pace_question_add_input(q, step->model));
    PACE_TRY(pace_question_set(q, "on", l->on));
    PACE_TRY(pace_question_set(q, "set", batch));
    PACE_TRY(pace_question_set(q, "set", "optimizer=momentum"));
    PACE_TRY(pace_question_set(q, "set", "input=synthetic"));
    for (size_t i = 0; pace_question_item(l->question, "fit", i); i++)
        PACE_TRY(pace_question_set(q, "fit", pace_question_item(l->question, "fit", i)));
    return PACE_OK;
}

/* A stage's row of the matrix. */
static double stage_ns(const pace_answer *answer, const char *stage) {
    static const char *const resources[] = {"compute_bound", "memory_bound", "copy",       "exposed_communication",
                                            "idle_host",     "idle_rank",    "idle_input", "idle_other"};
    double sum = 0, one;
    char path[96];
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        pace_snprintf(path, sizeof path, "matrix.%s.%s_ns", stage, resources[i]);
        if (pace_answer_value(answer, path, &one) == PACE_OK) sum += one;
    }
    return sum;
}

static pace_status read_prediction(pace_live_step *step, const pace_answer *answer) {
    double *shares[3] = {&step->predicted_forward, &step->predicted_backward, &step->predicted_update}, sum = 0;
    PACE_TRY(pace_answer_value(answer, "step.median_s", &step->predicted_s));
    PACE_TRY(pace_answer_value(answer, "step.low_s", &step->low_s));
    PACE_TRY(pace_answer_value(answer, "step.high_s", &step->high_s));
    for (int i = 0; i < 3; i++) sum += *shares[i] = stage_ns(answer, stages[i]);
    for (int i = 0; i < 3; i++) *shares[i] /= sum;
    return PACE_OK;
}

static pace_status predict(live *l, pace_live_step *step) {
    pace_question *q;
    pace_answer *answer = NULL;
    PACE_TRY(pace_question_new(&q, l->context, "predict"));
    pace_status status = word_prediction(q, l, step);
    if (status == PACE_OK) status = pace_ask(&answer, l->context, q);
    if (status == PACE_OK) status = read_prediction(step, answer);
    pace_answer_free(answer);
    pace_question_free(q);
    return status;
}

static pace_status word_training(pace_question *q, const live *l, const pace_live_step *step) {
    PACE_TRY(pace_question_add_input(q, step->model));
    PACE_TRY(set_whole(q, "batch", step->batch));
    PACE_TRY(set_whole(q, "steps", l->steps));
    PACE_TRY(set_whole(q, "warm_up", 2));
    if (l->threads == 1) PACE_TRY(pace_question_set(q, "clock", "thread"));
    return set_whole(q, "threads", l->threads);
}

static pace_status read_training(live *l, live_step *one, const pace_answer *answer) {
    const pace_answer_table *table = pace_answer_table_find(answer, "stages");
    const char *software = pace_answer_text(answer, "software");
    double step_ns;
    PACE_TRY(pace_answer_value(answer, "step_ns", &step_ns));
    one->runs[one->step.runs] = step_ns * 1e-9;
    for (size_t r = 0; table && r < table->rows; r++)
        for (int i = 0; i < 3; i++)
            if (strcmp(table->columns[0].texts[r], stages[i]) == 0)
                one->parts[i][one->step.runs] = (double)table->columns[1].integers[r];
    one->step.runs++;
    pace_snprintf(l->software, sizeof l->software, "%s", software ? software : "");
    return PACE_OK;
}

static pace_status train(live *l, live_step *one) {
    pace_question *q;
    pace_answer *answer = NULL;
    PACE_TRY(pace_question_new(&q, l->context, "train"));
    pace_status status = word_training(q, l, &one->step);
    if (status == PACE_OK) status = pace_train(&answer, l->context, q);
    if (status == PACE_OK) status = read_training(l, one, answer);
    pace_answer_free(answer);
    pace_question_free(q);
    return status;
}

/* --- the grid ------------------------------------------------------------------------------------------------------------ */

static pace_status add_step(live *l, const char *model, const char *batch) {
    live_step one = {.step = {.model = model}};
    double samples;
    if (!pace_number_parse(&samples, batch) || samples < 1 || samples > 1 << 20 || samples != floor(samples))
        return pace_fail(PACE_E_USAGE, "batch: expected a whole number of samples, found \"%.40s\"", batch);
    one.step.batch = (size_t)samples;
    return PACE_PUSH(&l->all, one);
}

static const char *item_or(const pace_question *q, const char *field, size_t i, const char *const usual[2]) {
    return pace_question_item(q, field, 0) ? pace_question_item(q, field, i) : i < 2 ? usual[i] : NULL;
}

static pace_status make_grid(live *l) {
    static const char *const models[2] = {"lenet", "alexnet"}, *const batches[2] = {"8", "32"};
    for (size_t m = 0; item_or(l->question, "model", m, models); m++)
        for (size_t b = 0; item_or(l->question, "batch", b, batches); b++)
            PACE_TRY(add_step(l, item_or(l->question, "model", m, models), item_or(l->question, "batch", b, batches)));
    return PACE_OK;
}

static pace_status read_whole(size_t *out, const pace_question *q, const char *field, size_t usual, size_t most) {
    double value = pace_question_has(q, field) ? pace_question_number(q, field) : (double)usual;
    if (value < 1 || value > (double)most || value != floor(value))
        return pace_fail(PACE_E_USAGE, "%s: expected a whole number from 1 to %zu, found %g", field, most, value);
    *out = (size_t)value;
    return PACE_OK;
}

static pace_status read_question(live *l) {
    static const char *const others[] = {"data", "cases", "ledger"};
    const pace_question *q = l->question;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (pace_question_has(q, others[i]))
            return pace_fail(PACE_E_USAGE, "%s: it has no effect on " PACE_FIELD "live, which reads no cases",
                             others[i]);
    if (pace_question_input_count(q))
        return pace_fail(PACE_E_USAGE, "live: expected no pattern of cases, found \"%.60s\"",
                         pace_question_input(q, 0));
    PACE_TRY(read_whole(&l->runs, q, "runs", 3, MOST_RUNS));
    PACE_TRY(read_whole(&l->steps, q, "steps", 10, 1 << 20));
    PACE_TRY(read_whole(&l->threads, q, "threads", 1, 4096));
    l->on = pace_question_text(q, "on");
    return make_grid(l);
}

/* --- figures ------------------------------------------------------------------------------------------------------------- */

static void find_measured(live_step *one) {
    pace_live_step *s = &one->step;
    double *shares[3] = {&s->measured_forward, &s->measured_backward, &s->measured_update}, sum = 0;
    pace_median_interval whole = pace_median_interval_of(one->runs, s->runs, 1);
    s->measured_s = whole.median, s->least_s = whole.low, s->most_s = whole.high;
    for (int i = 0; i < 3; i++) sum += *shares[i] = pace_median_interval_of(one->parts[i], s->runs, 1).median;
    for (int i = 0; i < 3; i++) *shares[i] /= sum;
    s->error = s->predicted_s / s->measured_s - 1;
    s->covered = s->low_s <= s->measured_s && s->measured_s <= s->high_s;
}

static double most_off(const pace_live_step *s) {
    return fmax(fmax(fabs(s->predicted_forward - s->measured_forward),
                     fabs(s->predicted_backward - s->measured_backward)),
                fabs(s->predicted_update - s->measured_update));
}

static pace_status answer(pace_answer **out, live *l) {
    pace_live_done done = {.size = sizeof done,
                           .device = l->on,
                           .software = l->software,
                           .threads = (int)l->threads,
                           .calibrated = *l->entry,
                           .step_count = l->all.count};
    pace_live_step *steps = pace_alloc(l->all.count + 1, sizeof *steps);
    if (!steps) return PACE_E_MEMORY;
    for (size_t i = 0; i < l->all.count; i++) {
        find_measured(&l->all.items[i]);
        steps[i] = l->all.items[i].step;
        done.mape += fabs(steps[i].error) / (double)l->all.count;
        done.coverage += (double)steps[i].covered / (double)l->all.count;
        done.most_share_off = fmax(done.most_share_off, most_off(&steps[i]));
    }
    done.steps = steps;
    pace_status status = pace_live_answer(out, l->question, &done);
    pace_free(steps);
    return status;
}

static pace_status measure(live *l) {
    size_t count = l->all.count;
    for (size_t run = 0; run < l->runs; run++)
        for (size_t i = 0; i < count; i++) {
            pace_question_progress(l->question, "steps trained", run * count + i, l->runs * count);
            if (pace_question_stopped(l->question))
                return pace_fail(PACE_E_USAGE, "live: stopped before all was measured");
            PACE_TRY(train(l, &l->all.items[i]));
        }
    return PACE_OK;
}

static pace_status run(pace_answer **out, live *l) {
    PACE_TRY(read_question(l));
    if (!l->on) PACE_TRY(calibrate_here(l));
    for (size_t i = 0; i < l->all.count; i++) PACE_TRY(predict(l, &l->all.items[i].step));
    PACE_TRY(measure(l));
    return answer(out, l);
}

pace_status pace_validate_live(pace_answer **out, pace_context *context, const pace_question *question) {
    live l = {.context = context, .question = question};
    pace_status status = run(out, &l);
    if (*l.entry) unlink(l.entry);
    PACE_VEC_FREE(&l.all);
    return status;
}

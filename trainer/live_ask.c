#include "live_ask.h"

#include "base/print.h"
#include "live_files.h"
#include "study_run.h"
#include "study_words.h"
#include "trained_network.h"

#include <math.h>
#include <string.h>

/* The stages of a training's answer that are parts of a pace_live_run. */
static const char *const live_parts[PACE_LIVE_PARTS] = {"forward", "backward", "exposed_exchange", "update"};

static pace_status set_whole(pace_question *q, const char *field, size_t value) {
    return pace_question_set_number(q, field, (double)value);
}

typedef pace_status (*word_fn)(pace_question *q, const pace_live *live, const void *context);
typedef pace_status (*answer_fn)(pace_answer **out, pace_context *context, const pace_question *question);
typedef pace_status (*read_fn)(pace_live *live, void *to, const pace_answer *answer);

/* One question: worded, asked, read. */
typedef struct {
    const char *verb;
    word_fn word;
    const void *context;
    answer_fn answer;
    read_fn read; /* NULL: the answer itself says nothing here */
    void *to;
} inquiry;

static pace_status inquire(pace_live *l, const inquiry *i) {
    pace_question *q;
    pace_answer *answer = NULL;
    PACE_TRY(pace_question_new(&q, l->context, i->verb));
    pace_status status = i->word(q, l, i->context);
    if (status == PACE_OK) status = i->answer(&answer, l->context, q);
    if (status == PACE_OK && i->read) status = i->read(l, i->to, answer);
    pace_answer_free(answer);
    pace_question_free(q);
    return status;
}

/* --- calibrate, fit ----------------------------------------------------------------------------------------------- */

/* What the layers of networks are made of. A device's entry needs products and streams: they come first. */
static const char *const families[] = {"gemm",      "memory",  "convolution",   "pooling",   "elementwise",
                                       "reduction", "softmax", "normalization", "optimizer", "packed_linear"};
enum { FAMILIES = PACE_COUNT(families) };

/* Frameworks keep weights row by row. */
static size_t count_families(const pace_live *l) { return l->runner ? FAMILIES - 1 : FAMILIES; }

/* Which families a round measures: every runs-th, so that each round has its share. */
static void list_families(char *out, size_t size, const pace_live *l, size_t round) {
    *out = '\0';
    for (size_t f = 0; f < count_families(l); f++)
        if (f % l->runs == round || round >= l->runs) {
            size_t used = strlen(out);
            pace_snprintf(out + used, size - used, "%s%s", used ? "," : "", families[f]);
        }
}

/* Families of kernels, or those of one step. */
typedef struct {
    const char *list;
    const pace_live_step *step;
    bool entry;
} calibration;

static pace_status word_kernels(pace_question *q, const pace_live_step *step) {
    char text[64];
    pace_snprintf(text, sizeof text, "micro_batch=%zu", step->batch);
    PACE_TRY(pace_question_set(q, "model", step->model));
    PACE_TRY(pace_question_set(q, "set", text));
    PACE_TRY(pace_question_set(q, "set", "optimizer=momentum"));
    return pace_question_set(q, "set", "update=fused");
}

static pace_status word_calibration(pace_question *q, const pace_live *l, const void *context) {
    const calibration *c = context;
    if (l->quick) PACE_TRY(pace_question_set_flag(q, "quick", true));
    PACE_TRY(set_whole(q, "threads", l->threads));
    if (c->list) PACE_TRY(pace_question_set(q, "family", c->list));
    if (c->step) PACE_TRY(word_kernels(q, c->step));
    if (c->entry) PACE_TRY(pace_question_set(q, "entry", l->entry));
    return pace_question_set(q, "output", l->rows);
}

static pace_status calibrate_part(pace_live *l, const calibration *part) {
    return inquire(l, &(inquiry){"calibrate", word_calibration, part, pace_calibrate, NULL, NULL});
}

static bool is_first_of_kernels(const pace_live *l, size_t number) {
    const pace_live_step *of = &l->all.items[number].step;
    for (size_t i = 0; i < number; i++) {
        const pace_live_step *other = &l->all.items[i].step;
        if (other->batch == of->batch && strcmp(other->model, of->model) == 0) return false;
    }
    return true;
}

/* The kernels of the networks' own sizes, which no grid holds: every runs-th network and batch a round. */
static pace_status calibrate_networks(pace_live *l, size_t round) {
    size_t networks = 0;
    for (size_t i = 0; !l->quick && i < l->all.count; i++) {
        if (!is_first_of_kernels(l, i) || networks++ % l->runs != round) continue;
        PACE_TRY(calibrate_part(l, &(calibration){.step = &l->all.items[i].step}));
    }
    return PACE_OK;
}

pace_status pace_live_calibrate(pace_live *l, size_t round) {
    char list[256];
    bool last = round + 1 == l->runs;
    list_families(list, sizeof list, l, round);
    if (*list) PACE_TRY(calibrate_part(l, &(calibration){.list = list}));
    PACE_TRY(calibrate_networks(l, round));
    if (!last) return PACE_OK;
    l->on = l->entry; /* all rows are there: only the entry is written */
    return calibrate_part(l, &(calibration){.list = "gemm,memory", .entry = true});
}

static pace_status word_fit(pace_question *q, const pace_live *l, const void *context) {
    (void)context;
    PACE_TRY(pace_question_add_input(q, l->rows));
    PACE_TRY(pace_question_set(q, "on", l->entry));
    return pace_question_set(q, "output", l->fit);
}

pace_status pace_live_learn(pace_live *l) {
    pace_status status = inquire(l, &(inquiry){"fit", word_fit, NULL, pace_ask, NULL, NULL});
    l->fitted = status == PACE_OK;
    return status == PACE_E_MEMORY ? status : PACE_OK; /* too few rows: the entry alone answers */
}

typedef struct {
    const char *rows, *on, *fit;
} curve;

static pace_status word_curve(pace_question *q, const pace_live *l, const void *context) {
    const curve *c = context;
    (void)l;
    PACE_TRY(pace_question_set(q, "kind", "exchange"));
    PACE_TRY(pace_question_add_input(q, c->rows));
    PACE_TRY(pace_question_set(q, "on", c->on));
    return pace_question_set(q, "output", c->fit);
}

pace_status pace_live_learn_curve(pace_live *l, const char *rows, const char *on, const char *fit) {
    curve one = {rows, on, fit};
    return inquire(l, &(inquiry){"fit", word_curve, &one, pace_ask, NULL, NULL});
}

/* --- train -------------------------------------------------------------------------------------------------------- */

static pace_status word_training(pace_question *q, const pace_live *l, const void *context) {
    const pace_live_step *step = context;
    PACE_TRY(pace_question_add_input(q, step->model));
    PACE_TRY(set_whole(q, "batch", step->batch));
    PACE_TRY(set_whole(q, "steps", l->steps));
    PACE_TRY(set_whole(q, "warm_up", 2));
    if (l->threads == 1) PACE_TRY(pace_question_set(q, "clock", "thread"));
    return set_whole(q, "threads", l->threads);
}

/* The integer of a row whose first cell is `name`, 0 without. */
static double cell_of(const pace_answer_table *table, const char *name) {
    for (size_t r = 0; table && r < table->rows; r++)
        if (strcmp(table->columns[0].texts[r], name) == 0) return (double)table->columns[1].integers[r];
    return 0;
}

static pace_status read_training(pace_live *l, void *to, const pace_answer *answer) {
    pace_live_run *run = to;
    const pace_answer_table *table = pace_answer_table_find(answer, "stages");
    const char *software = pace_answer_text(answer, "software");
    double step_ns;
    PACE_TRY(pace_answer_value(answer, "step_ns", &step_ns));
    run->runs[run->step.runs] = step_ns * 1e-9;
    for (int i = 0; i < PACE_LIVE_PARTS; i++) run->parts[i][run->step.runs] = cell_of(table, live_parts[i]);
    run->step.runs++;
    pace_snprintf(l->software, sizeof l->software, "%s", software ? software : "");
    return PACE_OK;
}

/* Several ranks, and those of another framework, are processes of their own; so is their row. */
static pace_status train_apart(pace_live *l, pace_live_run *run) {
    pace_study_words words = {.count = 0};
    pace_study_row row = {.model = run->step.model, .approach = run->step.approach, .ranks = run->step.ranks};
    PACE_TRY(pace_study_words_begin(&words, run->step.link, run->step.ranks));
    pace_study_words_put(&words, NULL, row.model);
    pace_study_words_number(&words, "--batch", (double)run->step.batch);
    pace_study_words_number(&words, "--steps", (double)(run->steps ? run->steps : l->steps));
    pace_study_words_number(&words, "--warm-up", run->steps ? 1 : 2);
    pace_study_words_number(&words, "--threads", (double)l->threads);
    if (!run->step.link) pace_study_words_number(&words, "--ranks", row.ranks);
    if (!l->runner) pace_study_words_put(&words, "--approach", row.approach);
    pace_study_words_put(&words, "--runner", l->runner);
    pace_status status = pace_study_run(&row, pace_study_words_end(&words));
    if (status == PACE_OK && row.done) {
        const double shares[PACE_LIVE_PARTS] = {row.forward_share, row.backward_share, row.exchange_share,
                                                row.update_share};
        run->runs[run->step.runs] = 1e-9 * (double)row.step_ns;
        for (int i = 0; i < PACE_LIVE_PARTS; i++) run->parts[i][run->step.runs] = shares[i] * (double)row.step_ns;
        run->step.runs++;
        if (l->runner) pace_snprintf(l->software, sizeof l->software, "%s", l->runner);
    } else if (status == PACE_OK)
        pace_snprintf(run->status, sizeof run->status, "%s", row.status ? row.status : "it failed");
    pace_study_row_free(&row);
    return status;
}

pace_status pace_live_train(pace_live *l, pace_live_run *run) {
    if (*run->status) return PACE_OK; /* failed before: it will again */
    if (pace_live_exchanges(&run->step) || l->runner) return train_apart(l, run);
    return inquire(l, &(inquiry){"train", word_training, &run->step, pace_train, read_training, run});
}

/* --- the host's overheads ----------------------------------------------------------------------------------------- */

/* What a pass of a layer costs around its work: forward and backward, less what the layers took, for each pass. */
static pace_status read_overhead(pace_live *l, void *to, const pace_answer *answer) {
    const pace_answer_table *stages = pace_answer_table_find(answer, "stages"),
                            *layers = pace_answer_table_find(answer, "layers");
    double rest = cell_of(stages, "forward") + cell_of(stages, "backward"), passes = 0;
    (void)l;
    for (size_t r = 0; layers && r < layers->rows; r++)
        for (size_t c = 2; c <= 4; c++) {
            int64_t ns = layers->columns[c].integers[r];
            if (ns > 0) rest -= (double)ns, passes++;
        }
    *(double *)to = passes > 0 ? fmax(rest / passes, 0) : 0;
    return PACE_OK;
}

/* Another framework tells no layers. Two of sixteen neurons and a loss take no time: what there is, seven passes
 * share. */
static pace_status overhear_apart(pace_live *l, double *pass_ns) {
    enum { PASSES = 7 }; /* linear, linear, loss; loss, linear by data and weights, linear by weights */
    pace_live_run *probe = pace_alloc(1, sizeof *probe);
    if (!probe) return PACE_E_MEMORY;
    probe->step = (pace_live_step){.model = l->probes[PACE_LIVE_SMALL], .batch = 1, .ranks = 1};
    pace_status status = train_apart(l, probe);
    if (status == PACE_OK && !probe->step.runs) status = pace_fail(PACE_E_MISSING, "live: %s", probe->status);
    *pass_ns = (probe->parts[0][0] + probe->parts[1][0]) / PASSES;
    pace_free(probe);
    return status;
}

pace_status pace_live_overhear(pace_live *l) {
    double pass_ns;
    pace_live_step probe = {.model = l->probes[PACE_LIVE_SMALL], .batch = 1};
    if (l->runner) {
        PACE_TRY(overhear_apart(l, &pass_ns));
        l->overheard = true;
        return pace_live_write_overheads(l->overheads, pass_ns);
    }
    PACE_TRY(inquire(l, &(inquiry){"train", word_training, &probe, pace_train, read_overhead, &pass_ns}));
    PACE_TRY(pace_live_write_overheads(l->overheads, pass_ns));
    l->overheard = true;
    return PACE_OK;
}

/* --- predict ------------------------------------------------------------------------------------------------------ */

static pace_status has_linear(bool *out, const char *model) {
    pace_network network;
    PACE_TRY(pace_network_plan(&network, &(pace_network_asked){.model = model, .batch = 1}));
    *out = pace_model_has_layer(&network.model, PACE_LAYER_LINEAR);
    pace_network_close(&network);
    return PACE_OK;
}

/* What the trainer does its own way: one pass updates all (update_rules.c), and weights lie as oneDNN's forward pass
 * wants them (onednn/products.c), of which only a fit of what was measured so knows. */
static pace_status word_trainer(pace_question *q, const pace_live *l, const pace_live_asked *a) {
    bool linear;
    PACE_TRY(pace_question_set(q, "set", "update=fused"));
    PACE_TRY(has_linear(&linear, a->model));
    return linear && l->packs ? pace_question_set(q, "set", "weights=packed") : PACE_OK;
}

static pace_status word_prediction(pace_question *q, const pace_live *l, const void *context) {
    const pace_live_asked *a = context;
    char text[96];
    PACE_TRY(pace_question_add_input(q, a->model));
    PACE_TRY(pace_question_set(q, "on", a->on));
    pace_snprintf(text, sizeof text, "micro_batch=%zu", a->batch);
    PACE_TRY(pace_question_set(q, "set", text));
    PACE_TRY(pace_question_set(q, "set", "optimizer=momentum"));
    PACE_TRY(pace_question_set(q, "set", "input=synthetic"));
    if (!l->runner) PACE_TRY(word_trainer(q, l, a));
    if (*a->approach) {
        pace_snprintf(text, sizeof text, "dp=%d", a->ranks);
        PACE_TRY(pace_question_set(q, "set", text));
        PACE_TRY(pace_question_set(q, "approach", a->approach));
    }
    if (a->slowed > 1) {
        pace_snprintf(text, sizeof text, "aten:%.6g", a->slowed);
        PACE_TRY(pace_question_set(q, "scale", text));
    }
    if (l->overheard) PACE_TRY(pace_question_set(q, "overheads", l->overheads));
    if (l->fitted) PACE_TRY(pace_question_set(q, "fit", l->fit));
    if (*a->curve) PACE_TRY(pace_question_set(q, "fit", a->curve));
    for (size_t i = 0; pace_question_item(l->question, "fit", i); i++)
        PACE_TRY(pace_question_set(q, "fit", pace_question_item(l->question, "fit", i)));
    return PACE_OK;
}

/* A stage's row of the matrix: what is exchange, and what is not. */
static void add_stage(double *own, double *exchange, const pace_answer *answer, const char *stage) {
    static const char *const resources[] = {
        "compute_bound", "memory_bound",          "copy",     "idle_host", "idle_input",
        "idle_other",    "exposed_communication", "idle_rank"};
    double one;
    char path[96];
    for (size_t i = 0; i < PACE_COUNT(resources); i++) {
        pace_snprintf(path, sizeof path, "matrix.%s.%s_ns", stage, resources[i]);
        if (pace_answer_value(answer, path, &one) != PACE_OK) continue;
        *(i < 6 ? own : exchange) += one;
    }
}

/* The step with all that was asked of it, which is the last scenario. */
static pace_status read_time(pace_live_step *step, const pace_answer *answer) {
    const pace_answer_table *table = pace_answer_table_find(answer, "scenarios");
    double *const times[] = {&step->predicted_s, &step->low_s, &step->high_s};
    if (!table || !table->rows) return pace_fail(PACE_E_MISSING, "live: predict told no time");
    for (size_t i = 0; i < PACE_COUNT(times); i++)
        *times[i] = 1e-9 * (double)table->columns[1 + i].integers[table->rows - 1];
    return PACE_OK;
}

static pace_status read_prediction(pace_live *l, void *to, const pace_answer *answer) {
    pace_live_step *step = to;
    double exchange = 0, forward = 0, backward = 0, update = 0;
    (void)l;
    PACE_TRY(read_time(step, answer));
    add_stage(&forward, &exchange, answer, "forward");
    add_stage(&backward, &exchange, answer, "backward");
    add_stage(&update, &exchange, answer, "update");
    double sum = forward + backward + update + exchange;
    step->predicted_forward = forward / sum, step->predicted_backward = backward / sum;
    step->predicted_update = update / sum, step->predicted_exchange = exchange / sum;
    return PACE_OK;
}

pace_status pace_live_predict(pace_live_step *out, pace_live *l, const pace_live_asked *asked) {
    return inquire(l, &(inquiry){"predict", word_prediction, asked, pace_ask, read_prediction, out});
}

/* predict refuses weights that lie packed where no fit has rows of such. */
pace_status pace_live_find_packed(pace_live *l) {
    pace_live_step tried;
    pace_live_asked asked = {.model = l->probes[PACE_LIVE_SMALL], .batch = 1, .slowed = 1};
    if (l->runner) return PACE_OK;
    pace_snprintf(asked.on, sizeof asked.on, "%s", l->on);
    l->packs = true;
    pace_status status = pace_live_predict(&tried, l, &asked);
    l->packs = status == PACE_OK;
    return status == PACE_E_USAGE ? PACE_OK : status;
}

#include "ask/predict/scaling_solve.h"
#include "ask/predict/step_memory.h"
#include "base/print.h"
#include "forecast/scaling.h"

#include <math.h>

enum { MOST_SETTINGS = 64 };

/* The workers' settings behind those that were given. */
typedef struct {
    const char *items[MOST_SETTINGS];
    pace_words words;
    char workers[32], batch[48];
} settings;

static pace_status word(settings *out, const pace_scaling_words *w) {
    size_t given = w->set ? w->set->count : 0;
    if (given + 2 > MOST_SETTINGS) return pace_fail(PACE_E_USAGE, "set: expected at most %d", MOST_SETTINGS - 2);
    for (size_t i = 0; i < given; i++) out->items[i] = w->set->items[i];
    pace_snprintf(out->workers, sizeof out->workers, "dp=%d", w->workers);
    pace_snprintf(out->batch, sizeof out->batch, "micro_batch=%.17g", w->batch);
    out->items[given] = out->workers;
    out->items[given + 1] = out->batch;
    out->words = (pace_words){out->items, given + 2};
    return PACE_OK;
}

/* The step of the workers, and what it borrows. */
typedef struct {
    pace_machine placed;
    pace_approach_setup setup;
    pace_approach approach;
    settings set;
    pace_step_asked step;
} worded;

static pace_status open_step(worded *out, pace_catalog *catalog, const pace_scaling_words *w, double stretch) {
    out->approach = *w->approach;
    out->approach.cycle_s /= stretch;
    PACE_TRY(word(&out->set, w));
    PACE_TRY(pace_scaling_place(&out->placed, &out->setup, w->machine, w->workers, w->nodes));
    pace_step_words words = {.name = w->name,
                             .set = &out->set.words,
                             .chosen = &out->approach,
                             .device = w->device,
                             .machine = w->workers > 1 ? &out->placed : NULL,
                             .host_bytes = out->placed.host_memory_bytes,
                             .fits = w->fits};
    return pace_step_asked_open(&out->step, catalog, &words);
}

/* All that one worker does taking `stretch` times as long: its exchanges are as much shorter beside it. */
static pace_status solve(pace_step_solution *out, pace_catalog *catalog, const pace_scaling_words *w, double stretch) {
    worded one = {.setup = {.nodes = 0}};
    pace_step_case *asked = &one.step.asked;
    pace_status status = open_step(&one, catalog, w, stretch);
    if (one.setup.nodes > 1 && one.setup.ranks_per_node < one.placed.devices)
        asked->ranks_per_node = one.setup.ranks_per_node;
    double slowness = (w->slowness > 0 ? w->slowness : 1) / stretch;
    if (slowness != 1) asked->slowness = slowness;
    if (status == PACE_OK) status = pace_step_solve_settled(&one.step.settled, &one.step.pricer, asked);
    *out = one.step.settled;
    if (status == PACE_OK) pace_predict_fits_note(w->fits, one.step.pricer.cost);
    pace_step_asked_close(&one.step);
    return status;
}

/* Beside whole replicas: the same step with the model shared out over the machine. */
static pace_status advise_sharing(char *out, size_t size, pace_memory_asked memory, const pace_scaling_words *words) {
    char remedy[PACE_REMEDY_TEXT];
    memory.machine = words->machine;
    memory.whole = false;
    memory.option = "--set ";
    memory.batch_option = NULL;
    PACE_TRY(pace_step_remedy(remedy, &memory));
    if (*remedy)
        pace_snprintf(out, size,
                      "No batch fits where each worker holds the whole model; shared out, it would fit: %s instead of "
                      "workers.",
                      remedy);
    else pace_snprintf(out, size, "No batch fits, and no way to share the model over the machine was found.");
    return PACE_OK;
}

pace_status pace_scaling_advise(char *out, size_t size, pace_catalog *catalog, const pace_scaling_words *words,
                                const char *option, const char *batch_option, double batch_times) {
    char remedy[PACE_REMEDY_TEXT] = "";
    worded one = {.setup = {.nodes = 0}};
    pace_status status = open_step(&one, catalog, words, 1);
    const pace_memory_asked memory = {.asked = &one.step.asked,
                                      .pricer = &one.step.pricer,
                                      .spread_tables = one.step.asked.assumes_tables,
                                      .whole = true,
                                      .option = option,
                                      .batch_option = batch_option,
                                      .batch_times = batch_times};
    if (status == PACE_OK) status = pace_step_remedy(remedy, &memory);
    if (status == PACE_OK && *remedy) pace_snprintf(out, size, "It would fit with %s.", remedy);
    else if (status == PACE_OK) status = advise_sharing(out, size, memory, words);
    pace_step_asked_close(&one.step);
    return status;
}

/* Where one worker is measured, the step is as uncertain as its exchange, which is run again as much slower and faster
 * as it may be: what that changes is large at a knee, and nothing where all is hidden. */
static pace_status exchange_spread(double *out, pace_catalog *catalog, const pace_scaling_words *words,
                                   const pace_step_solution *found, double stretch) {
    pace_doubts doubts;
    pace_step_solution other;
    double widest = 0;
    PACE_TRY(pace_doubts_load(&doubts, catalog));
    for (int way = -1; way <= 1 && words->workers > 1; way += 2) {
        pace_scaling_words moved = *words;
        double by = exp(way * PACE_NORMAL_90 * doubts.figure[PACE_DOUBT_SCALING_EXCHANGE]);
        moved.slowness = by * (words->slowness > 0 ? words->slowness : 1);
        PACE_TRY(solve(&other, catalog, &moved, stretch));
        widest = fmax(widest, fabs(log(stretch * other.time_s.median / found->time_s.median)) / PACE_NORMAL_90);
    }
    *out = words->workers > 1 ? hypot(widest, doubts.figure[PACE_DOUBT_SCALING_STEP]) : 0;
    return PACE_OK;
}

pace_status pace_scaling_solve(pace_step_solution *out, pace_catalog *catalog, const pace_scaling_words *words) {
    pace_step_solution solution;
    double stretch = words->compute > 0 ? words->compute : 1;
    if (words->own_s > 0) {
        pace_scaling_words one = *words;
        one.workers = 1;
        one.nodes = 0;
        PACE_TRY(solve(&solution, catalog, &one, 1));
        stretch = words->own_s / solution.time_s.median;
    }
    PACE_TRY(solve(&solution, catalog, words, stretch));
    solution.time_s.median *= stretch;
    solution.forward_backward_s *= stretch;
    solution.exchange.exchange_s *= stretch;
    solution.exchange.exposed_s *= stretch;
    solution.exchange.skew_s *= stretch;
    if (words->own_s > 0) PACE_TRY(exchange_spread(&solution.time_s.spread, catalog, words, &solution, stretch));
    *out = solution;
    return PACE_OK;
}

pace_status pace_scaling_own_batch(double *out, pace_catalog *catalog, const char *model, const pace_words *set,
                                   const pace_device *device) {
    pace_step_asked one = {0};
    pace_step_words words = {.name = model, .set = set, .several = true, .device = device};
    pace_status status = pace_step_asked_open(&one, catalog, &words);
    if (status == PACE_OK) *out = one.asked.config.micro_batch;
    pace_step_asked_close(&one);
    return status;
}

const char *pace_scaling_bottleneck(const pace_step_solution *solution) {
    const pace_forecast_exchange *e = &solution->exchange;
    double own_s = solution->time_s.median - e->exposed_s - e->skew_s;
    if (e->ranks < 2 || fmax(e->exposed_s, e->skew_s) < 0.01 * own_s) return "compute";
    if (e->exposed_s < e->skew_s) return "slowest worker";
    return e->bottleneck ? e->bottleneck : "exchange";
}

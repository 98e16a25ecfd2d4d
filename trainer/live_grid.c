#include "live_grid.h"

#include "base/decimal.h"
#include "exchangers.h"
#include "here.h"
#include "hosts.h"
#include "live_road.h"

#include <math.h>
#include <string.h>

static pace_status read_count(size_t *out, const char *field, const char *text, double most) {
    double value;
    if (!pace_number_parse(&value, text) || value < 1 || value > most || value != floor(value))
        return pace_fail(PACE_E_USAGE, "%s: expected a whole number from 1 to %.0f, found \"%.40s\"", field, most,
                         text);
    *out = (size_t)value;
    return PACE_OK;
}

static pace_status read_whole(size_t *out, const pace_question *q, const char *field, size_t usual, size_t most) {
    double value = pace_question_has(q, field) ? pace_question_number(q, field) : (double)usual;
    if (value < 1 || value > (double)most || value != floor(value))
        return pace_fail(PACE_E_USAGE, "%s: expected a whole number from 1 to %zu, found %g", field, most, value);
    *out = (size_t)value;
    return PACE_OK;
}

static pace_status refuse_others(const pace_question *q) {
    if (pace_question_has(q, "data"))
        return pace_fail(PACE_E_USAGE, "data: it has no effect on " PACE_FIELD "live, which reads no tables");
    if (pace_question_input_count(q))
        return pace_fail(PACE_E_USAGE, "live: expected no pattern of cases, found \"%.60s\"",
                         pace_question_input(q, 0));
    return PACE_OK;
}

static const char *item_or(const pace_question *q, const char *field, size_t i, const char *const *usual) {
    if (pace_question_item(q, field, 0)) return pace_question_item(q, field, i);
    for (size_t k = 0; k < i; k++)
        if (!usual[k]) return NULL;
    return usual[i];
}

/* --- the grid ----------------------------------------------------------------------------------------------------- */

/* One link is probed, and where there are others what hosts take whatever the link. */
static pace_status add_road(pace_live *l, const pace_live_step *step) {
    pace_live_road road = {.approach = step->approach, .link = step->link, .ranks = step->ranks};
    if (!pace_live_exchanges(step)) return PACE_OK;
    const pace_live_road *known = pace_live_road_of(l, step);
    if (known && (!step->link || strcmp(known->link, step->link) == 0 || pace_live_road_bare(l, known))) return PACE_OK;
    if (known) road.bare = true, road.link = pace_live_bare_link;
    if (!l->runner)
        road.algorithm = pace_exchange_reduction(step->approach); /* another framework has buckets of its own */
    road.curved = road.algorithm != NULL;
    return PACE_PUSH(&l->roads, road);
}

static pace_status add_step(pace_live *l, pace_live_step step) {
    step.oversubscribed = (size_t)step.ranks * l->threads > (size_t)l->cores;
    PACE_TRY(add_road(l, &step));
    return PACE_PUSH(&l->all, ((pace_live_run){.step = step}));
}

/* PyTorch exchanges as DistributedDataParallel does, within this host. */
static pace_status read_runner(pace_live *l) {
    static const char *const own[] = {"approach", "link"};
    const char *runner = pace_question_text(l->question, "runner");
    size_t number = 0; /* paceline, torch */
    if (runner) PACE_TRY(pace_option_word_find(&number, "validate", "runner", runner));
    if (number == 0) return PACE_OK;
    for (size_t i = 0; i < PACE_COUNT(own); i++)
        if (pace_question_has(l->question, own[i]))
            return pace_fail(PACE_E_USAGE,
                             "%s: it has no effect on " PACE_FIELD "runner torch, whose ranks use Gloo here", own[i]);
    l->runner = runner;
    return PACE_OK;
}

static pace_status add_roads(pace_live *l, pace_live_step step) {
    static const char *const usual[] = {"mpi-opt", "horovod-mpi", NULL}, *const memory[] = {"memory", NULL},
                             *const torch[] = {"ddp", NULL};
    const pace_question *q = l->question;
    size_t number;
    for (size_t a = 0; (step.approach = item_or(q, "approach", a, l->runner ? torch : usual)); a++) {
        if (!l->runner) PACE_TRY(pace_option_word_find(&number, "validate", "approach", step.approach));
        for (size_t k = 0; (step.link = item_or(q, "link", k, memory)); k++) {
            if (strcmp(step.link, "memory") == 0) step.link = NULL;
            else PACE_TRY(pace_hosts_check_rate(step.link));
            PACE_TRY(add_step(l, step));
        }
    }
    return PACE_OK;
}

static pace_status add_ranks(pace_live *l, pace_live_step step) {
    static const char *const one[] = {"1", NULL};
    const char *text;
    size_t ranks = 1;
    for (size_t i = 0; (text = item_or(l->question, "ranks", i, one)); i++) {
        PACE_TRY(read_count(&ranks, "ranks", text, 64));
        step.ranks = (int)ranks;
        PACE_TRY(ranks > 1 ? add_roads(l, step) : add_step(l, step));
    }
    return PACE_OK;
}

static pace_status list_steps(pace_live *l) {
    static const char *const models[] = {"lenet", "alexnet", NULL}, *const batches[] = {"8", "32", NULL};
    const char *model, *batch;
    for (size_t m = 0; (model = item_or(l->question, "model", m, models)); m++)
        for (size_t b = 0; (batch = item_or(l->question, "batch", b, batches)); b++) {
            pace_live_step step = {.model = model};
            PACE_TRY(read_count(&step.batch, "batch", batch, 1 << 20));
            PACE_TRY(add_ranks(l, step));
        }
    return PACE_OK;
}

static pace_status check_used(const pace_live *l) {
    static const char *const shared[] = {"approach", "link"};
    for (size_t i = 0; i < PACE_COUNT(shared) && !l->roads.count; i++)
        if (pace_question_has(l->question, shared[i]))
            return pace_fail(PACE_E_USAGE, "%s: it has no effect on one rank (" PACE_FIELD "ranks)", shared[i]);
    if (pace_question_has(l->question, "on") && l->quick)
        return pace_fail(PACE_E_USAGE, "quick: it has no effect on an entry that is there (" PACE_FIELD "on)");
    return PACE_OK;
}

pace_status pace_live_grid(pace_live *l) {
    PACE_TRY(refuse_others(l->question));
    PACE_TRY(read_whole(&l->runs, l->question, "runs", 3, PACE_LIVE_RUNS));
    PACE_TRY(read_whole(&l->steps, l->question, "steps", 10, 1 << 20));
    PACE_TRY(read_whole(&l->threads, l->question, "threads", 1, 4096));
    l->quick = pace_question_has(l->question, "quick");
    l->on = pace_question_text(l->question, "on");
    l->cores = pace_cores_here();
    PACE_TRY(read_runner(l));
    PACE_TRY(list_steps(l));
    return check_used(l);
}

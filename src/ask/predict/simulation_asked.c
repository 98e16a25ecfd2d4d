#include "ask/predict/simulation_asked.h"
#include "ask/predict/exchange_asked.h"
#include "ask/rows/exchange_stack.h"

#include <math.h>
#include <string.h>

/* A count of an option; 0 = not given. */
static pace_status read_count(uint32_t *out, const char *option, double value) {
    *out = (uint32_t)value;
    if (value >= 0 && value <= UINT32_MAX && value == floor(value)) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: expected a whole number from 1, found %g", option, value);
}

static pace_status read_stragglers(pace_simulation_asked *a, const pace_words *words) {
    pace_simulation_question *q = &a->question;
    uint32_t ranks = q->ranks ? q->ranks : (uint32_t)a->machine.devices * (uint32_t)a->machine.nodes;
    if (!words->count) return PACE_OK;
    a->slowness = pace_alloc((size_t)ranks + 1, sizeof *a->slowness); /* one more: the switch */
    if (!a->slowness) return PACE_E_MEMORY;
    for (uint32_t r = 0; r <= ranks; r++) a->slowness[r] = 1;
    for (size_t i = 0; i < words->count; i++) PACE_TRY(pace_read_straggler(a->slowness, ranks, words->items[i]));
    q->slowness = a->slowness;
    return PACE_OK;
}

/* With no rank slow, and with all as slow as the slowest; the switch is as fast as it is. */
static pace_status open_others(pace_simulation_asked *a) {
    uint32_t ranks = a->simulation.question.ranks;
    pace_simulation_question even = a->question, all_slow = a->question;
    even.slowness = NULL;
    PACE_TRY(pace_simulation_open(&a->even, &a->machine, &even));
    a->even_open = true;
    double slowest = a->slowness[0];
    a->all_slowness = pace_alloc((size_t)ranks + 1, sizeof *a->all_slowness);
    if (!a->all_slowness) return PACE_E_MEMORY;
    for (uint32_t r = 1; r < ranks; r++) slowest = fmax(slowest, a->slowness[r]);
    for (uint32_t r = 0; r < ranks; r++) a->all_slowness[r] = slowest;
    a->all_slowness[ranks] = 1;
    all_slow.slowness = a->all_slowness;
    PACE_TRY(pace_simulation_open(&a->all_slow, &a->machine, &all_slow));
    a->all_slow_open = true;
    return PACE_OK;
}

/* Nodes are dealt out to jobs in turn: a job on one of them meets no link between nodes. */
static bool stays_inside(const pace_simulation_question *q, const pace_machine *machine) {
    uint32_t near = (uint32_t)machine->devices, nodes = (uint32_t)machine->nodes;
    if (q->ranks) nodes = (q->ranks + near - 1) / near;
    return nodes < 2 * (q->jobs ? q->jobs : 1);
}

/* Whose choice is simulated where no algorithm is named: that which answers without --simulate. */
static pace_status take_library(pace_simulation_asked *a, const pace_simulate_options *options) {
    pace_exchange_library library;
    const char *line;
    PACE_TRY(pace_read_library(&library, &line, options->library));
    if (options->algorithm && options->library)
        return pace_fail(PACE_E_USAGE, "library: has no effect with " PACE_FIELD "simulate and " PACE_FIELD
                                       "algorithm, which is of the textbook's");
    if (options->algorithm) return PACE_OK;
    PACE_TRY(pace_nccl_check_age(options->context->catalog, &a->machine, line));
    PACE_TRY(pace_exchange_open(&a->library, options->context->catalog, &a->machine, library, line));
    a->library.stack = pace_exchange_stack_of("", options->library ? options->library : "");
    a->by_library = a->library.library == PACE_LIBRARY_NCCL;
    return PACE_OK;
}

pace_status pace_simulation_ask(pace_simulation_asked *a, const pace_simulate_options *options) {
    pace_simulation_question *q = &a->question;
    if (!options->on)
        return pace_fail(PACE_E_USAGE, "expected a machine: " PACE_FIELD "on dgx-h100*2 (see docs/simulation.md)");
    PACE_TRY(pace_machine_asked(&a->machine, options->context->catalog, options->on));
    a->collective = options->collective;
    PACE_TRY(pace_read_collective(&q->collective, options->collective));
    PACE_TRY(pace_read_sizes(&a->sizes, options->bytes ? options->bytes : "8..1G"));
    PACE_TRY(read_count(&q->ranks, "ranks", options->ranks));
    PACE_TRY(read_count(&q->jobs, "jobs", options->jobs));
    PACE_TRY(read_stragglers(a, &options->straggler));
    for (size_t i = 0; i < options->background.count; i++)
        PACE_TRY(pace_read_background(&a->background, &q->network_share, options->background.items[i]));
    if (q->network_share > 0 && q->network_share < 1 && stays_inside(q, &a->machine))
        return pace_fail(PACE_E_USAGE,
                         "background: has no effect on %s: a share of the network is of links between nodes",
                         a->machine.name);
    q->background = a->background.items;
    q->background_count = a->background.count;
    q->unfolded = options->unfolded;
    q->algorithm = PACE_ANY;
    if (options->algorithm) {
        const pace_exchange textbook = {.library = PACE_LIBRARY_TEXTBOOK};
        PACE_TRY(pace_exchange_name_algorithm(&q->algorithm, &textbook, options->algorithm));
    }
    PACE_TRY(take_library(a, options));
    PACE_TRY(pace_doubts_load(&a->doubts, options->context->catalog));
    PACE_TRY(pace_simulation_open(&a->simulation, &a->machine, q));
    a->open = true;
    return a->slowness ? open_others(a) : PACE_OK;
}

void pace_simulation_asked_free(pace_simulation_asked *a) {
    if (a->open) pace_simulation_close(&a->simulation);
    if (a->even_open) pace_simulation_close(&a->even);
    if (a->all_slow_open) pace_simulation_close(&a->all_slow);
    PACE_VEC_FREE(&a->sizes, &a->background);
    PACE_FREE(a->slowness, a->all_slowness);
}

/* Ranks within a node are as sure as a node, however many nodes there are besides. */
pace_estimate pace_simulation_estimate(const pace_simulation_asked *a, const pace_simulation_answer *given) {
    int nodes = a->simulation.nodes_of_job == 1 ? 1 : a->machine.nodes;
    double spread = pace_exchange_textbook_spread(&a->doubts, nodes);
    return (pace_estimate){given->time_s, hypot(spread, given->growth_spread), PACE_RUNG_FORMULA, 0};
}

static pace_status run_on(pace_simulation_answer *out, pace_library_run *run, const pace_simulation_asked *a,
                          const pace_simulation *simulation, double bytes, pace_flow_log *log) {
    *run = (pace_library_run){.algorithm = "", .protocol = ""};
    if (!a->by_library || simulation->ranks_of_job == 1) return pace_simulation_run(out, simulation, bytes, log);
    return pace_library_simulation_run(out, run, simulation, &a->library, bytes, log);
}

pace_status pace_simulation_asked_run(pace_simulation_answer *out, pace_library_run *run,
                                      const pace_simulation_asked *a, double bytes, pace_flow_log *log) {
    pace_library_run other;
    PACE_TRY(run_on(out, run, a, &a->simulation, bytes, log));
    if (!a->all_slow_open) return PACE_OK;
    pace_simulation_answer all, some = *out;
    PACE_TRY(run_on(&all, &other, a, &a->all_slow, bytes, NULL));
    if (!(all.time_s < some.time_s)) return PACE_OK;
    if (log) {
        size_t limit = log->limit;
        pace_flow_log_free(log);
        *log = (pace_flow_log){.limit = limit};
    }
    PACE_TRY(run_on(out, run, a, &a->all_slow, bytes, log));
    memcpy(out->bottleneck, some.bottleneck, sizeof out->bottleneck); /* of a rank that is slow by itself */
    return PACE_OK;
}

const char *pace_simulation_why_apart(const pace_simulation_asked *a, const pace_simulation_answer *given) {
    const pace_simulation_question *q = &a->question;
    double ratio = given->time_s / given->closed_s;
    if (!(given->closed_s > 0) || fabs(log(ratio)) <= log(1.05)) return NULL;
    if (ratio < 1) return "messages overlap on their way, where it adds them up";
    if (q->slowness || q->network_share > 0 || q->background_count || q->jobs > 1 || a->simulation.question.jobs > 1)
        return "it knows of no slow ranks, other jobs or traffic of others";
    return "messages meet on links that it takes to be free";
}

pace_status pace_simulation_stragglers(pace_stragglers_cost *out, const pace_simulation_asked *a, double bytes,
                                       const pace_simulation_answer *given) {
    pace_simulation_answer even;
    pace_stragglers_cost cost = {.rate = 1};
    pace_library_run run;
    if (a->even_open) {
        PACE_TRY(run_on(&even, &run, a, &a->even, bytes, NULL));
        cost.cost_s = given->time_s - even.time_s;
    }
    for (uint32_t rank = 0; a->even_open && rank < a->simulation.question.ranks; rank++) {
        if (a->slowness[rank] == 1) continue;
        if (1 / a->slowness[rank] < cost.rate) cost.rate = 1 / a->slowness[rank], cost.slowest = rank;
        cost.count++;
    }
    *out = cost;
    return PACE_OK;
}

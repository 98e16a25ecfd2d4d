/* A question about an exchange that is simulated message by message. */
#pragma once

#include "ask/engine_options.h"
#include "ask/predict/exchange_words.h"
#include "schedule/library_simulation.h"

typedef struct {
    pace_machine machine;
    pace_simulation simulation;
    /* where some ranks are slow: the same with none; with all as slow as the slowest */
    pace_simulation even, all_slow;
    pace_simulation_question question;
    double *slowness, *all_slowness;
    pace_backgrounds background;
    pace_sizes sizes;
    bool open, even_open, all_slow_open;
    bool by_library; /* its choice is simulated, of every size */
    pace_exchange library;
    const char *collective; /* as asked for; NULL = none was named */
    pace_doubts doubts;
} pace_simulation_asked;

/** Free `out`, zeros at first, after a failure too. Errors: PACE_E_USAGE, PACE_E_MISSING for an unknown machine. */
pace_status pace_simulation_ask(pace_simulation_asked *out, const pace_simulate_options *options) PACE_MUST_CHECK;
void pace_simulation_asked_free(pace_simulation_asked *asked);

/** A simulated time with its spread. */
pace_estimate pace_simulation_estimate(const pace_simulation_asked *asked, const pace_simulation_answer *given);

/** A size simulated: of a library's choice, or by the textbook's; `run` says which way, "" without a library. Slow
 * ranks cost no more than if all were as slow as the slowest: others may keep its pace. */
pace_status pace_simulation_asked_run(pace_simulation_answer *out, pace_library_run *run,
                                      const pace_simulation_asked *asked, double bytes,
                                      pace_flow_log *log) PACE_MUST_CHECK;

/** Why a simulated time is another than the closed form, in words; NULL where they are within a twentieth. */
const char *pace_simulation_why_apart(const pace_simulation_asked *asked, const pace_simulation_answer *given);

/* The ranks that are slow, as --straggler says. */
typedef struct {
    uint32_t count, slowest; /* the first of the slowest ranks */
    double rate;             /* of the slowest, of its own */
    double cost_s;           /* what they cost: the time, less that with no rank slow */
} pace_stragglers_cost;

/** What the slow ranks cost of a simulated time. PACE_OK with count 0 where none is slow. */
pace_status pace_simulation_stragglers(pace_stragglers_cost *out, const pace_simulation_asked *asked, double bytes,
                                       const pace_simulation_answer *given) PACE_MUST_CHECK;

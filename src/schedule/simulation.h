/*
 * A collective simulated on a machine, message by message, beside what the closed form says of it: contention,
 * stragglers, several jobs, and traffic of others.
 */
#pragma once

#include "exchange/exchange.h"
#include "schedule/flows.h"

typedef struct {
    pace_collective collective;
    int algorithm;          /* a row of pace_exchange_algorithms; PACE_ANY: the one that takes least */
    uint32_t ranks;         /* of all jobs together; 0 = all devices. The first ones */
    uint32_t jobs;          /* that do the same side by side; 0 = 1. Nodes are dealt out to them in turn */
    const double *slowness; /* per rank, job by job; NULL = 1 */
    double network_share;   /* of every link between nodes that others take, 0 <= share < 1 */
    const pace_background *background;
    size_t background_count;
    bool unfolded; /* simulate every rank, whether others are like it or tell what it takes */
} pace_simulation_question;

/* A question made ready on a machine, to be asked for many sizes. */
typedef struct {
    const pace_machine *machine; /* borrowed */
    pace_simulation_question question;
    pace_fabric fabric;
    double *slowness;                                   /* by numbers of the program, in which switches are ranks too */
    pace_background *background;                        /* the same */
    uint32_t ranks_of_job, ranks_of_node, nodes_of_job; /* nodes_of_job 0: ranks do not divide into nodes */
    uint32_t numbered_of_job;                           /* ranks of a job's program: with its switch one more */
    uint32_t jobs_of_node;                              /* jobs smaller than a node: so many on each; 0 = in a row */
    bool by_nodes;                                      /* as in pace_program_question */
    uint32_t segments; /* pieces of the vector, where algorithms have any; 0 = as many as are best */
} pace_simulation;

typedef struct {
    double time_s;   /* of the last job's last rank; with the machine's launch */
    double closed_s; /* of one job undisturbed; NAN = there is none */
    int algorithm;   /* which row */
    char bottleneck[PACE_FABRIC_NAME];
    pace_flows_result flows;
    uint32_t grown_from;  /* not all nodes were simulated, but at most so many (schedule/simulation.c); 0 = all */
    double growth_spread; /* what that adds to the spread of the logarithm of the time */
} pace_simulation_answer;

/** PACE_E_USAGE when ranks do not divide, or the machine has fewer. `machine` must outlive it. */
pace_status pace_simulation_open(pace_simulation *out, const pace_machine *machine,
                                 const pace_simulation_question *question) PACE_MUST_CHECK;
void pace_simulation_close(pace_simulation *simulation);

/** bytes as in pace_exchange_question. `log` (may be NULL) keeps what ran when; it numbers ranks job by job, each job's
 * switch, where one takes part, behind its ranks. PACE_E_USAGE when the algorithm cannot do it. */
pace_status pace_simulation_run(pace_simulation_answer *out, const pace_simulation *simulation, double bytes,
                                pace_flow_log *log) PACE_MUST_CHECK;

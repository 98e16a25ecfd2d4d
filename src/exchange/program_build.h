/* The algorithms of collectives as programs: one row each, by the names the field uses. docs/simulation.md has for each
 * what it takes in closed form. */
#ifndef PACE_EXCHANGE_PROGRAM_BUILD_H
#define PACE_EXCHANGE_PROGRAM_BUILD_H

#include "exchange/program.h"

typedef struct {
    uint32_t ranks;
    double bytes;          /* all-reduce, broadcast, reduce: the vector; reduce-scatter, all-gather: the whole vector;
                              all-to-all: what one rank holds for all */
    uint32_t group;        /* hierarchical: ranks of one node (wire 0 inside, wire 1 across) */
    uint32_t segments;     /* pipelined algorithms: pieces of the vector; 0 = 1 */
    const double *between; /* all-to-all-v: bytes from rank i to rank j at i * ranks + j */
} pace_program_question;

typedef struct {
    const char *collective, *algorithm;
    pace_status (*build)(pace_program *program, const pace_program_question *question);
} pace_program_row;

extern const pace_program_row pace_program_rows[];
extern const size_t pace_program_row_count;

/** Builds the program of a collective ("allreduce", "reducescatter", "allgather", "broadcast", "reduce", "alltoall",
 * "alltoallv") by an algorithm ("ring", "recursive_doubling", …). PACE_E_INPUT for an unknown one, with those there
 * are, and for sizes it cannot do. */
pace_status pace_program_build(pace_program *out, const char *collective, const char *algorithm,
                               const pace_program_question *question) PACE_MUST_CHECK;

/* By more than one file. */
pace_status pace_program_tree_allreduce(pace_program *program, const pace_program_question *question);
pace_status pace_program_double_tree(pace_program *program, const pace_program_question *question);
pace_status pace_program_tree_reduce(pace_program *program, const pace_program_question *question);
pace_status pace_program_tree_broadcast(pace_program *program, const pace_program_question *question);
pace_status pace_program_chain_broadcast(pace_program *program, const pace_program_question *question);

#endif

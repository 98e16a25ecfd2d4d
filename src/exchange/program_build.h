/* The algorithms of collectives as programs: the `program` column of exchange/algorithms.h. docs/simulation.md has for
 * each what it takes in closed form. */
#pragma once

#include "exchange/collective.h"
#include "exchange/program.h"

typedef struct pace_program_question {
    pace_collective collective; /* set by pace_program_build() (program_by_name.h) */
    uint32_t ranks;
    double bytes;      /* as in pace_exchange_question: the vector, the whole of it, or what a rank holds for all */
    uint32_t group;    /* rails, leaders: ranks of one node (wire 0 inside, wire 1 across) */
    uint32_t segments; /* pipelined algorithms: pieces of the vector; 0 = 1 */
    bool by_nodes;     /* pairwise: in every step whole nodes exchange with whole nodes, whatever their number */
    uint32_t viewer;   /* 1 + the rank whose places the program says (exchange/program.h); 0 = nobody's */
    const struct pace_machine *machine; /* borrowed: its rings (program_rings.c); NULL = one, in the order of ranks */
} pace_program_question;

/* Ranks to a group of the row "knomial". */
enum { PACE_KNOMIAL = 4 };

/* Halves of an all-reduce: which of the two a collective has. */
static inline bool pace_program_gathers(const pace_program_question *q) { return q->collective != PACE_REDUCESCATTER; }
static inline bool pace_program_reduces(const pace_program_question *q) { return q->collective != PACE_ALLGATHER; }

/** Makes a program that so many jobs, of as many ranks each, run side by side: job by job, one after the other in rank
 * numbers, a job's switch behind its ranks. PACE_E_INPUT for too many. */
pace_status pace_program_repeat(pace_program *program, uint32_t jobs) PACE_MUST_CHECK;

/* The rank whose places are said; where there is none, any. */
static inline uint32_t pace_program_viewer(const pace_program_question *q) { return q->viewer ? q->viewer - 1 : 0; }

/* Parts of programs that several generators share: a binomial tree of `ranks` ranks in a row, of which `rank` is one,
 * towards the first and away from it. */
pace_status pace_program_gather_up(pace_program *program, uint32_t ranks, uint32_t rank, double bytes);
pace_status pace_program_spread_down(pace_program *program, uint32_t ranks, uint32_t rank, double bytes);

/* Offsets to the neighbours of a rank, or node, in a binary tree; 0 = none. */
typedef struct {
    int64_t up, down[2];
} pace_tree_branches;

/** The two trees of so many ranks in which no rank has children twice: the branches that differ, PACE_TREES each (of
 * the first `trees`; the others 0), and rank -> which. Both for the caller to free. */
enum { PACE_TREES = 2 };
pace_status pace_program_branches(pace_tree_branches **out, size_t *count, uint32_t **kind_of, uint32_t ranks,
                                  int trees) PACE_MUST_CHECK;

/** A way through all devices of a node, of which the turns are others. `zigzag`: over pairs of which no two turns take
 * the same. */
void pace_program_way_through(uint32_t *way, uint32_t devices, bool zigzag);

/** Ways through a node of a machine that begin and end at each of its NICs (ring_search.h). */
struct pace_rings;
pace_status pace_program_open_rings(struct pace_rings *out, const struct pace_machine *machine) PACE_MUST_CHECK;

/* The rows' generators; they append to an empty program. */
pace_status pace_program_ring(pace_program *program, const pace_program_question *question);

/* "rails" over the rings of a mesh; `done` false: the machine has none, and nothing was added. */
pace_status pace_program_mesh_rails(bool *done, pace_program *program, const pace_program_question *question);
pace_status pace_program_doubling(pace_program *program, const pace_program_question *question);
pace_status pace_program_halving(pace_program *program, const pace_program_question *question);
pace_status pace_program_rabenseifner(pace_program *program, const pace_program_question *question);
pace_status pace_program_binomial(pace_program *program, const pace_program_question *question);
pace_status pace_program_double_tree(pace_program *program, const pace_program_question *question);
pace_status pace_program_chain(pace_program *program, const pace_program_question *question);
pace_status pace_program_direct(pace_program *program, const pace_program_question *question);
pace_status pace_program_rails(pace_program *program, const pace_program_question *question);
pace_status pace_program_torus(pace_program *program, const pace_program_question *question);
pace_status pace_program_pipelined_tree(pace_program *program, const pace_program_question *question);
pace_status pace_program_scatter_allgather(pace_program *program, const pace_program_question *question);
pace_status pace_program_knomial(pace_program *program, const pace_program_question *question);
pace_status pace_program_multicast(pace_program *program, const pace_program_question *question);
pace_status pace_program_leaders(pace_program *program, const pace_program_question *question);
pace_status pace_program_bruck(pace_program *program, const pace_program_question *question);
pace_status pace_program_message(pace_program *program, const pace_program_question *question);
pace_status pace_program_pairwise(pace_program *program, const pace_program_question *question);

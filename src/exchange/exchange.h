/*
 * How long ranks take to exchange data, in closed form. docs/exchange.md has the equations.
 *
 * A pace_exchange is a machine made ready: its links and the constants of the library that exchanges on it. Then a
 * question is answered without allocation and without reading anything.
 */
#pragma once

#include "exchange/algorithm_gaps.h"
#include "exchange/nccl.h"
#include "machine/doubts.h"

/* Whose algorithms: NCCL's own model by version line, or RCCL's; or the textbook's closed forms over the machine's
 * links. */
typedef enum {
    PACE_LIBRARY_AUTO, /* the newest NCCL on NVIDIA's devices, RCCL on AMD's, else the textbook's */
    PACE_LIBRARY_TEXTBOOK,
    PACE_LIBRARY_NCCL
} pace_exchange_library;

enum { PACE_ANY = -1 };

/*
 * bytes is nccl-tests' size argument, in bytes:
 *   allreduce, broadcast, reduce, sendrecv   the vector every rank holds
 *   allgather                                all ranks' parts together, what each rank ends with
 *   reducescatter                            the vector every rank starts with
 *   alltoall                                 what each rank starts with, all its parts together
 */
typedef struct {
    pace_collective collective;
    double bytes;
    int ranks_per_node, nodes; /* 0 = all of the machine */
    int algorithm;             /* PACE_ANY; with NCCL a pace_nccl_algorithm, else a row of pace_exchange_algorithms */
    int protocol;              /* PACE_ANY or a pace_nccl_protocol */
    int element_bytes;         /* of one element; 0 = not said. Switches add no elements of one byte. */
} pace_exchange_question;

typedef struct {
    pace_estimate time_s;
    const char *algorithm, *protocol; /* borrowed from tables; protocol "" where there is none */
    double faster_s; /* of another way that would take less, though the library's estimate favours its own: over slower
                        links it may take that one. 0 = none, or only the time was asked for */
    const char *faster_algorithm, *faster_protocol;
    const char *bottleneck; /* "latency", the kind of link whose speed counts most ("nvlink"), "library" */
    pace_doubts_used used;  /* what time_s rests on */
} pace_exchange_answer;

typedef struct pace_exchange_measured pace_exchange_measured;

typedef struct {
    pace_machine machine;
    pace_exchange_measured *measured; /* what pace_exchange_time() asks first; NULL = nothing; borrowed */
    pace_exchange_library library;    /* never AUTO */
    bool in_step;                     /* the textbook's rings wait for every step to end, as over MPI_Sendrecv */
    pace_nccl nccl, prices;   /* PACE_LIBRARY_NCCL: of the version that chooses; of the newest, which price it */
    pace_nccl_stack stack;    /* what starts its exchanges; CURRENT when opened */
    pace_doubts doubts;       /* of its answers */
    pace_algorithm_gaps gaps; /* PACE_LIBRARY_TEXTBOOK */
} pace_exchange;

/* Times that were measured on the machine (exchange/own_curves.h). `time` fails where they tell nothing: then the
 * closed form answers. */
struct pace_exchange_measured {
    pace_status (*time)(pace_estimate *out_s, pace_exchange_measured *measured, const pace_exchange *exchange,
                        const pace_exchange_question *question);
};

/** Makes a machine ready. `line` is NCCL's version ("2.7"), or "rccl"; NULL = the newest. With AUTO a version has no
 * part on AMD's devices. Errors: those of pace_machine_check(); PACE_E_USAGE for a library that is of other devices;
 * PACE_E_MISSING for an unknown line. */
pace_status pace_exchange_open(pace_exchange *out, pace_catalog *catalog, const pace_machine *machine,
                               pace_exchange_library library, const char *line) PACE_MUST_CHECK;

/** The words of --algorithm and --protocol: into the question's numbers. PACE_E_USAGE lists what there is. */
pace_status pace_exchange_name_algorithm(int *algorithm, const pace_exchange *exchange,
                                         const char *name) PACE_MUST_CHECK;
pace_status pace_exchange_name_protocol(int *protocol, const pace_exchange *exchange, const char *name) PACE_MUST_CHECK;

/** Whether the question makes sense: PACE_E_USAGE for sizes below 0, more ranks than the machine has, an algorithm
 * that cannot do the collective. */
pace_status pace_exchange_answer_question(pace_exchange_answer *out, const pace_exchange *exchange,
                                          const pace_exchange_question *question) PACE_MUST_CHECK;

/** The time alone: as it was measured on the machine, where that is known; else in closed form. */
pace_status pace_exchange_time(pace_estimate *out_s, const pace_exchange *exchange,
                               const pace_exchange_question *question) PACE_MUST_CHECK;

/** What NCCL chooses. False where the textbook answers, or nothing can be done. */
bool pace_exchange_choice(int *algorithm, int *protocol, const pace_exchange *exchange,
                          const pace_exchange_question *question);

/* What NCCL does for a question, and the parts of the time it is answered with. */
typedef struct {
    int algorithm, protocol, channels;
    double time_s;                        /* of the parts together, launch + waiting + moving */
    double launch_s, waiting_s, moving_s; /* of an exchange of nothing; of hops; of bytes */
    double near_s, far_s;                 /* what of the waiting one hop inside a node takes, and one to the next */
} pace_exchange_way;

/** PACE_E_USAGE where the textbook answers, or nothing can be done. */
pace_status pace_exchange_way_find(pace_exchange_way *out, const pace_exchange *exchange,
                                   const pace_exchange_question *question) PACE_MUST_CHECK;

/* Where the ranks of a group sit. Groups alike exchange at the same time. */
typedef struct {
    int ranks_per_node, nodes;
    double crowding; /* times its own bytes that a node's NICs carry for groups side by side, over what they can; of a
                        group inside a torus times that of one over all its axes */
} pace_group_place;

/** A group as a framework names it: `size` ranks, `stride` apart, on nodes of `per_node` ranks (0 = as many as the
 * machine has devices). Nodes that are filled unevenly count as even. PACE_E_USAGE for more ranks or nodes than the
 * machine has. */
pace_status pace_group_place_find(pace_group_place *out, const pace_machine *machine, int per_node, int64_t size,
                                  int64_t stride) PACE_MUST_CHECK;

/** What its closed forms over so many nodes take for granted. */
pace_doubt pace_exchange_doubt(const pace_exchange *exchange, int nodes);

/** The spread of the textbook's closed forms, and of simulations that take the same figures. */
double pace_exchange_textbook_spread(const pace_doubts *doubts, int nodes);

/** The terms of the textbook's closed forms for a question. */
void pace_exchange_terms_of(pace_exchange_terms *out, const pace_machine *machine, pace_collective collective,
                            double bytes, int ranks_per_node, int nodes);

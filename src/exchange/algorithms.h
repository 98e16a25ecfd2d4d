/*
 * Algorithms of collectives: one row each with what it can do, its closed form over messages (docs/exchange.md has the
 * equations and where they are from) and its program (docs/simulation.md).
 */
#pragma once

#include "exchange/collective.h"
#include "exchange/message.h"
#include "exchange/program.h"

#include <stdbool.h>
#include <stddef.h>

/* What a network between nodes takes of the NICs' rate where links above switches are shared
 * (exchange/network_share.h): how many times as long bytes take, at least 1. */
enum { PACE_NODE_DISTANCES = 21, PACE_PAIR_DISTANCES = 4 };
typedef struct {
    bool shared;                             /* false: nothing; the rest is not set */
    double of_distance[PACE_NODE_DISTANCES]; /* when every node sends to the one 2^i further */
    double of_pair[PACE_NODE_DISTANCES];     /* when every node k exchanges with k ^ 2^i */
    double of_all;                           /* mean over all distances */
    double of_pairwise[2];                   /* the same to devices of all rails; and mean over all k ^ d */
    /* and how much longer messages are on their way, over switches beyond the first: mean over the nodes */
    double hops_s_of_distance[PACE_NODE_DISTANCES], hops_s_of_pair[PACE_NODE_DISTANCES], hops_s_of_all;
} pace_network_slowness;

/* Hops of rings that use every NIC of a node, or of one ring. */
typedef struct {
    pace_message_model near; /* to the next device of a node, no other ring's chunk on the way */
    pace_message_model far;  /* to the next node; count 0: there is none, all hops are near */
    double port_s_per_byte;  /* near, where all rings' chunks share a device's port */
} pace_ring_hops;

/* What a closed form is evaluated on. Ranks are placed node by node. */
typedef struct {
    pace_collective collective;
    double bytes; /* nccl-tests' size: see pace_exchange_question */
    int ranks, ranks_per_node, nodes;
    int channels;                  /* trees over several nodes: so many, each over a NIC; 0 = one to a rank of a node */
    bool by_nodes;                 /* pairwise: as in pace_program_question */
    pace_message_model inside;     /* between two devices of a node, all devices sending at once */
    pace_message_model across;     /* between two nodes, all devices of a node sending at once over its NICs */
    pace_message_model across_one; /* the same, one device of a node sending alone */
    pace_ring_hops ring;           /* of rings that use every NIC of a node */
    pace_ring_hops one_ring;       /* of a single ring in the order of ranks; near.count 0: as `ring` */
    bool pairs_differ;             /* inside a node, of a mesh: the two below say what a pair of devices has */
    bool pairs_alike;              /* of a mesh in which every pair has as much */
    pace_message_model pair[PACE_PAIR_DISTANCES]; /* r and r ^ 2^i */
    pace_message_model any_pair;                  /* the slowest of all, all devices sending */
    pace_message_model lone_pair;                 /* the same, one pair at a time on the host's links */
    pace_network_slowness network;
    double reduce_s_per_byte;    /* adding two vectors */
    double multicast_s_per_byte; /* in the switch; 0 = it cannot */
    double multicast_alpha_s;
} pace_exchange_terms;

struct pace_program_question;

/* What a program's time grows with where messages stay as large and links are alike. FOLDS: few ranks are simulated. */
typedef enum {
    PACE_FOLDS,
    PACE_GROWS_WITH_NODES,
    PACE_GROWS_WITH_ODD_NODES,
    PACE_GROWS_WITH_LEVELS
} pace_exchange_growth;

typedef struct {
    const char *name;
    unsigned collectives; /* 1 << pace_collective */
    bool (*applies)(const pace_exchange_terms *);
    double (*time_s)(const pace_exchange_terms *);
    /* exchange/program_build.h; NULL = none: only the closed form is known */
    pace_status (*program)(pace_program *, const struct pace_program_question *);
    bool (*exact)(const pace_exchange_terms *); /* the closed form is the program's time to rounding; NULL = never */
    double (*segments)(const pace_exchange_terms *); /* best number of pieces of the vector; NULL = 1 */
    bool in_switch; /* the program has one more rank, the switch that adds and multiplies */
    pace_exchange_growth growth;
} pace_exchange_algorithm;

extern const pace_exchange_algorithm pace_exchange_algorithms[];
extern const size_t pace_exchange_algorithm_count;

/** The row of a name, or -1. */
int pace_exchange_algorithm_find(const char *name);

/** Whether a row's closed form is its program's time to rounding; else its gap adds to the spread
 * (exchange/algorithm_gaps.h). */
bool pace_exchange_algorithm_is_exact(int row, const pace_exchange_terms *terms);

/** Whether a row can do the terms' collective on their ranks. */
bool pace_exchange_algorithm_applies(int row, const pace_exchange_terms *terms);

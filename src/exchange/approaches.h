/*
 * How frameworks exchange the gradients of a step: one row each of catalog/approaches.yaml, and the closed forms of
 * BytePS, MXNet's device store and PEARL. docs/exchange.md has the equations.
 */
#pragma once

#include "exchange/mpi_allreduce.h"

/** BytePS (Jiang et al., OSDI 2020): `hosts` with accelerators and `spare` ones without, all at `rate`: the optimal
 * split between them. spare = 0 is an all-reduce, spare = hosts moves every byte once each way. */
double pace_byteps_s(double bytes, int hosts, int spare, double rate);

typedef struct {
    const double *bytes; /* of each tensor, in the order they are exchanged; borrowed */
    size_t count;
} pace_gradients;

/* MXNet's device store on one node (src/kvstore/comm.h). */
typedef struct {
    const pace_machine *machine;
    int ranks;
    double threads;  /* of a device that copy away from it, each one copy after another; 1 to 4 */
    double add_rate; /* bytes/s of a device's memory; 0 = adding costs nothing */
    double copy_s;   /* of a copy beside its bytes: its launch, and the thread that waits for it */
    double slowness; /* 0 = 1 */
} pace_device_store;

/** When all tensors are back on all devices. They are placed largest first, each on the device with the fewest bytes;
 * all others copy to it and get the sum back. Copies under way share links fairly. `ready_s` of each tensor, ascending;
 * NULL = all at 0. `ends_s`: when each is back; NULL = not asked. Errors: PACE_E_USAGE for other numbers of threads;
 * those of pace_fabric_of_machine(). */
pace_status pace_device_store_s(double *out_s, double *ends_s, const pace_device_store *store,
                                const pace_gradients *gradients, const double *ready_s) PACE_MUST_CHECK;

/* What devices hold beside their own gradients to merge: of each tensor that one merges, what it gets from every other,
 * and the sum (MXNet's merge buffers, which are never freed). */
typedef struct {
    double first_bytes, most_bytes; /* of device 0; of the device that holds most */
} pace_merge_buffers;

pace_status pace_merge_buffers_find(pace_merge_buffers *out, int ranks,
                                    const pace_gradients *gradients) PACE_MUST_CHECK;

/* How an approach exchanges. */
typedef enum {
    PACE_APPROACH_ALLREDUCE, /* ranks reduce among themselves */
    PACE_APPROACH_SERVER,    /* parameter servers */
    PACE_APPROACH_DEVICE,    /* MXNet's device store: peers copy to the device that merges */
    PACE_APPROACH_BYTEPS,
    PACE_APPROACH_PEARL, /* dense tensors all-reduced, of embeddings the rows that were touched */
    PACE_APPROACH_FAMILIES
} pace_approach_family;

extern const char *const pace_approach_family_names[PACE_APPROACH_FAMILIES];

/* One row of catalog/approaches.yaml, whose comment says what the figures mean. */
typedef struct {
    char name[24];
    int family;
    bool nccl;         /* NCCL's model, else the textbook's closed forms */
    char line[8];      /* of NCCL; "" = the newest */
    pace_mpi mpi;      /* where it is not NCCL that reduces */
    unsigned networks; /* 1 << pace_link_kind between nodes that it can use */
    double streams, serial, splits, waits;
    double copies, control_s, encode_s_per_byte, negotiate_s, fuses_bytes, cycle_s;
    double fresh_s_per_byte, fresh_bytes;
    double skew, host_bytes_per_s;
    double skew_inside;  /* share of the skew that workers of one node have among themselves */
    double skew_anew;    /* share of its variance that each micro-batch draws anew, so that it evens out over a step */
    double copy_s;       /* device store: of a copy beside its bytes */
    double copy_threads; /* the same: threads of a device that copy; 0 = 1 */
    double groups;  /* so many tensors, counted from the model's first, go together in one launch, one after another */
    double rooted;  /* reduced to one rank and broadcast from it */
    double servers; /* 0 = one a node, beside its workers */
    double spare;   /* hosts without devices that serve as well */
    double local_first; /* the devices of a node add among themselves before one of them pushes */
    double on_device;   /* servers hold variables on devices: what comes and goes is copied once more */
    double slows;       /* share of computing that stands still while the exchange goes on beside it */
} pace_approach;

/* How a table may spell an approach, with what the words say of its settings: small letters, digits and "+" alone. */
typedef struct {
    char text[48];
    pace_approach approach;
} pace_approach_spelling;

typedef struct {
    PACE_VEC(pace_approach) rows;
    PACE_VEC(pace_approach_spelling) spellings;
} pace_approaches;

pace_status pace_approaches_load(pace_approaches *out, pace_catalog *catalog) PACE_MUST_CHECK;
void pace_approaches_free(pace_approaches *approaches);
const pace_approach *pace_approach_find(const pace_approaches *approaches, const char *name);

/** The approach that a table means by a text such as "Horovod (NCCL)"; NULL for none. */
const pace_approach *pace_approach_spelled(const pace_approaches *approaches, const char *text);

/** "NAME" or "NAME:KEY=NUMBER:…": an approach of the catalogue with some of its figures changed; beside the catalogue's
 * keys there are cache=1 (a pointer cache: no queries) and reduce=host, device or auto. PACE_E_USAGE lists the names,
 * or the keys, there are. */
pace_status pace_approach_parse(pace_approach *out, const pace_approaches *approaches,
                                const char *text) PACE_MUST_CHECK;

/** As a table words it: spelled, or as pace_approach_parse() reads it. */
pace_status pace_approach_of_cell(pace_approach *out, const pace_approaches *approaches,
                                  const char *text) PACE_MUST_CHECK;

/** As pace_approach_parse(), of the catalogue. */
pace_status pace_approach_named(pace_approach *out, pace_catalog *catalog, const char *text) PACE_MUST_CHECK;

/** How much workers' steps differ, instead of the catalogue's figure: "0.05" or "5%" of a step; NULL changes nothing.
 * PACE_E_USAGE for another text. */
pace_status pace_approach_set_jitter(pace_approach *approach, const char *text) PACE_MUST_CHECK;

/** Whether its buffers are filled in the order in which gradients come, whoever is free: PyTorch's buckets. */
static inline bool pace_approach_has_buckets(const pace_approach *approach) {
    return approach->family == PACE_APPROACH_ALLREDUCE && approach->waits > 0;
}

/** Whether something comes back to each worker before its next forward pass: parameters of servers, rows of tables. */
static inline bool pace_approach_pulls(const pace_approach *approach) {
    return approach->family == PACE_APPROACH_SERVER || approach->family == PACE_APPROACH_PEARL;
}

/** Makes a machine ready for an approach: with the library that it exchanges with. PACE_E_USAGE for a network between
 * nodes that it cannot use. */
pace_status pace_approach_open(pace_exchange *out, pace_catalog *catalog, const pace_approach *approach,
                               const pace_machine *machine) PACE_MUST_CHECK;

/* Where workers are, and what a framework is told beside the approach. */
typedef struct {
    int ranks_per_node, nodes; /* 0 = all of the machine */
    double copy_rate;          /* bytes/s between device and host; must be above 0 */
    double slowness;           /* all exchanges take so many times as long; 0 = 1 */
    double memory_rate;        /* bytes/s of a device's memory, for what it adds; 0 = adding costs nothing */
} pace_approach_setup;

/* What one exchange takes, by what takes it. */
typedef struct {
    double messages_s, adding_s, staging_s, queries_s;
    double control_s;      /* of servers: messages before the tensor moves */
    double coordinator_s;  /* what a framework's coordinator takes beside the exchange */
    const char *algorithm; /* borrowed; "" = nobody chooses one */
} pace_approach_parts;

/** The exchange alone, without a coordinator. */
static inline double pace_approach_exchange_s(const pace_approach_parts *parts) {
    return parts->messages_s + parts->adding_s + parts->staging_s + parts->queries_s + parts->control_s;
}

/** The textbook's algorithm that it takes at every size; PACE_ANY: its library chooses. */
int pace_approach_algorithm(const pace_approach *approach);

/** One exchange of `bytes`, all ranks ready, of every family: of servers one tensor, pushed and pulled. The rest is as
 * for pace_approach_buffer_s(). */
pace_status pace_approach_parts_find(pace_approach_parts *out, const pace_approach *approach,
                                     const pace_exchange *exchange, const pace_approach_setup *setup, double bytes,
                                     double tensors) PACE_MUST_CHECK;

/** Seconds for one buffer of `tensors` tensors, all ranks ready: of every family but servers. `exchange` must be open
 * with the library of the approach. PACE_E_USAGE when it is not, and for servers. */
pace_status pace_approach_buffer_s(double *out_s, const pace_approach *approach, const pace_exchange *exchange,
                                   const pace_approach_setup *setup, double bytes, double tensors) PACE_MUST_CHECK;

/** PEARL (Wang et al., IISWC 2019): tables of embeddings are split over the ranks. Seconds to gather the rows that the
 * ranks touch, `touched_bytes` of each, on all of them (PACE_ALLGATHER), or to give each the sum of the gradients of
 * the rows it keeps (PACE_REDUCESCATTER). */
pace_status pace_approach_rows_s(double *out_s, pace_collective collective, const pace_exchange *exchange,
                                 const pace_approach_setup *setup, double touched_bytes) PACE_MUST_CHECK;

/** Of the device store: when all tensors are back, `ends_s` and `ready_s` as for pace_device_store_s(). PACE_E_USAGE
 * for more than one node. */
pace_status pace_approach_device_s(double *out_s, double *ends_s, const pace_approach *approach,
                                   const pace_machine *machine, const pace_approach_setup *setup,
                                   const pace_gradients *gradients, const double *ready_s) PACE_MUST_CHECK;

/* What parameter servers occupy: in each phase (push, then pull) every lane does its share of one tensor after another.
 */
typedef struct {
    size_t lanes, tensors, servers; /* the first lanes are the servers */
    double *work_s;                 /* lanes x tensors, of one phase */
} pace_server_lanes;

/** Lanes of a server approach: the servers, then one worker's link, its staging copies, its control messages. Tensors
 * are in the order backward makes them; they were placed in the other order, each on the server with the fewest bytes.
 * Free with pace_server_lanes_free(). */
pace_status pace_server_lanes_make(pace_server_lanes *out, const pace_approach *approach, const pace_machine *machine,
                                   const pace_gradients *gradients, const pace_approach_setup *setup) PACE_MUST_CHECK;
void pace_server_lanes_free(pace_server_lanes *lanes);
/** What a lane is, for people; static. */
const char *pace_server_lane_name(const pace_server_lanes *lanes, size_t lane);

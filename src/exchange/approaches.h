/*
 * How frameworks exchange the gradients of a step: one row each of catalog/approaches.yaml, by name or as the words of
 * an option or a table say. What they take: approach_buffer.h, device_store.h, server_lanes.h.
 */
#pragma once

#include "exchange/mpi_allreduce.h"

typedef struct {
    const double *bytes; /* of each tensor, in the order they are exchanged; borrowed */
    size_t count;
} pace_gradients;

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

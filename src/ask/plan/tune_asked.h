/*
 * A question about tuning: by collective, number of nodes and size, which algorithm and protocol is expected to be the
 * fastest, against what the library chooses itself. Every time is one that `predict --kind exchange` gives, too
 * (exchange_asked.h); docs/tune.md says when the library's own choice stays.
 */
#pragma once

#include "ask/predict/exchange_asked.h"

/* One way to do a collective. */
typedef struct {
    const char *algorithm, *protocol; /* borrowed; protocol "" where there is none */
    int channels;                     /* PACE_ANY = as many as the library takes */
} pace_tuned_way;

/* What a size says. */
typedef struct {
    double bytes;
    pace_tuned_way own, best; /* the library's choice; the way with the least time, which may be the same */
    pace_estimate own_s, best_s;
    pace_estimate gain;    /* the own time over the best one */
    bool changes;          /* all of the interval of the gain lies above 1 */
    pace_doubts_used used; /* what the gain rests on */
} pace_tuned_size;

/* Adjacent sizes with the same outcome. */
typedef struct {
    pace_collective collective;
    int nodes, ranks;
    uint64_t from_bytes, to_bytes;
    size_t first, count; /* of pace_tuned.sizes */
    pace_tuned_way own, best;
    bool changes;
    double gain, low, high; /* shares of the own time that are saved: in the mean, and the ends of all intervals */
} pace_tuned_row;

/* Who reads a table of choices, and how: docs/tune.md, "Dialects". */
typedef struct {
    const char *name, *columns;
    bool of_rank;       /* bytes are a rank's share, "[from,to]", and ranks those of a node */
    bool tree_and_ring; /* no other algorithms */
    const char *use;    /* how its reader is told of the file */
} pace_tune_dialect;

extern const pace_word_list pace_tune_dialect_names;

typedef struct {
    PACE_VEC(pace_tuned_row) rows;
    PACE_VEC(pace_tuned_size) sizes;
    pace_machine machine;
    const pace_tune_dialect *dialect; /* of who reads the choices */
    const char *library; /* NCCL's version line; borrowed from `exchange`; NULL = its choice is not modelled */
    pace_exchange exchange;
    pace_doubts_used used; /* what the gains rest on, each doubt by the most it adds to one */
    double widest;         /* spread of a gain */
    /* Of a table of our own collectives (collective_table.h) alone: */
    char *text;       /* the file, whose words the ways borrow; NULL = it is no such table */
    const char *host; /* the machine that it was measured on */
} pace_tuned;

/** Free `out`, which begins as zeros, after a failure too. Errors: those of pace_exchange_ask(); PACE_E_USAGE for words
 * that no plug-in has. */
pace_status pace_tune_ask(pace_tuned *out, const pace_tune_options *options) PACE_MUST_CHECK;
void pace_tuned_free(pace_tuned *tuned);

/** The share of its time that a way saves which takes 1 / ratio of it. */
double pace_tuned_saving(double ratio);

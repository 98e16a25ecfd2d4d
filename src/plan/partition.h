/*
 * A network of neurons partitioned over hosts: replicas, workers, segments of layers, threads, parameter servers, after
 * Yan et al. (KDD 2015). docs/partition.md has the equations and what is known of the paper's.
 */
#pragma once

#include "machine/host.h"
#include "model/neuron_layers.h"

enum { PACE_PARTITION_LAYERS = 64, PACE_PARTITION_WORKERS = 256 };

/* How replicas exchange weights with servers. */
typedef enum {
    PACE_PARTITION_ASYNC, /* nobody waits */
    PACE_PARTITION_SYNC,  /* everybody waits for the slowest, and for the servers */
    PACE_PARTITION_STALE, /* a replica is `staleness` exchanges ahead at most */
    PACE_PARTITION_EXCHANGES
} pace_partition_exchange;

extern const char *const pace_partition_exchange_names[PACE_PARTITION_EXCHANGES + 1]; /* ends with NULL */

typedef struct {
    const pace_neuron_layers *chain; /* at most PACE_PARTITION_LAYERS */
    const pace_hosts *hosts;
    double value_bytes;  /* of a weight, an activation */
    double global_batch; /* samples of all replicas between two exchanges */
    double jitter;       /* of a replica's time between two exchanges */
    pace_partition_exchange exchange;
    double staleness;
} pace_partition_case;

typedef struct {
    double replicas, workers, threads, servers;
    double segments[PACE_PARTITION_LAYERS];
} pace_partition;

/* For one sample of an epoch, over all replicas: an epoch of N samples takes N times that. Parts add up to
 * `sample_s`. */
typedef struct {
    double sample_s;
    double compute_s;    /* as one thread of the least measured size of weights would do it */
    double contention_s; /* what caches, memory and other threads add */
    double traffic_s;    /* activations and errors between segments */
    double exchange_s;   /* with servers, as far as it is not hidden */
    double wait_s;       /* for the slowest replica */
    double hidden_s;     /* exchange with servers behind computation; no part of the time */
    double worker_bytes; /* weights, activations and errors of the fullest worker */
    bool model_only;     /* more threads than were measured */
} pace_partition_time;

/* What lies between two layers cut into `before` and `here` segments: seconds of the segment that waits longest. */
typedef struct {
    double forward_s, backward_s;
} pace_partition_traffic;

/** Traffic between a layer (from 1 on) and the one before it, segments placed greedily: the pair of a segment and a
 * worker with most connections at home first. At most PACE_PARTITION_WORKERS segments. */
pace_partition_traffic pace_partition_pair(const pace_partition_case *c, double threads, size_t layer, size_t before,
                                           size_t here);

/* A layer's work on one segment, where threads read again after `bytes` of weights. */
typedef struct {
    double forward_s, backward_s, update_s;
} pace_partition_work;
pace_partition_work pace_partition_work_of(const pace_partition_case *c, double threads, size_t layer, double segments,
                                           double bytes);

/** Most segments of a layer; bytes of weights of one segment; bytes that a segment exchanges with servers, up and
 * down. */
double pace_partition_most_segments(const pace_neuron_layer *layer);
double pace_partition_held_bytes(const pace_partition_case *c, size_t layer, double segments);
double pace_partition_sent_bytes(const pace_partition_case *c, size_t layer, double segments, double replicas);
/** Activations and errors of all threads of a worker, at most. */
double pace_partition_activation_bytes(const pace_partition_case *c, double threads);

/** From the seconds of one sample on one thread (compute, contention and traffic) to those of an epoch's, with the
 * servers: `sent` bytes of the fullest worker, `replica_sent` of all workers of a replica. */
void pace_partition_finish(pace_partition_time *time, const pace_partition_case *c, const pace_partition *p,
                           double sent, double replica_sent);

/** The time of a configuration. PACE_E_USAGE for one that cannot be: more segments than workers or neurons, more
 * machines than there are, replicas without servers, too little memory. */
pace_status pace_partition_time_of(pace_partition_time *out, const pace_partition_case *c,
                                   const pace_partition *p) PACE_MUST_CHECK;

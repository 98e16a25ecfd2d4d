/*
 * What a cluster's GPUs are used for, and which of them cannot be used: pods that ask for GPUs or parts of one, and
 * nodes that have them.
 *
 * Traces of pods tell when each ran but not where. Where is replayed: pods are placed in the order in which they were
 * scheduled, each on the node that has the fewest GPUs free among those where it fits (best fit), on the GPUs with the
 * least left; a pod that fits nowhere stays unplaced and is counted.
 *
 * Fragmentation is as in Weng et al., "Beware of Fragmentation", USENIX ATC 2023: the share of free GPU that a request
 * cannot take. A free part of a GPU is lost to a request when its node lacks CPU, memory or enough such GPUs for it, or
 * when the part is smaller than the request wants of a GPU. Averaged over requests as often as they were made, it is
 * the cluster's.
 */
#pragma once

#include "base/texts.h"

enum { PACE_GPU_WHOLE = 1000, PACE_NODE_MOST_GPUS = 16 };

typedef struct {
    int64_t cpu_milli, memory_mib;
    int gpus;                                  /* asked for */
    int gpu_milli;                             /* of each; below 1000 only for one GPU */
    int model;                                 /* it must run on; -1 = any */
    int64_t created_s, scheduled_s, deleted_s; /* scheduled -1 = never */
} pace_pod;

typedef struct {
    int64_t cpu_milli, memory_mib;
    int gpus, model;
} pace_node_capacity;

typedef struct {
    PACE_VEC(pace_pod) pods;
    PACE_VEC(pace_node_capacity) nodes;
    pace_texts models; /* names, in order of first appearance */
} pace_cluster;

void pace_cluster_free(pace_cluster *cluster);

/* Kinds of requests: none, part of a GPU, one, and so on; a request of n GPUs is of the last kind whose `least` is at
 * most n. */
enum {
    PACE_REQUEST_NONE,
    PACE_REQUEST_PART,
    PACE_REQUEST_ONE,
    PACE_REQUEST_TWO,
    PACE_REQUEST_FOUR,
    PACE_REQUEST_EIGHT,
    PACE_REQUESTS
};
extern const char *const pace_request_names[PACE_REQUESTS];

typedef struct {
    size_t pods, never_scheduled;
    size_t unplaced;                    /* of those that were scheduled, in the replay */
    size_t unplaced_filling;            /* of all, if no pod left */
    double gpu_hours;                   /* asked for, of pods that were scheduled */
    double wait_s, median_wait_s;       /* mean, median of creation to scheduling */
    double pods_share, gpu_hours_share; /* of all pods; of all that were asked for */
} pace_request_use;

/* GPUs of one model at the busiest instant. */
typedef struct {
    size_t nodes, gpus;
    double gpu_hours, used_gpu_hours;              /* over the whole time */
    double busiest_used;                           /* GPUs used at the busiest instant of the cluster */
    double free;                                   /* GPUs free then */
    double lost[PACE_REQUESTS];                    /* of these, GPUs that a request of this kind cannot use */
    double lost_on_average;                        /* weighted by how often each request was made */
    double used_share, busiest_used_share;         /* of its GPU-hours; of its GPUs at the busiest instant */
    double lost_share, lost_shares[PACE_REQUESTS]; /* of the free ones: on average, to each kind of request */
} pace_model_use;

typedef struct {
    double time_s, used;           /* GPUs */
    double free, lost;             /* GPUs free; of these, lost on average */
    double used_share, lost_share; /* of all; of the free ones */
} pace_capacity_instant;

/* If all pods had arrived in order of creation and none had left. */
typedef struct {
    double asked, used; /* GPUs */
    double free, lost;
    double asked_share, used_share, lost_of_all_share; /* of all */
    double lost_share;                                 /* of the free ones */
} pace_capacity_filling;

/* Over all models and requests; `busiest_used`, `free` and `lost` at the busiest instant. */
typedef struct {
    double busiest_used, free, lost, gpu_hours;
    size_t unplaced, never_scheduled;
    double used_share, busiest_used_share, lost_share; /* used on average; lost of the free ones */
} pace_capacity_total;

typedef struct {
    double span_s, gpus;
    double mean_used; /* GPUs, over the span */
    double busiest_s; /* when the most GPUs were used */
    pace_capacity_total total;
    pace_request_use requests[PACE_REQUESTS];
    pace_model_use *models; /* as cluster->models */
    pace_capacity_instant *instants;
    size_t instant_count;
    pace_capacity_filling *filling; /* steps of a tenth of the cluster's GPUs, then all requests */
    size_t filling_count;
} pace_capacity;

/** Replays the pods; `instants` evenly spaced views besides the busiest. Errors: PACE_E_INPUT without nodes with GPUs
 * or without scheduled pods. */
pace_status pace_capacity_of(pace_capacity *out, const pace_cluster *cluster, size_t instants) PACE_MUST_CHECK;
void pace_capacity_free(pace_capacity *capacity);

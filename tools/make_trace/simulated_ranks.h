/* What make_trace simulates: ranks, and the records of what they do. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_SIMULATED = 16, MAX_STREAMS = 32, MAX_PENDING = 256, PID = 2910249, MAIN_TID = PID, GRAD_TID = 2919752 };
static const int64_t ORIGIN_NS = 4458676522690655;

typedef enum { CAT_OP, CAT_ANNOTATION, CAT_RUNTIME, CAT_KERNEL, CAT_COPY, CAT_GPU_ANNOTATION, CAT_FLOW } category;
typedef enum { DIMS_NONE, DIMS_LINEAR, DIMS_ADDMM, DIMS_T, DIMS_MM, DIMS_ONE, DIMS_NORM, DIMS_BUCKET, DIMS_INPUT } dims;

typedef struct {
    category cat;
    dims shape;
    const char *name;
    int64_t start, end;
    int64_t m, n, k;     /* shape; of a collective n = elements; of a copy n = bytes */
    int64_t id;          /* External id, or a flow's id */
    int64_t correlation; /* runtime and device events */
    int64_t sequence;    /* -1 = none */
    int tid;             /* thread or stream */
    unsigned device;     /* of the process */
    int cbid;
    char phase; /* flows: 's' or 'f' */
    bool backward, collective, fwdbwd;
} record;

typedef struct {
    int64_t clock[2]; /* main thread, autograd thread */
    int64_t stream[MAX_STREAMS];
    uint64_t random;
    int64_t id, correlation, sequence, fwdbwd;
    unsigned slow_permille, device;
    bool emit;
    unsigned depth;
    size_t count;
    record pending[MAX_PENDING];
} rank_state;

typedef struct {
    unsigned ranks, rank, streams, devices;
    uint64_t seed, steps, layers;
} trace_options;

extern trace_options options;

static inline uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* `ns` give or take an eighth, never below 1. */
static inline int64_t around(rank_state *r, int64_t ns) {
    int64_t spread = ns / 4 + 1;
    return ns - ns / 8 + (int64_t)(next_random(&r->random) % (uint64_t)spread);
}

static inline int stream_number(unsigned stream) {
    return stream == 0 ? 7 : stream == 1 ? 20 : 20 + 4 * (int)(stream - 1);
}

/** Prints an event of the trace; its head, and what ends it at an instant. */
void print_record(const record *e);
void print_head(void);
void print_tail(int64_t end);

/** Simulates a step of all ranks, and prints the events of those that emit. */
void run_step(rank_state *ranks, unsigned count, uint64_t step, uint64_t layers);

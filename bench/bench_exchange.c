/*
 * Messages a second through the simulation of exchanges, and how long the cases take that others publish or that we
 * measured of them. Usage: bench_exchange [CASE]; without one all are run.
 */
#include "exchange/program_build.h"
#include "schedule/flows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void check(pace_status status) {
    if (status == PACE_OK) return;
    fprintf(stderr, "bench_exchange: %s\n", pace_message());
    exit(1);
}

static double peak_mb(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1000;
}

typedef enum { APART, SWITCH, LEAVES } sharing;

typedef struct {
    const char *name, *collective, *algorithm;
    uint32_t ranks, group, segments;
    double bytes;
    sharing shared;
    bool unfolded, slow; /* slow: one rank in a hundred at half rate */
} bench_case;

static const double GiB = 1073741824, rate = 50e9;

static const bench_case cases[] = {
    {"ring-64", "allreduce", "ring", 64, 0, 0, GiB, APART, true, false},
    {"ring-512", "allreduce", "ring", 512, 0, 0, GiB, APART, true, false},
    {"ring-1024", "allreduce", "ring", 1024, 0, 0, GiB, APART, true, false},
    {"ring-2048", "allreduce", "ring", 2048, 0, 0, GiB, APART, true, false},
    {"ring-4096", "allreduce", "ring", 4096, 0, 0, GiB, APART, true, false},
    {"ring-4096-stragglers", "allreduce", "ring", 4096, 0, 0, GiB, APART, true, true},
    {"ring-131072-folded", "allreduce", "ring", 131072, 0, 0, GiB, APART, false, false},
    {"rabenseifner-131072-folded", "allreduce", "rabenseifner", 131072, 0, 0, GiB, APART, false, false},
    {"rabenseifner-16384", "allreduce", "rabenseifner", 16384, 0, 0, GiB, APART, true, false},
    {"ring-512-shared", "allreduce", "ring", 512, 0, 0, GiB, SWITCH, true, false},
    {"alltoallv-512-shared", "alltoallv", "pairwise", 512, 0, 0, 0, SWITCH, true, false},
    {"alltoallv-512-direct-shared", "alltoallv", "direct", 512, 0, 0, 0, SWITCH, true, false},
    {"double-tree-256-shared", "allreduce", "double_tree", 256, 0, 64, GiB, SWITCH, true, false},
    {"hierarchical-16384-leaves-folded", "allreduce", "hierarchical", 16384, 8, 0, GiB, LEAVES, false, false},
    {"hierarchical-131072-leaves-folded", "allreduce", "hierarchical", 131072, 8, 0, GiB, LEAVES, false, false},
    {"hierarchical-16384-leaves", "allreduce", "hierarchical", 16384, 8, 0, GiB, LEAVES, true, false},
};

static double *random_sizes(uint32_t ranks) {
    double *between = malloc((size_t)ranks * ranks * sizeof *between);
    uint64_t seed = 1;
    for (size_t i = 0; i < (size_t)ranks * ranks; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        between[i] = i % (ranks + 1) ? (double)(seed >> 43) : 0;
    }
    return between;
}

static void run(const bench_case *c) {
    pace_program program;
    pace_fabric fabric = {0};
    pace_flows_result result;
    double *between = strcmp(c->collective, "alltoallv") ? NULL : random_sizes(c->ranks);
    double *slowness = malloc(c->ranks * sizeof *slowness);
    for (uint32_t r = 0; r < c->ranks; r++) slowness[r] = c->slow && r * 2654435761u % 100 == 7 ? 2 : 1;
    double begin = now_s();
    const pace_program_question sizes = {c->ranks, c->bytes, c->group, c->segments, between};
    check(pace_program_build(&program, c->collective, c->algorithm, &sizes));
    const pace_fabric_nodes_shape shape = {c->ranks / 8, 8, 32, true, 450e9, rate, 32 * 8 * rate / 4};
    if (c->shared == SWITCH) check(pace_fabric_switch(&fabric, c->ranks, rate, NULL));
    if (c->shared == LEAVES) check(pace_fabric_nodes(&fabric, &shape));
    pace_wire wires[2] = {{.latency_ns = 500, .ns_per_byte = c->shared == LEAVES ? 0 : 1e9 / rate},
                          {.latency_ns = 2000, .ns_per_byte = 0}};
    const pace_flows_question question = {.program = &program,
                                          .wires = wires,
                                          .wire_count = 2,
                                          .slowness = slowness,
                                          .fabric = c->shared == APART ? NULL : &fabric,
                                          .unfolded = c->unfolded};
    check(pace_flows_run(&result, &question, NULL));
    double taken = now_s() - begin;
    printf("%-34s %9.4f s  %8.2f M messages/s  %6u of %6u ranks  %7.0f MB  predicted %.6f s\n", c->name, taken,
           (double)result.simulated_messages / taken / 1e6, result.simulated_ranks, c->ranks, peak_mb(),
           result.end_ns / 1e9);
    pace_program_free(&program);
    pace_fabric_free(&fabric);
    free(between);
    free(slowness);
}

int main(int count, char **words) {
    bool ran = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (count > 1 && strcmp(words[1], cases[i].name) != 0) continue;
        run(&cases[i]);
        fflush(stdout);
        ran = true;
    }
    if (!ran) fprintf(stderr, "bench_exchange: no case '%s'\n", words[1]);
    return ran ? 0 : 2;
}

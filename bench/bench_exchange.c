/*
 * Messages a second through the simulation of exchanges, and how long the cases take that others publish or that we
 * measured of them.
 *
 * Usage: bench_exchange [CASE]                                       one of the cases, or all
 *        bench_exchange COLLECTIVE ALGORITHM RANKS BYTES apart|switch  every rank simulated, links of 50 GB/s and 500
 * ns
 *        bench_exchange COLLECTIVE ALGORITHM MACHINE BYTES             every rank of a machine simulated
 */
#include "bench_clock.h"
#include "exchange/algorithms.h"
#include "exchange/program_by_name.h"
#include "schedule/flows.h"
#include "schedule/graph_program.h"
#include "schedule/simulation.h"
#include "catalog_of_tests.h"
#include "nodes_fabric_of_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of this program alone: what getrusage() says holds what ran before it in the process, too. */
static double peak_mb(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf kB", &kib) == 1) break;
    if (file) fclose(file);
    return kib * 1024 / 1e6;
}

typedef enum { APART, SWITCH, LEAVES } sharing;

typedef struct {
    const char *name, *collective, *algorithm;
    uint32_t ranks, group, segments;
    double bytes;
    sharing shared;
    bool unfolded, slow; /* slow: one rank in a hundred at half rate */
} bench_case;

#define GIB 1073741824.0
static const double GiB = GIB, rate = 50e9;

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
    {"double-tree-256-shared", "allreduce", "double_tree", 256, 0, 64, GiB, SWITCH, true, false},
    {"hierarchical-16384-leaves-folded", "allreduce", "rails", 16384, 8, 0, GiB, LEAVES, false, false},
    {"hierarchical-131072-leaves-folded", "allreduce", "rails", 131072, 8, 0, GiB, LEAVES, false, false},
    {"hierarchical-16384-leaves", "allreduce", "rails", 16384, 8, 0, GiB, LEAVES, true, false},
};

static void run(const bench_case *c) {
    pace_program program;
    pace_fabric fabric = {0};
    pace_flows_result result;
    double *slowness = malloc(c->ranks * sizeof *slowness);
    for (uint32_t r = 0; r < c->ranks; r++) slowness[r] = c->slow && r * 2654435761u % 100 == 7 ? 2 : 1;
    double begin = wall_s();
    const pace_program_question sizes = {.ranks = c->ranks,
                                         .bytes = c->bytes,
                                         .group = c->group,
                                         .segments = c->segments};
    check(pace_program_build(&program, c->collective, c->algorithm, &sizes));
    const nodes_shape shape = {c->ranks / 8, 8, 32, true, 450e9, rate, 32 * 8 * rate / 4};
    if (c->shared == SWITCH) check(pace_fabric_switch(&fabric, c->ranks, rate, NULL));
    if (c->shared == LEAVES) check(make_nodes_fabric(&fabric, &shape));
    pace_wire wires[2] = {{.latency_ns = 500, .ns_per_byte = c->shared == LEAVES ? 0 : 1e9 / rate},
                          {.latency_ns = 2000, .ns_per_byte = 0}};
    const pace_flows_question question = {.program = &program,
                                          .wires = wires,
                                          .wire_count = 2,
                                          .slowness = slowness,
                                          .fabric = c->shared == APART ? NULL : &fabric,
                                          .unfolded = c->unfolded};
    check(pace_flows_run(&result, &question, NULL));
    double taken = wall_s() - begin;
    printf("%-34s %9.4f s  %8.2f M messages/s  %6u of %6u ranks  %7.0f MB  predicted %.12g s\n", c->name, taken,
           (double)result.simulated_messages / taken / 1e6, result.simulated_ranks, c->ranks, peak_mb(),
           result.end_ns / 1e9);
    pace_program_free(&program);
    pace_fabric_free(&fabric);
    free(slowness);
}

/* --- machines of the catalogue ------------------------------------------------------------------------------------ */

typedef struct {
    const char *name, *machine, *collective, *algorithm;
    double bytes;
    bool unfolded;
} machine_case;

static const machine_case machine_cases[] = {
    {"machine-ring-2048", "dgx-h100*256", "allreduce", "ring", GIB, true},
    {"machine-rails-2048-leaves", "dgx-h100*256 net=fat-tree:32:4:1", "allreduce", "rails", GIB, true},
    {"machine-ring-131072-folded", "dgx-h100*16384", "allreduce", "ring", GIB, false},
    {"machine-rails-131072-folded", "dgx-h100*16384", "allreduce", "rails", GIB, false},
    {"machine-double-tree-16384", "dgx-h100*2048", "allreduce", "double_tree", GIB / 16, false},
    {"machine-alltoall-rails-16384", "dgx-h100*2048", "alltoall", "rails", GIB, false},
    {"machine-alltoall-pairwise-16384", "dgx-h100*2048", "alltoall", "pairwise", GIB, false},
};

static void run_machine(const machine_case *c) {
    pace_machine machine;
    pace_simulation simulation;
    pace_simulation_answer answer;
    check(pace_machine_parse(&machine, test_catalog(), c->machine));
    pace_simulation_question question = {.algorithm = PACE_ANY, .unfolded = c->unfolded};
    while (strcmp(pace_collective_rows[question.collective].name, c->collective) != 0) question.collective++;
    for (int i = 0; i < (int)pace_exchange_algorithm_count; i++)
        if (strcmp(pace_exchange_algorithms[i].name, c->algorithm) == 0) question.algorithm = i;
    double begin = wall_s();
    check(pace_simulation_open(&simulation, &machine, &question));
    check(pace_simulation_run(&answer, &simulation, c->bytes, NULL));
    double taken = wall_s() - begin;
    printf("%-34s %9.4f s  %8.2f M messages/s  %6u of %6u ranks  %7.0f MB  predicted %.12g s\n", c->name, taken,
           (double)answer.flows.simulated_messages / taken / 1e6, answer.flows.simulated_ranks,
           simulation.question.ranks, peak_mb(), answer.time_s);
    pace_simulation_close(&simulation);
}

/* --- the replay of a trace: kernels, and in between collectives of groups of eight -------------------------------- */

enum { REPLAY_RANKS = 64, REPLAY_GROUP = 8, REPLAY_NODES = 10375, REPLAY_EVERY = 9 };

static void replay_graph(pace_graph *graph, uint32_t rank) {
    char group[16];
    pace_name collective, name;
    uint32_t node, launch;
    check(pace_graph_init(graph));
    graph->rank = rank;
    snprintf(group, sizeof group, "%u", rank / REPLAY_GROUP);
    check(pace_names_add(&collective, &graph->names, "allreduce", 9));
    check(pace_names_add(&name, &graph->names, group, strlen(group)));
    const pace_graph_exchange exchange = {
        .collective = collective, .group = name, .group_size = REPLAY_GROUP, .peer = -1, .bytes = 1e6};
    check(PACE_PUSH(&graph->exchanges, exchange));
    check(pace_graph_add_node(&node, graph, PACE_TASK_OP, "step", PACE_NO_NODE, 0));
    for (uint32_t i = 0; i < REPLAY_NODES; i++) {
        bool exchanges = i % REPLAY_EVERY == REPLAY_EVERY - 1;
        check(pace_graph_add_launch(&launch, graph, node, PACE_TASK_KERNEL, NULL, exchanges));
        if (exchanges) graph->launches.items[launch].exchange = 1;
        if (i % REPLAY_EVERY == 0 || exchanges)
            graph->launches.items[launch].waits[0] = i ? launch - 1 : PACE_NO_LAUNCH;
    }
}

static void run_replay(void) {
    static pace_graph graphs[REPLAY_RANKS];
    pace_walk_rank ranks[REPLAY_RANKS];
    double *work_ns = malloc(REPLAY_NODES * sizeof *work_ns);
    for (uint32_t i = 0; i < REPLAY_NODES; i++) work_ns[i] = 20000 + i % 977;
    for (uint32_t rank = 0; rank < REPLAY_RANKS; rank++) {
        replay_graph(&graphs[rank], rank);
        ranks[rank] = (pace_walk_rank){.graph = &graphs[rank], .launch_ns = work_ns};
    }
    pace_program program;
    pace_flows_result result;
    const pace_wire wire = {.latency_ns = 500, .ns_per_byte = 1e9 / rate};
    double begin = wall_s();
    check(pace_program_of_graphs(&program, NULL, ranks, REPLAY_RANKS, NULL, 0));
    check(pace_flows_run(&result, &(pace_flows_question){.program = &program, .wires = &wire, .wire_count = 1}, NULL));
    double taken = wall_s() - begin;
    printf("%-34s %9.4f s  %8.2f M nodes/s     %6u of %6u ranks  %7.0f MB  predicted %.12g s\n", "replay-64", taken,
           REPLAY_RANKS * REPLAY_NODES / taken / 1e6, REPLAY_RANKS, REPLAY_RANKS, peak_mb(), result.end_ns / 1e9);
    pace_program_free(&program);
    for (uint32_t rank = 0; rank < REPLAY_RANKS; rank++) pace_graph_free(&graphs[rank]);
    free(work_ns);
}

static int run_asked(char **words) {
    const bench_case asked = {.name = words[2],
                              .collective = words[1],
                              .algorithm = words[2],
                              .ranks = (uint32_t)strtoul(words[3], NULL, 10),
                              .bytes = strtod(words[4], NULL),
                              .shared = strcmp(words[5], "switch") ? APART : SWITCH,
                              .unfolded = true};
    run(&asked);
    return 0;
}

static int run_machine_asked(char **words) {
    run_machine(&(machine_case){words[2], words[3], words[1], words[2], strtod(words[4], NULL), true});
    return 0;
}

int main(int count, char **words) {
    if (count == 6) return run_asked(words);
    if (count == 5) return run_machine_asked(words);
    bool ran = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (count > 1 && strcmp(words[1], cases[i].name) != 0) continue;
        run(&cases[i]);
        fflush(stdout);
        ran = true;
    }
    for (size_t i = 0; i < sizeof machine_cases / sizeof *machine_cases; i++) {
        if (count > 1 && strcmp(words[1], machine_cases[i].name) != 0) continue;
        run_machine(&machine_cases[i]);
        fflush(stdout);
        ran = true;
    }
    if (count == 1 || strcmp(words[1], "replay-64") == 0) {
        run_replay();
        ran = true;
    }
    if (!ran) fprintf(stderr, "bench_exchange: no case '%s'\n", words[1]);
    return ran ? 0 : 2;
}

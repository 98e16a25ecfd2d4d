/* Traces of several ranks on a network: published Chakra traces of one collective each against closed forms, and a ring
 * written as sends and receives against the same ring as a collective. */
#include "schedule/flows.h"
#include "schedule/graph_program.h"
#include "source/traces/chakra.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

#define OK(expression) assert_int_equal((expression), PACE_OK)

enum { MOST = 8, MOST_LAUNCHES = 64 };

/* 50 GB/s and 500 ns, as others ran these files. */
static const pace_wire wire = {.latency_ns = 500, .ns_per_byte = 0.02};

typedef struct {
    pace_graph graphs[MOST];
    pace_walk_rank ranks[MOST];
    double work_ns[MOST_LAUNCHES];
    size_t count;
} job;

static bool read_job(job *j, const char *name, size_t count) {
    const char *shared = getenv("PACELINE_SHARED");
    *j = (job){.count = count};
    for (size_t rank = 0; rank < count; rank++) {
        char path[512];
        pace_input *input;
        pace_read_notes notes;
        snprintf(path, sizeof path, "%s/chakra/astra_microbench/%s.%zu.et", shared ? shared : "", name, rank);
        if (!shared || pace_input_open(&input, path) != PACE_OK) return false;
        OK(pace_chakra_read(&j->graphs[rank], &notes, input));
        pace_input_free(input);
        assert_true(j->graphs[rank].launches.count <= MOST_LAUNCHES);
        j->ranks[rank] = (pace_walk_rank){.graph = &j->graphs[rank], .launch_ns = j->work_ns};
    }
    return true;
}

static pace_status run(double *end_ns, const job *j, const pace_collective_choice *choice) {
    pace_program program;
    pace_flows_result result;
    PACE_TRY(pace_program_of_graphs(&program, NULL, j->ranks, j->count, choice, choice ? 1 : 0));
    pace_status status =
        pace_flows_run(&result, &(pace_flows_question){.program = &program, .wires = &wire, .wire_count = 1}, NULL);
    if (status == PACE_OK) *end_ns = result.end_ns;
    pace_program_free(&program);
    return status;
}

static void free_job(job *j) {
    for (size_t i = 0; i < j->count; i++) pace_graph_free(&j->graphs[i]);
}

static void assert_near(double found, double expected) {
    if (fabs(found - expected) > 1e-9 * expected) fail_msg("expected %.15g, found %.15g", expected, found);
}

TEST(collectives_take_what_the_closed_form_says) {
    const double n = 4, S = 1048576, a = wire.latency_ns, b = wire.ns_per_byte;
    const struct {
        const char *file, *collective, *algorithm;
        double expected_ns;
    } cases[] = {
        {"4npus_1MB_all_reduce", "allreduce", "ring", 2 * (n - 1) * (a + S / n * b)},
        {"4npus_1MB_all_reduce", "allreduce", "recursive_doubling", 2 * (a + S * b)},
        {"4npus_1MB_reduce_scatter", "reducescatter", "ring", (n - 1) * (a + S / n * b)},
        {"4npus_1MB_all_gather", "allgather", "ring", (n - 1) * (a + S * b)}, /* 1 MB is what one puts in */
        {"4npus_1MB_all_to_all", "alltoall", "pairwise", (n - 1) * (a + S / n * b)},
        {"4npus_1MB_all_to_all", "alltoall", "direct", a + (n - 1) * S / n * b},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        job j;
        double end_ns = 0;
        if (!read_job(&j, cases[i].file, 4)) skip();
        OK(run(&end_ns, &j, &(pace_collective_choice){cases[i].collective, cases[i].algorithm}));
        assert_near(end_ns, cases[i].expected_ns);
        free_job(&j);
    }
}

/* 8 ranks, 14 messages of 128 KiB each; the sums take no time, then some. */
TEST(a_ring_of_sends_is_the_ring) {
    job j;
    double end_ns = 0;
    if (!read_job(&j, "custom_ring_allreduce_8npus", 8)) skip();
    OK(run(&end_ns, &j, NULL));
    assert_near(end_ns, 14 * (500 + 131072 * 0.02));
    for (int i = 0; i < MOST_LAUNCHES; i++) j.work_ns[i] = 1000;
    OK(run(&end_ns, &j, NULL));
    assert_near(end_ns, 14 * (500 + 131072 * 0.02) + 7 * 1000);
    free_job(&j);
}

/* One rank's file for another's: the messages do not meet. */
TEST(what_does_not_meet_is_said) {
    job j;
    double end_ns = 0;
    if (!read_job(&j, "custom_ring_allreduce_8npus", 8)) skip();
    j.graphs[3].launches.count--; /* rank 3 never takes its last message */
    assert_int_equal(run(&end_ns, &j, NULL), PACE_E_INPUT);
    assert_true(strstr(pace_message(), "rank 2") || strstr(pace_message(), "rank 3"));
    j.graphs[3].launches.count++;
    free_job(&j);
    /* Two of four ranks of a collective that says it is of four; and one alone: nothing is dropped. */
    for (size_t here = 2; here > 0; here--) {
        if (!read_job(&j, "4npus_1MB_all_reduce", here)) skip();
        for (size_t rank = 0; rank < here; rank++) j.graphs[rank].exchanges.items[0].group_size = here > 1 ? 4 : 0;
        for (int i = 0; i < MOST_LAUNCHES; i++) j.work_ns[i] = NAN;
        assert_int_equal(run(&end_ns, &j, NULL), PACE_E_INPUT);
        assert_non_null(strstr(pace_message(),
                               here > 1 ? "of allreduce by 4 ranks only 2 are here" : "allreduce without partners"));
        for (int i = 0; i < MOST_LAUNCHES; i++) j.work_ns[i] = 2500; /* as it was recorded */
        OK(run(&end_ns, &j, NULL));
        assert_near(end_ns, 2500);
        free_job(&j);
    }
    if (!read_job(&j, "4npus_1MB_all_reduce", 4)) skip();
    assert_int_equal(run(&end_ns, &j, &(pace_collective_choice){"allreduce", "double_tree"}), PACE_E_INPUT);
    assert_non_null(strstr(pace_message(), "'double_tree' needs several lanes"));
    free_job(&j);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

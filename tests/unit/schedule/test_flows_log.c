/* What ran when, against the simulation's own figures: the operations of a lane follow each other without a gap, the
 * last one ends with the exchange, and a ring's receives are as far apart as Hockney's model says. */
#include "exchange/program_by_name.h"
#include "schedule/flows.h"

#include <math.h>

#include "cmocka_of_tests.h"

#define OK(expression) assert_int_equal((expression), PACE_OK)

enum { RANKS = 8 };

static const double LATENCY_NS = 1500, BYTES_PER_S = 25e9, BYTES = 8e6;

typedef struct {
    pace_flow_log log;
    pace_flows_result result;
    size_t operations; /* of the first rank */
} logged;

static void run(logged *out, const char *algorithm, const pace_fabric *fabric, bool unfolded, size_t limit) {
    pace_program program;
    const pace_program_question sizes = {.ranks = RANKS, .bytes = BYTES};
    *out = (logged){.log = {.limit = limit}};
    OK(pace_program_build(&program, "allreduce", algorithm, &sizes));
    pace_wire wire = {.latency_ns = LATENCY_NS, .ns_per_byte = 1e9 / BYTES_PER_S};
    pace_wire wires[2] = {wire, wire};
    const pace_flows_question q = {
        .program = &program, .wires = wires, .wire_count = 2, .fabric = fabric, .unfolded = unfolded, .log = &out->log};
    OK(pace_flows_run(&out->result, &q, NULL));
    const pace_rank_class *class = &program.classes.items[program.class_of[0]];
    for (uint32_t l = 0; l < class->lane_count; l++)
        out->operations += program.lanes.items[class->first_lane + l].count;
    pace_program_free(&program);
}

/* Checks that lanes have no gaps; returns when the last operation ends. */
static double check_lanes(const pace_flow_log *log) {
    double at[RANKS][4] = {{0}}, last = 0;
    for (size_t i = 0; i < log->entries.count; i++) {
        const pace_flow_entry *e = &log->entries.items[i];
        assert_in_range(e->rank, 0, RANKS - 1);
        assert_in_range(e->lane, 0, 3);
        assert_true(e->start_ns == at[e->rank][e->lane] && e->end_ns >= e->start_ns);
        at[e->rank][e->lane] = e->end_ns;
        last = fmax(last, e->end_ns);
    }
    return last;
}

TEST(lanes_have_no_gaps) {
    static const char *const algorithms[] = {"ring", "recursive_doubling", "binomial", "pipelined_tree"};
    pace_fabric fabric;
    OK(pace_fabric_switch(&fabric, RANKS, BYTES_PER_S, NULL));
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        for (int shared = 0; shared < 2; shared++) {
            logged whole, folded;
            run(&whole, algorithms[i], shared ? &fabric : NULL, true, 1000000);
            run(&folded, algorithms[i], shared ? &fabric : NULL, false, 1000000);
            assert_int_equal(whole.log.ranks.count, RANKS);
            assert_int_equal(whole.log.ranks_left_out, 0);
            assert_true(fabs(check_lanes(&whole.log) / whole.result.end_ns - 1) < 1e-9);
            assert_true(fabs(check_lanes(&folded.log) / folded.result.end_ns - 1) < 1e-9);
            size_t stands_for = 0;
            for (size_t r = 0; r < folded.log.ranks.count; r++) stands_for += folded.log.ranks.items[r].alike;
            assert_int_equal(stands_for, RANKS);
            pace_flow_log_free(&whole.log);
            pace_flow_log_free(&folded.log);
        }
    pace_fabric_free(&fabric);
}

/* Every receive of a ring takes the latency and a rank's share of the bytes on the wire. */
TEST(a_ring_receives_evenly) {
    logged ring;
    size_t receives = 0;
    run(&ring, "ring", NULL, true, 1000000);
    for (size_t i = 0; i < ring.log.entries.count; i++) {
        const pace_flow_entry *e = &ring.log.entries.items[i];
        if (e->kind != PACE_OPERATION_RECEIVE) continue;
        receives++;
        assert_int_equal((e->peer + 1) % RANKS, e->rank);
        assert_true(fabs(e->end_ns - e->start_ns - LATENCY_NS - BYTES / RANKS / BYTES_PER_S * 1e9) < 1e-3);
    }
    assert_int_equal(receives, RANKS * 2 * (RANKS - 1));
    pace_flow_log_free(&ring.log);
}

TEST(a_limit_cuts_ranks_then_operations) {
    logged few, fewer;
    run(&few, "ring", NULL, true, 1);
    assert_int_equal(few.log.ranks.count, 1);
    assert_int_equal(few.log.ranks_left_out, RANKS - 1);
    assert_int_equal(few.log.entries.count, 1);
    run(&fewer, "ring", NULL, true, 2 * few.operations);
    assert_int_equal(fewer.log.ranks.count, 2);
    assert_int_equal(fewer.log.entries.count, 2 * few.operations);
    pace_flow_log_free(&few.log);
    pace_flow_log_free(&fewer.log);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

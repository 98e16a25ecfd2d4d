/* Regions of lanes that go on side by side, and stations whose flows share equally, against one region in the order of
 * time and against max-min rates: on machines whose ranks begin at random times, so that no two are alike. */
#include "exchange/algorithms.h"
#include "exchange/machine_fabric.h"
#include "exchange/program_by_name.h"
#include "schedule/flows.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <stdlib.h>

#include "cmocka_of_tests.h"

#define OK(expression)                                               \
    do {                                                             \
        if ((expression) != PACE_OK) fail_msg("%s", pace_message()); \
    } while (0)

typedef struct {
    const char *machine, *algorithm;
    double bytes;
} asked;

/* Few nodes to a ring: of many whose messages are in each other's way, a difference of rounding grows to a percent. */
static const asked cases[] = {
    {"dgx-h100*4", "ring", 64e6},        {"dgx-h100*12 net=fat-tree:4:2:1", "rails", 64e6},
    {"dgx-1-v100*4", "ring", 16e6},      {"mi300x-node*8", "rails", 8e6},
    {"dgx-h100*6", "double_tree", 64e6},
};

/* Starts of up to ten messages' time, and one rank in fifty at half its rate. */
static void draw(double *start_ns, double *slowness, uint32_t ranks) {
    uint32_t drawn = 12345;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        drawn = drawn * 1664525u + 1013904223u;
        start_ns[rank] = drawn >> 16;
        slowness[rank] = rank % 50 == 7 ? 2 : 1;
    }
}

typedef struct {
    double *ends;
    pace_flows_result result;
} run;

static run run_on(const asked *a, bool logged, const pace_background *others) {
    static const pace_wire wires[2] = {{0}};
    pace_machine machine;
    pace_fabric fabric;
    pace_program program;
    run out;
    OK(pace_machine_parse(&machine, test_catalog(), a->machine));
    uint32_t ranks = (uint32_t)(machine.devices * machine.nodes);
    double *start_ns = malloc(ranks * sizeof *start_ns), *slowness = malloc(ranks * sizeof *slowness);
    out.ends = malloc(ranks * sizeof *out.ends);
    draw(start_ns, slowness, ranks);
    const pace_program_question sizes = {
        .ranks = ranks, .bytes = a->bytes, .group = (uint32_t)machine.devices, .segments = 4, .machine = &machine};
    OK(pace_fabric_of_machine(&fabric, &machine, false));
    OK(pace_program_build(&program, "allreduce", a->algorithm, &sizes));
    pace_flow_log log = {.limit = SIZE_MAX / 2};
    const pace_flows_question q = {.program = &program,
                                   .wires = wires,
                                   .wire_count = 2,
                                   .fabric = &fabric,
                                   .start_ns = start_ns,
                                   .slowness = slowness,
                                   .background = others,
                                   .background_count = others != NULL,
                                   .log = logged ? &log : NULL};
    OK(pace_flows_run(&out.result, &q, out.ends));
    assert_int_equal(out.result.simulated_ranks, ranks);
    pace_flow_log_free(&log);
    pace_program_free(&program);
    pace_fabric_free(&fabric);
    free(start_ns);
    free(slowness);
    return out;
}

static void assert_alike(const asked *a, const run *one, const run *other) {
    for (uint32_t rank = 0; rank < one->result.simulated_ranks; rank++)
        if (!(fabs(one->ends[rank] - other->ends[rank]) <= 1e-6 * one->ends[rank]))
            fail_msg("%s, %s: rank %u ends at %.17g ns and at %.17g ns", a->machine, a->algorithm, rank,
                     one->ends[rank], other->ends[rank]);
    assert_int_equal(one->result.messages, other->result.messages);
    assert_true(fabs(one->result.busiest_bytes - other->result.busiest_bytes) <= 1e-6 * one->result.busiest_bytes);
}

/* A log of all ranks is kept in the order of time, which makes one region of them. */
TEST(regions_do_what_one_does) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run side_by_side = run_on(&cases[i], false, NULL), in_order = run_on(&cases[i], true, NULL);
        assert_alike(&cases[i], &in_order, &side_by_side);
        free(side_by_side.ends);
        free(in_order.ends);
    }
}

/* Beside traffic of others, a byte in a thousand seconds, every flow has its rate from all that share its links. */
TEST(equal_shares_are_max_min_rates) {
    const pace_background others = {.from = 0, .to = 1, .bytes_per_s = 1e-3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run shares = run_on(&cases[i], false, NULL), rates = run_on(&cases[i], false, &others);
        assert_alike(&cases[i], &rates, &shares);
        free(shares.ends);
        free(rates.ends);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/* What no exchange beats: against every algorithm of the textbook on links without latency, and counts by hand. */
#include "exchange/exchange.h"
#include "exchange/least.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <stdio.h>

#include "cmocka_of_tests.h"

static void open_on(pace_exchange *out, const char *text) {
    pace_machine m;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), text), PACE_OK);
    m.inside.efficiency = m.between.efficiency = 1;
    m.inside.latency_s = m.between.latency_s = 1e-15;
    m.launch_s = 0;
    assert_int_equal(pace_exchange_open(out, test_catalog(), &m, PACE_LIBRARY_TEXTBOOK, NULL), PACE_OK);
}

/* Each algorithm's closed form, at peak. */
TEST(test_no_algorithm_is_below) {
    static const char *const machines[] = {"dgx-1-v100", "dgx-2", "dgx-a100", "dgx-h100", "mi300x-node"};
    size_t held = 0, met = 0;
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
        for (int nodes = 1; nodes <= 16; nodes *= 2) {
            char text[80];
            pace_exchange e;
            snprintf(text, sizeof text, "%s*%d", machines[m], nodes);
            open_on(&e, text);
            for (int c = 0; c < PACE_COLLECTIVES; c++)
                for (int algorithm = 0; algorithm < (int)pace_exchange_algorithm_count; algorithm++) {
                    const pace_exchange_question q = {.collective = (pace_collective)c,
                                                      .bytes = 1e9,
                                                      .algorithm = algorithm,
                                                      .protocol = PACE_ANY};
                    pace_exchange_answer a;
                    if (pace_exchange_answer_question(&a, &e, &q) != PACE_OK) continue;
                    double least_s =
                        pace_exchange_least_s(&e.machine, &e.doubts, q.collective, q.bytes, e.machine.devices, nodes);
                    if (!(a.time_s.median >= least_s * (1 - 1e-9)) || a.time_s.least != least_s)
                        fail_msg("%s, %s by %s: %g s is less than %g s", text, pace_collective_rows[c].name,
                                 a.algorithm, a.time_s.median, least_s);
                    held++;
                    met += a.time_s.median < least_s * 1.03;
                }
        }
    assert_true(held > 300);
    assert_true(met > 20); /* else the bound says little */
}

/* Data sheets: a DGX H100 has 8 NICs of 400 Gb/s and 450 GB/s of NVLink a device, each way, and switches that add; a
 * DGX A100 has none of these, 8 NICs of 200 Gb/s and 300 GB/s. */
TEST(test_counted_by_hand) {
    pace_exchange h100, a100;
    open_on(&h100, "dgx-h100*2");
    open_on(&a100, "dgx-a100*2");
    const struct {
        const pace_exchange *e;
        pace_collective collective;
        int ranks_per_node, nodes;
        double s;
    } all[] = {{&h100, PACE_ALLREDUCE, 8, 2, 1e9 / 400e9},      {&h100, PACE_ALLGATHER, 8, 2, 0.5e9 / 400e9},
               {&h100, PACE_ALLTOALL, 8, 2, 8 * 0.5e9 / 400e9}, {&h100, PACE_ALLREDUCE, 8, 1, 1e9 / 450e9},
               {&h100, PACE_BROADCAST, 8, 1, 1e9 / 450e9},      {&a100, PACE_ALLREDUCE, 8, 1, 1.75e9 / 300e9},
               {&a100, PACE_SENDRECV, 8, 2, 1e9 / 200e9}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const pace_exchange *e = all[i].e;
        double s = 1.02 * pace_exchange_least_s(&e->machine, &e->doubts, all[i].collective, 1e9, all[i].ranks_per_node,
                                                all[i].nodes);
        if (fabs(s / all[i].s - 1) > 1e-9) fail_msg("%zu: %g s, not %g s", i, s, all[i].s);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

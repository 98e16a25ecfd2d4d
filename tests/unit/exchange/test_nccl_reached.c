/* What NCCL reaches of what it believes: against published times that no constant was fitted to, and what must hold of
 * any constants. */
#include "exchange/exchange.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <stdio.h>

#include "cmocka_of_tests.h"

static double time_us(pace_exchange *e, pace_collective c, int ranks, int nodes, double bytes, pace_nccl_stack stack) {
    pace_exchange_question q = {c, bytes, ranks, nodes, PACE_ANY, PACE_ANY, 0};
    pace_estimate s;
    e->stack = stack;
    assert_int_equal(pace_exchange_time(&s, e, &q), PACE_OK);
    return s.median * 1e6;
}

static void open_on(pace_exchange *e, const char *machine) {
    pace_machine m;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), machine), PACE_OK);
    assert_int_equal(pace_exchange_open(e, test_catalog(), &m, PACE_LIBRARY_NCCL, NULL), PACE_OK);
}

static void within(double value, double published, double share) {
    if (fabs(value / published - 1) > share) fail_msg("%g us against %g published", value, published);
}

/* A published "single node NCCL test" of 8 H100 at 512 MiB, and vTrain's table of A100 of 3
 * GPUs at 64 MiB. */
TEST(test_published) {
    pace_exchange h100, a100;
    open_on(&h100, "dgx-h100");
    open_on(&a100, "hgx-a100-80");
    within(time_us(&h100, PACE_ALLREDUCE, 8, 1, 536870912, PACE_STACK_CURRENT), 2157.5, 0.1);
    within(time_us(&a100, PACE_ALLREDUCE, 3, 1, 67108864, PACE_STACK_UNSAID), 499.0, 0.1);
}

/* Boards without NVLink (published nccl-tests logs): 8 RTX 4090 over two sockets with NVIDIA's driver, which lets none
 * reach another, 16 MiB and 128 MiB; 4 and 6 with a driver that does, 1 MiB and 32 MiB; RTX 5090, 28 GB/s on 8 and 35
 * on 4; 8 B of a pair of V100. A short form says the same with the link's nominal rate. */
TEST(test_boards_on_pcie) {
    pace_exchange e;
    open_on(&e, "pcie-8x4090");
    within(time_us(&e, PACE_ALLREDUCE, 8, 1, 16777216, PACE_STACK_ONE_PROCESS), 1972.8, 0.1);
    within(time_us(&e, PACE_ALLREDUCE, 8, 1, 134217728, PACE_STACK_ONE_PROCESS), 16253, 0.1);
    open_on(&e, "rtx-4090*8 pcie=32GB/s sockets=2");
    within(time_us(&e, PACE_ALLREDUCE, 8, 1, 134217728, PACE_STACK_ONE_PROCESS), 16253, 0.1);
    open_on(&e, "rtx-4090*4 pcie=32GB/s peer=yes");
    within(time_us(&e, PACE_ALLREDUCE, 4, 1, 1048576, PACE_STACK_ONE_PROCESS), 118.6, 0.15);
    open_on(&e, "rtx-4090*6 pcie=32GB/s peer=yes");
    within(time_us(&e, PACE_ALLREDUCE, 6, 1, 33554432, PACE_STACK_ONE_PROCESS), 2275.1, 0.1);
    open_on(&e, "v100-pcie-16*2 pcie=16GB/s peer=no");
    within(time_us(&e, PACE_ALLREDUCE, 2, 1, 8, PACE_STACK_ONE_PROCESS), 10.09, 0.3);
    open_on(&e, "pcie-8x5090");
    within(time_us(&e, PACE_ALLREDUCE, 8, 1, 1e10, PACE_STACK_CURRENT), 1.75e10 / 28e9 * 1e6, 0.1);
    within(time_us(&e, PACE_ALLREDUCE, 4, 1, 1e10, PACE_STACK_CURRENT), 1.5e10 / 35e9 * 1e6, 0.1);
}

static pace_estimate time_of_1_gib(pace_exchange *e, const char *machine, int ranks) {
    const pace_exchange_question q = {PACE_ALLREDUCE, 1073741824, ranks, 1, PACE_ANY, PACE_ANY, 0};
    pace_estimate s;
    open_on(e, machine);
    assert_int_equal(pace_exchange_time(&s, e, &q), PACE_OK);
    return s;
}

/* Two V100 of a cloud that reach each other through the host alone take 156 ms for 1 GiB (published log), 0.54 of the
 * slot's rate where eight RTX 4090 reach 0.71: the interval holds it. A machine of the catalogue has its own share. */
TEST(test_shares_nobody_measured) {
    pace_exchange e;
    pace_estimate s = time_of_1_gib(&e, "v100-pcie-16*2 pcie=16GB/s peer=no", 2);
    assert_true(pace_estimate_low(s) < 0.156007 && pace_estimate_high(s) > 0.156007);
    double own = time_of_1_gib(&e, "pcie-8x4090", 8).spread;
    double peers = time_of_1_gib(&e, "rtx-4090*8 pcie=32GB/s peer=yes", 8).spread;
    double host = time_of_1_gib(&e, "rtx-4090*8 pcie=32GB/s", 8).spread;
    assert_true(own < peers && peers < host);
    double bricks = time_of_1_gib(&e, "a100-80-sxm*8 nvlink=300GB/s", 8).spread;
    assert_true(fabs(bricks - time_of_1_gib(&e, "hgx-a100-80", 8).spread) < 0.01);
}

/* Trees of nodes above switches carry every byte once each way over the NICs of two nodes, and inside what the switches
 * do: two nodes of B200 over InfiniBand ("B200 / Vultr POC", 2026-05-18), whose hops inside a node are those of racks,
 * and two a3-mega (log of 8 GiB). Two GPUs over 10 GbE with sockets take 91 us for 8 B. */
TEST(test_trees_above_switches) {
    pace_exchange e;
    open_on(&e, "hgx-b200*2");
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 17179869184.0, PACE_STACK_CURRENT), 44870.6, 0.05);
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 1024, PACE_STACK_CURRENT), 37.5, 0.1);
    open_on(&e, "hgx-b200");
    within(time_us(&e, PACE_ALLGATHER, 8, 1, 16384, PACE_STACK_CURRENT), 17.1, 0.1);
    open_on(&e, "a3-mega*2");
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 8589934592.0, PACE_STACK_CURRENT), 47535, 0.05);
    open_on(&e, "h200-141-sxm*8 nvlink=450GB/s nodes=2 net=400Gb/s nics=4"); /* nccl-tests issue 380 */
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 9663676416.0, PACE_STACK_CURRENT), 56560.3, 0.1);
    open_on(&e, "a100-40-pcie nodes=2 net=10Gb/s net-kind=tcp");
    within(time_us(&e, PACE_ALLREDUCE, 1, 2, 8, PACE_STACK_CURRENT), 91.4, 0.2);
}

/* Versions from before a device never ran on it: 2.7.3 came with A100, 2.15.1 with H100, 2.25.1 with Blackwell. */
TEST(test_versions_older_than_devices) {
    const struct {
        const char *machine, *version;
        pace_status status;
    } all[] = {{"gb200-nvl72", "2.7", PACE_E_INPUT}, {"gb200-nvl72", "2.25", PACE_OK},
               {"dgx-h100", "2.14", PACE_E_INPUT},   {"dgx-h100", "2.15", PACE_OK},
               {"dgx-a100", "2.4", PACE_E_INPUT},    {"dgx-1-v100", "2.3", PACE_OK},
               {"mi300x-node", "2.3", PACE_OK},      {"dgx-a100", "", PACE_OK}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pace_machine m;
        assert_int_equal(pace_machine_parse(&m, test_catalog(), all[i].machine), PACE_OK);
        assert_int_equal(pace_nccl_check_age(test_catalog(), &m, all[i].version), all[i].status);
    }
}

/* Two and four nodes of H100 over InfiniBand (nccl-tests issue 309, NCCL 2.26.2): the smallest size, where trees of
 * nodes begin, and the largest. */
TEST(test_nodes_over_infiniband) {
    pace_exchange e;
    open_on(&e, "hgx-h100*4");
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 8, PACE_STACK_CURRENT), 24.7, 0.2);
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 33554432, PACE_STACK_CURRENT), 267.9, 0.2);
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 17179869184.0, PACE_STACK_CURRENT), 68652, 0.05);
    within(time_us(&e, PACE_ALLREDUCE, 8, 4, 33554432, PACE_STACK_CURRENT), 376.0, 0.2);
    within(time_us(&e, PACE_ALLREDUCE, 8, 4, 17179869184.0, PACE_STACK_CURRENT), 90986, 0.05);
}

/* Channels carry a message. Published: 8 B200 of a node send 64, 256 and 512 MiB to their neighbours at 85, 331 and 625
 * GB/s, as a message of 64 MiB has four channels and one of 512 MiB all 32; B200 nodes of 64, 128 and 256 ranks send at
 * 26, 15 and 14 GB/s, as more peers share the channels of their NICs (Together AI's nccl-tests). */
TEST(test_channels_of_messages) {
    pace_exchange e;
    open_on(&e, "hgx-b200");
    within(time_us(&e, PACE_SENDRECV, 8, 1, 67108864, PACE_STACK_CURRENT), 793.11, 0.1);
    within(time_us(&e, PACE_SENDRECV, 8, 1, 268435456, PACE_STACK_CURRENT), 809.77, 0.1);
    within(time_us(&e, PACE_SENDRECV, 8, 1, 536870912, PACE_STACK_CURRENT), 859.04, 0.1);
    open_on(&e, "hgx-b200*8");
    within(time_us(&e, PACE_SENDRECV, 8, 8, 67108864, PACE_STACK_CURRENT), 2560, 0.1);
    open_on(&e, "hgx-b200*16");
    within(time_us(&e, PACE_SENDRECV, 8, 16, 67108864, PACE_STACK_CURRENT), 4593, 0.1);
    open_on(&e, "hgx-b200*32");
    within(time_us(&e, PACE_SENDRECV, 8, 32, 67108864, PACE_STACK_CURRENT), 4651, 0.1);
}

/* AWS's plug-in allows plain buffers alone on machines that it does not know: two g7e of one RTX PRO 6000 (nccl-tests
 * over EFA, 2026). It knows p5, and so boards of H100. */
TEST(test_plain_over_efa) {
    pace_exchange e;
    open_on(&e, "rtx-pro-6000 nodes=2 net=100Gb/s net-kind=efa");
    within(time_us(&e, PACE_ALLREDUCE, 1, 2, 8, PACE_STACK_CURRENT), 45.91, 0.2);
    within(time_us(&e, PACE_ALLREDUCE, 1, 2, 32768, PACE_STACK_CURRENT), 59.57, 0.2);
    pace_machine m;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), "h100*8 nvlink=450GB/s nodes=2 net=400Gb/s net-kind=efa"),
                     PACE_OK);
    assert_false(m.plain_between);
}

/* Middle sizes, which lines carry, of two nodes whose logs had no part in any constant of theirs: H200 over RoCE (NCCL
 * 2.30.4) and a4 of Google's cloud (accuracy/published_exchanges.csv). */
TEST(test_lines_over_nodes) {
    pace_exchange e;
    open_on(&e, "hgx-h200-roce*2");
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 131072, PACE_STACK_CURRENT), 81.24, 0.3);
    open_on(&e, "a4*2");
    within(time_us(&e, PACE_ALLGATHER, 8, 2, 4194304, PACE_STACK_CURRENT), 95.18, 0.2);
}

/* All-to-alls over racks of 64 of GB200 leave by all NICs of a rack, not by the links of one device (OCI's quick start
 * of GB200, NCCL 2.27.3, 8 GiB on two and three racks): 50 GB/s for each device. */
TEST(test_all_to_all_over_racks) {
    pace_exchange e;
    open_on(&e, "gb200-nvl72*3");
    within(time_us(&e, PACE_ALLTOALL, 64, 2, 8589934592.0, PACE_STACK_CURRENT), 95018, 0.15);
    within(time_us(&e, PACE_ALLTOALL, 64, 3, 8589934592.0, PACE_STACK_CURRENT), 136749, 0.15);
    assert_true(time_us(&e, PACE_ALLTOALL, 64, 2, 8589934592.0, PACE_STACK_CURRENT) > 8589934592.0 / 2 / 50e9 * 1e6);
}

/* Two nodes of MI355X (two public logs, of which one is of RCCL 2.27.7): trees of lines wait for fourteen hops in the
 * nodes and two between them, and 128 MiB are moved by a tree at less than the rate of rings. An all-to-all sends at
 * the rate of the NICs. */
TEST(test_rccl_over_nodes) {
    pace_exchange e;
    pace_machine m;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), "mi355x-node*2"), PACE_OK);
    assert_int_equal(pace_exchange_open(&e, test_catalog(), &m, PACE_LIBRARY_AUTO, NULL), PACE_OK);
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 4096, PACE_STACK_CURRENT), 46.9, 0.25);
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 4194304, PACE_STACK_CURRENT), (88.6 + 118.6) / 2, 0.25);
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 134217728, PACE_STACK_CURRENT), 860.7, 0.25);
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 8589934592.0, PACE_STACK_CURRENT), 41863, 0.1);
    within(time_us(&e, PACE_ALLTOALL, 8, 2, 8589934592.0, PACE_STACK_CURRENT), 88509, 0.15);
}

static bool uses_lines_of_128_bytes(const char *machine) {
    pace_exchange e;
    int algorithm, protocol;
    bool used = false;
    open_on(&e, machine);
    for (double bytes = 8; bytes < 1e9; bytes *= 2) {
        pace_exchange_question q = {PACE_ALLREDUCE, bytes, 8, 2, PACE_ANY, PACE_ANY, 0};
        assert_true(pace_exchange_choice(&algorithm, &protocol, &e, &q));
        used |= protocol == PACE_NCCL_LL128;
    }
    return used;
}

/* TCP may split lines of 128 bytes: no library uses them between nodes over it. Two a3-mega nodes show it: from 2 to 8
 * MiB an all-reduce takes what lines of 8 bytes take (published log, 2 MiB). */
TEST(test_no_lines_of_128_bytes_over_tcp) {
    pace_exchange e;
    assert_true(uses_lines_of_128_bytes("hgx-h100*2"));
    assert_false(uses_lines_of_128_bytes("a3-mega*2"));
    open_on(&e, "a3-mega*2");
    within(time_us(&e, PACE_ALLREDUCE, 8, 2, 2097152, PACE_STACK_CURRENT), 254.0, 0.15);
}

/* A copy of its own part makes an all-gather of two ranks slower for its bytes than one of eight. */
TEST(test_own_part) {
    pace_exchange e;
    open_on(&e, "dgx-a100");
    double two = time_us(&e, PACE_ALLGATHER, 2, 1, 1e9, PACE_STACK_CURRENT) / 0.5;
    double eight = time_us(&e, PACE_ALLGATHER, 8, 1, 1e9, PACE_STACK_CURRENT) / 0.875;
    assert_true(two > 1.2 * eight && two < 1.8 * eight);
}

/* Over links that are far slower than memory that copy takes next to nothing: DeepBench's P100 on PCIe reach 6.09, 5.75
 * and 5.87 GB/s of bus bandwidth with 2, 4 and 8 devices (26 MB, NCCL 2.0). Bridges, one process: two A40, four bricks,
 * 1 GiB; two RTX 2080 Ti, two bricks, 64 MiB (NCCL issue 340). */
TEST(test_own_part_of_slow_links) {
    pace_exchange e;
    open_on(&e, "pcie-8xp100");
    within(time_us(&e, PACE_ALLREDUCE, 2, 1, 26214400, PACE_STACK_CURRENT), 4304, 0.12);
    within(time_us(&e, PACE_ALLREDUCE, 4, 1, 26214400, PACE_STACK_CURRENT), 6843, 0.1);
    within(time_us(&e, PACE_ALLREDUCE, 8, 1, 26214400, PACE_STACK_CURRENT), 7819, 0.1);
    open_on(&e, "a40*2 nvlink=56.25GB/s");
    within(time_us(&e, PACE_ALLREDUCE, 2, 1, 1073741824, PACE_STACK_ONE_PROCESS), 22661, 0.2);
    open_on(&e, "rtx-2080-ti*2 nvlink=50GB/s");
    within(time_us(&e, PACE_ALLREDUCE, 2, 1, 67108864, PACE_STACK_ONE_PROCESS), 1568.3, 0.25);
}

/* More bytes never take less time with one algorithm; hosts add, and add less for longer exchanges; the belief is the
 * library's own. */
TEST(test_hosts) {
    pace_exchange e;
    open_on(&e, "dgx-a100");
    for (double bytes = 8; bytes < 1e10; bytes *= 4) {
        double current = time_us(&e, PACE_ALLGATHER, 8, 1, bytes, PACE_STACK_CURRENT);
        double older = time_us(&e, PACE_ALLGATHER, 8, 1, bytes, PACE_STACK_OLDER);
        double one = time_us(&e, PACE_ALLGATHER, 8, 1, bytes, PACE_STACK_ONE_PROCESS);
        assert_true(older > current && one > current && older < current + 35.001);
        assert_true(time_us(&e, PACE_ALLTOALL, 8, 1, bytes, PACE_STACK_ONE_PROCESS) >
                    time_us(&e, PACE_ALLTOALL, 8, 1, bytes, PACE_STACK_CURRENT));
    }
    pace_exchange nodes; /* a process for every device, ready before the network is; not so a framework */
    open_on(&nodes, "dgx-a100*2");
    double ready = time_us(&nodes, PACE_ALLREDUCE, 8, 2, 1e6, PACE_STACK_CURRENT);
    assert_true(time_us(&nodes, PACE_ALLREDUCE, 8, 2, 1e6, PACE_STACK_OLDER) == ready);
    assert_true(time_us(&nodes, PACE_ALLREDUCE, 8, 2, 1e6, PACE_STACK_FRAMEWORK) > ready);
    /* NCCL's table: a ring of two with LL takes 6.6 us and two hops of 0.6. */
    within(time_us(&e, PACE_ALLREDUCE, 2, 1, 1e-3, PACE_STACK_BELIEF), 7.8, 1e-6);
}

TEST(test_monotone) {
    static const char *const machines[] = {"dgx-h100*2", "dgx-a100", "pcie-8xp100", "p4de*2", "gb200-nvl72"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        pace_exchange e;
        open_on(&e, machines[m]);
        for (int p = 0; p < PACE_NCCL_PROTOCOLS; p++) {
            double last = 0;
            for (double bytes = 1; bytes < 1e11; bytes *= 1.5) {
                pace_exchange_question q = {PACE_ALLGATHER, bytes, 0, 0, PACE_NCCL_RING, p, 0};
                pace_estimate s;
                if (pace_exchange_time(&s, &e, &q) != PACE_OK) break;
                assert_true(s.median >= last);
                last = s.median;
            }
        }
    }
}

/* Time never falls as bytes or nodes grow, whatever is chosen: every machine of the catalogue, every collective. */
TEST(test_never_falls) {
    pace_machine_catalog all;
    assert_int_equal(pace_machine_catalog_load(&all, test_catalog()), PACE_OK);
    for (size_t m = 0; m < all.machines.count; m++) {
        pace_exchange e;
        pace_machine machine = all.machines.items[m];
        machine.nodes = machine.nics ? 64 : 1;
        if (machine.generation == 0) continue;
        assert_int_equal(pace_exchange_open(&e, test_catalog(), &machine, PACE_LIBRARY_NCCL, NULL), PACE_OK);
        for (int c = 0; c < PACE_COLLECTIVES; c++)
            for (double bytes = 8; bytes < 4e10; bytes *= 1.3) {
                double fewer = 0;
                for (int nodes = 1; nodes <= machine.nodes; nodes += 1 + nodes / 2) {
                    if (nodes * machine.devices < 2) continue;
                    double less = time_us(&e, (pace_collective)c, machine.devices, nodes, bytes, PACE_STACK_CURRENT);
                    double more =
                        time_us(&e, (pace_collective)c, machine.devices, nodes, bytes * 1.3, PACE_STACK_CURRENT);
                    if (more < less * (1 - 1e-9) || less < fewer * (1 - 1e-9))
                        fail_msg("%s*%d, collective %d: %g B %.9g us, %g B %.9g us, on fewer nodes %.9g us",
                                 machine.name, nodes, c, bytes, less, bytes * 1.3, more, fewer);
                    fewer = less;
                }
            }
    }
    pace_machine_catalog_free(&all);
}

/* The same of an algorithm or a protocol that is asked for, by two lines of NCCL. What is asked for is never faster
 * than the interval of what NCCL chooses, but for the lines between marks (a hundredth). */
TEST(test_forced_never_falls) {
    static const char *const machines[] = {"pcie-8x5090", "pcie-8xp100*8", "dgx-h100*16", "dgx-1-p100*3",
                                           "p4d*4",       "gb200-nvl72",   "dgx-1-v100"};
    for (size_t m = 0; m < 2 * sizeof machines / sizeof *machines; m++) {
        pace_machine machine;
        pace_exchange e;
        assert_int_equal(pace_machine_parse(&machine, test_catalog(), machines[m / 2]), PACE_OK);
        assert_int_equal(pace_exchange_open(&e, test_catalog(), &machine, PACE_LIBRARY_NCCL, m % 2 ? "2.7" : NULL),
                         PACE_OK);
        for (int way = 0; way < PACE_NCCL_ALGORITHMS + PACE_NCCL_PROTOCOLS; way++) {
            pace_exchange_question q = {.collective = PACE_ALLREDUCE, .algorithm = PACE_ANY, .protocol = PACE_ANY};
            pace_exchange_question own = q;
            double less_s = 0;
            *(way < PACE_NCCL_ALGORITHMS ? &q.algorithm : &q.protocol) = way % PACE_NCCL_ALGORITHMS;
            for (q.bytes = 8; q.bytes < 4e10; q.bytes *= 1.3) {
                pace_estimate s, own_s;
                if (pace_exchange_time(&s, &e, &q) != PACE_OK) break;
                own.bytes = q.bytes;
                assert_int_equal(pace_exchange_time(&own_s, &e, &own), PACE_OK);
                if (s.median < less_s * (1 - 1e-9) || s.median < pace_estimate_low(own_s) * 0.99)
                    fail_msg("%s, line %s, way %d, %g B: %.9g s, of fewer bytes %.9g s, of NCCL's choice %.9g s",
                             machines[m / 2], m % 2 ? "2.7" : "newest", way, q.bytes, s.median, less_s, own_s.median);
                less_s = s.median;
            }
        }
    }
}

static void scale_link(pace_machine *m, int link, double factor) {
    if (link == 0) m->inside.bytes_per_s *= factor, m->brick_bytes_per_s *= factor;
    if (link == 1) m->between.bytes_per_s *= factor, m->stream_bytes_per_s *= factor;
    if (link == 2) m->between.latency_s /= factor;
    if (link == 3) m->inside.latency_s /= factor;
}

/* Over a faster link an answer takes no longer than over any slower one; or it says that the library's choice is not
 * the fastest, and its interval holds the time over the slower link. */
TEST(test_faster_links) {
    static const char *const machines[] = {"dgx-1-v100*2", "dgx-a100*8",  "dgx-h100",   "a3-high*2",   "hgx-b200*4",
                                           "gb200-nvl72",  "pcie-8xp100", "dgx-2*32",   "dgx-spark*4", "gb200-nvl72*32",
                                           "p3dn*4",       "p5*2",        "hgx-h800*8", "dgx-h100*4",  "pcie-8xp100*2"};
    static const double factors[] = {1, 1.1, 1.25, 1.5, 2, 4, 10};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
        for (int link = 0; link < 4; link++)
            for (int c = 0; c < PACE_COLLECTIVES; c++)
                for (double bytes = 8; bytes < 2e9; bytes *= 8) {
                    double least_s = INFINITY;
                    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
                        pace_exchange e;
                        pace_exchange_answer a;
                        open_on(&e, machines[m]);
                        scale_link(&e.machine, link, factors[f]);
                        const pace_exchange_question q = {.collective = (pace_collective)c,
                                                          .bytes = bytes,
                                                          .algorithm = -1,
                                                          .protocol = -1};
                        assert_int_equal(pace_exchange_answer_question(&a, &e, &q), PACE_OK);
                        bool longer = a.time_s.median > least_s * 1.02;
                        if (longer && (!(a.faster_s > 0) || pace_estimate_low(a.time_s) > least_s * 1.0001))
                            fail_msg("%s, link %d x %g, collective %d, %g B: %.6g s (from %.6g) over %.6g s; faster %g",
                                     machines[m], link, factors[f], c, bytes, a.time_s.median,
                                     pace_estimate_low(a.time_s), least_s, a.faster_s);
                        least_s = fmin(least_s, a.time_s.median);
                    }
                }
}

/* The same of the textbook's choice, on any number of nodes. */
TEST(test_textbook_never_falls) {
    pace_machine_catalog all;
    assert_int_equal(pace_machine_catalog_load(&all, test_catalog()), PACE_OK);
    for (size_t m = 0; m < all.machines.count; m++) {
        pace_exchange e;
        pace_machine machine = all.machines.items[m];
        machine.nodes = machine.nics ? 32 : 1;
        assert_int_equal(pace_exchange_open(&e, test_catalog(), &machine, PACE_LIBRARY_TEXTBOOK, NULL), PACE_OK);
        for (int c = 0; c < PACE_COLLECTIVES; c++)
            for (int nodes = machine.devices > 1 ? 1 : 2; nodes < machine.nodes; nodes += 1 + nodes / 8)
                for (double bytes = 8; bytes < 1e10; bytes *= 31) {
                    double here = time_us(&e, (pace_collective)c, machine.devices, nodes, bytes, PACE_STACK_CURRENT);
                    double more =
                        time_us(&e, (pace_collective)c, machine.devices, nodes, bytes * 1.3, PACE_STACK_CURRENT);
                    double far = time_us(&e, (pace_collective)c, machine.devices, nodes + 1, bytes, PACE_STACK_CURRENT);
                    if (more < here * (1 - 1e-9) || far < here * (1 - 1e-9))
                        fail_msg("%s*%d, collective %d, %g B: %.9g us, of more bytes %.9g us, on one node more %.9g us",
                                 machine.name, nodes, c, bytes, here, more, far);
                }
    }
    pace_machine_catalog_free(&all);
}

/* What a thread remembers of a machine it does not tell of another: one that differs in a single figure. */
TEST(test_memory_knows_machines_apart) {
    static const size_t figures[] = {
        offsetof(pace_machine, inside.bytes_per_s),      offsetof(pace_machine, inside.efficiency),
        offsetof(pace_machine, inside.latency_s),        offsetof(pace_machine, between.bytes_per_s),
        offsetof(pace_machine, between.efficiency),      offsetof(pace_machine, between.latency_s),
        offsetof(pace_machine, oversubscription),        offsetof(pace_machine, launch_s),
        offsetof(pace_machine, brick_bytes_per_s),       offsetof(pace_machine, pcie_bytes_per_s),
        offsetof(pace_machine, network.oversubscription)};
    static const char *const machines[] = {"dgx-h100*4 net=fat-tree:2:2:1", "p3dn*4", "pcie-8xl40s*4"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
        for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
            pace_exchange e, other;
            open_on(&e, machines[m]);
            other = e;
            *(double *)(void *)((char *)&other.machine + figures[f]) *= f == 6 || f == 10 ? 4 : 0.5;
            double times[2][4], fresh[4];
            for (int turn = 0; turn < 2; turn++)
                for (int i = 0; i < 4; i++)
                    times[turn][i] = time_us(turn ? &other : &e, PACE_ALLREDUCE, e.machine.devices, 4,
                                             1e3 * pow(100, i), PACE_STACK_CURRENT);
            for (int k = 0; k < 9; k++) /* eight groups: nothing of the one above is remembered then */
                (void)time_us(&other, PACE_ALLGATHER, 2 + k / 3, 2 + k % 3, 1e6, PACE_STACK_CURRENT);
            for (int i = 0; i < 4; i++)
                fresh[i] = time_us(&other, PACE_ALLREDUCE, e.machine.devices, 4, 1e3 * pow(100, i), PACE_STACK_CURRENT);
            for (int i = 0; i < 4; i++) assert_true(times[1][i] == fresh[i]);
        }
}

/* NCCL's protocol of low latency is the fastest for the smallest sizes, and a switch is slower than lines of up to
 * eight devices: the library takes neither plain buffers nor switches there. */
TEST(test_lines_are_fastest_when_small) {
    static const char *const machines[] = {"dgx-h100", "hgx-b200", "dgx-a100", "dgx-1-v100", "pcie-8xl40s"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        pace_exchange e;
        open_on(&e, machines[m]);
        for (double bytes = 8; bytes <= 8192; bytes *= 4)
            for (int c = PACE_ALLREDUCE; c <= PACE_REDUCESCATTER; c++) {
                pace_exchange_question q = {(pace_collective)c, bytes, 0, 0, PACE_NCCL_RING, PACE_NCCL_LL, 0};
                pace_estimate lines, other;
                if (c == PACE_ALLTOALL) continue;
                assert_int_equal(pace_exchange_time(&lines, &e, &q), PACE_OK);
                q.protocol = PACE_NCCL_SIMPLE;
                assert_int_equal(pace_exchange_time(&other, &e, &q), PACE_OK);
                assert_true(other.median > lines.median);
                q.algorithm = PACE_NCCL_NVLS;
                if (pace_exchange_time(&other, &e, &q) == PACE_OK && e.machine.hop_inside <= 1)
                    assert_true(other.median > lines.median);
            }
    }
}

/* A rack of 72: a switch is no shortcut for small exchanges (18 devices took 7.9 us where 16 took 27). */
TEST(test_a_rack_waits_as_a_few_do) {
    pace_exchange e;
    open_on(&e, "gb200-nvl72");
    double few = time_us(&e, PACE_ALLREDUCE, 16, 1, 8192, PACE_STACK_CURRENT);
    double rack = time_us(&e, PACE_ALLREDUCE, 72, 1, 8192, PACE_STACK_CURRENT);
    assert_true(rack > 0.85 * few);
}

/* Of five devices of a DGX-1 the fifth has bricks to one other alone: no ring of NVLinks passes it, and all go over
 * PCIe (10 GB/s a slot). Four and six have rings. */
TEST(test_five_of_a_cube_mesh) {
    pace_exchange e;
    open_on(&e, "dgx-1-v100");
    double busbw[7];
    for (int ranks = 4; ranks <= 6; ranks++)
        busbw[ranks] =
            1e9 * 2 * (ranks - 1) / ranks / time_us(&e, PACE_ALLREDUCE, ranks, 1, 1e9, PACE_STACK_CURRENT) / 1e3;
    assert_true(busbw[5] <= 10 && busbw[5] > 5);
    assert_true(busbw[4] > 30 && busbw[6] > 30);
}

/* Two nodes: a tree's busbw passes the NICs' rate (AWS, two p4de, 512 MiB: 13552 us, 74 GB/s over 50 GB/s of NICs). */
TEST(test_trees_of_two_nodes) {
    pace_exchange e;
    open_on(&e, "p4de*2");
    double us = time_us(&e, PACE_ALLREDUCE, 8, 2, 536870912, PACE_STACK_CURRENT);
    assert_true(536870912 * 1.875 / us / 1e3 > 50);
}

/* What a node must send over its NICs of an exchange, in units of the size asked. */
static double sent_by_node(pace_collective c, double g, double nodes) {
    double others = (nodes - 1) / nodes;
    switch (c) {
    case PACE_ALLREDUCE: return 2 * others;
    case PACE_ALLGATHER:
    case PACE_REDUCESCATTER: return others;
    case PACE_ALLTOALL: return g * others;
    default: return 1;
    }
}

/* Nothing is faster than its NICs at their peak: all of a node, or of a single message those of one device. */
TEST(test_no_faster_than_nics) {
    static const char *const names[] = {"dgx-1-v100", "dgx-2",   "dgx-a100",   "p4de",
                                        "dgx-h100",   "a3-high", "pcie-8xp100"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int nodes = 2; nodes <= 16; nodes *= 2) {
            char text[64];
            pace_exchange e;
            snprintf(text, sizeof text, "%s*%d", names[i], nodes);
            open_on(&e, text);
            double nics = fmax(1, e.machine.nics), one = ceil(nics / e.machine.devices), g = e.machine.devices;
            for (int c = 0; c < PACE_COLLECTIVES; c++) {
                double peak = e.machine.between.bytes_per_s * (c == PACE_SENDRECV ? one : nics);
                double s = time_us(&e, (pace_collective)c, 0, 0, 1e9, PACE_STACK_CURRENT) / 1e6;
                double least_s = 1e9 * sent_by_node((pace_collective)c, g, nodes) / peak;
                if (s < least_s)
                    fail_msg("%s of %s: %g s, its NICs %g s", pace_collective_rows[c].name, text, s, least_s);
            }
        }
}

/* On a network that many share, bytes take as much longer as textbook algorithms of the same pattern do. */
TEST(test_shared_networks) {
    static const char *const nets[] = {"fat-tree:4:8:1", "rails:4:4:1", "dragonfly:4x2:8:1", "torus:4x4", "torus:16"};
    pace_exchange alone;
    open_on(&alone, "dgx-h100*16");
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        char text[64];
        pace_machine m;
        pace_exchange nccl, textbook;
        snprintf(text, sizeof text, "dgx-h100*16 net=%s", nets[i]);
        assert_int_equal(pace_machine_parse(&m, test_catalog(), text), PACE_OK);
        open_on(&nccl, text);
        assert_int_equal(pace_exchange_open(&textbook, test_catalog(), &m, PACE_LIBRARY_TEXTBOOK, NULL), PACE_OK);
        double all = time_us(&nccl, PACE_ALLTOALL, 0, 0, 4e9, PACE_STACK_CURRENT);
        within(all, time_us(&textbook, PACE_ALLTOALL, 0, 0, 4e9, PACE_STACK_CURRENT), 0.15);
        assert_true(all > 3 * time_us(&alone, PACE_ALLTOALL, 0, 0, 4e9, PACE_STACK_CURRENT));
        double ring = time_us(&nccl, PACE_ALLGATHER, 0, 0, 4e9, PACE_STACK_CURRENT);
        pace_exchange_question q = {PACE_ALLGATHER, 4e9, 0, 0, pace_exchange_algorithm_find("ring"), PACE_ANY, 0};
        pace_estimate s;
        assert_int_equal(pace_exchange_time(&s, &textbook, &q), PACE_OK);
        within(ring, s.median * 1e6, 0.25);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

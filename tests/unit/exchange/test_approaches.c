/* Approaches: the orderings that the papers report, and special cases that can be counted by hand. */
#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "schedule/gradients.h"
#include "exchange/approach_buffer.h"
#include "exchange/device_store.h"
#include "catalog_of_tests.h"

static void near(double a, double b) {
    if (fabs(a - b) > 1e-12 * fabs(b)) fail_msg("%.17g is not %.17g", a, b);
}

TEST(test_byteps) {
    near(pace_byteps_s(1e9, 8, 0, 1e10), 2 * 7.0 / 8 * 0.1);
    near(pace_byteps_s(1e9, 8, 8, 1e10), 0.1);
    for (int k = 1; k <= 8; k++) assert_true(pace_byteps_s(1e9, 8, k, 1e10) < pace_byteps_s(1e9, 8, k - 1, 1e10));
}

/* VGG-16 and ResNet-50 stand-ins: 411 MB of 553 in one tensor; 102 MB in 161. */
enum { VGG = 32, RESNET = 161 };
static double vgg[VGG], resnet[RESNET];

static void fill(void) {
    for (int i = 0; i < VGG; i++) vgg[i] = i == 26 ? 411e6 : 142e6 / (VGG - 1);
    for (int i = 0; i < RESNET; i++) resnet[i] = 102e6 / RESNET;
}

/* Seconds to exchange gradients that are all there at once, with nothing to hide behind. */
static double asked(const char *machine, const char *name, const double *bytes, size_t count) {
    pace_approaches table;
    pace_machine m;
    pace_exchange e;
    double ready[RESNET] = {0}, dense[RESNET];
    for (int i = 0; i < RESNET; i++) dense[i] = -1;
    pace_gradient_times times;
    pace_gradient_profile at_once = {.count = count,
                                     .bytes = (double *)bytes,
                                     .ready_s = ready,
                                     .touched_bytes = dense};
    pace_approach_setup setup = {.copy_rate = 1e10};
    assert_int_equal(pace_approaches_load(&table, test_catalog()), PACE_OK);
    pace_approach a;
    assert_int_equal(pace_approach_parse(&a, &table, name), PACE_OK);
    assert_int_equal(pace_machine_parse(&m, test_catalog(), machine), PACE_OK);
    assert_int_equal(pace_approach_open(&e, test_catalog(), &a, &m), PACE_OK);
    if (pace_gradients_exchange(&times, &at_once, &a, &e, &setup) != PACE_OK) fail_msg("%s", pace_message());
    pace_approaches_free(&table);
    return times.exchange_s;
}

TEST(test_orderings) {
    static const char cluster[] = "p100-pcie-16*4 pcie=12GB/s nodes=4 net=25Gb/s net-kind=roce";
    fill();
    for (int net = 0; net < 2; net++) {
        const double *bytes = net ? vgg : resnet;
        size_t count = net ? VGG : RESNET;
        double grpc = asked(cluster, "grpc", bytes, count), nccl = asked(cluster, "horovod-nccl", bytes, count);
        assert_true(nccl < grpc);
        /* Copies are pipelined with sends: without them nothing is slower. */
        assert_true(asked(cluster, "grpc+gdr", bytes, count) <= asked(cluster, "grpc+verbs", bytes, count));
        assert_true(asked(cluster, "grpc+verbs", bytes, count) < grpc);
        assert_true(asked(cluster, "grpc+verbs", bytes, count) <= asked(cluster, "grpc+mpi", bytes, count));
        assert_true(asked(cluster, "horovod-mpi", bytes, count) < asked(cluster, "baidu-mpi", bytes, count));
        assert_true(asked(cluster, "mpi-opt", bytes, count) < asked(cluster, "horovod-mpi", bytes, count));
    }
}

static double store_s(const pace_machine *m, int ranks, const pace_gradients *g, double copy_s, const double *ready_s) {
    pace_device_store store = {.machine = m, .ranks = ranks, .threads = 1, .copy_s = copy_s};
    double out;
    assert_int_equal(pace_device_store_s(&out, NULL, &store, g, ready_s), PACE_OK);
    return out;
}

/* Two tensors on two devices: each merges one and holds what comes and the sum; three of one size on two: one holds
 * two. */
TEST(test_merge_buffers) {
    double even[3] = {1e6, 1e6, 1e6};
    pace_merge_buffers b;
    assert_int_equal(pace_merge_buffers_find(&b, 2, &(pace_gradients){even, 2}), PACE_OK);
    assert_true(b.first_bytes == 2e6 && b.most_bytes == 2e6);
    assert_int_equal(pace_merge_buffers_find(&b, 2, &(pace_gradients){even, 3}), PACE_OK);
    assert_true(b.first_bytes == 4e6 && b.most_bytes == 4e6);
    assert_int_equal(pace_merge_buffers_find(&b, 1, &(pace_gradients){even, 3}), PACE_OK);
    assert_true(b.first_bytes == 0 && b.most_bytes == 0);
}

TEST(test_device_store) {
    pace_machine m;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), "dgx-1-v100"), PACE_OK);
    double even[8] = {1e7, 1e7, 1e7, 1e7, 1e7, 1e7, 1e7, 1e7};
    pace_gradients g = {even, 8};
    double brick = m.brick_bytes_per_s * m.inside.efficiency;
    /* Two devices: each merges half of the tensors, and its thread sends the other's and then the sums. */
    near(store_s(&m, 2, &g, 1e-5, NULL), 8 * (1e-5 + 1e7 / brick));
    /* Four: the thread of device 0 copies two tensors to each of the others over 1, 1 and 2 bricks, and its two sums.
     */
    double busiest = 2 * 2 * (1 + 1 + 0.5) * 1e7 / brick, four = store_s(&m, 4, &g, 0, NULL);
    assert_true(four >= busiest * (1 - 1e-12) && four < 1.3 * busiest);
    /* Eight: three copies and three sums of a device are staged, while its neighbour on a PCIe switch of 12 GB/s does
     * the same. All begin with the same tensor, whose three staged copies share the slot of the device that merges
     * it. */
    double eight = store_s(&m, 8, &g, 0, NULL), staged = 6 * 1e7 / (1.2e10 / 2), in_turn = 8 * 3 * 1e7 / 1e10;
    assert_true(eight > staged && eight < in_turn + staged / 2);
    double late[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    near(store_s(&m, 8, &g, 2e-5, late), 1 + store_s(&m, 8, &g, 2e-5, NULL));
    assert_true(store_s(&m, 1, &g, 1e-5, NULL) == 0);
}

/* The tensors of ResNet-200 (He et al. 2016) but for its norms: 205 of 257,991,328 bytes. */
static size_t resnet_200(double *out) {
    static const int units[4] = {3, 24, 36, 3};
    size_t n = 0;
    double in = 64;
    out[n++] = 4 * 3 * 64 * 49;
    for (int stage = 0; stage < 4; stage++)
        for (int unit = 0; unit < units[stage]; unit++) {
            double wide = 256 << stage, middle = wide / 4;
            out[n++] = 4 * in * middle;
            out[n++] = 4 * middle * middle * 9;
            out[n++] = 4 * middle * wide;
            if (unit == 0) out[n++] = 4 * in * wide;
            in = wide;
        }
    out[n++] = 4 * 2048 * 1000;
    out[n++] = 4 * 1000;
    return n;
}

/* MXNet's tools/bandwidth/README.md (2016): on PCIe, where a copy between two devices alone reaches 13 GB/s, ResNet-200
 * goes to the store and back in 23.1 to 23.2 ms on 2 devices, and in 97 to 102 ms on 8, four on each side of one link
 * of 16 lanes, which that saturates. Both directions at once have less than 13 GB/s each. */
TEST(test_device_store_as_measured) {
    double bytes[256], all = 0;
    pace_gradients g = {bytes, resnet_200(bytes)};
    pace_machine m;
    for (size_t i = 0; i < g.count; i++) all += bytes[i];
    assert_true(g.count == 205 && all == 257991328);
    assert_int_equal(pace_machine_parse(&m, test_catalog(), "pcie-8xp100"), PACE_OK);
    m.pcie_bytes_per_s = 1.3e10;
    m.host =
        (pace_host_tree){.count = 2, .above = {PACE_NOWHERE, 0}, .bytes_per_s = {0, 1.3e10}, .nic_bytes_per_s = 1e10};
    memset(m.host.device_at, PACE_NOWHERE, sizeof m.host.device_at);
    memset(m.host.nic_at, PACE_NOWHERE, sizeof m.host.nic_at);
    for (int d = 0; d < 8; d++) m.host.device_at[d] = d >= 4;
    for (int nic = 0; nic < m.nics; nic++) m.host.nic_at[nic] = 0;
    pace_device_store store = {.machine = &m, .ranks = 2, .threads = 2, .copy_s = 2e-5};
    double two, eight;
    assert_int_equal(pace_device_store_s(&two, NULL, &store, &g, NULL), PACE_OK);
    store.ranks = 8;
    assert_int_equal(pace_device_store_s(&eight, NULL, &store, &g, NULL), PACE_OK);
    if (fabs(two / 0.0232 - 1) > 0.12 || fabs(eight / 0.1003 - 1) > 0.2) fail_msg("%g and %g s", two, eight);
}

TEST(test_device_store_threads) {
    pace_machine m;
    double bytes[1] = {1e6}, out;
    pace_gradients g = {bytes, 1};
    assert_int_equal(pace_machine_parse(&m, test_catalog(), "dgx-1-v100"), PACE_OK);
    const double wrong[] = {0, 2.5, 5, 1e12, NAN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pace_device_store store = {.machine = &m, .ranks = 2, .threads = wrong[i]};
        assert_int_equal(pace_device_store_s(&out, NULL, &store, &g, NULL), PACE_E_USAGE);
    }
}

static const char one_a_node[] = "p100-pcie-16*1 nodes=16 net=100Gb/s net-latency=2us launch=2us";

static pace_approach_parts parts_of(const char *text, double bytes) {
    pace_approach a;
    pace_machine m;
    pace_exchange e;
    pace_approach_parts parts;
    pace_approach_setup setup = {.copy_rate = 1e10};
    assert_int_equal(pace_approach_named(&a, test_catalog(), text), PACE_OK);
    assert_int_equal(pace_machine_parse(&m, test_catalog(), one_a_node), PACE_OK);
    assert_int_equal(pace_approach_open(&e, test_catalog(), &a, &m), PACE_OK);
    assert_int_equal(pace_approach_parts_find(&parts, &a, &e, &setup, bytes, 1), PACE_OK);
    return parts;
}

/* Consistency with Awan et al. (CCGRID 2019), not a reproduction: 16 nodes of one GPU, EDR InfiniBand, 2 us a message
 * (assumed). Rings of NCCL 2.3 pass 30 hops, a host's recursive doubling 4: the paper has 5 to 17 times for small and
 * medium messages, and 29 % less time for large ones. */
TEST(test_small_messages_of_rings) {
    for (double bytes = 4; bytes <= 1 << 28; bytes *= 2) {
        pace_approach_parts nccl = parts_of("horovod-nccl", bytes), mpi = parts_of("mpi-opt", bytes);
        double ratio = pace_approach_exchange_s(&nccl) / pace_approach_exchange_s(&mpi);
        bool small = bytes <= 1 << 14, large = bytes >= 1 << 26; /* 4 to 5 times from 32 KiB to 4 MiB */
        if (ratio < (small ? 5 : 1) || ratio > (large ? 1.5 : 17)) fail_msg("%g bytes: %g times", bytes, ratio);
    }
}

/* By hand, on 16 ranks: recursive doubling sends the vector 4 times, Rabenseifner's algorithm 15/16 of it there and
 * back in 8 messages; each adds 4 times, a host all 4 vectors or 15/16 of one. */
TEST(test_what_mpi_does) {
    pace_machine m;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), one_a_node), PACE_OK);
    double rate = pace_machine_node_rate(&m), large = 1 << 26;
    pace_approach_parts tiny = parts_of("mpi-default", 4), big = parts_of("mpi-default", large);
    near(tiny.messages_s, 4 * (2e-6 + 4 / rate));
    near(tiny.adding_s, 4 * 4 * 2.5e-10);
    near(tiny.staging_s, 2 * (1e-5 + 4 / 1e10));
    near(tiny.queries_s, 5e-7 * (2 + 2 * 2 * 4));
    near(big.messages_s, 8 * 2e-6 + 2 * 15.0 / 16 * large / rate);
    near(big.adding_s, 15.0 / 16 * large * 2.5e-10);
    pace_approach_parts device = parts_of("mpi-opt", large), cached = parts_of("mpi-default:cache=1", 4);
    near(device.adding_s, 4 * 8e-6);
    assert_true(device.staging_s == 0 && device.queries_s == 0 && cached.queries_s == 0);
    near(cached.staging_s, tiny.staging_s);
    near(parts_of("mpi-opt:reduce=device", 4).adding_s, 4 * 8e-6);
    assert_true(parts_of("mpi-opt", 4).adding_s < 1e-8); /* the host is faster */
}

/* Verbs need InfiniBand or RoCE, NCCL of these years no Aries. */
TEST(test_networks) {
    static const char *const refused[][2] = {{"grpc+verbs", "ethernet-10g*4"},
                                             {"grpc+gdr", "piz-daint*4"},
                                             {"horovod-nccl", "piz-daint*4"}};
    static const char *const fine[][2] = {{"grpc+mpi", "ethernet-10g*4"},
                                          {"horovod-nccl", "ethernet-10g*4"},
                                          {"grpc+verbs", "ethernet-10g"},
                                          {"mpi-opt", "piz-daint*4"}};
    pace_approach a;
    pace_machine m;
    pace_exchange e;
    for (size_t i = 0; i < sizeof refused / sizeof *refused + sizeof fine / sizeof *fine; i++) {
        bool wrong = i < sizeof refused / sizeof *refused;
        const char *const *pair = wrong ? refused[i] : fine[i - sizeof refused / sizeof *refused];
        assert_int_equal(pace_approach_named(&a, test_catalog(), pair[0]), PACE_OK);
        assert_int_equal(pace_machine_parse(&m, test_catalog(), pair[1]), PACE_OK);
        assert_int_equal(pace_approach_open(&e, test_catalog(), &a, &m), wrong ? PACE_E_USAGE : PACE_OK);
    }
}

/* A cell of a table keeps what changes a figure, whatever spelling it holds. */
TEST(test_cells) {
    pace_approaches table;
    pace_approach a;
    assert_int_equal(pace_approaches_load(&table, test_catalog()), PACE_OK);
    assert_int_equal(pace_approach_of_cell(&a, &table, "horovod-mpi:cache=1"), PACE_OK);
    assert_true(strcmp(a.name, "horovod-mpi") == 0 && a.mpi.query_s == 0);
    assert_int_equal(pace_approach_of_cell(&a, &table, "gRPC: parameter servers"), PACE_OK);
    assert_string_equal(a.name, "grpc");
    assert_int_equal(pace_approach_of_cell(&a, &table, "carrier pigeon"), PACE_E_USAGE);
    pace_approaches_free(&table);
}

/* Servers that split every tensor evenly, one beside each worker: each NIC sends and receives 7/8 of the bytes
 * twice. */
TEST(test_split_servers) {
    pace_machine m;
    fill();
    assert_int_equal(pace_machine_parse(&m, test_catalog(), "p100-pcie-16*1 nodes=8 net=100Gb/s"), PACE_OK);
    double rate = pace_machine_node_rate(&m), sum = 0;
    for (int i = 0; i < RESNET; i++) sum += resnet[i];
    double lanes = asked("p100-pcie-16*1 nodes=8 net=100Gb/s", "ps", resnet, RESNET);
    double by_hand = 2 * 7.0 / 8 * sum / rate;
    if (fabs(lanes / by_hand - 1) > 0.02) fail_msg("%g, %g", lanes, by_hand);
}

/* Two workers, each beside a server: what is for one's own server crosses no wire, so the larger tensor alone does,
 * there and back. */
TEST(test_own_server) {
    static const double two[] = {150e6, 90e6};
    static const char machine[] = "p100-pcie-16*1 nodes=2 net=1Gb/s";
    pace_machine m;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), machine), PACE_OK);
    double lanes = asked(machine, "grpc", two, 2), by_hand = 2 * 150e6 / pace_machine_node_rate(&m);
    if (fabs(lanes / by_hand - 1) > 0.1) fail_msg("%g, %g", lanes, by_hand); /* malloc's new pages take 5 % */
}

/* Devices that add among themselves before one of them pushes: seven of eight send what they made to the eighth, which
 * sends the sum back to them. */
TEST(test_local_first) {
    static const double one[] = {150e6};
    pace_machine m;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), "dgx-1-v100"), PACE_OK);
    double lanes = asked("dgx-1-v100", "ps:local_first=1", one, 1);
    double by_hand = 2 * 7 * 150e6 / pace_machine_inside_rate(&m);
    if (fabs(lanes / by_hand - 1) > 0.1) fail_msg("%g, %g", lanes, by_hand);
}

TEST(test_parse) {
    pace_approaches table;
    pace_approach a;
    assert_int_equal(pace_approaches_load(&table, test_catalog()), PACE_OK);
    assert_int_equal(pace_approach_parse(&a, &table, "horovod-mpi:cache=1:reduce=device:fuses_bytes=0"), PACE_OK);
    assert_true(a.mpi.query_s == 0 && a.mpi.adds == PACE_ADDS_DEVICE && a.fuses_bytes == 0);
    assert_int_equal(pace_approach_parse(&a, &table, "horovod-mpi:reduce=host"), PACE_OK);
    assert_true(a.mpi.adds == PACE_ADDS_HOST && a.mpi.query_s > 0);
    assert_int_equal(pace_approach_parse(&a, &table, "grpc:servers=4:on_device=1"), PACE_OK);
    assert_true(a.servers == 4 && a.on_device == 1);
    static const char *const bad[] = {"horovod",          "",
                                      "grpc:servers",     "grpc:servers=-1",
                                      "grpc:wheels=4",    "grpc:reduce=x",
                                      "grpc:servers=nan", "grpc:servers=1x",
                                      "ddp:servers=3",    "ddp:slows=0.2",
                                      "p2p:slows=0.2",    "mpi-opt:slows=1",
                                      "grpc:cycle_s=1",   "horovod-nccl:query_s=1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (pace_approach_parse(&a, &table, bad[i]) != PACE_E_USAGE) fail_msg("%s was taken", bad[i]);
    assert_int_equal(pace_approach_parse(&a, &table, "horovod"), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "horovod-nccl"));
    static const char *const spelled[][2] = {{"Horovod (NCCL)", "horovod-nccl"},
                                             {"gRPC PS", "grpc"},
                                             {"tf_cnn_benchmarks parameter_server", "grpc"},
                                             {"Baidu-MPI", "baidu-mpi"},
                                             {"gRPC+Verbs", "grpc+verbs"},
                                             {"DistributedDataParallel", "ddp"}};
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
        const pace_approach *found = pace_approach_spelled(&table, spelled[i][0]);
        if (!found || strcmp(found->name, spelled[i][1]) != 0) fail_msg("%s", spelled[i][0]);
    }
    /* Where variables lie is said beside the approach: what comes and goes is copied once more. */
    assert_true(pace_approach_spelled(&table, "gRPC PS, variables on GPU")->on_device == 1);
    assert_true(pace_approach_spelled(&table, "gRPC PS, variables on CPU")->on_device == 0);
    assert_null(pace_approach_spelled(&table, "carrier pigeons"));
    pace_approaches_free(&table);
}

static double nccl_per_tensor(const char *machine, int ranks, const pace_gradients *g) {
    pace_machine m;
    pace_exchange e;
    double sum = 0;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), machine), PACE_OK);
    assert_int_equal(pace_exchange_open(&e, test_catalog(), &m, PACE_LIBRARY_NCCL, "2.3"), PACE_OK);
    for (size_t i = 0; i < g->count; i++) {
        pace_exchange_question q = {PACE_ALLREDUCE, g->bytes[i], ranks, 1, PACE_ANY, PACE_ANY, 0};
        pace_estimate s;
        assert_int_equal(pace_exchange_time(&s, &e, &q), PACE_OK);
        sum += s.median;
    }
    return sum;
}

/* Consistency with Mojumder et al. (IISWC 2018): on a DGX-1V with eight GPUs NCCL's rings are better than copies
 * between peers for ResNet-50 (161 tensors, 102 MB): pairs without a brick share host links. */
TEST(test_peers_against_rings) {
    pace_machine m;
    fill();
    pace_gradients deep = {resnet, RESNET};
    assert_int_equal(pace_machine_parse(&m, test_catalog(), "dgx-1-v100"), PACE_OK);
    assert_true(store_s(&m, 8, &deep, 2e-5, NULL) > nccl_per_tensor("dgx-1-v100", 8, &deep));
}

TEST(test_pearl) {
    pace_machine m;
    pace_exchange e;
    pace_estimate whole;
    double gathered, scattered;
    pace_approach_setup setup = {.copy_rate = 1e10};
    pace_exchange_question all = {PACE_ALLREDUCE, 1e10, 0, 0, PACE_ANY, PACE_ANY, 0};
    assert_int_equal(pace_machine_parse(&m, test_catalog(), "pai-v100-nvlink"), PACE_OK);
    assert_int_equal(pace_exchange_open(&e, test_catalog(), &m, PACE_LIBRARY_AUTO, NULL), PACE_OK);
    assert_int_equal(pace_approach_rows_s(&gathered, PACE_ALLGATHER, &e, &setup, 1e7), PACE_OK);
    assert_int_equal(pace_approach_rows_s(&scattered, PACE_REDUCESCATTER, &e, &setup, 1e7), PACE_OK);
    assert_int_equal(pace_exchange_time(&whole, &e, &all), PACE_OK);
    assert_true(gathered + scattered < whole.median / 10);
    assert_true(gathered > 7 * 1e7 / 1.5e11); /* 7 others' rows over 6 bricks */
}

int main(void) { return run_tests_of_file(NULL, NULL); }

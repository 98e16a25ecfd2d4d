/* Exchanges of gradients: lanes against a clock run step by step, and the cases in which the answer is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "schedule/gradients.h"
#include "exchange/approach_buffer.h"
#include "catalog_of_tests.h"

enum { TENSORS = 40 };

static double bytes[TENSORS], ready[TENSORS];
static pace_gradient_profile profile = {.forward_s = 0.1, .backward_s = 0.2, .update_s = 0.01, .count = TENSORS};
static pace_approaches table;

static int set_up(void **state) {
    (void)state;
    profile.bytes = bytes;
    profile.ready_s = ready;
    srand(7);
    for (int i = 0; i < TENSORS; i++) {
        bytes[i] = 1e4 + 1e7 * (rand() % 1000) / 1000.0;
        ready[i] = profile.backward_s * (i + 1) / TENSORS;
    }
    return pace_approaches_load(&table, test_catalog()) == PACE_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    pace_approaches_free(&table);
    return 0;
}

static pace_gradient_times asked(const char *machine, const char *approach) {
    pace_machine m;
    pace_exchange e;
    pace_approach a;
    pace_gradient_times out;
    pace_approach_setup setup = {.copy_rate = 1e10};
    assert_int_equal(pace_machine_parse(&m, test_catalog(), machine), PACE_OK);
    if (pace_approach_parse(&a, &table, approach) != PACE_OK) fail_msg("%s", pace_message());
    if (pace_approach_open(&e, test_catalog(), &a, &m) != PACE_OK) fail_msg("%s", pace_message());
    if (pace_gradients_exchange(&out, &profile, &a, &e, &setup) != PACE_OK) fail_msg("%s", pace_message());
    return out;
}

static const char slow[] = "p100-pcie-16*4 pcie=12GB/s nodes=4 net=1Gb/s", fast[] = "v100-sxm2-16*8 nvlink=150GB/s";

/* Order statistics of the normal distribution (Harter 1961): 0.5642, 1.4236, 2.0697 of 2, 8, 32 draws. */
TEST(test_most) {
    assert_true(pace_expected_most(1) == 0);
    assert_true(fabs(pace_expected_most(2) - 0.5642) < 0.03);
    assert_true(fabs(pace_expected_most(8) - 1.4236) < 0.02);
    assert_true(fabs(pace_expected_most(32) - 2.0697) < 0.02);
}

/* One worker, or a network without a price, leaves the step as it is; nothing is ever hidden twice. */
TEST(test_bounds) {
    double alone = pace_gradient_profile_step_s(&profile);
    for (size_t i = 0; i < table.rows.count; i++) {
        const char *name = table.rows.items[i].name;
        bool one_node = table.rows.items[i].family == PACE_APPROACH_DEVICE;
        pace_gradient_times one = asked("v100-sxm2-16*1", name);
        assert_true(one.step_s == alone && one.exposed_s == 0);
        pace_gradient_times many = asked(one_node ? fast : slow, name);
        double window = profile.forward_s + profile.backward_s;
        if (many.step_s < alone || many.exposed_s > many.exchange_s * (1 + 1e-9) ||
            many.exposed_s < many.exchange_s - window - 1e-9)
            fail_msg("%s: exposed %g of %g s", name, many.exposed_s, many.exchange_s);
    }
}

/* A clock run by hand: every tensor alone on one lane. */
TEST(test_against_clock) {
    pace_machine m;
    pace_exchange e;
    pace_approach a;
    pace_approach_setup setup = {.copy_rate = 1e10};
    double clock = 0, s;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), slow), PACE_OK);
    assert_int_equal(pace_approach_parse(&a, &table, "baidu-mpi:skew=0"), PACE_OK);
    assert_int_equal(pace_approach_open(&e, test_catalog(), &a, &m), PACE_OK);
    for (int i = 0; i < TENSORS; i++) {
        if (clock < ready[i]) clock = ready[i];
        assert_int_equal(pace_approach_buffer_s(&s, &a, &e, &setup, bytes[i], 1), PACE_OK);
        clock += s;
    }
    pace_gradient_times times = asked(slow, "baidu-mpi:skew=0");
    assert_true(fabs(times.exposed_s - (clock - profile.backward_s)) < 1e-9 && times.buffers == TENSORS);
}

/* Instant by instant: computing goes on at 0.6 of its rate while the lane has something to exchange. */
static double end_by_instants(const double *exchange_s, double slows) {
    const double instant = 1e-6;
    double computed = 0, left = exchange_s[0], now = 0;
    for (int tensor = 0; tensor < TENSORS || computed < profile.backward_s; now += instant) {
        bool busy = tensor < TENSORS && computed >= ready[tensor];
        computed += instant * (busy ? 1 - slows : 1);
        if (!busy || (left -= instant) > 0) continue;
        if (++tensor < TENSORS) left += exchange_s[tensor];
    }
    return now;
}

TEST(test_slowed_against_instants) {
    static const char *const machines[] = {slow, fast};
    static const char approach[] = "baidu-mpi:skew=0:slows=0.4";
    pace_approach_setup setup = {.copy_rate = 1e10};
    for (size_t k = 0; k < 2; k++) {
        pace_machine m;
        pace_exchange e;
        pace_approach a;
        double exchange_s[TENSORS];
        assert_int_equal(pace_machine_parse(&m, test_catalog(), machines[k]), PACE_OK);
        assert_int_equal(pace_approach_parse(&a, &table, approach), PACE_OK);
        assert_int_equal(pace_approach_open(&e, test_catalog(), &a, &m), PACE_OK);
        for (int i = 0; i < TENSORS; i++)
            assert_int_equal(pace_approach_buffer_s(&exchange_s[i], &a, &e, &setup, bytes[i], 1), PACE_OK);
        double by_instants = profile.forward_s + profile.update_s + end_by_instants(exchange_s, 0.4);
        pace_gradient_times times = asked(machines[k], approach);
        if (fabs(times.step_s - by_instants) > 2e-4)
            fail_msg("%s: %g s, by instants %g", machines[k], times.step_s, by_instants);
        assert_true(times.slowed_s[0] > 0 && times.step_s > asked(machines[k], "baidu-mpi:skew=0").step_s - 1e-12);
    }
}

/* Servers take from both passes, at most what slows / (1 - slows) of each is. */
TEST(test_slowed_by_servers) {
    pace_gradient_times times = asked(slow, "grpc:skew=0:slows=0.5"), alone = asked(slow, "grpc:skew=0");
    assert_true(fabs(times.slowed_s[0] - profile.backward_s) < 1e-12);
    assert_true(fabs(times.slowed_s[1] - profile.forward_s) < 1e-12);
    assert_true(times.exchange_s == alone.exchange_s && times.exposed_s < alone.exposed_s);
    assert_true(times.step_s >= alone.step_s);
}

/* Fusion: one buffer takes all that is ready; nothing is fused when nothing may be. */
TEST(test_fusion) {
    pace_gradient_times fused = asked(slow, "horovod-mpi:cycle_s=0"), apart = asked(slow, "horovod-mpi:fuses_bytes=0");
    assert_true(apart.buffers == TENSORS && fused.buffers < TENSORS / 4);
    assert_true(fused.step_s < apart.step_s);
    /* All gradients at the end of backward: one buffer of all of them, exposed whole. */
    double kept[TENSORS];
    memcpy(kept, ready, sizeof ready);
    for (int i = 0; i < TENSORS; i++) ready[i] = profile.backward_s;
    pace_gradient_times late = asked(slow, "horovod-mpi:fuses_bytes=1e12:cycle_s=0");
    assert_true(late.buffers == 1 && fabs(late.exposed_s - late.exchange_s) < 1e-9);
    memcpy(ready, kept, sizeof ready);
}

/* Horovod's loop (RunLoopOnce of horovod/common/operations.cc), look by look, over steps that follow each other: the
 * step that they settle at, or the longest and the shortest of the last ones. */
typedef struct {
    double least_s, most_s;
} steps_of_loop;

static steps_of_loop loop(const char *machine, const char *approach) {
    enum { STEPS = 64, LAST = 16 };
    pace_machine m;
    pace_exchange e;
    pace_approach a;
    pace_approach_setup setup = {.copy_rate = 1e10};
    steps_of_loop out = {INFINITY, 0};
    double now = 0, begins = 0;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), machine), PACE_OK);
    assert_int_equal(pace_approach_parse(&a, &table, approach), PACE_OK);
    assert_int_equal(pace_approach_open(&e, test_catalog(), &a, &m), PACE_OK);
    for (int step = 0; step < STEPS; step++) {
        double looks, backward_ends = begins + profile.backward_s;
        int done = 0;
        for (; done < TENSORS; now = fmax(now, looks + a.cycle_s)) {
            int seen = done;
            looks = now;
            while (seen < TENSORS && begins + ready[seen] <= looks) seen++;
            while (done < seen) {
                double s, all = bytes[done];
                int count = 1;
                while (done + count < seen && all + bytes[done + count] <= a.fuses_bytes) all += bytes[done + count++];
                assert_int_equal(pace_approach_buffer_s(&s, &a, &e, &setup, all, count), PACE_OK);
                now += s, done += count;
            }
            if (done == TENSORS) backward_ends = fmax(backward_ends, now);
        }
        double next = backward_ends + profile.update_s + profile.forward_s;
        if (step >= STEPS - LAST) {
            out.least_s = fmin(out.least_s, next - begins);
            out.most_s = fmax(out.most_s, next - begins);
        }
        begins = next;
    }
    return out;
}

TEST(test_cycles) {
    static const double cycles_s[] = {0.537e-3, 3.13e-3, 5.17e-3, 19.3e-3, 61.7e-3}, buffers[] = {1e12, 64e6, 1e7};
    static const char *const machines[] = {slow, fast};
    size_t settled = 0;
    for (size_t m = 0; m < 2; m++)
        for (size_t b = 0; b < sizeof buffers / sizeof *buffers; b++)
            for (size_t i = 0; i < sizeof cycles_s / sizeof *cycles_s; i++) {
                char coordinated[96];
                snprintf(coordinated, sizeof coordinated, "horovod-mpi:skew=0:fuses_bytes=%g:cycle_s=%g", buffers[b],
                         cycles_s[i]);
                steps_of_loop steps = loop(machines[m], coordinated);
                double step_s = asked(machines[m], coordinated).step_s,
                       room_s = steps.most_s - steps.least_s < 1e-9 ? 1e-7 : cycles_s[i];
                settled += steps.most_s - steps.least_s < 1e-9;
                if (step_s < steps.least_s - room_s || step_s > steps.most_s + room_s)
                    fail_msg("%s on %s: %.9g, the loop %.9g to %.9g", coordinated, machines[m], step_s, steps.least_s,
                             steps.most_s);
            }
    assert_true(settled >= 15);
}

/* A pointer cache and reductions on the device each save, and the host pays for large vectors (Awan et al. 2019). */
TEST(test_pointer_cache) {
    assert_true(asked(slow, "horovod-mpi:cache=1").exchange_s < asked(slow, "horovod-mpi").exchange_s);
    assert_true(asked(slow, "mpi-opt").exchange_s <= asked(slow, "horovod-mpi").exchange_s);
    assert_true(asked(slow, "horovod-mpi:reduce=device").exchange_s <
                asked(slow, "horovod-mpi:reduce=host").exchange_s);
}

/* More servers are no slower, up to the largest tensor, which lies on one. */
TEST(test_largest_tensor) {
    double kept = bytes[3];
    bytes[3] = 4e8;
    double two = asked(slow, "grpc:servers=2").step_s, many = asked(slow, "grpc:servers=16").step_s;
    double split = asked(slow, "grpc:servers=16:splits=1").step_s;
    assert_true(many <= two && split < many / 2);
    bytes[3] = kept;
}

/* A walk that starts each layer when its tensors are back, and waits for the last exchange, is as much longer as the
 * closed form says: forward by the latest layer, whose place in it mirrors its gradient's in backward. */
TEST(test_ends) {
    static const char *const names[] = {"grpc",      "grpc:servers=7", "ps",  "byteps",
                                        "baidu-mpi", "horovod-mpi",    "p2p", "nccl"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *machine = k < 6 ? slow : fast;
        pace_machine m;
        pace_exchange e;
        pace_approach a;
        pace_gradient_times times, same = asked(machine, names[k]);
        pace_gradient_ends ends;
        pace_approach_setup setup = {.copy_rate = 1e10};
        double late = 0, before = 0;
        assert_int_equal(pace_machine_parse(&m, test_catalog(), machine), PACE_OK);
        assert_int_equal(pace_approach_parse(&a, &table, names[k]), PACE_OK);
        assert_int_equal(pace_approach_open(&e, test_catalog(), &a, &m), PACE_OK);
        assert_int_equal(pace_gradients_ends(&ends, &times, &profile, &a, &e, &setup), PACE_OK);
        assert_true(times.step_s == same.step_s);
        for (size_t i = 0; i < ends.count; i++) {
            assert_true(ends.end_s[i] >= ready[i] && ends.end_s[i] >= before);
            before = ends.end_s[i];
            late = fmax(late, ends.back_s[i] - profile.forward_s * (1 - ready[i] / profile.backward_s));
            assert_true(ends.back_s[i] == 0 || a.family == PACE_APPROACH_SERVER);
        }
        assert_true(fabs(fmax(0, before - profile.backward_s) + late - times.exposed_s) < 1e-9);
        pace_gradient_ends_free(&ends);
    }
}

int main(void) { return run_tests_of_file(set_up, tear_down); }

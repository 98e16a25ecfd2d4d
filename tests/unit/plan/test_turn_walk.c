/* Pipelines turn by turn: against the published formulas, and against what a late host must make of them. */
#include "plan/turn_walk.h"

#include <math.h>

#include "cmocka_of_tests.h"

enum { STAGES = 4, CHUNKS_MOST = 2 };

static double period(pace_pipeline_schedule schedule, uint32_t chunks, uint32_t micro_batches, pace_turn_times one,
                     double message_s) {
    pace_pipeline pipeline = {schedule, STAGES, chunks, micro_batches, false};
    pace_turn_times all[STAGES * CHUNKS_MOST];
    double out_s;
    for (int i = 0; i < STAGES * CHUNKS_MOST; i++) all[i] = one;
    assert_int_equal(pace_turns_period(&out_s, &pipeline, all, message_s, 0), PACE_OK);
    return out_s;
}

static void expect(double found, double expected) { assert_true(fabs(found / expected - 1) < 1e-12); }

/* (p - 1)(F + B) idle, interleaved that over v (Narayanan et al. 2021, sections 2.2.1 and 2.2.2); zero-bubble (p - 1)(F
 * + B - 2W) (Qi et al. 2023, table 2); zb-v none where passes take equally long. What every step has behind its last
 * turn counts once. */
TEST(test_formulas) {
    pace_turn_times one = {.device_s = {1, 2, 1, 1}};
    for (uint32_t m = 2 * STAGES; m <= 4 * STAGES; m += STAGES) {
        expect(period(PACE_SCHEDULE_1F1B, 1, m, one, 0), 3.0 * m + (STAGES - 1) * 3);
        expect(period(PACE_SCHEDULE_GPIPE, 1, m, one, 0), 3.0 * m + (STAGES - 1) * 3);
        expect(period(PACE_SCHEDULE_1F1B, 2, m, one, 0), 2 * 3.0 * m + (STAGES - 1) * 3);
        expect(period(PACE_SCHEDULE_ZERO_BUBBLE, 1, m, one, 0), 3.0 * m + (STAGES - 1));
        expect(period(PACE_SCHEDULE_ZB_V, 2, m, one, 0), 2 * 3.0 * m);
        pace_turn_times more = one;
        more.end_device_s = 5;
        expect(period(PACE_SCHEDULE_1F1B, 1, m, more, 0), 3.0 * m + (STAGES - 1) * 3 + 5);
    }
}

/* The first micro-batch waits for a message at each border, there and back. */
TEST(test_messages) {
    pace_turn_times one = {.device_s = {1, 2, 1, 1}};
    expect(period(PACE_SCHEDULE_GPIPE, 1, 1, one, 0.25), 3 + (STAGES - 1) * (3 + 2 * 0.25));
}

/* A host that is slower than its device in all turns is the step, whatever the order; hosts do not wait for each
 * other. */
TEST(test_late_hosts) {
    pace_turn_times one = {.device_s = {1, 2, 1, 1}, .host_s = {40, 80, 50, 50}, .end_host_s = 7};
    expect(period(PACE_SCHEDULE_1F1B, 1, 16, one, 0), 16 * 120 + 7);
    expect(period(PACE_SCHEDULE_ZERO_BUBBLE, 1, 16, one, 0), 16 * 140 + 7);
}

/* A host that waits for each batch has no lead: each forward pass over the first part begins behind the copy of its
 * batch, which comes behind what the device did before; with one stage's worth of micro-batches nothing overlaps host
 * and device. */
TEST(test_input) {
    pace_pipeline pipeline = {PACE_SCHEDULE_GPIPE, 2, 1, 3, false};
    pace_turn_times ahead = {.device_s = {10, 10}, .host_s = {1, 1}}, waits = ahead;
    double plain_s, waiting_s;
    pace_turn_times all[2] = {ahead, ahead};
    assert_int_equal(pace_turns_period(&plain_s, &pipeline, all, 0, 0), PACE_OK);
    all[0] = waits, all[0].input_device_s[0] = 2;
    assert_int_equal(pace_turns_period(&waiting_s, &pipeline, all, 0, 0), PACE_OK);
    expect(waiting_s, plain_s + 3 * 2); /* the copies, on the first stage, which is the one that waits least */
}

/* Gradients are added to those of the micro-batch before: once a micro-batch but the first, and while the pipeline
 * drains one stage after the other. */
TEST(test_adds) {
    pace_turn_times one = {.device_s = {1, 2, 1, 1}, .add_device_s = 0.5};
    for (uint32_t m = 2 * STAGES; m <= 4 * STAGES; m += STAGES) {
        expect(period(PACE_SCHEDULE_1F1B, 1, m, one, 0), 3.0 * m + 0.5 * (m - 1) + (STAGES - 1) * 3.5);
        expect(period(PACE_SCHEDULE_GPIPE, 1, m, one, 0), 3.0 * m + 0.5 * (m - 1) + (STAGES - 1) * 3.5);
    }
}

/* Both stages add gradients of one table. A last stage whose host is late, and waits for its targets, issues no more
 * while the first stage computes. */
TEST(test_ends_together) {
    pace_pipeline pipeline = {PACE_SCHEDULE_GPIPE, 2, 1, 1, false};
    pace_turn_times all[2] = {{.device_s = {10, 10}}, {.device_s = {1, 1}, .host_s = {20}, .input_device_s = {0, 1}}};
    double apart_s, together_s;
    assert_int_equal(pace_turns_period(&apart_s, &pipeline, all, 0, 0), PACE_OK);
    all[0].ends_together = all[1].ends_together = true;
    assert_int_equal(pace_turns_period(&together_s, &pipeline, all, 0, 0), PACE_OK);
    expect(apart_s, 1 + 20 + 1);
    expect(together_s, 1 + 20 + 1 + 10);
}

/* Two stages of two chunks each, of which the model's last part has the output's table and takes ten times as long:
 * with forward passes alone a stage works through both of its chunks, and the last stage is the slowest by all that its
 * last chunk takes. */
TEST(test_unlike_chunks) {
    pace_pipeline pipeline = {PACE_SCHEDULE_1F1B, 2, 2, 8, true};
    pace_turn_times one = {.device_s = {1}}, long_one = {.device_s = {10}}, all[4] = {one, one, one, long_one};
    double out_s;
    assert_int_equal(pace_turns_period(&out_s, &pipeline, all, 0, 0), PACE_OK);
    expect(out_s, 8 * (1 + 10));
}

/* One stage after the other waits for what it gathers, beside the passes of the stages before; blocks of one second
 * each, gathered in four. */
TEST(test_gathers) {
    pace_pipeline pipeline = {PACE_SCHEDULE_GPIPE, 2, 1, 1, false};
    const pace_gathered_block block = {.pass = {{0, 1, 1}, {0, 2, 2}, {0, 1, 1}, {0, 1, 1}}, .gather_s = 4};
    const pace_gathered_block *blocks[] = {&block, &block};
    const pace_gathered_chunk chunk = {blocks, 2};
    pace_turn_times one = {.device_s = {2, 4}, .blocks = &chunk}, all[2] = {one, one};
    double out_s;
    assert_int_equal(pace_turns_period(&out_s, &pipeline, all, 0, 0), PACE_OK);
    expect(out_s, 2 * 4 + 1 + 2 + 4 + 4); /* the second has gathered before what it waits for has come */
}

/* Buckets of one second, four a stage: the first goes when a quarter of the last pass is done, the last behind it. */
TEST(test_gradients) {
    pace_pipeline pipeline = {PACE_SCHEDULE_GPIPE, 1, 1, 3, false};
    pace_turn_times one = {.device_s = {10, 20}, .exchange_s = 4, .bucket_s = 1, .last_bucket_s = 1, .end_device_s = 5};
    double out_s;
    assert_int_equal(pace_turns_period(&out_s, &pipeline, &one, 0, 0), PACE_OK);
    expect(out_s, 3 * 30 + 1 + 5);
    one.exchange_s = 40, one.bucket_s = 10;
    assert_int_equal(pace_turns_period(&out_s, &pipeline, &one, 0, 0), PACE_OK);
    expect(out_s, 3 * 30 - 15 + 40 + 5);
}

/* All gradients come in the first half of the backward pass, or in the second. */
TEST(test_order_of_gradients) {
    pace_pipeline pipeline = {PACE_SCHEDULE_GPIPE, 1, 1, 3, false};
    const pace_gathered_block none = {.pass = {{0, 5, 5}, {0, 10, 10}}};
    const pace_gathered_block full = {.pass = {{0, 5, 5}, {0, 10, 10}}, .share = 0.5};
    const pace_gathered_block *first[] = {&none, &full}, *second[] = {&full, &none};
    const pace_gathered_chunk chunks[] = {{first, 2}, {second, 2}};
    for (int half = 0; half < 2; half++) {
        pace_turn_times one = {.device_s = {10, 20}, .exchange_s = 40, .bucket_s = 10, .forms = &chunks[half]};
        double out_s;
        assert_int_equal(pace_turns_period(&out_s, &pipeline, &one, 0, 0), PACE_OK);
        expect(out_s, 3 * 30 - 20 + 10 * half + 2.5 + 40);
    }
}

/* The second stage's host waits for its targets, and issues the backward pass for 20 s, of which the device has done
 * 19 s when all is issued; buckets fill from its beginning on, and the first goes when a twentieth is done. */
TEST(test_gradients_of_late_hosts) {
    pace_pipeline pipeline = {PACE_SCHEDULE_GPIPE, 2, 1, 1, false};
    pace_turn_times all[2] = {{.device_s = {0.5, 0.5}},
                              {.device_s = {1, 1},
                               .host_s = {0, 20},
                               .input_device_s = {0, 1},
                               .exchange_s = 20,
                               .bucket_s = 1,
                               .last_bucket_s = 1}};
    double out_s;
    assert_int_equal(pace_turns_period(&out_s, &pipeline, all, 0, 0), PACE_OK);
    expect(out_s, 1 + 1 + 19.0 / 20 + 20);
}

/* A host that is ahead waits for its device. The second stage's begins when the first's has ended 20 s; until then its
 * host would have issued the backward pass, but where 4 launches of 10 fit, the last 6 are issued behind forward. */
TEST(test_queue) {
    pace_pipeline pipeline = {PACE_SCHEDULE_GPIPE, 2, 1, 1, false};
    pace_turn_times one = {.device_s = {20, 2}, .host_s = {1, 40}, .launches = {10, 10}}, all[2] = {one, one};
    double plain_s, held_s;
    all[0].device_s[PACE_TURN_BACKWARD] = all[0].host_s[PACE_TURN_BACKWARD] = 0;
    assert_int_equal(pace_turns_period(&plain_s, &pipeline, all, 0, 0), PACE_OK);
    assert_int_equal(pace_turns_period(&held_s, &pipeline, all, 0, 4), PACE_OK);
    expect(plain_s, 20 + 20 + 2);
    expect(held_s, 20 + 20 + 0.6 * 40);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

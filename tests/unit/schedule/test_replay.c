/* The walk: by hand, and on random schedules against repeated relaxation. */

#include "cmocka_of_tests.h"
#include <math.h>
#include <string.h>

#include "schedule/replay.h"

enum { NONE = -1, MOST = 64 };

static uint32_t seed;
static double unit[PACE_REPLAY_RESOURCES];

static int64_t pick(uint32_t bound) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % bound;
}

static int start_all(void **state) {
    (void)state;
    for (int i = 0; i < PACE_REPLAY_RESOURCES; i++) unit[i] = 1;
    return 0;
}

static void lane(pace_replay *replay) {
    assert_int_equal(PACE_PUSH(&replay->lane_first, (uint32_t)replay->segments.count), PACE_OK);
}

static pace_segment *segment(pace_replay *replay, int64_t start, int64_t duration, int64_t dependency,
                             uint8_t resource) {
    pace_segment s = {.start_ns = start,
                      .duration_ns = duration,
                      .task = (uint32_t)replay->segments.count,
                      .resource = resource};
    if (dependency != NONE) assert_non_null(pace_segment_depend(replay, &s, (uint32_t)dependency, 0, false));
    assert_int_equal(PACE_PUSH(&replay->segments, s), PACE_OK);
    return &replay->segments.items[replay->segments.count - 1];
}

/* A host lane (resource 0) launches two kernels (resource 1) and waits for the second. */
TEST(test_by_hand) {
    pace_replay replay = {.origin_ns = 100};
    int64_t start[5];
    uint8_t bound[5];
    lane(&replay);
    segment(&replay, 100, 10, NONE, 0);
    segment(&replay, 110, 10, NONE, 0);
    segment(&replay, 190, 5, 4, 0);
    lane(&replay);
    pace_segment *s = segment(&replay, 105, 40, 0, 1);
    pace_segment_own_wait(&replay, s, 0)->from_start = true;
    pace_segment_own_wait(&replay, s, 0)->lag_ns = 5;
    segment(&replay, 150, 40, 1, 1); /* 5 ns after its lane: unexplained */
    lane(&replay);
    assert_int_equal(pace_replay_explain(&replay), PACE_OK);
    assert_int_equal(replay.segments.items[4].delay_ns, 5);
    assert_int_equal(pace_replay_run(&replay, unit, start, bound), PACE_OK);
    for (int i = 0; i < 5; i++) assert_int_equal(start[i], replay.segments.items[i].start_ns);
    assert_int_equal(bound[0], PACE_BOUND_BY_ORIGIN);
    assert_int_equal(bound[1], PACE_BOUND_BY_LANE);
    assert_int_equal(bound[2], PACE_BOUND_BY_DEPENDENCY);
    assert_int_equal(bound[3], PACE_BOUND_BY_DEPENDENCY);
    assert_int_equal(bound[4], PACE_BOUND_BY_LANE);
    double factor[PACE_REPLAY_RESOURCES];
    memcpy(factor, unit, sizeof factor);
    factor[1] = 0.25; /* kernels of 10: 105 to 115; then the launch that ends at 120 binds, plus the 5 */
    assert_int_equal(pace_replay_run(&replay, factor, start, bound), PACE_OK);
    const int64_t expected[] = {100, 110, 135, 105, 125};
    for (int i = 0; i < 5; i++) assert_int_equal(start[i], expected[i]);
    assert_int_equal(bound[4], PACE_BOUND_BY_DEPENDENCY);
    assert_int_equal(pace_replay_run(&replay, unit, start, NULL), PACE_OK);
    pace_replay_free(&replay);
}

TEST(test_deadlock) {
    pace_replay replay = {0};
    int64_t start[4];
    lane(&replay);
    segment(&replay, 0, 1, 3, 0);
    segment(&replay, 1, 1, NONE, 0);
    lane(&replay);
    segment(&replay, 0, 1, 1, 0);
    segment(&replay, 1, 1, NONE, 0);
    lane(&replay);
    assert_int_equal(pace_replay_run(&replay, unit, start, NULL), PACE_E_INPUT);
    assert_non_null(strstr(pace_message(), "lane 0"));
    pace_replay_free(&replay);
}

TEST(test_empty) {
    pace_replay replay = {0};
    assert_int_equal(pace_replay_run(&replay, unit, NULL, NULL), PACE_OK);
    pace_replay_free(&replay);
}

/* Four lanes with measured starts, overlaps included; a segment waits for others that began before it. */
static void make(pace_replay *replay) {
    *replay = (pace_replay){.origin_ns = 0};
    for (int i = 0; i < 4; i++) {
        int64_t at = pick(20);
        lane(replay);
        for (int64_t n = pick(12); n > 0; n--) {
            pace_segment *s = segment(replay, at, pick(30), NONE, (uint8_t)pick(3));
            s->delay_resource = (uint8_t)pick(3);
            s->lag_resource = (uint8_t)pick(3);
            at += pick(40) + 1;
        }
    }
    lane(replay);
    for (size_t i = 0; i < replay->segments.count; i++) {
        pace_segment *s = &replay->segments.items[i];
        for (int d = 0; d < PACE_SEGMENT_DEPENDENCIES; d++) {
            uint32_t on = (uint32_t)pick((uint32_t)replay->segments.count);
            if (replay->segments.items[on].start_ns >= s->start_ns) continue;
            pace_segment_wait *wait = pace_segment_own_wait(replay, s, (unsigned)d);
            wait->on = on;
            wait->from_start = pick(2) != 0;
            wait->lag_ns = pick(10);
        }
    }
    assert_int_equal(pace_replay_explain(replay), PACE_OK);
}

static int64_t by(int64_t ns, double factor) { return (int64_t)llround((double)ns * factor); }

/* Every start raised to what its lane and dependencies ask, until nothing changes. */
static void relax(const pace_replay *replay, const double *factor, int64_t *start) {
    const pace_segment *all = replay->segments.items;
    for (size_t i = 0; i < replay->segments.count; i++) start[i] = INT64_MIN / 4;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < replay->segments.count; i++) {
            const pace_segment *s = &all[i];
            const pace_segment_wait *overlap = pace_segment_wait_in(replay, s, PACE_WAIT_OVERLAP);
            int64_t ready = INT64_MIN / 4;
            if (i == replay->lane_first.items[pace_segment_lane(replay, (uint32_t)i)]) {
                ready = replay->origin_ns;
            } else {
                int64_t end =
                    start[i - 1] + by(s[-1].duration_ns, factor[s[-1].resource]) + (overlap ? overlap->lag_ns : 0);
                ready = end > start[i - 1] ? end : start[i - 1];
            }
            for (int d = 0; d < PACE_SEGMENT_DEPENDENCIES; d++) {
                const pace_segment_wait *wait = pace_segment_wait_in(replay, s, (unsigned)d);
                uint32_t on = wait ? wait->on : PACE_NO_SEGMENT;
                if (on == PACE_NO_SEGMENT) continue;
                int64_t lag = wait->lag_ns > 0 ? by(wait->lag_ns, factor[s->lag_resource]) : wait->lag_ns;
                int64_t met =
                    start[on] + (wait->from_start ? 0 : by(all[on].duration_ns, factor[all[on].resource])) + lag;
                if (met > ready) ready = met;
            }
            ready += by(s->delay_ns, factor[s->delay_resource]);
            if (ready > start[i]) start[i] = ready, changed = true;
        }
    }
}

TEST(test_random) {
    seed = 7;
    for (int round = 0; round < 3000; round++) {
        pace_replay replay;
        int64_t measured[MOST], slow[MOST], expected[MOST], fast[MOST];
        double factor[PACE_REPLAY_RESOURCES];
        make(&replay);
        size_t count = replay.segments.count;
        assert_int_equal(pace_replay_run(&replay, unit, measured, NULL), PACE_OK);
        for (size_t i = 0; i < count; i++) assert_int_equal(measured[i], replay.segments.items[i].start_ns);
        for (int r = 0; r < PACE_REPLAY_RESOURCES; r++) factor[r] = (double)pick(300) / 100;
        assert_int_equal(pace_replay_run(&replay, factor, slow, NULL), PACE_OK);
        relax(&replay, factor, expected);
        for (size_t i = 0; i < count; i++) assert_int_equal(slow[i], expected[i]);
        factor[pick(3)] *= (double)pick(100) / 100; /* one resource faster */
        assert_int_equal(pace_replay_run(&replay, factor, fast, NULL), PACE_OK);
        for (size_t i = 0; i < count; i++) assert_true(fast[i] <= slow[i]);
        pace_replay_free(&replay);
    }
}

int main(void) { return run_tests_of_file(start_all, NULL); }

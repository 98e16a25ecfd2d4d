/*
 * What a drawing shows of a trace: every task where there is room; elsewhere runs of neighbours that together stand for
 * every task once, in order, and no longer than the zone allows between two tasks that are shown.
 */

#include "cmocka_of_tests.h"
#include <stdio.h>

#include "insight/timeline/timeline_cut.h"
#include "insight/timeline/timeline_zones.h"
#include "stage_words_of_tests.h"

enum { STEPS = 20, OPERATORS = 200, KERNEL_NS = 700, STEP_NS = 1000000 };

/* Steps of nested operators on a host thread, each of which launches a kernel. */
static void make_trace(pace_rank *rank) {
    uint32_t host, stream;
    pace_name name, label;
    *rank = (pace_rank){.path = NULL};
    assert_int_equal(pace_step_init(&rank->step), PACE_OK);
    assert_int_equal(pace_step_lane(&host, &rank->step, "host 1/1", 8, false, 0), PACE_OK);
    assert_int_equal(pace_step_lane(&stream, &rank->step, "device 0 stream 7", 17, true, 0), PACE_OK);
    assert_int_equal(pace_names_add(&name, &rank->step.names, "op", 2), PACE_OK);
    for (int64_t s = 0; s < STEPS; s++) {
        char text[32];
        int length = snprintf(text, sizeof text, "ProfilerStep#%d", (int)s);
        int64_t begin = s * STEP_NS;
        assert_int_equal(pace_names_add(&label, &rank->step.names, text, (size_t)length), PACE_OK);
        assert_int_equal(pace_step_add_task(&rank->step, host, PACE_TASK_ANNOTATION, label, begin, STEP_NS - 1),
                         PACE_OK);
        for (int64_t i = 0; i < OPERATORS; i++) {
            int64_t at = begin + 10 + i * 2000;
            assert_int_equal(pace_step_add_task(&rank->step, host, PACE_TASK_OP, name, at, 1500), PACE_OK);
            assert_int_equal(pace_step_add_task(&rank->step, host, PACE_TASK_OP, name, at + 100, 500), PACE_OK);
            assert_int_equal(pace_step_add_task(&rank->step, stream, PACE_TASK_KERNEL, name, at + 400, KERNEL_NS),
                             PACE_OK);
        }
    }
    assert_int_equal(pace_step_finish(&rank->step), PACE_OK);
    assert_int_equal(pace_marks_find(&rank->marks, &rank->step, test_stage_words(), NULL), PACE_OK);
    assert_int_equal(rank->marks.items.count, STEPS);
}

static void free_trace(pace_rank *rank) {
    pace_marks_free(&rank->marks);
    pace_step_free(&rank->step);
}

/* Checks that the slices of each lane stand for its tasks in order; returns how many slices there are. */
static size_t check_cut(const pace_rank *rank, const pace_trace_zones *zones) {
    pace_drawn_slices drawn = {0};
    size_t sum = 0;
    for (size_t l = 0; l < rank->step.lanes.count; l++) {
        const pace_lane *lane = &rank->step.lanes.items[l];
        assert_int_equal(pace_lane_cut(&drawn, &rank->step, lane, &zones->lanes[l]), PACE_OK);
        uint32_t next = lane->first;
        for (size_t i = 0; i < drawn.count; i++) {
            const pace_drawn *one = &drawn.items[i];
            assert_int_equal(one->first, next);
            next += one->count;
            assert_in_range(one->longest, one->first, next - 1);
            assert_int_equal(one->start_ns, rank->step.start_ns[one->first]);
            for (uint32_t task = one->first; task < next; task++)
                assert_true(pace_step_end_ns(&rank->step, task) <= one->end_ns);
            if (i > 0) assert_true(one->start_ns >= drawn.items[i - 1].start_ns);
        }
        assert_int_equal(next, lane->first + lane->count);
        sum += drawn.count;
    }
    PACE_VEC_FREE(&drawn);
    return sum;
}

/* Zones tile all time. */
static void check_tiling(const pace_zones *zones) {
    assert_true(zones->count > 0);
    assert_true(zones->items[0].from_ns == INT64_MIN && zones->items[zones->count - 1].to_ns == INT64_MAX);
    for (size_t i = 1; i < zones->count; i++) assert_true(zones->items[i].from_ns == zones->items[i - 1].to_ns);
}

static void check_zones(const pace_trace_zones *zones) {
    assert_int_equal(zones->lane_count, 2);
    for (size_t l = 0; l < zones->lane_count; l++) check_tiling(&zones->lanes[l]);
    check_tiling(&zones->summary);
}

TEST(test_all_where_there_is_room) {
    pace_rank rank, *traces[] = {&rank};
    pace_trace_zones *zones;
    make_trace(&rank);
    const pace_zone_limits limits = {1000000, 1000};
    assert_int_equal(pace_zones_plan(&zones, traces, 1, &rank, 7, &limits), PACE_OK);
    check_zones(zones);
    assert_int_equal(check_cut(&rank, zones), rank.step.count);
    pace_zones_free(zones, 1);
    free_trace(&rank);
}

/* Two traces, room for a few steps: the reported one is whole on both, the trace as a whole stays within the limits. */
TEST(test_reported_step_comes_first) {
    enum { STEP_SLICES = 1 + 2 * OPERATORS + 3 * OPERATORS };
    pace_rank ranks[2], *traces[] = {&ranks[0], &ranks[1]};
    pace_trace_zones *zones;
    make_trace(&ranks[0]);
    make_trace(&ranks[1]);
    const pace_zone_limits limits = {3 * STEP_SLICES + 100, 400};
    assert_int_equal(pace_zones_plan(&zones, traces, 2, &ranks[1], 7, &limits), PACE_OK);
    for (int t = 0; t < 2; t++) {
        check_zones(&zones[t]);
        bool whole = false;
        const pace_zones *lane = &zones[t].lanes[1];
        for (size_t i = 0; i < lane->count; i++)
            if (lane->items[i].from_ns == 7 * STEP_NS) whole = lane->items[i].thin_ns == 0;
        assert_true(whole);
    }
    size_t slices = check_cut(&ranks[0], &zones[0]) + check_cut(&ranks[1], &zones[1]);
    assert_in_range(slices, 2 * 3 * OPERATORS, limits.whole_slices + limits.merged_slices + 40);
    pace_zones_free(zones, 2);
    free_trace(&ranks[0]);
    free_trace(&ranks[1]);
}

/* A step that has no room is shown as finely as fits. */
TEST(test_a_giant_step_is_merged) {
    pace_rank rank, *traces[] = {&rank};
    pace_trace_zones *zones;
    make_trace(&rank);
    const pace_zone_limits limits = {300, 100};
    assert_int_equal(pace_zones_plan(&zones, traces, 1, &rank, 3, &limits), PACE_OK);
    check_zones(zones);
    assert_in_range(check_cut(&rank, zones), 20, 450);
    pace_zones_free(zones, 1);
    free_trace(&rank);
}

/* Without steps the whole trace is one. */
TEST(test_no_steps) {
    pace_rank rank, *traces[] = {&rank};
    pace_trace_zones *zones;
    make_trace(&rank);
    const pace_zone_limits limits = {300, 100};
    assert_int_equal(pace_zones_plan(&zones, traces, 1, &rank, SIZE_MAX, &limits), PACE_OK);
    check_zones(zones);
    assert_in_range(check_cut(&rank, zones), 20, 450);
    pace_zones_free(zones, 1);
    free_trace(&rank);
}

static pace_span span_at(const void *context, size_t index) { return ((const pace_span *)context)[index]; }

TEST(test_spans) {
    const pace_span spans[] = {{0, 10, 1}, {10, 12, 1}, {12, 30, 2}, {30, 31, 2}, {40, 41, 2}};
    pace_zone all = {INT64_MIN, INT64_MAX, 0, 0};
    const pace_zones zones = {&all, 1, 1};
    pace_drawn_spans drawn = {0};
    assert_int_equal(pace_spans_cut(&drawn, span_at, spans, 5, &zones), PACE_OK);
    assert_int_equal(drawn.count, 3); /* touching spans of a key are one */
    assert_int_equal(drawn.items[0].end_ns, 12);
    assert_int_equal(drawn.items[0].count, 1);
    assert_int_equal(drawn.items[1].longest, 2);
    all.thin_ns = all.run_ns = 5;
    assert_int_equal(pace_spans_cut(&drawn, span_at, spans, 5, &zones), PACE_OK);
    assert_int_equal(drawn.count, 5); /* short ones do not join long ones, nor others too far away */
    all.thin_ns = all.run_ns = 100;
    assert_int_equal(pace_spans_cut(&drawn, span_at, spans, 5, &zones), PACE_OK);
    assert_int_equal(drawn.count, 1);
    assert_int_equal(drawn.items[0].count, 5);
    assert_int_equal(drawn.items[0].longest, 2);
    assert_int_equal(drawn.items[0].end_ns, 41);
    PACE_VEC_FREE(&drawn);
}

/* Every allocation fails once: a status, and nothing left behind. */
TEST(test_out_of_memory) {
    pace_rank rank, *traces[] = {&rank};
    make_trace(&rank);
    const pace_zone_limits limits = {300, 100};
    int64_t before = pace_memory_live();
    bool passed = false;
    for (uint64_t n = 1; n < 1000 && !passed; n++) {
        pace_trace_zones *zones = NULL;
        pace_memory_fail_at(n);
        passed = pace_zones_plan(&zones, traces, 1, &rank, 3, &limits) == PACE_OK;
        pace_memory_fail_at(0);
        if (passed) pace_zones_free(zones, 1);
        assert_int_equal(pace_memory_live(), before);
    }
    assert_true(passed);
    free_trace(&rank);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

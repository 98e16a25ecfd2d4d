/* Which task each part of a host's run belongs to, against every nanosecond of random threads; when threads wake. */

#include "cmocka_of_tests.h"
#include <stdlib.h>

#include "insight/host_runs.h"

enum { LENGTH = 400, TASKS = 60 };

/* Tasks within tasks, some of which are annotations, that take no time of their own. */
static void add_nested(pace_step *step, uint32_t lane, pace_name name, int from, int to, int depth) {
    for (int at = from; at < to && step->count < TASKS && depth < 5;) {
        int start = at + rand() % 20, end = start + rand() % 60;
        if (end > to) return;
        pace_task_kind kind = rand() % 4 ? PACE_TASK_OP : PACE_TASK_ANNOTATION;
        assert_int_equal(pace_step_add_task(step, lane, kind, name, start, end - start), PACE_OK);
        add_nested(step, lane, name, start, end, depth + 1);
        at = end + 1;
    }
}

/* The operator that began last of those that cover a nanosecond. */
static uint32_t owner(const pace_step *step, int64_t at) {
    uint32_t found = PACE_NO_TASK;
    for (uint32_t task = 0; task < step->count; task++)
        if (step->kind[task] == PACE_TASK_OP && step->start_ns[task] <= at && pace_step_end_ns(step, task) > at)
            found = task;
    return found;
}

static void check_runs(const pace_step *step, const uint32_t *owners) {
    const pace_lane *lane = &step->lanes.items[0];
    for (int64_t from = 0; from < LENGTH; from++) {
        if (owners[from] == PACE_NO_TASK) continue;
        for (int64_t to = from + 1; to <= LENGTH && owners[to - 1] != PACE_NO_TASK; to++) {
            int64_t start;
            assert_int_equal(pace_host_run_end(&start, step, lane, from, to), owners[to - 1]);
            assert_true(start >= from && start < to);
            for (int64_t at = start; at < to; at++) assert_int_equal(owners[at], owners[to - 1]);
        }
    }
}

TEST(test_parts) {
    srand(1);
    for (int round = 0; round < 60; round++) {
        pace_step step;
        pace_name name;
        uint32_t lane, owners[LENGTH];
        assert_int_equal(pace_step_init(&step), PACE_OK);
        assert_int_equal(pace_names_add(&name, &step.names, "aten::add", 9), PACE_OK);
        assert_int_equal(pace_step_lane(&lane, &step, "host 1/1", 8, false, 0), PACE_OK);
        add_nested(&step, lane, name, 0, LENGTH, 0);
        assert_int_equal(pace_step_finish(&step), PACE_OK);
        for (int64_t at = 0; at < LENGTH; at++) owners[at] = owner(&step, at);
        if (step.count) check_runs(&step, owners);
        pace_step_free(&step);
    }
}

TEST(test_wakes) {
    static const struct {
        uint32_t lane;
        int64_t start_ns, duration_ns;
    } tasks[] = {{0, 5000, 3000}, {0, 6000, 500}, {0, 8000, 100}, {0, 8600, 100}, {0, 9700, 10}, {1, 7000, 10}};
    const int64_t expected[] = {5000, 7000, 9700}; /* pauses of 0 and 500 ns are none */
    pace_step step;
    pace_name name;
    pace_instants wakes = {0};
    assert_int_equal(pace_step_init(&step), PACE_OK);
    assert_int_equal(pace_names_add(&name, &step.names, "aten::add", 9), PACE_OK);
    for (uint32_t lane, i = 0; i < PACE_COUNT(tasks); i++) {
        assert_int_equal(pace_step_lane(&lane, &step, tasks[i].lane ? "host 1/2" : "host 1/1", 8, false, 0), PACE_OK);
        assert_int_equal(pace_step_add_task(&step, lane, PACE_TASK_OP, name, tasks[i].start_ns, tasks[i].duration_ns),
                         PACE_OK);
    }
    assert_int_equal(pace_step_finish(&step), PACE_OK);
    assert_int_equal(pace_host_wakes(&wakes, &step, INT64_MAX), PACE_OK);
    assert_int_equal(wakes.count, PACE_COUNT(expected));
    for (size_t i = 0; i < wakes.count; i++) assert_int_equal(wakes.items[i].at_ns, expected[i]);
    PACE_VEC_FREE(&wakes);
    pace_step_free(&step);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

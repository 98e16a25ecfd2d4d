/* Sorting, nesting and linking of tasks, and the checker of the result. */

#include "cmocka_of_tests.h"
#include <string.h>

#include "step/step.h"

static pace_step step;

static void add(const char *key, pace_task_kind kind, const char *name, int64_t start, int64_t end,
                uint32_t correlation, uint32_t external) {
    uint32_t lane;
    pace_name id;
    assert_int_equal(pace_step_lane(&lane, &step, key, strlen(key), key[0] == 'd', 0), PACE_OK);
    assert_int_equal(pace_names_add(&id, &step.names, name, strlen(name)), PACE_OK);
    assert_int_equal(pace_step_add_task(&step, lane, kind, id, start, end - start), PACE_OK);
    step.correlation[step.count - 1] = correlation;
    step.external[step.count - 1] = external;
}

static uint32_t find(const char *name) {
    for (uint32_t task = 0; task < step.count; task++)
        if (strcmp(pace_step_name(&step, task), name) == 0) return task;
    fail_msg("no task %s", name);
    return PACE_NO_TASK;
}

static void below(const char *child, const char *parent) {
    uint32_t expected = parent ? find(parent) : PACE_NO_TASK;
    if (pace_task_parent(&step, find(child)) != expected)
        fail_msg("%s is not below %s", child, parent ? parent : "nothing");
}

static void caused_by(const char *task, const char *cause) {
    uint32_t expected = cause ? find(cause) : PACE_NO_TASK;
    if (pace_task_cause(&step, find(task)) != expected)
        fail_msg("%s was not caused by %s", task, cause ? cause : "nothing");
}

/* In no order; the device before the host. */
static void make(void) {
    const char *host = "host 1/1", *other = "host 1/2", *stream = "device 0 stream 7";
    assert_int_equal(pace_step_init(&step), PACE_OK);
    add(stream, PACE_TASK_KERNEL, "node c", 90000, 95000, 3, 0);
    add(stream, PACE_TASK_KERNEL, "node a", 70000, 75000, 3, 0);
    add(stream, PACE_TASK_COPY, "node b", 80000, 85000, 3, 0);
    add(stream, PACE_TASK_KERNEL, "by call", 50000, 60000, 2, 11);
    add(stream, PACE_TASK_KERNEL, "by operator", 60000, 61000, 99, 12);
    add(stream, PACE_TASK_MEMSET, "by nothing", 61000, 62000, 98, 97);
    add(stream, PACE_TASK_SYNC, "wait", 62000, 62000, 2, 0);
    add(host, PACE_TASK_CALL, "launch", 12000, 14000, 2, 0);
    add(host, PACE_TASK_OP, "inner", 10000, 20000, 0, 12);
    add(host, PACE_TASK_OP, "outer", 10000, 40000, 0, 11);
    add(host, PACE_TASK_CALL, "cudaGraphLaunch", 45000, 48000, 3, 0);
    add(host, PACE_TASK_OP, "rounded", 38000, 41500, 0, 0);       /* ends 1.5 us late: still below */
    add(host, PACE_TASK_ANNOTATION, "range", 30000, 44000, 0, 0); /* ends 4 us late: beside outer */
    add(host, PACE_TASK_OP, "after", 44000, 44500, 0, 0);
    add(other, PACE_TASK_OP, "elsewhere", 11000, 12000, 0, 0);
    add(other, PACE_TASK_CALL, "late launch", 99000, 99001, 2, 0); /* the first with an id keeps it */
    assert_int_equal(pace_step_finish(&step), PACE_OK);
    assert_int_equal(pace_step_check(&step), PACE_OK);
}

TEST(test_sorted) {
    make();
    uint32_t next = 0;
    for (size_t i = 0; i < step.lanes.count; i++) {
        const pace_lane *lane = &step.lanes.items[i];
        assert_int_equal(lane->first, next);
        next += lane->count;
        for (uint32_t task = lane->first; task < next; task++) {
            assert_int_equal(pace_task_lane(&step, task), i);
            if (task == lane->first) continue;
            assert_true(step.start_ns[task - 1] < step.start_ns[task] ||
                        (step.start_ns[task - 1] == step.start_ns[task] &&
                         pace_task_ns(&step, task - 1) >= pace_task_ns(&step, task)));
        }
    }
    assert_int_equal(next, step.count);
    assert_int_equal(find("outer") + 1, find("inner"));
    pace_step_free(&step);
}

TEST(test_nesting) {
    make();
    below("outer", NULL);
    below("inner", "outer");
    below("launch", "inner");
    below("range", NULL);
    below("rounded", "range");
    below("after", NULL);
    below("cudaGraphLaunch", NULL);
    below("elsewhere", NULL);
    below("by call", NULL);
    pace_step_free(&step);
}

TEST(test_rounding) {
    assert_int_equal(pace_step_init(&step), PACE_OK);
    add("host 1/1", PACE_TASK_OP, "parent", 0, 10000, 0, 0);
    add("host 1/1", PACE_TASK_OP, "child", 5000, 12000, 0, 0); /* 2 us over */
    add("host 1/2", PACE_TASK_OP, "first", 0, 10000, 0, 0);
    add("host 1/2", PACE_TASK_OP, "second", 5000, 12001, 0, 0);
    assert_int_equal(pace_step_finish(&step), PACE_OK);
    below("child", "parent");
    below("second", NULL);
    pace_step_free(&step);
}

/* Tasks longer than 32 bits of nanoseconds keep their length when they are sorted, and nest by it. */
TEST(test_long_tasks) {
    const int64_t widest = (int64_t)UINT32_MAX - 1, hour = INT64_C(3600000000000);
    assert_int_equal(pace_step_init(&step), PACE_OK);
    add("host 1/2", PACE_TASK_OP, "widest column", 0, widest, 0, 0);
    add("host 1/2", PACE_TASK_OP, "one more", 0, widest + 1, 0, 0);
    add("host 1/1", PACE_TASK_OP, "hour", 5000, 5000 + hour, 0, 0);
    add("host 1/1", PACE_TASK_OP, "day", 0, 24 * hour, 0, 0);
    add("host 1/1", PACE_TASK_OP, "short", hour + 1000, hour + 2000, 0, 0);
    assert_int_equal(pace_step_finish(&step), PACE_OK);
    assert_int_equal(pace_step_check(&step), PACE_OK);
    assert_int_equal(pace_task_ns(&step, find("widest column")), widest);
    assert_int_equal(pace_task_ns(&step, find("one more")), widest + 1);
    assert_int_equal(pace_task_ns(&step, find("hour")), hour);
    assert_int_equal(pace_task_ns(&step, find("day")), 24 * hour);
    assert_int_equal(pace_task_ns(&step, find("short")), 1000);
    below("widest column", "one more");
    below("hour", "day");
    below("short", "hour");
    pace_step_free(&step);
}

TEST(test_causes) {
    make();
    caused_by("by call", "launch");
    caused_by("by operator", "inner");
    caused_by("by nothing", NULL);
    caused_by("wait", NULL);
    caused_by("node a", "cudaGraphLaunch");
    caused_by("node b", "cudaGraphLaunch");
    caused_by("node c", "cudaGraphLaunch");
    caused_by("inner", NULL);
    assert_int_equal(step.linked_kernels, 3);
    pace_step_free(&step);
}

static void broken(const char *what) {
    assert_int_equal(pace_step_check(&step), PACE_E_INTERNAL);
    if (!strstr(pace_message(), what)) fail_msg("no '%s' in: %s", what, pace_message());
}

/* Makes a task a long one; the place of its duration. */
static int64_t *lengthen(uint32_t task) {
    int64_t duration_ns = step.duration[task];
    step.duration[task] = PACE_LONG_TASK;
    assert_int_equal(PACE_PUSH(&step.long_tasks, ((pace_long_task){task, duration_ns})), PACE_OK);
    return &step.long_tasks.items[0].duration_ns;
}

/* Puts a value in, expects the complaint, puts the old one back. */
#define BREAK(type, place, value, what)                    \
    do {                                                   \
        type old = (place);                                \
        (place) = (value);                                 \
        broken(what);                                      \
        (place) = old;                                     \
        assert_int_equal(pace_step_check(&step), PACE_OK); \
    } while (0)

TEST(test_check) {
    make();
    uint32_t outer = find("outer"), inner = find("inner"), kernel = find("by call"), elsewhere = find("elsewhere");
    int64_t *long_ns = lengthen(inner);
    BREAK(int64_t, *long_ns, -1, "negative duration");
    step.long_tasks.count = 0;
    step.duration[inner] = 10000;
    long_ns = lengthen(kernel);
    BREAK(int64_t, *long_ns, INT64_MAX, "past the last instant");
    step.long_tasks.count = 0;
    step.duration[kernel] = 10000;
    BREAK(int64_t, step.start_ns[inner], 9999, "before its predecessor");
    BREAK(uint32_t, step.above[inner], inner, "its parent does not come before it");
    BREAK(uint32_t, step.above[outer], inner, "its parent does not come before it");
    BREAK(uint32_t, step.above[elsewhere], outer, "its parent does not come before it");
    BREAK(uint32_t, step.duration[find("launch")], 8000 + 2001, "outlives its parent");
    BREAK(uint32_t, step.above[kernel], (uint32_t)step.count, "not a host task");
    BREAK(uint32_t, step.above[kernel], find("node a"), "not a host task");
    BREAK(uint32_t, step.lanes.items[1].first, 0, "does not tile");
    BREAK(uint32_t, step.lanes.items[step.lanes.count - 1].count, 1, "lanes hold");
    pace_step_free(&step);
}

TEST(test_empty) {
    assert_int_equal(pace_step_init(&step), PACE_OK);
    assert_int_equal(pace_step_finish(&step), PACE_OK);
    assert_int_equal(pace_step_check(&step), PACE_OK);
    pace_step_free(&step);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

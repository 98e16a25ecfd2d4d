/* Where steps begin and end: annotated, by expression, periodic, none. */

#include "cmocka_of_tests.h"
#include <string.h>

#include "insight/steps/steps.h"
#include "stage_words_of_tests.h"

static pace_step step;
static pace_marks marks;

static int begin(void **state) {
    (void)state;
    marks = (pace_marks){0};
    return pace_step_init(&step);
}

static int end(void **state) {
    (void)state;
    pace_marks_free(&marks);
    pace_step_free(&step);
    return 0;
}

static void add(const char *key, pace_task_kind kind, const char *name, int64_t start, int64_t stop) {
    uint32_t lane;
    pace_name id;
    assert_int_equal(pace_step_lane(&lane, &step, key, strlen(key), key[0] == 'd', 0), PACE_OK);
    assert_int_equal(pace_names_add(&id, &step.names, name, strlen(name)), PACE_OK);
    assert_int_equal(pace_step_add_task(&step, lane, kind, id, start, stop - start), PACE_OK);
}

static void find(const char *regex) {
    assert_int_equal(pace_step_finish(&step), PACE_OK);
    assert_int_equal(pace_marks_find(&marks, &step, test_stage_words(), regex), PACE_OK);
}

static void is_mark(size_t at, const char *label, int64_t start, int64_t stop) {
    assert_true(at < marks.items.count);
    assert_string_equal(pace_names_text(&step.names, marks.items.items[at].label), label);
    assert_int_equal(marks.items.items[at].start_ns, start);
    assert_int_equal(marks.items.items[at].end_ns, stop);
}

TEST_WITH(test_annotated, begin, end) {
    add("host 1", PACE_TASK_ANNOTATION, "ProfilerStep#2", 200, 290);
    add("host 1", PACE_TASK_ANNOTATION, "Optimizer.step#SGD.step", 210, 220);
    add("host 2", PACE_TASK_OP, "ProfilerStep#1", 100, 190); /* 2021: an operator; another thread */
    add("host 1", PACE_TASK_PYTHON, "ProfilerStep#9", 300, 310);
    add("device 0", PACE_TASK_KERNEL, "ProfilerStep#8", 300, 310);
    find(NULL);
    assert_int_equal(marks.origin, PACE_MARKS_ANNOTATED);
    assert_int_equal(marks.items.count, 2);
    assert_float_equal(marks.certainty, 1, 0);
    assert_int_equal(marks.basis, 0);
    is_mark(0, "ProfilerStep#1", 100, 190);
    is_mark(1, "ProfilerStep#2", 200, 290);
    assert_int_equal(pace_marks_at(&marks, 99), -1);
    assert_int_equal(pace_marks_at(&marks, 100), 0);
    assert_int_equal(pace_marks_at(&marks, 199), 0); /* the gap behind a step is its own */
    assert_int_equal(pace_marks_at(&marks, 200), 1);
    assert_int_equal(pace_marks_at(&marks, 9999), 1);
}

TEST_WITH(test_regex, begin, end) {
    add("host 1", PACE_TASK_ANNOTATION, "ProfilerStep#1", 0, 100);
    add("host 1", PACE_TASK_ANNOTATION, "train batch 1", 10, 40);
    add("host 1", PACE_TASK_ANNOTATION, "train batch 2", 50, 90);
    add("host 1", PACE_TASK_ANNOTATION, "train batch two", 95, 99);
    find("^train batch [0-9]+$");
    assert_int_equal(marks.items.count, 2);
    is_mark(0, "train batch 1", 10, 40);
    is_mark(1, "train batch 2", 50, 90);
    pace_marks_free(&marks);
    marks = (pace_marks){0};
    assert_int_equal(pace_marks_find(&marks, &step, test_stage_words(), "no such"), PACE_E_INPUT);
    assert_non_null(strstr(pace_message(), "there are: ProfilerStep#1, train batch 1, train batch two"));
    assert_int_equal(pace_marks_find(&marks, &step, test_stage_words(), "(train"), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "(train"));
}

TEST_WITH(test_periodic, begin, end) {
    const char *name = "Optimizer.step#SGD.step";
    for (int64_t i = 0; i < 5; i++) add("host 1", PACE_TASK_ANNOTATION, name, i * 100, i * 100 + 10);
    for (int64_t i = 0; i < 9; i++) add("host 1", PACE_TASK_OP, "aten::mm", i * 50 + 20, i * 50 + 30);
    add("host 1", PACE_TASK_CALL, "cudaDeviceSynchronize", 440, 480);
    add("device 0", PACE_TASK_KERNEL, "gemm", 440, 900);
    find(NULL);
    assert_int_equal(marks.origin, PACE_MARKS_PERIODIC);
    assert_string_equal(pace_names_text(&step.names, marks.basis), name);
    assert_float_equal(marks.certainty, 1, 0);
    assert_int_equal(marks.items.count, 5);
    is_mark(0, "step 1", 0, 100);
    is_mark(4, "step 5", 400, 480); /* to the end of the host's work */
}

/* Three gaps of 100 and one of 10000, on two threads that take turns. */
TEST_WITH(test_irregular, begin, end) {
    const int64_t starts[] = {0, 100, 200, 300, 10300};
    for (size_t i = 0; i < 5; i++)
        add(i % 2 ? "host 2" : "host 1", PACE_TASK_ANNOTATION, "Optimizer.step#SGD.step", starts[i], starts[i] + 10);
    find(NULL);
    assert_int_equal(marks.origin, PACE_MARKS_PERIODIC);
    assert_int_equal(marks.items.count, 5);
    for (size_t i = 0; i < 5; i++) assert_int_equal(marks.items.items[i].start_ns, starts[i]);
    is_mark(1, "step 2", 100, 200);
    is_mark(4, "step 5", 10300, 10310);
    assert_float_equal(marks.certainty, 0.75, 0);
}

TEST_WITH(test_none, begin, end) {
    for (int64_t i = 0; i < 5; i++) add("host 1", PACE_TASK_OP, "aten::mm", i * 100, i * 100 + 10);
    add("host 1", PACE_TASK_ANNOTATION, "Optimizer.step#SGD.step", 0, 10); /* once is no period */
    find(NULL);
    assert_int_equal(marks.origin, PACE_MARKS_NONE);
    assert_int_equal(marks.items.count, 0);
    assert_int_equal(pace_marks_at(&marks, 5), -1);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

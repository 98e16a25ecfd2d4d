/* Figures of an answer as a case words them: values by path, cells of tables, sums and products. */

#include "cmocka_of_tests.h"
#include <math.h>

#include "report/answer.h"
#include "ask/validate/case_value.h"
#include "report/table.h"

typedef struct {
    const char *name;
    double time_ns; /* NAN: not known */
    int calls;
} row;

static const pace_table kernels = {"kernels", "Kernels", PACE_FOR_ALL, 0,
                                   PACE_CELLS({"name", "Kernel", PACE_SHOW_TEXT, PACE_OF(row, name)},
                                              {"time_ns", "Time", PACE_SHOW_REAL, PACE_OF(row, time_ns)},
                                              {"calls", "Calls", PACE_SHOW_INT, PACE_OF(row, calls)})};

static const row rows[] = {
    {"gemm", 10.5, 2}, {"f<int, 3>(a [2] + b)", 4, 2}, {"gemm", 7, 3}, {"unknown", NAN, 4}, {"", 1, 5}};

static pace_answer *answer;

static int make(void **state) {
    pace_report *report;
    (void)state;
    assert_int_equal(pace_report_new(&report, "test", "A test"), PACE_OK);
    pace_report_value(report, "step.median_s", 0.25);
    pace_node_int(pace_report_root(report), "missed", 7);
    pace_node_text(pace_report_root(report), "word", "seven");
    pace_put_table(pace_report_root(report), &kernels, rows, sizeof rows / sizeof *rows, sizeof *rows);
    assert_int_equal(pace_answer_of_report(&answer, report, true), PACE_OK);
    return 0;
}

static int drop(void **state) {
    (void)state;
    pace_answer_free(answer);
    return 0;
}

static void is(const char *text, double expected) {
    double value = NAN;
    if (pace_case_value(&value, answer, text) != PACE_OK) fail_msg("%s: %s", text, pace_message());
    assert_true(value == expected);
}

static void fails(const char *text, pace_status status) {
    double value = 5;
    assert_int_equal(pace_case_value(&value, answer, text), status);
    assert_true(value == 5);
}

TEST(test_numbers) {
    is("3", 3);
    is("-1e3", -1000);
    is("1 + 2 * 3 - 8 / 4", 5);
    is("8 / 4 / 2 * 3", 3);
    is("step.median_s * 1e9 + missed", 250000007);
    fails("1 ^ 2", PACE_E_INPUT);
    fails("1 +2", PACE_E_INPUT);
}

TEST(test_cells) {
    is("kernels[0].time_ns", 10.5);
    is("kernels[-1].calls", 5);
    is("kernels[*].calls", 3.2);
    is("kernels[name=gemm,calls=3].time_ns", 7);
    is("kernels[name='f<int, 3>(a [2] + b)',calls=2].time_ns * 2", 8);
    is("kernels[name=''].time_ns", 1);
    is("kernels[calls=5].time_ns - kernels[calls=3].time_ns", -6);
}

TEST(test_what_is_not_there) {
    fails("nosuch", PACE_E_MISSING);
    fails("nosuch[0].calls", PACE_E_MISSING);
    fails("kernels[5].calls", PACE_E_MISSING);
    fails("kernels[-6].calls", PACE_E_MISSING);
    fails("kernels[name=nosuch].calls", PACE_E_MISSING);
    fails("kernels[0].nosuch", PACE_E_MISSING);
    fails("kernels[3].time_ns", PACE_E_MISSING);
    fails("kernels[name=gemm].calls", PACE_E_INPUT); /* two rows */
    fails("kernels[nosuch=1].calls", PACE_E_INPUT);
    fails("kernels[0]", PACE_E_INPUT);
    fails("kernels[0", PACE_E_INPUT);
    fails("kernels[name='gemm].calls", PACE_E_INPUT);
    fails("word", PACE_E_USAGE);
}

int main(void) { return run_tests_of_file(make, drop); }

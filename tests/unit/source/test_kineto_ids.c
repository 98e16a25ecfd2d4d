/* Ids of more than 32 bits: two that agree in their lower 32 are two. */

#include "cmocka_of_tests.h"
#include <string.h>

#include "base/input.h"
#include "source/traces/kineto.h"

static pace_step step;
static pace_read_notes notes;

static void read_trace(const char *text) {
    pace_input *input;
    assert_int_equal(pace_input_open_memory(&input, "here", (const uint8_t *)text, strlen(text)), PACE_OK);
    assert_int_equal(pace_kineto_read(&step, input, &notes, (pace_progress){0}), PACE_OK);
    pace_input_free(input);
}

static uint32_t find(const char *name) {
    for (uint32_t task = 0; task < step.count; task++)
        if (strcmp(pace_step_name(&step, task), name) == 0) return task;
    fail_msg("no task %s", name);
    return PACE_NO_TASK;
}

#define EVENT(cat, name, pid, tid, ts, args)                                                                \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" #pid ",\"tid\":" #tid ",\"ts\":" #ts \
    ",\"dur\":5,\"args\":{" args "}}"

/* 4294967301 = 2^32 + 5. */
TEST(test_launches) {
    read_trace("[" EVENT("cuda_runtime", "cudaLaunchKernel", 9, 9, 0, "\"correlation\":5") "," EVENT(
        "kernel", "near", 0, 7, 10,
        "\"device\":0,\"stream\":7,\"correlation\":5") "," EVENT("kernel", "far", 0, 7, 20,
                                                                 "\"device\":0,\"stream\":7,\"correlation\":4294967301") "]");
    assert_int_equal(pace_task_cause(&step, find("near")), find("cudaLaunchKernel"));
    assert_int_equal(pace_task_cause(&step, find("far")), PACE_NO_TASK);
    assert_non_null(strstr(notes.warning, "1 correlation and external ids above 32 bits"));
    pace_step_free(&step);
}

TEST(test_operators) {
    read_trace("[" EVENT("cpu_op", "aten::mm", 9, 9, 0, "\"External id\":5") "," EVENT(
        "kernel", "near", 0, 7, 10,
        "\"device\":0,\"stream\":7,\"External id\":5") "," EVENT("kernel", "far", 0, 7, 20,
                                                                 "\"device\":0,\"stream\":7,\"External id\":4294967301") "]");
    assert_int_equal(pace_task_cause(&step, find("near")), find("aten::mm"));
    assert_int_equal(pace_task_cause(&step, find("far")), PACE_NO_TASK);
    pace_step_free(&step);
}

#define ARROW(ph, id, ts) \
    "{\"ph\":\"" ph "\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":" #id ",\"pid\":9,\"tid\":9,\"ts\":" #ts "}"

/* Arrows may have any number: each leads from its own forward operator. */
TEST(test_arrows) {
    read_trace("[" EVENT("cpu_op", "first", 9, 9, 0, "") "," EVENT("cpu_op", "second", 9, 9, 10, "") "," EVENT(
        "cpu_op", "of second", 9, 9, 20,
        "") "," EVENT("cpu_op", "of first", 9, 9, 30,
                      "") "," ARROW("s", 5, 0) "," ARROW("s", 4294967301, 10) "," ARROW("f", 4294967301,
                                                                                        20) "," ARROW("f", 5, 30) "]");
    assert_int_equal(step.gradients.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const pace_gradient *g = &step.gradients.items[i];
        assert_int_equal(g->forward, find(g->task == find("of first") ? "first" : "second"));
    }
    pace_step_free(&step);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

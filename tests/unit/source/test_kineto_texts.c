/* Shapes and launches are the same text however often they came before, and however they are written. */

#include "cmocka_of_tests.h"
#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "source/traces/kineto.h"

enum { ROUNDS = 40 };

/* What arguments become: each is given `ROUNDS` times, so that all but the first come from what is known. */
static const struct {
    const char *args, *text;
} operators[] = {
    {"\"Input Dims\": [[8, 16], [16]], \"Input type\": [\"float\", \"c10::Half\"]",
     "[[8,16],[16]]\n[\"float\",\"c10::Half\"]\n"},
    {"\"Input Dims\": [[8,16],[16]], \"Input type\": [\"float\",\"c10::Half\"]",
     "[[8,16],[16]]\n[\"float\",\"c10::Half\"]\n"},
    {"\"Input Dims\": [[8, 16], [17]], \"Concrete Inputs\": [\"\", \"a b\"]", "[[8,16],[17]]\n\n[\"\",\"a b\"]"},
    {"\"Input Dims\": [[8, 16], [17], []], \"Concrete Inputs\": [\"\\\"\"]", "[[8,16],[17],[]]\n\n[\"\\\"\"]"},
    {"\"Input Dims\": []", "[]\n\n"},
    {"\"Input Dims\": [[8, 16], [17]", NULL}, /* the same with its end missing */
    {"\"Input Dims\": [[8, {\"a\": [1]}]]", "[[8,null]]\n\n"},
    {"\"Input Dims\": \"x\"", "\"x\"\n\n"},
    {"\"Input Dims\": 7", "7\n\n"},
};

static void read_operators(pace_step *step, size_t which) {
    static char text[1 << 16];
    size_t used = (size_t)sprintf(text, "[");
    for (int i = 0; i < ROUNDS; i++)
        used += (size_t)sprintf(text + used,
                                "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":1,\"ts\":%d,"
                                "\"dur\":5,\"args\":{%s}}",
                                i ? "," : "", 10 * i, operators[which].args);
    sprintf(text + used, "]");
    pace_input *input;
    pace_read_notes notes;
    assert_int_equal(pace_input_open_memory(&input, "here", text, strlen(text)), PACE_OK);
    pace_status status = pace_kineto_read(step, input, &notes, (pace_progress){0});
    assert_int_equal(status, operators[which].text ? PACE_OK : PACE_E_INPUT);
    pace_input_free(input);
}

TEST(test_shapes) {
    for (size_t which = 0; which < sizeof operators / sizeof *operators; which++) {
        pace_step step;
        read_operators(&step, which);
        if (!operators[which].text) continue;
        assert_int_equal(step.count, ROUNDS);
        for (uint32_t task = 0; task < step.count; task++)
            assert_string_equal(pace_names_text(&step.names, step.detail[task]), operators[which].text);
        pace_step_free(&step);
    }
    assert_int_equal(pace_memory_live(), 0);
}

/* More arrays that begin alike than are known at once. */
TEST(test_many) {
    static char text[1 << 20];
    size_t used = (size_t)sprintf(text, "[");
    for (int i = 0; i < 4000; i++)
        used += (size_t)sprintf(text + used,
                                "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":1,\"tid\":1,\"ts\":%d,"
                                "\"dur\":5,\"args\":{\"grid\": [1000000, %d, 1], \"block\": [%d, 1, 1]}}",
                                i ? "," : "", 10 * i, i % 37, i % 3);
    sprintf(text + used, "]");
    pace_input *input;
    pace_read_notes notes;
    pace_step step;
    assert_int_equal(pace_input_open_memory(&input, "here", text, strlen(text)), PACE_OK);
    assert_int_equal(pace_kineto_read(&step, input, &notes, (pace_progress){0}), PACE_OK);
    for (uint32_t task = 0; task < step.count; task++) {
        char wanted[64];
        int number = (int)(step.start_ns[task] / 10000);
        sprintf(wanted, "[1000000,%d,1]\n[%d,1,1]\n\n", number % 37, number % 3);
        assert_string_equal(pace_names_text(&step.names, pace_step_launch(&step, task)), wanted);
    }
    pace_step_free(&step);
    pace_input_free(input);
    assert_int_equal(pace_memory_live(), 0);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/* A search that is stopped answers with what it has found, and says so. */
#include "paceline/paceline.h"

#include <string.h>

#include "cmocka_of_tests.h"

typedef struct {
    int asked, until;
} patience;

static bool stop(void *context) {
    patience *p = context;
    return ++p->asked > p->until;
}

static bool warns(const pace_answer *answer, const char *code) {
    bool is = false;
    for (size_t i = 0; i < pace_answer_warning_count(answer); i++)
        is |= strcmp(pace_answer_warning(answer, i).code, code) == 0;
    return is;
}

typedef struct {
    bool stopped, holds, has_time;
    int asked;
} outcome;

static outcome ask(int until) {
    pace_context *context;
    pace_question *question;
    pace_answer *answer;
    patience p = {0, until};
    assert_int_equal(pace_context_open(&context), PACE_OK);
    assert_int_equal(pace_question_new(&question, context, "plan"), PACE_OK);
    assert_int_equal(pace_question_add_input(question, "gpt2"), PACE_OK);
    assert_int_equal(pace_question_set(question, "on", "dgx-h100"), PACE_OK);
    assert_int_equal(pace_question_set(question, "on", "dgx-h100*2"), PACE_OK);
    assert_int_equal(pace_question_set(question, "set", "framework=megatron-core"), PACE_OK);
    assert_int_equal(pace_question_set(question, "set", "global_batch=64"), PACE_OK);
    pace_question_set_stop(question, stop, &p);
    assert_int_equal(pace_ask(&answer, context, question), PACE_OK);
    outcome out = {.stopped = warns(answer, "stopped_early"), .holds = pace_answer_holds(answer), .asked = p.asked};
    double step_s;
    out.has_time = pace_answer_value(answer, "best.step_s", &step_s) == PACE_OK && step_s > 0;
    pace_answer_free(answer);
    pace_question_free(question);
    pace_context_free(context);
    return out;
}

TEST(test_stopped) {
    outcome whole = ask(1 << 30);
    assert_true(!whole.stopped && whole.holds && whole.has_time && whole.asked > 4);
    for (int until = 0; until < whole.asked; until++) {
        outcome part = ask(until);
        assert_true(part.stopped);
        assert_true(part.holds == part.has_time); /* nothing found yet: the answer is no */
        assert_true(until == 0 ? !part.has_time : until < whole.asked - 1 || part.has_time);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }

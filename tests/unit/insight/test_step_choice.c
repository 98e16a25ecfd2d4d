/* Which steps numbers and a warm-up choose; what is no range, or chooses nothing, is refused by name. */
#include <string.h>

#include "cmocka_of_tests.h"

#include "base/memory.h"
#include "insight/steps/step_choice.h"

static pace_names names;
static pace_marks marks;

static void label(const char *const *labels) {
    assert_int_equal(pace_names_init(&names), PACE_OK);
    marks = (pace_marks){0};
    for (int64_t i = 0; labels[i]; i++) {
        pace_mark mark = {.start_ns = 10 * i, .end_ns = 10 * i + 9};
        assert_int_equal(pace_names_add(&mark.label, &names, labels[i], strlen(labels[i])), PACE_OK);
        assert_int_equal(PACE_PUSH(&marks.items, mark), PACE_OK);
    }
}

static void done(void) {
    pace_marks_free(&marks);
    pace_names_free(&names);
    assert_int_equal(pace_memory_live(), 0);
}

static void chooses(const char *numbers, size_t skip, size_t wanted_first, size_t wanted_count) {
    pace_step_choice choice = {numbers, skip};
    size_t first = 99, count = 99;
    assert_int_equal(pace_step_choice_find(&first, &count, &choice, &marks, &names, "a.json"), PACE_OK);
    assert_int_equal(first, wanted_first);
    assert_int_equal(count, wanted_count);
}

static void refuses(const char *numbers, size_t skip, const char *message) {
    pace_step_choice choice = {numbers, skip};
    size_t first, count;
    assert_int_equal(pace_step_choice_find(&first, &count, &choice, &marks, &names, "a.json"), PACE_E_USAGE);
    if (!strstr(pace_message(), message)) fail_msg("expected '%s' in '%s'", message, pace_message());
}

TEST(test_numbers_of_labels) {
    label((const char *const[]){"ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#9", "ProfilerStep#10", NULL});
    chooses(NULL, 0, 0, 4);
    chooses("6:9", 0, 1, 2);
    chooses("9:", 0, 2, 2);
    chooses(":5", 0, 0, 1);
    chooses("10", 0, 3, 1);
    chooses("7:9", 0, 2, 1);
    chooses(NULL, 3, 3, 1);
    chooses("5:9", 1, 1, 2);
    refuses("7:8", 0, "steps: a.json: expected some of its steps, 5 to 10, found '7:8'");
    refuses(NULL, 4, "skip: a.json: expected a step to remain of its 4, 5 to 10");
    done();
}

TEST(test_only_step) {
    label((const char *const[]){"ProfilerStep#10", NULL});
    refuses("1", 0, "steps: a.json: expected its only step, 10, found '1'");
    done();
}

TEST(test_places) {
    label((const char *const[]){"train 7", "train 7", "validate", NULL});
    chooses("2:3", 0, 1, 2);
    refuses("7", 0, "1 to 3");
    done();
    label((const char *const[]){NULL});
    refuses("1", 0, "steps: a.json: expected steps to choose from");
    refuses(NULL, 1, "skip: a.json: expected steps to choose from");
    done();
}

TEST(test_no_range) {
    static const char *const bad[] = {"", ":", "a", "4:3", "1:2:3", "1-2", "-1", "1:b", " 1", "99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pace_step_choice choice = {.numbers = bad[i]};
        assert_int_equal(pace_step_choice_check(&choice), PACE_E_USAGE);
        assert_non_null(strstr(pace_message(), "steps: expected numbers"));
    }
}

TEST(test_intervals_stay) {
    label((const char *const[]){"ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#7", NULL});
    for (int64_t i = 0; i < 3; i++) marks.items.items[i].from_ns = 100 * i, marks.items.items[i].to_ns = 100 * i + 50;
    pace_step_choice choice = {.numbers = "6"};
    assert_int_equal(pace_step_choice_apply(&marks, &choice, &names, "a.json"), PACE_OK);
    assert_int_equal(marks.items.count, 1);
    assert_int_equal(marks.items.items[0].start_ns, 10);
    assert_int_equal(marks.items.items[0].from_ns, 100);
    assert_int_equal(marks.items.items[0].to_ns, 150);
    done();
}

int main(void) { return run_tests_of_file(NULL, NULL); }

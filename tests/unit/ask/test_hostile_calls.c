/* The C library in careless hands: NULL, sizes of structures, texts of ten megabytes, numbers that are none. */
#include "catalog_of_tests.h"

#include "paceline/calibrate.h"
#include "paceline/paceline.h"
#include "paceline/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

enum { LONG_TEXT = 1 << 18 };

static int swallow(void *context, const void *bytes, size_t length) {
    (void)bytes;
    *(size_t *)context += length;
    return 0;
}

static pace_question *question_of(const char *input) {
    pace_question *question;
    assert_int_equal(pace_question_new(&question, test_context(), "predict"), PACE_OK);
    assert_int_equal(pace_question_add_input(question, input), PACE_OK);
    assert_int_equal(pace_question_set(question, "on", "h100"), PACE_OK);
    return question;
}

static pace_answer *answer_of(const pace_question *question) {
    pace_answer *answer = NULL;
    assert_int_equal(pace_ask(&answer, test_context(), question), PACE_OK);
    return answer;
}

#define REFUSES(call) assert_int_equal((call), PACE_E_USAGE)

TEST(null_is_refused) {
    pace_question *q = question_of("lenet"), *made = NULL;
    pace_answer *a = answer_of(q), *other = NULL;
    static const char *const words[] = {"a", NULL};
    double value;
    size_t index = 0;
    (void)state;
    REFUSES(pace_question_new(NULL, test_context(), "predict"));
    REFUSES(pace_question_new(&made, test_context(), NULL));
    REFUSES(pace_question_set(NULL, "on", "h100"));
    REFUSES(pace_question_set(q, NULL, "h100"));
    static const char *const fields[] = {"on", "set", "samples", "unfolded"}; /* a text, a list, a number, a flag */
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) REFUSES(pace_question_set(q, fields[i], NULL));
    REFUSES(pace_question_set_number(NULL, "samples", 1));
    REFUSES(pace_question_set_flag(q, NULL, true));
    REFUSES(pace_question_add_input(q, NULL));
    REFUSES(pace_question_set_command(q, NULL, 1));
    REFUSES(pace_question_set_command(q, words, 2));
    REFUSES(pace_ask(NULL, test_context(), q));
    REFUSES(pace_ask(&other, NULL, q));
    REFUSES(pace_ask(&other, test_context(), NULL));
    REFUSES(pace_train(&other, test_context(), NULL));
    REFUSES(pace_calibrate(&other, test_context(), NULL));
    REFUSES(pace_validate_live(&other, test_context(), NULL));
    REFUSES(pace_answer_value(a, NULL, &value));
    REFUSES(pace_answer_value(NULL, "step.median_s", &value));
    REFUSES(pace_answer_write(a, PACE_FORMAT_JSON, NULL, NULL, NULL));
    REFUSES(pace_answer_write(NULL, PACE_FORMAT_JSON, NULL, swallow, &index));
    REFUSES(pace_answer_save(a, PACE_FORMAT_JSON, NULL, NULL));
    REFUSES(pace_option_word_find(&index, NULL, NULL, NULL));
    assert_null(pace_option_at(NULL, 0));
    assert_null(pace_option_word(NULL, NULL, NULL, 0));
    assert_false(pace_is_trace_name(NULL));
    assert_null(pace_question_text(NULL, "on"));
    assert_null(pace_answer_text(a, NULL));
    assert_null(pace_answer_table_find(a, NULL));
    assert_false(pace_answer_holds(NULL));
    assert_int_equal(pace_answer_value_count(NULL) + pace_answer_warning_count(NULL) + pace_answer_input_count(NULL),
                     0);
    assert_null(pace_answer_table_at(NULL, 0));
    assert_null(made);
    assert_null(other);
    pace_answer_free(a);
    pace_question_free(q);
}

TEST(what_is_past_the_last_is_nothing) {
    pace_question *q = question_of("lenet");
    pace_answer *a = answer_of(q);
    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t past = i ? SIZE_MAX : 1000000;
        assert_null(pace_verb_at(past));
        assert_null(pace_option_at("predict", past));
        assert_null(pace_option_word(test_context(), "predict", "approach", past));
        assert_null(pace_warning_kind_at(past));
        assert_null(pace_question_input(q, past));
        assert_null(pace_question_item(q, "on", past));
        assert_null(pace_answer_table_at(a, past));
        assert_string_equal(pace_answer_value_at(a, past).path, "");
        assert_string_equal(pace_answer_warning(a, past).code, "");
        assert_string_equal(pace_answer_input_at(a, past).path, "");
    }
    pace_answer_free(a);
    pace_question_free(q);
}

TEST(options_of_writing_are_checked) {
    pace_question *q = question_of("lenet");
    pace_answer *a = answer_of(q);
    size_t bytes = 0, narrow, all = sizeof(pace_write_options);
    (void)state;
    const struct {
        pace_write_options options;
        pace_format format;
        bool good;
    } rows[] = {{{.size = 0}, PACE_FORMAT_TABLE, false},
                {{.size = all, .gzip = true, .zstd = true}, PACE_FORMAT_TABLE, false},
                {{.size = all, .table = "scenarios"}, PACE_FORMAT_JSON, false},
                {{.size = all, .table = ""}, PACE_FORMAT_CSV, false},
                {{.size = all}, (pace_format)99, false},
                {{.size = all}, (pace_format)-1, false},
                {{.size = all}, PACE_FORMAT_JUNIT, false},
                {{.size = all, .table = "scenarios"}, PACE_FORMAT_CSV, true},
                {{.size = SIZE_MAX, .width = -5}, PACE_FORMAT_TABLE, true},
                {{.size = all, .width = 1}, PACE_FORMAT_TABLE, true},
                {{.size = all, .width = INT32_MAX}, PACE_FORMAT_TABLE, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pace_answer_write(a, rows[i].format, &rows[i].options, swallow, &bytes),
                         rows[i].good ? PACE_OK : PACE_E_USAGE);
    /* Members behind the size that a caller was built with are not read. */
    pace_write_options of_old = {.size = offsetof(pace_write_options, gzip), .gzip = true, .zstd = true};
    bytes = 0;
    assert_int_equal(pace_answer_write(a, PACE_FORMAT_TABLE, NULL, swallow, &bytes), PACE_OK);
    narrow = bytes, bytes = 0;
    assert_int_equal(pace_answer_write(a, PACE_FORMAT_TABLE, &of_old, swallow, &bytes), PACE_OK);
    assert_int_equal(bytes, narrow);
    assert_int_equal(pace_answer_save(a, PACE_FORMAT_JSON, NULL, ""), PACE_E_IO);
    assert_int_equal(pace_answer_save(a, PACE_FORMAT_JSON, NULL, "/dev/full"), PACE_E_IO);
    pace_answer_free(a);
    pace_question_free(q);
}

TEST(long_texts_are_refused_by_every_field) {
    char *text = malloc(LONG_TEXT + 1);
    const pace_option *option;
    (void)state;
    assert_non_null(text);
    memset(text, 'x', LONG_TEXT);
    text[LONG_TEXT] = '\0';
    for (size_t i = 0; (option = pace_option_at("predict", i)); i++) {
        pace_question *q = question_of("lenet");
        pace_answer *a = NULL;
        pace_status status = pace_question_set(q, option->name, text);
        if (status == PACE_OK) status = pace_ask(&a, test_context(), q);
        assert_int_not_equal(status, PACE_OK);
        assert_true(*pace_message() && strlen(pace_message()) < 4096);
        pace_question_free(q);
    }
    pace_question *q = question_of(text);
    pace_answer *a = NULL;
    assert_int_not_equal(pace_ask(&a, test_context(), q), PACE_OK);
    pace_question_free(q);
    free(text);
}

TEST(numbers_that_are_none_are_refused) {
    pace_question *q = question_of("lenet");
    (void)state;
    const double numbers[] = {NAN, -NAN, INFINITY, -INFINITY, -1, 1e300};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        REFUSES(pace_question_set_number(q, "samples", numbers[i]));
    REFUSES(pace_question_set_number(q, "on", 1));
    REFUSES(pace_question_set_flag(q, "on", true));
    assert_false(pace_question_has(q, "samples"));
    pace_question_free(q);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

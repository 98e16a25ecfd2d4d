/* Questions take what the table of options has, and nothing else; answers are read by path and by column. */
#include "forecast/what_ifs.h"
#include "catalog_of_tests.h"

#include "paceline/paceline.h"

#include <stdio.h>
#include <string.h>

#include "cmocka_of_tests.h"

TEST(every_option_can_be_set_by_its_name) {
    const pace_verb *verb;
    const pace_option *option;
    (void)state;
    for (size_t v = 0; (verb = pace_verb_at(v)); v++) {
        pace_question *question;
        assert_int_equal(pace_question_new(&question, test_context(), verb->name), PACE_OK);
        for (size_t i = 0; (option = pace_option_at(verb->name, i)); i++) {
            const char *suffix = option->role == PACE_OPTION_WRITES ? strchr(option->argument, '.') : NULL;
            char text[16];
            snprintf(text, sizeof text, "%s%s", option->type == PACE_OPTION_FLAG ? "true" : "1", suffix ? suffix : "");
            pace_status status = pace_question_set(question, option->name, text);
            assert_int_equal(status, option->role == PACE_OPTION_RENDERS ? PACE_E_USAGE : PACE_OK);
            if (status == PACE_OK) assert_true(pace_question_has(question, option->name));
        }
        pace_question_free(question);
    }
}

TEST(unknown_words_are_refused) {
    pace_question *question;
    pace_answer *answer;
    (void)state;
    assert_int_equal(pace_question_new(&question, test_context(), "pridect"), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "predict"));
    assert_int_equal(pace_question_new(&question, test_context(), "predict"), PACE_OK);
    assert_int_equal(pace_question_set(question, "btach", "4"), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "\"batch\""));
    assert_int_equal(pace_question_set(question, "samples", "many"), PACE_E_USAGE);
    assert_string_equal(pace_message_field(), "samples");
    assert_int_equal(pace_question_set(question, "drop-overhead", "t1"), PACE_OK);
    assert_int_equal(pace_question_set(question, "job", "architecture=pearl"), PACE_OK);
    assert_int_equal(pace_ask(&answer, test_context(), question), PACE_E_USAGE);
    char shown[256];
    assert_string_equal(pace_message_field(), "drop_overhead");
    assert_non_null(strstr(pace_message_as_options(shown, sizeof shown, "predict"), "--drop-overhead: has no effect"));
    pace_question_free(question);
}

/* A what-if's own row is its option: of predict alone, once. */
TEST(what_ifs_are_options) {
    for (size_t i = 0; i < pace_what_if_count; i++) {
        size_t found = 0;
        const pace_option *option;
        for (size_t k = 0; (option = pace_option_at("predict", k)); k++) found += option == &pace_what_ifs[i]->option;
        assert_int_equal(found, 1);
        for (size_t k = 0; (option = pace_option_at("analyze", k)); k++)
            assert_ptr_not_equal(option, &pace_what_ifs[i]->option);
    }
}

TEST(answers_are_read_by_column) {
    pace_question *question;
    pace_answer *answer;
    double none;
    (void)state;
    assert_int_equal(pace_question_new(&question, test_context(), "predict"), PACE_OK);
    assert_int_equal(pace_question_set(question, "kind", "exchange"), PACE_OK);
    assert_int_equal(pace_question_set(question, "on", "dgx-h100*2"), PACE_OK);
    assert_int_equal(pace_question_set(question, "bytes", "1M,2M,4M"), PACE_OK);
    assert_int_equal(pace_ask(&answer, test_context(), question), PACE_OK);
    pace_question_free(question); /* the answer needs it no more */
    const pace_answer_table *table = pace_answer_table_at(answer, 0);
    assert_non_null(table);
    assert_int_equal(table->rows, 3);
    assert_ptr_equal(pace_answer_table_find(answer, table->path), table);
    for (size_t i = 0; i < table->column_count; i++) {
        const pace_answer_column *column = &table->columns[i];
        assert_int_equal(column->length, 3);
        assert_int_equal((column->reals != NULL) + (column->integers != NULL) + (column->texts != NULL), 1);
    }
    assert_int_equal(pace_answer_value(answer, "no.such", &none), PACE_E_MISSING);
    pace_answer_free(answer);
}

int main(void) { return run_tests_of_file(NULL, NULL); }

/* A verb, an option and a dialect that are a row each. The tables of this program are the library's with a row more
 * (tests/CMakeLists.txt), in the place of the archive's. */
#include "catalog_of_tests.h"

#include "paceline/paceline.h"

#include <string.h>

#include "cmocka_of_tests.h"

static const pace_option *option_of(const char *verb, const char *name) {
    const pace_option *option;
    for (size_t i = 0; (option = pace_option_at(verb, i)); i++)
        if (strcmp(option->name, name) == 0) return option;
    return NULL;
}

/* It can be set, by either spelling, where its row says and nowhere else, and the closest name is suggested. */
TEST(an_option) {
    pace_question *question;
    (void)state;
    assert_non_null(option_of("tune", "zz_flag"));
    assert_null(option_of("plan", "zz_flag"));
    assert_int_equal(pace_question_new(&question, test_context(), "tune"), PACE_OK);
    assert_int_equal(pace_question_set(question, "zz_flog", "true"), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "zz_flag"));
    assert_int_equal(pace_question_set(question, "zz-flag", "true"), PACE_OK);
    assert_true(pace_question_has(question, "zz_flag"));
    pace_question_free(question);
}

/* It is listed, has its options, and is refused until a line names its engine. */
TEST(a_verb) {
    size_t verbs = 0;
    pace_question *question;
    pace_answer *answer;
    (void)state;
    while (pace_verb_at(verbs)) verbs++;
    assert_string_equal(pace_verb_at(verbs - 1)->name, "zzverb");
    assert_non_null(option_of("zzverb", "zz_flag"));
    assert_int_equal(pace_question_new(&question, test_context(), "zzverb"), PACE_OK);
    assert_int_equal(pace_ask(&answer, test_context(), question), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "zzverb"));
    pace_question_free(question);
}

typedef struct {
    char text[4096];
    size_t length;
} written;

static int keep(void *context, const void *bytes, size_t length) {
    written *out = context;
    assert_true(out->length + length < sizeof out->text);
    memcpy(out->text + out->length, bytes, length);
    out->length += length;
    return 0;
}

/* What `tune` writes for who reads the dialect. */
static written choices_for(const char *dialect) {
    written out = {.length = 0};
    pace_question *question;
    pace_answer *answer;
    assert_int_equal(pace_question_new(&question, test_context(), "tune"), PACE_OK);
    assert_int_equal(pace_question_set(question, "on", "dgx-h100"), PACE_OK);
    assert_int_equal(pace_question_set(question, "collective", "allreduce"), PACE_OK);
    assert_int_equal(pace_question_set(question, "bytes", "1M"), PACE_OK);
    assert_int_equal(pace_question_set(question, "dialect", dialect), PACE_OK);
    assert_int_equal(pace_ask(&answer, test_context(), question), PACE_OK);
    assert_int_equal(pace_answer_write(answer, PACE_FORMAT_CSV, NULL, keep, &out), PACE_OK);
    pace_answer_free(answer);
    pace_question_free(question);
    return out;
}

TEST(a_dialect) {
    const char *word = "";
    (void)state;
    for (size_t i = 0; word && strcmp(word, "zzdialect") != 0; i++)
        word = pace_option_word(test_context(), "tune", "dialect", i);
    assert_non_null(word);
    const written usual = choices_for("nccl"), more = choices_for("zzdialect");
    const char *head = strstr(more.text, "# zzcolumns\n"), *usual_head = strstr(usual.text, "# collective_type,");
    assert_true(head && usual_head && head - more.text == usual_head - usual.text);
    assert_memory_equal(more.text, usual.text, (size_t)(head - more.text));
    assert_string_equal(strchr(head, '\n'), strchr(usual_head, '\n'));
}

int main(void) { return run_tests_of_file(NULL, NULL); }

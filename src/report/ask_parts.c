#include "report/ask_parts.h"
#include "base/print.h"

#include <string.h>
#include <math.h>

pace_job_assumptions pace_asked_of_jobs(const pace_question *question) {
    return (pace_job_assumptions){PACE_ASKED(text, on),      PACE_ASKED_AS(fit_path, text, fit),
                                  PACE_ASKED(text, overlap), PACE_ASKED(text, contention),
                                  PACE_ASKED(text, nvlink),  PACE_ASKED(text, efficiency)};
}

pace_status pace_asked_above_0(const pace_question *question, const char *field) {
    if (!pace_question_has(question, field) || pace_question_number(question, field) > 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: expected a number above 0, found 0", field);
}

pace_status pace_asked_only_with(const pace_question *question, const char *flag, const char *const *fields) {
    for (; *fields && !pace_question_flag(question, flag); fields++)
        if (pace_question_has(question, *fields))
            return pace_fail(PACE_E_USAGE, "%s: has no effect without " PACE_FIELD "%s", *fields, flag);
    return PACE_OK;
}

pace_status pace_asked_whole(size_t *out, const pace_question *question, const char *field) {
    double number = pace_question_number(question, field);
    if (number > 1e9 || number > floor(number))
        return pace_fail(PACE_E_USAGE, "%s: expected a whole number, found %g", field, number);
    *out = (size_t)number;
    return PACE_OK;
}

pace_status pace_asked_steps(pace_step_choice *out, const pace_question *question) {
    *out = (pace_step_choice){PACE_ASKED_AS(numbers, text, steps)};
    PACE_TRY(pace_asked_whole(&out->skip, question, "skip"));
    return pace_step_choice_check(out);
}

/* Whether " rows job " has the word "job", or "rows.job" the word that it is a part of. */
static bool takes(const char *kinds, const char *asked) {
    char word[40];
    pace_snprintf(word, sizeof word, " %.30s ", asked);
    if (strstr(kinds, word)) return true;
    size_t whole = strcspn(asked, ".");
    if (!asked[whole]) return false;
    pace_snprintf(word, sizeof word, " %.*s ", (int)(whole < 30 ? whole : 30), asked);
    return strstr(kinds, word) != NULL;
}

static const char *about_of(const pace_asked_kind *kinds, size_t count, const char *word) {
    const pace_asked_kind *kind = PACE_FIND(kinds, count, word, word);
    return kind ? kind->about : word;
}

static pace_status refuse(const pace_option *option, const char *asked, const pace_asked_kind *kinds, size_t count) {
    char where[600] = "";
    for (size_t i = 0; i < count; i++) {
        char word[40];
        pace_snprintf(word, sizeof word, " %.30s ", kinds[i].word);
        if (strstr(option->kinds, word)) pace_list(where, sizeof where, ", or ", "%s", kinds[i].about);
    }
    return pace_fail(PACE_E_USAGE, "%s: has no effect on %s; it is for %s", option->name, about_of(kinds, count, asked),
                     where);
}

pace_status pace_asked_check_fields(const pace_question *question, const char *asked, const pace_asked_kind *kinds,
                                    size_t count) {
    const pace_option *option;
    for (size_t i = 0; (option = pace_option_at(question->verb->name, i)); i++) {
        if (!question->values[i].said || option->role == PACE_OPTION_RENDERS) continue;
        if (option->kinds && !takes(option->kinds, asked)) return refuse(option, asked, kinds, count);
    }
    return PACE_OK;
}

pace_status pace_asked_row_kind(const pace_row_kind **out, const pace_question *question, const char *path,
                                bool predicted) {
    const char *name = pace_question_text(question, "kind");
    if (name) return pace_row_kind_find(out, &pace_all_row_kinds, name, predicted);
    *out = pace_row_kind_of_file(&pace_all_row_kinds, question->context->catalog, path);
    return PACE_OK;
}

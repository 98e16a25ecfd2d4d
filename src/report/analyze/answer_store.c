#include "report/analyze/answer_store.h"
#include "base/text.h"
#include "source/results_store.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

pace_status pace_store_check(const pace_question *question) {
    static const char *const fields[] = {"label", "series"};
    bool stores = pace_question_text(question, "store") || strcmp(question->verb->name, "history") == 0;
    for (size_t i = 0; i < PACE_COUNT(fields) && !stores; i++)
        if (pace_question_text(question, fields[i]))
            return pace_fail(PACE_E_USAGE, "%s: has no effect without " PACE_FIELD "store", fields[i]);
    return PACE_OK;
}

static char *join_command(const pace_question *question) {
    size_t length = 1, count;
    const char *const *words = pace_question_command(question, &count);
    for (size_t i = 0; i < count; i++) length += strlen(words[i]) + 1;
    char *text = pace_alloc(length, 1), *at = text;
    for (size_t i = 0; text && i < count; i++)
        at += snprintf(at, length - (size_t)(at - text), "%s%s", i ? " " : "", words[i]);
    return text;
}

static pace_status add(const char *path, const pace_question *question, const pace_answer *answer,
                       pace_stored_figure *figures, char *command) {
    const char *label = pace_question_text(question, "label"), *series = pace_question_text(question, "series");
    size_t count = 0;
    for (size_t i = 0; i < pace_answer_value_count(answer); i++) {
        pace_value value = pace_answer_value_at(answer, i);
        bool number = value.type == PACE_VALUE_REAL || value.type == PACE_VALUE_INT;
        const char *name = pace_starts(value.path, "values.") ? value.path + strlen("values.") : value.path;
        if (number) figures[count++] = (pace_stored_figure){.path = (char *)name, .value = value.real};
    }
    if (count == 0)
        return pace_fail(PACE_E_USAGE, "store: has no effect on this answer, whose figures are all in tables");
    const pace_stored_run run = {.verb = (char *)question->verb->name,
                                 .series = (char *)(series ? series : question->verb->name),
                                 .label = (char *)(label ? label : ""),
                                 .command = command,
                                 .at_s = (int64_t)time(NULL)};
    return pace_results_add(path, &run, figures, count);
}

pace_status pace_store_answer(const pace_question *question, const pace_answer *answer) {
    const char *path = pace_question_text(question, "store");
    if (!path) return PACE_OK;
    pace_stored_figure *figures = pace_alloc(pace_answer_value_count(answer) + 1, sizeof *figures);
    char *command = join_command(question);
    pace_status status = figures && command ? add(path, question, answer, figures, command) : PACE_E_MEMORY;
    PACE_FREE(figures, command);
    return status;
}

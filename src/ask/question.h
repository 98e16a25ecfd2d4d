/* A question as the library sees it: what was set, by the rows of the table of options. */
#pragma once

#include "base/progress.h"
#include "ask/options.h"
#include "base/texts.h"
#include "base/words.h"

/* Of one field. */
typedef struct {
    bool said;
    double number;
    pace_texts texts; /* of a text one, of a list all */
} pace_field_value;

struct pace_question {
    const pace_verb *verb;
    pace_context *context;    /* borrowed */
    pace_field_value *values; /* by the place of the option */
    size_t count;
    pace_texts inputs, command;
    pace_progress progress;
    bool (*stop)(void *context);
    void *stop_context;
    const pace_processes *processes;
};

/** The texts of a list, or the one of a text. Borrowed. */
pace_words pace_question_words(const pace_question *question, const char *field);
/** PACE_E_USAGE where a list has more than one text. */
pace_status pace_question_check_single(const pace_question *question, const char *field) PACE_MUST_CHECK;
bool pace_question_flag(const pace_question *question, const char *field);

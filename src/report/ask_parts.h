/* What the verbs' own files share: the answer to a question, by filling what an engine is asked with. */
#pragma once

#include "ask/question.h"
#include "ask/rows/row_kinds.h"
#include "report/engines.h"

/** Members of an engine's options: the field of that name, a text, words, a number or a flag; the same of another name;
 * and what a question has besides fields. */
#define PACE_ASKED(type, field) PACE_ASKED_AS(field, type, field)
#define PACE_ASKED_AS(member, type, field) .member = pace_question_##type(question, #field)
#define PACE_ASKED_OWN(member) .member = question->member

/** The inputs, borrowed. */
#define PACE_ASKED_INPUTS(question) (const char *const *)(question)->inputs.items, (question)->inputs.count

/** Assumptions about jobs. */
pace_job_assumptions pace_asked_of_jobs(const pace_question *question);

/** PACE_E_USAGE unless a number that was said is above 0. */
pace_status pace_asked_above_0(const pace_question *question, const char *field) PACE_MUST_CHECK;

/** PACE_E_USAGE if one of the fields was said, which mean nothing without a flag; NULL ends them. */
pace_status pace_asked_only_with(const pace_question *question, const char *flag,
                                 const char *const *fields) PACE_MUST_CHECK;

/** A number that must be whole; 0 if it was not said. */
pace_status pace_asked_whole(size_t *out, const pace_question *question, const char *field) PACE_MUST_CHECK;

/** Which steps of a trace are looked at. */
pace_status pace_asked_steps(pace_step_choice *out, const pace_question *question) PACE_MUST_CHECK;

/** A kind of questions of a verb: its word in the table of options (pace_option.kinds), and what they are about. A word
 * with a point is a part of another: "rows.job" is of "rows". */
typedef struct {
    const char *word, *about;
} pace_asked_kind;

/** PACE_E_USAGE for a field that was said and has no effect on questions of the kind `asked` ("rows.job"), saying where
 * it has. */
pace_status pace_asked_check_fields(const pace_question *question, const char *asked, const pace_asked_kind *kinds,
                                    size_t count) PACE_MUST_CHECK;

/** The kind of rows that the field "kind" names, else that the start of the file `path` speaks for. */
pace_status pace_asked_row_kind(const pace_row_kind **out, const pace_question *question, const char *path,
                                bool predicted) PACE_MUST_CHECK;

pace_status pace_ask_predict(pace_report **out, const pace_question *question) PACE_MUST_CHECK;
pace_status pace_ask_fleet(pace_report **out, const pace_question *question) PACE_MUST_CHECK;

/* What a file is that stands where another kind of file is read, and who reads it. */
#pragma once

#include "ask/question.h"

/** Of a question that failed with PACE_E_INPUT: where the message at hand is about a file of a kind that is known, and
 * not read where the question names it, a message that says what it is takes its place. Returns `status`. */
pace_status pace_explain_input(pace_status status, const pace_question *question);

/* Keeping the values of an answer in a file, for `paceline history`. */
#pragma once

#include "ask/question.h"

/** Adds the values of the answer to the file that the question's "store" names; does nothing without one. PACE_E_USAGE
 * for a label or a series without a store. */
pace_status pace_store_answer(const pace_question *question, const pace_answer *answer) PACE_MUST_CHECK;

/** Whether the words about storing make sense: asked before the answer is worked out. */
pace_status pace_store_check(const pace_question *question) PACE_MUST_CHECK;

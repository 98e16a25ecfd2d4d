/* A case that asks any verb's question for each row of its table: figures of the answers against what is expected. */
#pragma once

#include "ask/validate/validate.h"

/** The score of the case. Errors: those of the questions, of the expressions, and PACE_E_INPUT when no row counts. */
pace_status pace_case_answers(pace_case_score *out, pace_context *context, const pace_case *one, const char *folder,
                              pace_ask_fn ask) PACE_MUST_CHECK;

#include "report/ask_parts.h"
#include "ask/engine_options.h"

#include <math.h>

pace_job_assumptions pace_asked_of_jobs(const pace_question *question) {
    return (pace_job_assumptions){.on = pace_question_text(question, "on"),
                                  .fit_path = pace_question_text(question, "fit"),
                                  .overlap = pace_question_text(question, "overlap"),
                                  .contention = pace_question_text(question, "contention"),
                                  .nvlink = pace_question_text(question, "nvlink"),
                                  .efficiency = pace_question_text(question, "efficiency")};
}

pace_status pace_asked_above_0(const pace_question *question, const char *field) {
    if (!pace_question_has(question, field) || pace_question_number(question, field) > 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: expected a number above 0, found 0", field);
}

pace_status pace_asked_whole(size_t *out, const pace_question *question, const char *field) {
    double number = pace_question_number(question, field);
    if (number > 1e9 || number > floor(number))
        return pace_fail(PACE_E_USAGE, "%s: expected a whole number, found %g", field, number);
    *out = (size_t)number;
    return PACE_OK;
}

pace_status pace_asked_steps(pace_step_choice *out, const pace_question *question) {
    *out = (pace_step_choice){.numbers = pace_question_text(question, "steps")};
    PACE_TRY(pace_asked_whole(&out->skip, question, "skip"));
    return pace_step_choice_check(out);
}

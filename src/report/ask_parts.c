#include "report/ask_parts.h"
#include "ask/engine_options.h"

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

#include "study_predict.h"

#include "base/memory.h"
#include "base/print.h"

static pace_status word(pace_question *q, const pace_study_row *row, const char *on) {
    const struct {
        const char *key;
        long value;
    } settings[] = {{"dp", row->replicas},      {"tp", row->workers},
                    {"segments", row->workers}, {"threads", row->threads},
                    {"servers", row->servers},  {"global_batch", (long)row->batch * row->replicas}};
    PACE_TRY(pace_question_add_input(q, row->model));
    PACE_TRY(pace_question_set(q, "on", on));
    for (size_t i = 0; i < PACE_COUNT(settings); i++) {
        char text[64];
        pace_snprintf(text, sizeof text, "%s=%ld", settings[i].key, settings[i].value);
        PACE_TRY(pace_question_set(q, "set", text));
    }
    return PACE_OK;
}

pace_status pace_study_predict(pace_study_row *row, pace_context *context, const char *on) {
    pace_question *q;
    pace_answer *answer = NULL;
    double sample_s;
    PACE_TRY(pace_question_new(&q, context, "predict"));
    pace_status status = word(q, row, on);
    if (status == PACE_OK) status = pace_ask(&answer, context, q);
    if (status == PACE_OK) status = pace_answer_value(answer, "best.sample_s", &sample_s);
    if (status == PACE_OK) row->predicted_samples_per_s = 1 / sample_s;
    pace_answer_free(answer);
    pace_question_free(q);
    return status;
}

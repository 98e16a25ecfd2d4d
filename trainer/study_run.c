#include "study_run.h"

#include "base/json_walk.h"
#include "base/memory.h"
#include "base/scratch.h"
#include "run_program.h"

#include <string.h>

/* --- the answer --------------------------------------------------------------------------------------------------- */

typedef struct {
    pace_json *json;
    pace_study_row *row;
    char stage[24];
    double share;
} reading;

static pace_json_token read_stage_member(void *context, const char *key) {
    reading *r = context;
    pace_json_token token = pace_json_next(r->json);
    size_t length;
    if (token == PACE_JSON_STRING && strcmp(key, "stage") == 0) {
        const char *text = pace_json_text(r->json, &length);
        pace_snprintf(r->stage, sizeof r->stage, "%.*s", (int)length, text);
    }
    if (token == PACE_JSON_NUMBER && strcmp(key, "share") == 0) pace_json_double(r->json, &r->share);
    return pace_json_pass(r->json, token);
}

static pace_json_token read_stage(void *context) {
    reading *r = context;
    pace_json_token token = pace_json_each_member(r->json, read_stage_member, r);
    if (strcmp(r->stage, "forward") == 0) r->row->forward_share = r->share;
    else if (strcmp(r->stage, "backward") == 0) r->row->backward_share = r->share;
    else if (strcmp(r->stage, "update") == 0) r->row->update_share = r->share;
    else if (strcmp(r->stage, "exposed_exchange") == 0) r->row->exchange_share = r->share;
    return token;
}

static pace_json_token read_member(void *context, const char *key) {
    reading *r = context;
    pace_study_row *row = r->row;
    const struct {
        const char *key;
        double *to;
    } numbers[] = {{"samples_per_s", &row->samples_per_s},
                   {"samples_low_per_s", &row->samples_low_per_s},
                   {"samples_high_per_s", &row->samples_high_per_s},
                   {"last_loss", &row->last_loss},
                   {"worker_weight_bytes", &row->worker_weight_bytes}};
    pace_json_token token = pace_json_next(r->json);
    size_t length;
    if (token == PACE_JSON_ARRAY && strcmp(key, "stages") == 0) return pace_json_each_object(r->json, read_stage, r);
    for (size_t i = 0; token == PACE_JSON_NUMBER && i < PACE_COUNT(numbers); i++)
        if (strcmp(key, numbers[i].key) == 0) pace_json_double(r->json, numbers[i].to);
    if (token == PACE_JSON_NUMBER && strcmp(key, "step_ns") == 0) pace_json_int(r->json, &row->step_ns);
    if (strcmp(key, "oversubscribed") == 0) row->oversubscribed = token == PACE_JSON_TRUE;
    if (token == PACE_JSON_STRING && strcmp(key, "transport") == 0) {
        const char *text = pace_json_text(r->json, &length);
        row->transport = pace_copy_text(text, length);
    }
    return pace_json_pass(r->json, token);
}

static pace_status read_answer(pace_study_row *row, const char *path) {
    pace_input *input;
    reading r = {.row = row};
    row->forward_share = row->backward_share = row->exchange_share = row->update_share = 0;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_json_open(&r.json, input);
    if (status == PACE_OK) {
        pace_json_token token = pace_json_next(r.json);
        if (token == PACE_JSON_OBJECT) token = pace_json_each_member(r.json, read_member, &r);
        if (token != PACE_JSON_OBJECT_END)
            status = pace_fail(PACE_E_INTERNAL, "%s: the answer of a run cannot be read", path);
        pace_json_free(r.json);
    }
    pace_input_free(input);
    row->compute_share = row->forward_share + row->backward_share;
    return status;
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

pace_status pace_study_run(pace_study_row *row, const char *const *words) {
    enum { MOST = 96 };
    const char *all[MOST];
    pace_scratch scratch;
    char answer[PACE_SCRATCH_PATH + 16], said[PACE_SCRATCH_PATH + 16];
    size_t count = 0;
    PACE_TRY(pace_scratch_open(&scratch));
    pace_snprintf(answer, sizeof answer, "%s/answer.json", scratch.path);
    pace_snprintf(said, sizeof said, "%s/said.txt", scratch.path);
    while (words[count] && count + 3 < MOST) all[count] = words[count], count++;
    all[count] = "-o", all[count + 1] = answer, all[count + 2] = NULL;
    int code = pace_program_run(all, said);
    pace_status status = code < 0 ? pace_fail(PACE_E_MISSING, "%s: cannot be started", words[0]) : PACE_OK;
    if (code == 0) status = read_answer(row, answer);
    else if (code > 0) {
        char reason[160] = "";
        pace_program_reason(reason, sizeof reason, said);
        row->status = pace_copy_text(reason, strlen(reason));
    }
    row->done = code == 0 && status == PACE_OK;
    pace_scratch_close(&scratch);
    return status;
}

void pace_study_row_free(pace_study_row *row) {
    pace_free((void *)(uintptr_t)row->transport);
    pace_free((void *)(uintptr_t)row->status);
    row->transport = row->status = NULL;
}

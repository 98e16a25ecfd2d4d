#include "source/slice/slice_member.h"
#include "base/json_walk.h"
#include "base/text.h"
#include "source/traces/event_time.h"

#include <stdio.h>
#include <string.h>

enum { MOST_STEPS = 1 << 20 };

typedef struct {
    pace_step *step;
    pace_json *json;
    pace_status *status;
    pace_kept_step one;
    bool has_start, has_end;
} reader;

static bool read_time(int64_t *out, const reader *r) {
    int64_t ns;
    if (!pace_json_us_to_ns(r->json, &ns) || !pace_time_is_sane(ns, 0)) return false;
    *out = ns;
    return true;
}

static pace_json_token read_field(void *context, const char *key) {
    reader *r = context;
    pace_json_token token = pace_json_next(r->json);
    if (token == PACE_JSON_STRING && strcmp(key, "label") == 0) {
        *r->status = pace_kineto_intern(&r->one.label, r->json, &r->step->names);
        return *r->status == PACE_OK ? token : PACE_JSON_ERROR;
    }
    if (token == PACE_JSON_NUMBER && strcmp(key, "ts") == 0) r->has_start = read_time(&r->one.start_ns, r);
    if (token == PACE_JSON_NUMBER && strcmp(key, "end") == 0) r->has_end = read_time(&r->one.end_ns, r);
    return pace_json_pass(r->json, token);
}

/* Steps that are no times, or out of order, are left out. */
static pace_json_token read_step(void *context) {
    reader *r = context;
    r->one = (pace_kept_step){0};
    r->has_start = r->has_end = false;
    pace_json_token token = pace_json_each_member(r->json, read_field, r);
    size_t count = r->step->kept_steps.count;
    bool usable = r->has_start && r->has_end && r->one.end_ns >= r->one.start_ns && count < MOST_STEPS &&
                  (count == 0 || r->one.start_ns >= r->step->kept_steps.items[count - 1].end_ns);
    if (pace_json_failed(token) || !usable) return token;
    *r->status = PACE_PUSH(&r->step->kept_steps, r->one);
    return *r->status == PACE_OK ? token : PACE_JSON_ERROR;
}

static pace_json_token read_member(void *context, const char *key) {
    reader *r = context;
    pace_json_token token = pace_json_next(r->json);
    if (token == PACE_JSON_ARRAY && strcmp(key, "steps") == 0) return pace_json_each_object(r->json, read_step, r);
    if (token == PACE_JSON_NUMBER && strcmp(key, "until") == 0) (void)read_time(&r->step->kept_until_ns, r);
    if (token == PACE_JSON_NUMBER && strcmp(key, "since") == 0) (void)read_time(&r->step->kept_since_ns, r);
    if (token == PACE_JSON_TRUE && strcmp(key, "broken_off") == 0 && r->step->cut_ns == INT64_MAX)
        r->step->cut_ns = PACE_SLICE_OF_BROKEN_NS;
    if (token == PACE_JSON_NUMBER && strcmp(key, "cut") == 0) (void)read_time(&r->step->cut_ns, r);
    return pace_json_pass(r->json, token);
}

pace_json_token pace_slice_member_read(pace_step *step, pace_json *json, pace_status *status) {
    reader r = {.step = step, .json = json, .status = status};
    return pace_json_each_member(json, read_member, &r);
}

enum { LABEL_SIZE = 32 };

/* Of a step that the user named only the number: the last one of its label, else its place. */
static const char *nameless(char out[LABEL_SIZE], const char *label, size_t place) {
    const char *end = label + strlen(label);
    if (pace_name_marks_step(label)) return label;
    while (end > label && !pace_is_digit(end[-1])) end--;
    const char *digits = end;
    while (digits > label && pace_is_digit(digits[-1])) digits--;
    if (digits < end) snprintf(out, LABEL_SIZE, "step %.*s", (int)(end - digits < 15 ? end - digits : 15), digits);
    else snprintf(out, LABEL_SIZE, "step %zu", place);
    return out;
}

void pace_slice_member_write(pace_sink *sink, const pace_step *step, bool names) {
    pace_jsonw json;
    pace_sink_text(sink, "\"" PACE_SLICE_MEMBER "\": ");
    pace_jsonw_init(&json, sink, 0);
    pace_jsonw_object(&json);
    if (step->kept_steps.count) {
        pace_jsonw_key(&json, "since");
        pace_jsonw_ns_as_us(&json, step->kept_since_ns);
        pace_jsonw_key(&json, "until");
        pace_jsonw_ns_as_us(&json, step->kept_until_ns);
    }
    if (step->cut_ns != INT64_MAX) {
        pace_jsonw_key(&json, "broken_off");
        pace_jsonw_bool(&json, true);
    }
    if (step->cut_ns < PACE_SLICE_OF_BROKEN_NS) {
        pace_jsonw_key(&json, "cut");
        pace_jsonw_ns_as_us(&json, step->cut_ns);
    }
    pace_jsonw_key_array(&json, "steps");
    for (size_t i = 0; i < step->kept_steps.count; i++) {
        const pace_kept_step *kept = &step->kept_steps.items[i];
        pace_jsonw_object(&json);
        char number[LABEL_SIZE];
        const char *label = pace_names_text(&step->names, kept->label);
        pace_jsonw_key_text(&json, "label", names ? label : nameless(number, label, i + 1));
        pace_jsonw_key(&json, "ts");
        pace_jsonw_ns_as_us(&json, kept->start_ns);
        pace_jsonw_key(&json, "end");
        pace_jsonw_ns_as_us(&json, kept->end_ns);
        pace_jsonw_object_end(&json);
    }
    pace_jsonw_array_end(&json);
    pace_jsonw_object_end(&json);
}

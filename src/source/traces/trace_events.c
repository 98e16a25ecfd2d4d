#include "source/traces/trace_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { EVENTS_PER_PROGRESS = 65536 };

typedef struct {
    const pace_event_visitor *visitor;
    pace_input *input;
    pace_json *json;
    pace_kineto_event event;
    pace_text key;
    pace_status status;
    uint64_t events, strays;
    bool has_list, list_whole;
} reader;

static void tell_progress(const reader *r) {
    const pace_event_visitor *v = r->visitor;
    if (v->progress.tell && r->events % EVENTS_PER_PROGRESS == 0)
        pace_progress_tell(v->progress, "reading", pace_input_stored_bytes(r->input), pace_input_stored_size(r->input));
}

static pace_json_token read_event(reader *r) {
    size_t length;
    pace_json_pin(r->json);
    pace_kineto_event_clear(&r->event);
    pace_json_token token = pace_kineto_event_read(&r->event, r->json, r->visitor->names, &r->status);
    const char *bytes = pace_json_unpin(r->json, &length);
    if (token != PACE_JSON_OBJECT_END) return token;
    r->events++;
    tell_progress(r);
    r->status = r->visitor->event(r->visitor->context, &r->event, bytes, length);
    return r->status == PACE_OK ? token : PACE_JSON_ERROR;
}

static pace_json_token read_events(reader *r) {
    r->has_list = true;
    for (;;) {
        pace_json_token token = pace_json_next(r->json);
        if (token == PACE_JSON_ARRAY_END) r->list_whole = true;
        if (token == PACE_JSON_ARRAY_END || pace_json_failed(token)) return token;
        if (token != PACE_JSON_OBJECT) r->strays++; /* not an event */
        if (token == PACE_JSON_ARRAY) token = pace_json_leave(r->json);
        else if (token == PACE_JSON_OBJECT) token = read_event(r);
        if (pace_json_failed(token)) return token;
    }
}

/* The value of a member, of which `token` is the first. */
static pace_json_token read_value(reader *r, const char *key, pace_json_token token) {
    size_t length;
    pace_json_pin(r->json);
    if (token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY) token = pace_json_leave(r->json);
    const char *bytes = pace_json_unpin(r->json, &length);
    if (pace_json_failed(token) || !r->visitor->member) return token;
    r->status = r->visitor->member(r->visitor->context, key, bytes, length);
    return r->status == PACE_OK ? token : PACE_JSON_ERROR;
}

static pace_json_token read_member(reader *r) {
    size_t length;
    const char *text = pace_json_text(r->json, &length);
    r->key.count = 0;
    r->status = pace_text_append(&r->key, text, length);
    if (r->status != PACE_OK) return PACE_JSON_ERROR;
    pace_json_token token = pace_json_next(r->json);
    if (pace_json_failed(token)) return token;
    if (token == PACE_JSON_ARRAY && strcmp(r->key.items, "traceEvents") == 0) return read_events(r);
    return read_value(r, r->key.items, token);
}

static pace_json_token read_document(reader *r) {
    pace_json_token token = pace_json_next(r->json);
    if (token == PACE_JSON_ARRAY) token = read_events(r); /* the bare array form */
    else if (token == PACE_JSON_OBJECT)
        while ((token = pace_json_next(r->json)) == PACE_JSON_KEY) {
            token = read_member(r);
            if (pace_json_failed(token)) return token;
        }
    return pace_json_failed(token) ? token : pace_json_next(r->json);
}

static pace_status judge(pace_read_notes *notes, reader *r, pace_json_token token) {
    const char *name = pace_input_name(r->input);
    if (r->status != PACE_OK) return r->status;
    if (!pace_json_failed(token) && !r->has_list)
        return pace_fail(PACE_E_INPUT, "%s: expected a Kineto trace: an object with \"traceEvents\" or a list", name);
    if (!pace_json_failed(token)) return PACE_OK;
    pace_status status = pace_json_status(r->json);
    if (status != PACE_E_INPUT || r->events == 0) return status;
    notes->code = PACE_WARN_FILE_CUT_OFF;
    snprintf(notes->warning, sizeof notes->warning, "%s; kept the %" PRIu64 " events before it", pace_message(),
             r->events);
    return PACE_OK;
}

pace_status pace_trace_events_read(pace_read_notes *notes, const char *path, const pace_event_visitor *visitor) {
    reader r = {.visitor = visitor, .event = {.reads_arrows = true}};
    *notes = (pace_read_notes){0};
    PACE_TRY(pace_input_open(&r.input, path));
    pace_status status = pace_json_open(&r.json, r.input);
    if (status == PACE_OK) {
        status = judge(notes, &r, read_document(&r));
        notes->bytes = pace_json_bytes(r.json);
        notes->strays = r.strays;
        notes->events_whole = r.list_whole;
    }
    pace_json_free(r.json);
    pace_kineto_event_free(&r.event);
    PACE_VEC_FREE(&r.key);
    pace_input_free(r.input);
    return status;
}

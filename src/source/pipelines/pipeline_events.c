/*
 * Timelines of StragglerAnalysis for viewers (timeline-*.json): a complete event an operation, the replica as process,
 * five threads a worker, whose names say stage and tensor rank ("PP rank 0, TP rank 0, compute"), behind the events.
 * Of exchanges they have the transfer alone, and steps stand a tenth of their length apart.
 */
#include "source/pipelines/pipeline_rows.h"

#include "base/json_walk.h"
#include "base/order.h"
#include "base/text.h"
#include "source/traces/event_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int64_t replica, thread, stage, tensor;
} named_thread;

typedef struct {
    pace_json *json;
    const char *path;
    pace_pipeline_rows *rows;
    PACE_VEC(named_thread) threads;
    /* the event at hand */
    pace_pipeline_row row; /* its rank is the number of its thread */
    bool complete, names_thread, has_kind, has_start, has_step;
    named_thread named;
} reader;

bool pace_begins_pipeline_events(const char *path, const unsigned char *bytes, size_t length) {
    (void)path;
    return length && bytes[0] == '[' && pace_span_holds((const char *)bytes, length, "\"model_chunk\"");
}

static pace_status broken(const reader *r) { return pace_json_status(r->json); }

static pace_status expected(const reader *r, const char *what) {
    return pace_fail(PACE_E_INPUT, "%s: byte %" PRIu64 ": expected %s", r->path, pace_json_offset(r->json), what);
}

static pace_status read_argument(reader *r, const char *key, pace_json_token token) {
    int64_t value;
    if (strcmp(key, "name") == 0 && token == PACE_JSON_STRING) {
        char text[64];
        size_t length;
        const char *at = pace_json_text(r->json, &length);
        int stage, tensor;
        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), at);
        if (sscanf(text, "PP rank %9d, TP rank %9d", &stage, &tensor) == 2) {
            r->named.stage = stage;
            r->named.tensor = tensor;
            r->names_thread = stage >= 0 && tensor >= 0;
        }
    } else if (token == PACE_JSON_NUMBER && pace_json_int(r->json, &value) && value >= 0 && value < 1000000000) {
        if (strcmp(key, "step") == 0) r->row.step = value, r->has_step = true;
        if (strcmp(key, "model_chunk") == 0) r->row.chunk = value;
    }
    return pace_json_failed(pace_json_pass(r->json, token)) ? broken(r) : PACE_OK;
}

static pace_status read_arguments(reader *r) {
    char key[PACE_JSON_KEY_TEXT];
    for (;;) {
        pace_json_token token = pace_json_next_member(r->json, key);
        if (pace_json_failed(token)) return broken(r);
        if (token == PACE_JSON_OBJECT_END) return PACE_OK;
        PACE_TRY(read_argument(r, key, token));
    }
}

static pace_status read_place(int64_t *out, reader *r, const char *key) {
    int64_t value;
    if (!pace_json_int(r->json, &value) || value < 0 || value > 1000000000) return expected(r, key);
    *out = value;
    return PACE_OK;
}

static pace_status read_member(reader *r, const char *key, pace_json_token token) {
    if (strcmp(key, "args") == 0 && token == PACE_JSON_OBJECT) return read_arguments(r);
    if (token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY)
        return pace_json_failed(pace_json_leave(r->json)) ? broken(r) : PACE_OK;
    if (strcmp(key, "ph") == 0) r->complete = pace_json_is(r->json, "X");
    if (strcmp(key, "pid") == 0) PACE_TRY(read_place(&r->row.replica, r, "a replica's number as pid"));
    if (strcmp(key, "tid") == 0) PACE_TRY(read_place(&r->row.rank, r, "a thread's number as tid"));
    if (strcmp(key, "name") == 0) {
        size_t length;
        const char *text = pace_json_text(r->json, &length);
        PACE_TRY(pace_names_add(&r->row.kind, &r->rows->names, text, length));
        r->has_kind = length > 0;
    }
    if (strcmp(key, "ts") == 0) {
        if (!pace_json_us_to_ns(r->json, &r->row.start_ns)) return expected(r, "microseconds as ts");
        r->has_start = true;
    }
    if (strcmp(key, "dur") == 0 && !pace_json_us_to_ns(r->json, &r->row.duration_ns))
        return expected(r, "microseconds as dur");
    return PACE_OK;
}

static pace_status keep_event(reader *r) {
    pace_pipeline_row *row = &r->row;
    r->named.replica = row->replica;
    r->named.thread = row->rank;
    if (!r->complete) return r->names_thread ? PACE_PUSH(&r->threads, r->named) : PACE_OK;
    if (!r->has_kind || !r->has_start || !r->has_step)
        return expected(r, "an operation with name, ts and step before here");
    if (row->duration_ns < 0 || !pace_time_is_sane(row->start_ns, row->duration_ns))
        return expected(r, "an operation that ends behind its begin before here");
    if (row->chunk >= r->rows->chunks) r->rows->chunks = row->chunk + 1;
    return PACE_PUSH(&r->rows->rows, *row);
}

static pace_status read_event(reader *r) {
    char key[PACE_JSON_KEY_TEXT];
    r->row = (pace_pipeline_row){.chunk = -1};
    r->complete = r->names_thread = r->has_kind = r->has_start = r->has_step = false;
    for (;;) {
        pace_json_token token = pace_json_next_member(r->json, key);
        if (pace_json_failed(token)) return broken(r);
        if (token == PACE_JSON_OBJECT_END) return keep_event(r);
        PACE_TRY(read_member(r, key, token));
    }
}

static pace_status read_list(reader *r) {
    if (pace_json_next(r->json) != PACE_JSON_ARRAY) return expected(r, "a list of events");
    for (;;) {
        pace_json_token token = pace_json_next(r->json);
        if (pace_json_failed(token)) return broken(r);
        if (token == PACE_JSON_ARRAY_END) return PACE_OK;
        if (token != PACE_JSON_OBJECT) return expected(r, "an event");
        PACE_TRY(read_event(r));
    }
}

PACE_ORDER(by_thread, named_thread, PACE_UP(replica) PACE_UP(thread))

/* Stage and tensor rank of each row, by the name of its thread. */
static pace_status place_rows(reader *r) {
    PACE_SORT(&r->threads, by_thread);
    PACE_ITEMS (pace_pipeline_row, row, &r->rows->rows) {
        named_thread asked = {.replica = row->replica, .thread = row->rank};
        const named_thread *found =
            r->threads.count ? bsearch(&asked, r->threads.items, r->threads.count, sizeof asked, by_thread) : NULL;
        if (!found)
            return pace_fail(PACE_E_INPUT,
                             "%s: expected a thread_name \"PP rank …, TP rank …\" of thread %" PRId64
                             " of process %" PRId64 ", found none",
                             r->path, row->rank, row->replica);
        row->stage = found->stage;
        row->tensor = found->tensor;
        if (row->stage >= r->rows->stages) r->rows->stages = row->stage + 1;
    }
    pace_pipeline_rows_number(r->rows);
    r->rows->drawn = true;
    return PACE_OK;
}

static pace_status read_all(reader *r, pace_read_notes *notes) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, r->path));
    pace_status status = pace_json_open(&r->json, input);
    if (status == PACE_OK) {
        status = read_list(r);
        notes->bytes = pace_json_bytes(r->json);
        pace_json_free(r->json);
    }
    pace_input_free(input);
    return status == PACE_OK ? place_rows(r) : status;
}

pace_status pace_pipeline_events_read(pace_step_list *out, const char *path, pace_read_notes *notes,
                                      pace_progress progress) {
    (void)progress;
    pace_pipeline_rows rows;
    *notes = (pace_read_notes){0};
    PACE_TRY(pace_pipeline_rows_init(&rows));
    reader r = {.path = path, .rows = &rows};
    pace_status status = read_all(&r, notes);
    if (status == PACE_OK) status = pace_pipeline_steps_make(out, &rows, path, notes);
    PACE_VEC_FREE(&r.threads);
    pace_pipeline_rows_free(&rows);
    return status;
}

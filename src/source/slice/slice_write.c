#include "source/slice/slice_write.h"
#include "base/whole_file.h"
#include "source/slice/mend.h"
#include "source/slice/slice_member.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const pace_slice_job *job;
    pace_slice_counts *counts;
    pace_sink *sink;
    pace_names names;
    pace_text mended, key;
    bool first_member, in_events, first_event;
    const char *output;
} writer;

typedef struct {
    const char *bytes;
    size_t length; /* 0 = left out */
} piece;

static void begin_member(writer *w) {
    if (w->in_events) pace_sink_text(w->sink, "\n]");
    w->in_events = false;
    pace_sink_text(w->sink, w->first_member ? "\n" : ",\n");
    w->first_member = false;
}

static void begin_event(writer *w) {
    if (!w->in_events) {
        begin_member(w);
        pace_sink_text(w->sink, "\"traceEvents\": [");
        w->in_events = w->first_event = true;
    }
    pace_sink_text(w->sink, w->first_event ? "\n" : ",\n");
    w->first_event = false;
}

static bool keeps(const writer *w, const pace_kineto_event *event) {
    const pace_slice_job *job = w->job;
    if (!job->cut) return true;
    if (!pace_slice_keeps(job->cut, event)) return false;
    bool may_mark = event->known_category && event->kind <= PACE_TASK_ANNOTATION;
    return !may_mark || !job->is_other ||
           !job->is_other(job->context, pace_names_text(&w->names, event->name), event->start_ns);
}

/* The piece as it may be written. `what` and `name` say which it is. */
static pace_status sound(piece *out, writer *w, pace_text *room, const char *what, const char *name) {
    pace_mend_verdict verdict;
    PACE_TRY(pace_mend(&verdict, room, out->bytes, out->length));
    if (verdict == PACE_MEND_SOUND) return PACE_OK;
    pace_slice_counts *counts = w->counts;
    if (counts->mended + counts->broken == 0) snprintf(counts->first, sizeof counts->first, "%s \"%.80s\"", what, name);
    if (verdict == PACE_MEND_MENDED) counts->mended++;
    else counts->broken++;
    *out = verdict == PACE_MEND_MENDED ? (piece){room->items, room->count} : (piece){NULL, 0};
    return PACE_OK;
}

static pace_status put_event(void *context, const pace_kineto_event *event, const char *bytes, size_t length) {
    writer *w = context;
    w->counts->events++;
    if (!keeps(w, event)) return PACE_OK;
    piece kept = {bytes, length};
    PACE_TRY(sound(&kept, w, &w->mended, "the event", pace_names_text(&w->names, event->name)));
    if (kept.length == 0) return PACE_OK;
    w->counts->kept_events++;
    begin_event(w);
    if (w->job->anonymizer) pace_anonymize_event(w->sink, w->job->anonymizer, event, kept.bytes, kept.length);
    else pace_sink_bytes(w->sink, kept.bytes, kept.length);
    if (!w->sink->error) return PACE_OK;
    return pace_fail(PACE_E_IO, "%s: could not be written: %s", w->output, strerror(w->sink->error));
}

static void write_member(writer *w, const char *key, piece name, piece value) {
    begin_member(w);
    pace_sink_bytes(w->sink, name.bytes, name.length);
    pace_sink_text(w->sink, ": ");
    if (w->job->anonymizer) pace_anonymize_member(w->sink, w->job->anonymizer, key, value.bytes, value.length);
    else pace_sink_bytes(w->sink, value.bytes, value.length);
}

static pace_status put_member(void *context, const char *key, const char *bytes, size_t length) {
    writer *w = context;
    bool ours =
        strcmp(key, PACE_SLICE_MEMBER) == 0; /* of the file that is cut: what is still true of it was written before */
    if (ours || (w->job->anonymizer && !pace_anonymizer_keeps_member(w->job->anonymizer, key, bytes))) return PACE_OK;
    pace_text quoted = {0};
    pace_status status = pace_text_append(&quoted, "\"", 1);
    if (status == PACE_OK) status = pace_text_append(&quoted, key, strlen(key));
    if (status == PACE_OK) status = pace_text_append(&quoted, "\"", 1);
    piece name = {quoted.items, quoted.count}, value = {bytes, length};
    if (status == PACE_OK) status = sound(&name, w, &w->key, "the member", key);
    if (status == PACE_OK) status = sound(&value, w, &w->mended, "the member", key);
    if (status == PACE_OK && name.length && value.length) write_member(w, key, name, value);
    PACE_VEC_FREE(&quoted);
    return status;
}

static pace_status copy(writer *w) {
    const pace_slice_job *job = w->job;
    pace_event_visitor visitor = {
        .event = put_event, .member = put_member, .context = w, .names = &w->names, .progress = job->progress};
    pace_read_notes notes;
    w->first_member = true;
    pace_sink_text(w->sink, "{");
    if (job->steps->kept_steps.count || job->steps->cut_ns != INT64_MAX) {
        begin_member(w);
        pace_slice_member_write(w->sink, job->steps, job->anonymizer == NULL);
    }
    PACE_TRY(pace_trace_events_read(&notes, job->path, &visitor));
    if (!w->in_events && w->counts->kept_events == 0) {
        begin_member(w);
        pace_sink_text(w->sink, "\"traceEvents\": [");
        w->in_events = true;
    }
    pace_sink_text(w->sink, w->in_events ? "\n]\n}\n" : "\n}\n");
    w->counts->bytes = notes.bytes;
    w->counts->strays = notes.strays;
    snprintf(w->counts->warning, sizeof w->counts->warning, "%s", notes.warning);
    return PACE_OK;
}

static pace_status fill(pace_sink *sink, void *context) {
    writer *w = context;
    uint64_t before = sink->written + sink->used;
    w->sink = sink;
    pace_status status = copy(w);
    w->counts->kept_bytes = sink->written + sink->used - before;
    return status;
}

pace_status pace_slice_write(pace_slice_counts *out, const char *output, const pace_slice_job *job) {
    pace_slice_counts counts = {0};
    writer w = {.job = job, .counts = &counts, .output = output};
    PACE_TRY(pace_names_init(&w.names));
    pace_status status = pace_whole_file_write(output, fill, &w);
    pace_names_free(&w.names);
    PACE_VEC_FREE(&w.mended, &w.key);
    if (status == PACE_OK) *out = counts;
    return status;
}

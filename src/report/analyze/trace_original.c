#include "base/print.h"
#include "report/analyze/analyze_parts.h"
#include "source/slice/event_rewrite.h"
#include "source/traces/trace_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Processes of the k-th of several traces: Linux numbers them below 2^22. */
enum { PROCESSES = 5000000, OWN_PROCESS = 4900000, ONLY_OWN_PROCESS = 1000000 };

typedef struct {
    const pace_traces_shown *shown;
    const pace_report *report; /* whose warnings are written */
    pace_sink *sink;
    bool several, begun; /* an event has been written */
    pace_text members;   /* beside the events of the first trace */
    pace_names names;
    /* the trace that is being copied */
    const pace_rank *trace;
    size_t place;
    bool metadata; /* the event names a process or a thread */
} writer;

/* --- which traces ------------------------------------------------------------------------------------------------- */

static bool is_shown(const pace_traces_shown *shown, const pace_rank *trace) {
    return !shown->only || pace_rank_trace(shown->only) == trace;
}

static bool can_be_copied(const pace_rank *trace) {
    struct stat about;
    const pace_trace_format *format;
    if (stat(trace->path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    return pace_trace_format_of(&format, trace->path) == PACE_OK && format == &pace_trace_formats[0];
}

bool pace_traces_can_be_copied(const pace_traces_shown *shown) {
    for (size_t i = 0; i < shown->analysis->traces.count; i++)
        if (is_shown(shown, shown->analysis->traces.items[i]) && !can_be_copied(shown->analysis->traces.items[i]))
            return false;
    return shown->analysis->traces.count > 0 && !shown->analysis->made;
}

/* --- events of the traces ----------------------------------------------------------------------------------------- */

static void begin_event(writer *w) {
    pace_sink_text(w->sink, w->begun ? ",\n" : "\n");
    w->begun = true;
}

static bool read_int(int64_t *out, const pace_event_value *value) {
    char text[24], *end;
    if (value->length == 0 || value->length >= sizeof text) return false;
    memcpy(text, value->text, value->length);
    text[value->length] = '\0';
    *out = strtoll(text, &end, 10);
    return *end == '\0';
}

static int64_t process_of(const writer *w, int64_t process) {
    return w->several ? (int64_t)(w->place + 1) * PROCESSES + process : process;
}

static const char *label_of(char out[48], const writer *w) {
    if (w->trace->step.rank >= 0) snprintf(out, 48, "rank %" PRId64, w->trace->step.rank);
    else snprintf(out, 48, "trace %zu", w->place + 1);
    return out;
}

static bool put_process(const writer *w, pace_sink *sink, const pace_event_value *value) {
    int64_t process;
    char label[48];
    if (read_int(&process, value)) pace_sink_format(sink, "%" PRId64, process_of(w, process));
    else pace_sink_format(sink, "\"%s %.*s\"", label_of(label, w), (int)value->length, value->text);
    return true;
}

static bool put_arrow(const writer *w, pace_sink *sink, const pace_event_value *value) {
    int64_t id;
    if (read_int(&id, value) && id >= 0 && id < INT64_C(1) << 40)
        pace_sink_format(sink, "%" PRId64, ((int64_t)(w->place + 1) << 40) + id);
    else pace_sink_format(sink, "\"%zu %.*s\"", w->place + 1, (int)value->length, value->text);
    return true;
}

/* A decimal in microseconds, its digits below the nanosecond left away. */
static bool put_time(const writer *w, pace_sink *sink, const pace_event_value *value) {
    pace_input *input;
    pace_json *json;
    int64_t ns;
    bool known = false;
    if (w->trace->shift_ns == 0) return false;
    if (pace_input_open_memory(&input, "ts", value->text, value->length) != PACE_OK) return false;
    if (pace_json_open(&json, input) == PACE_OK) {
        known = pace_json_next(json) == PACE_JSON_NUMBER && pace_json_us_to_ns(json, &ns);
        pace_json_free(json);
    }
    pace_input_free(input);
    if (!known) return false;
    pace_jsonw out;
    pace_jsonw_init(&out, sink, 0);
    pace_jsonw_ns_as_us(&out, ns + w->trace->shift_ns);
    return true;
}

static bool put_label(const writer *w, pace_sink *sink, const pace_event_value *value) {
    char label[48];
    pace_sink_format(sink, "\"%s ", label_of(label, w));
    pace_sink_bytes(sink, value->text, value->length);
    pace_sink_bytes(sink, "\"", 1);
    return true;
}

/* What tells the traces apart. */
static bool replace(void *context, pace_sink *sink, const pace_event_value *value) {
    const writer *w = context;
    if (w->metadata && value->depth == 2 && value->string && strcmp(value->member, "args") == 0)
        return put_label(w, sink, value);
    if (value->depth != 1) return false;
    if (strcmp(value->member, "pid") == 0) return put_process(w, sink, value);
    if (strcmp(value->member, "id") == 0) return put_arrow(w, sink, value);
    return strcmp(value->member, "ts") == 0 && !w->metadata && put_time(w, sink, value);
}

static pace_status copy_event(void *context, const pace_kineto_event *event, const char *bytes, size_t length) {
    writer *w = context;
    begin_event(w);
    w->metadata = event->phase == 'M';
    if (w->several) pace_event_rewrite(w->sink, bytes, length, replace, w);
    else pace_sink_bytes(w->sink, bytes, length);
    return PACE_OK;
}

/* Of several traces the first's members stand for all, but for what says which rank it is. */
static pace_status keep_member(void *context, const char *key, const char *bytes, size_t length) {
    writer *w = context;
    if (w->several && (w->place > 0 || strcmp(key, "distributedInfo") == 0)) return PACE_OK;
    if (strcmp(key, PACE_WARNINGS_MEMBER) == 0) return PACE_OK; /* of another run */
    PACE_TRY(pace_text_append(&w->members, ",\n\"", 3));
    PACE_TRY(pace_text_append(&w->members, key, strlen(key)));
    PACE_TRY(pace_text_append(&w->members, "\": ", 3));
    return pace_text_append(&w->members, bytes, length);
}

static pace_status copy_trace(writer *w) {
    const pace_event_visitor visitor = {.event = copy_event, .member = keep_member, .context = w, .names = &w->names};
    pace_read_notes notes;
    return pace_trace_events_read(&notes, w->trace->path, &visitor);
}

/* --- tracks ------------------------------------------------------------------------------------------------------- */

static void put_event(writer *w, const char *format, ...) PACE_PRINTF(2, 3);
static void put_event(writer *w, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    pace_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    begin_event(w);
    pace_sink_text(w->sink, text);
}

static int64_t own_process(const writer *w) {
    return w->several ? process_of(w, OWN_PROCESS) : (int64_t)ONLY_OWN_PROCESS;
}

static void put_slice(writer *w, const char *category, int track, int64_t start_ns, int64_t end_ns, const char *name) {
    pace_jsonw json;
    pace_jsonw_init(&json, w->sink, 0);
    begin_event(w);
    pace_jsonw_object(&json);
    pace_jsonw_key_text(&json, "ph", "X");
    pace_jsonw_key_text(&json, "cat", category);
    pace_jsonw_key_text(&json, "name", name);
    pace_jsonw_key_int(&json, "pid", own_process(w));
    pace_jsonw_key_int(&json, "tid", track);
    pace_jsonw_key(&json, "ts");
    pace_jsonw_ns_as_us(&json, start_ns);
    pace_jsonw_key(&json, "dur");
    pace_jsonw_ns_as_us(&json, end_ns - start_ns);
}

static void end_slice(writer *w) { pace_sink_text(w->sink, "}"); }

static int64_t shift_of(const writer *w) { return w->several ? w->trace->shift_ns : 0; }

enum { STAGE_TRACK = 1, RESOURCE_TRACK, PATH_TRACK };

static void name_tracks(writer *w) {
    static const char *const names[] = {"stage", "resource", "critical path"};
    char label[48] = "";
    if (w->several) label_of(label, w);
    put_event(w,
              "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRId64
              ",\"tid\":0,\"args\":{\"name\":\"Paceline%s%s\"}}",
              own_process(w), *label ? ": " : "", label);
    put_event(w,
              "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%" PRId64
              ",\"tid\":0,\"args\":{\"sort_index\":-1}}",
              own_process(w));
    for (int i = 0; i < 3; i++)
        put_event(w,
                  "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRId64 ",\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
                  own_process(w), i + 1, names[i]);
}

/* Of a trace of several devices, those of the device that is reported. */
static const pace_rank *rank_of(const writer *w) {
    const pace_rank *reported = pace_analysis_slowest(w->shown->analysis);
    if (pace_rank_trace(reported) == w->trace) return reported;
    for (size_t i = 0; i < w->shown->analysis->ranks.count; i++)
        if (pace_rank_trace(w->shown->analysis->ranks.items[i]) == w->trace) return w->shown->analysis->ranks.items[i];
    return w->trace;
}

static void put_tiles(writer *w) {
    const pace_rank *rank = rank_of(w);
    int64_t shift = shift_of(w);
    name_tracks(w);
    PACE_ITEMS (const pace_tile, tile, &rank->tiles) {
        int64_t start = tile->start_ns + shift, end = pace_tile_end(tile) + shift;
        put_slice(w, "paceline_stage", STAGE_TRACK, start, end, pace_stage_names[tile->stage]);
        end_slice(w);
        put_slice(w, "paceline_resource", RESOURCE_TRACK, start, end, pace_resource_names[tile->resource]);
        end_slice(w);
    }
}

/* The process and thread of a lane, as the trace's events name them: of "device 0 stream 7" 0 and 7, of "host A/B" A
 * and B. */
static void write_lane(char *out, size_t size, const writer *w, uint32_t lane) {
    const char *key = pace_names_text(&w->trace->step.names, w->trace->step.lanes.items[lane].key);
    int64_t device, stream, process, thread;
    if (sscanf(key, "device %" SCNd64 " stream %" SCNd64, &device, &stream) == 2) process = device, thread = stream;
    else if (sscanf(key, "host %" SCNd64 "/%" SCNd64, &process, &thread) != 2) process = thread = 0;
    snprintf(out, size, "\"pid\":%" PRId64 ",\"tid\":%" PRId64, process_of(w, process), thread);
}

static void put_wait_end(writer *w, size_t wait, char phase, uint32_t task, int64_t at_ns) {
    char lane[80];
    write_lane(lane, sizeof lane, w, pace_task_lane(&w->trace->step, task));
    int64_t at = at_ns + shift_of(w), id = ((int64_t)(w->several ? w->place + 1 : 0) << 40) + (int64_t)wait;
    put_event(w,
              "{\"ph\":\"%c\",\"cat\":\"paceline_wait\",\"name\":\"waits for\",\"id\":%" PRId64 ",%s,\"ts\":%s%" PRId64
              ".%03d%s}",
              phase, id, lane, at < 0 ? "-" : "", at < 0 ? -(at / 1000) : at / 1000, (int)llabs(at % 1000),
              phase == 'f' ? ",\"bp\":\"e\"" : "");
}

/* An arrow for each recorded wait: from the end of what is waited for to where the waiting task goes on. */
static void put_waits(writer *w) {
    const pace_step *step = &w->trace->step;
    for (size_t i = 0; i < step->waits.count; i++) {
        uint32_t task = step->waits.items[i].task, on = step->waits.items[i].on;
        put_wait_end(w, i, 's', on, pace_step_end_ns(step, on));
        put_wait_end(w, i, 'f', task,
                     pace_task_on_device(step->kind[task]) ? step->start_ns[task] : pace_step_end_ns(step, task));
    }
}

static void put_piece(writer *w, const pace_path_piece *piece) {
    const pace_rank *rank = w->shown->analysis->ranks.items[piece->rank];
    int64_t shift = shift_of(w);
    pace_jsonw json;
    put_slice(w, "paceline_critical_path", PATH_TRACK, piece->start_ns + shift, pace_piece_end(piece) + shift,
              piece->task == PACE_NO_TASK ? "before" : pace_step_name(&rank->step, piece->task));
    pace_sink_text(w->sink, ",\"args\":");
    pace_jsonw_init(&json, w->sink, 0);
    pace_jsonw_object(&json);
    pace_jsonw_key_text(&json, "resource", pace_advice_names[piece->resource]);
    if (rank->step.rank >= 0) pace_jsonw_key_int(&json, "rank", rank->step.rank);
    pace_jsonw_key(&json, "waiting");
    pace_jsonw_bool(&json, piece->waiting);
    pace_jsonw_object_end(&json);
    end_slice(w);
}

/* On the tracks of the rank whose step it is. */
static pace_status put_path(writer *w) {
    pace_critical critical;
    PACE_TRY(pace_critical_find_across(&critical, w->shown->analysis, pace_analysis_slowest(w->shown->analysis)));
    for (size_t i = 0; i < critical.pieces.count; i++) put_piece(w, &critical.pieces.items[i]);
    pace_critical_free(&critical);
    return PACE_OK;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

static pace_status put_trace(writer *w) {
    put_tiles(w);
    if (pace_rank_trace(pace_analysis_slowest(w->shown->analysis)) == w->trace) PACE_TRY(put_path(w));
    put_waits(w);
    return copy_trace(w);
}

static pace_status put_document(writer *w) {
    const pace_analysis *analysis = w->shown->analysis;
    pace_jsonw json;
    pace_sink_text(w->sink, "{\n\"traceEvents\": [");
    for (size_t i = 0; i < analysis->traces.count; i++) {
        w->trace = analysis->traces.items[i];
        w->place = w->several ? i : 0;
        if (is_shown(w->shown, w->trace)) PACE_TRY(put_trace(w));
    }
    pace_sink_text(w->sink, "\n]");
    pace_sink_bytes(w->sink, w->members.items, w->members.count);
    if (w->several) pace_sink_format(w->sink, ",\n\"" PACE_RANKS_MEMBER "\": %zu", analysis->traces.count);
    pace_jsonw_init(&json, w->sink, 0);
    pace_sink_text(w->sink, ",\n\"" PACE_WARNINGS_MEMBER "\": ");
    pace_write_warnings(&json, w->report);
    pace_sink_text(w->sink, "\n}\n");
    return PACE_OK;
}

pace_status pace_write_original_trace(const pace_traces_shown *shown, const pace_report *report, pace_sink *sink) {
    writer w = {.shown = shown,
                .report = report,
                .sink = sink,
                .several = !shown->only && shown->analysis->traces.count > 1};
    PACE_TRY(pace_names_init(&w.names));
    pace_status status = put_document(&w);
    pace_names_free(&w.names);
    PACE_VEC_FREE(&w.members);
    return status;
}

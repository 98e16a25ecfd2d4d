#include "source/traces/trace_formats.h"
#include "base/text.h"
#include "model/model_read.h"
#include "source/traces/chakra.h"
#include "source/traces/execution_trace.h"
#include "source/traces/foreign.h"
#include "source/model_inputs.h"
#include "source/traces/nsys.h"
#include "base/print.h"

#include <inttypes.h>
#include <paceline/paceline.h>
#include <stdio.h>
#include <string.h>

enum { MOST_MEMBERS = 16, LONGEST_SUFFIX = 15 }; /* formats say what they are before their long member */

/* --- how formats begin -------------------------------------------------------------------------------------------- */

static bool begins_database(const char *path, const unsigned char *bytes, size_t length) {
    (void)bytes, (void)length;
    return pace_is_database(path);
}

/* Chakra's first message is its metadata, behind its length: the version (field 1), a short text such as "0.0.4", or,
 * where it is left out, attributes (field 2) that begin with their name. */
static bool begins_chakra(const char *path, const unsigned char *bytes, size_t length) {
    (void)path;
    enum { VERSION = 0x0a, ATTRIBUTE = 0x12, NAME = 0x0a, LONGEST = 64 };
    size_t at = 0;
    while (at < length && at < 9 && bytes[at] & 0x80) at++;
    if (at + 3 >= length) return false;
    if (bytes[at + 1] == ATTRIBUTE) return bytes[at + 3] == NAME;
    if (bytes[at + 1] != VERSION) return false;
    size_t size = bytes[at + 2], from = at + 3;
    if (size == 0 || size > LONGEST || from + size > length) return false;
    for (size_t i = from; i < from + size; i++)
        if (!pace_is_alnum((char)bytes[i]) && bytes[i] != '.' && bytes[i] != '-') return false;
    return true;
}

/* The start of the first line that is neither empty nor a comment nor where a document begins. */
static size_t first_line(const unsigned char *bytes, size_t length) {
    size_t at = 0;
    while (at < length) {
        while (at < length && pace_is_space((char)bytes[at])) at++;
        if (at == length || (bytes[at] != '#' && bytes[at] != '-')) return at;
        while (at < length && bytes[at] != '\n') at++;
    }
    return at;
}

/* A description is a map whose first key is known; one that begins with a long comment has its name. */
static bool begins_model(const char *path, const unsigned char *bytes, size_t length) {
    size_t from = first_line(bytes, length), at = from;
    if (from == length) return length > 0 && pace_model_is_file(path);
    while (at < length && pace_is_name((char)bytes[at])) at++;
    return at < length && bytes[at] == ':' && pace_model_is_key((const char *)bytes + from, at - from);
}

/* --- the formats -------------------------------------------------------------------------------------------------- */

static pace_status read_kineto(pace_step *out, const char *path, pace_read_notes *notes, pace_progress progress) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_kineto_read(out, input, notes, progress);
    pace_input_free(input);
    return status;
}

static pace_status read_execution_trace(pace_graph *out, pace_read_notes *notes, pace_input *input) {
    pace_trace_ids ids = {0};
    PACE_TRY(pace_execution_trace_read(out, &ids, input));
    notes->code = PACE_WARN_EVENTS_LEFT_OUT;
    if (ids.strays)
        pace_snprintf(notes->warning, sizeof notes->warning,
                      "%s: %" PRIu64
                      " nodes hang on others that are not in the file: what they are part of is not known",
                      pace_input_name(input), ids.strays);
    pace_trace_ids_free(&ids);
    return PACE_OK;
}

const pace_trace_format pace_trace_formats[] = {
    {.name = "Kineto trace",
     .holds = PACE_HOLDS_STEP,
     .suffixes = " .json .json.gz .json.zst ",
     .members = " traceEvents ",
     .read_step = read_kineto},
    {.name = "Nsight Systems export",
     .holds = PACE_HOLDS_STEP,
     .suffixes = " .sqlite ",
     .begins = begins_database,
     .read_step = pace_nsys_read},
    {.name = "table of a job's operations",
     .holds = PACE_HOLDS_TIMELINE,
     .begins = pace_begins_pipeline_table,
     .read_ranks = pace_pipeline_table_read},
    {.name = "timeline of a job's operations",
     .holds = PACE_HOLDS_TIMELINE,
     .begins = pace_begins_pipeline_events,
     .read_ranks = pace_pipeline_events_read},
    {.name = "log of a pipeline's stage",
     .holds = PACE_HOLDS_TIMELINE,
     .begins = pace_begins_pipeline_log,
     .read_ranks = pace_pipeline_log_read},
    {.name = "settings of a pipeline's logs",
     .holds = PACE_HOLDS_TIMELINE,
     .begins = pace_begins_pipeline_log_settings,
     .read_ranks = pace_pipeline_log_settings_read},
    {.name = "Chakra trace",
     .holds = PACE_HOLDS_GRAPH,
     .suffixes = " .et .et.gz ",
     .begins = begins_chakra,
     .read_graph = pace_chakra_read},
    {.name = "model", .holds = PACE_HOLDS_MODEL, .begins = begins_model},
    {.name = "model's configuration of Hugging Face",
     .holds = PACE_HOLDS_MODEL,
     .members = " model_type architectures "},
    {.name = "Chakra trace in JSON",
     .holds = PACE_HOLDS_GRAPH,
     .members = " workload_graph ",
     .read_graph = pace_chakra_read_json},
    {.name = "PyTorch execution trace",
     .holds = PACE_HOLDS_GRAPH,
     .members = " nodes ",
     .read_graph = read_execution_trace},
};
const size_t pace_trace_format_count = PACE_COUNT(pace_trace_formats);

/* --- which it is -------------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_trace_format *formats;
    size_t count;
} format_list;

static const pace_trace_format *with_member(const format_list *list, const pace_json *json) {
    for (size_t i = 0; i < list->count; i++) {
        const char *at = list->formats[i].members;
        for (size_t length; at && (at += strspn(at, " "), length = strcspn(at, " ")) > 0; at += length) {
            char member[64];
            snprintf(member, sizeof member, "%.*s", (int)length, at);
            if (pace_json_is(json, member)) return &list->formats[i];
        }
    }
    return NULL;
}

static bool has_suffix(const char *suffixes, const char *name) {
    for (size_t length; suffixes && (suffixes += strspn(suffixes, " "), length = strcspn(suffixes, " ")) > 0;
         suffixes += length) {
        char suffix[LONGEST_SUFFIX + 1];
        snprintf(suffix, sizeof suffix, "%.*s", (int)length, suffixes);
        if (pace_has_suffix(name, suffix)) return true;
    }
    return false;
}

/* What is no JSON either is of the format that its name says. */
static const pace_trace_format *by_name(const format_list *list, const char *path) {
    for (size_t i = 0; i < list->count; i++)
        if (!list->formats[i].members && has_suffix(list->formats[i].suffixes, path)) return &list->formats[i];
    return &list->formats[0];
}

/* What tells no format is of `otherwise`. */
static pace_status by_members(const pace_trace_format **out, const format_list *list, pace_json *json, const char *path,
                              const pace_trace_format *otherwise) {
    *out = otherwise;
    if (pace_json_next(json) != PACE_JSON_OBJECT) *out = otherwise ? by_name(list, path) : NULL;
    else
        for (int i = 0; i < MOST_MEMBERS && pace_json_next(json) == PACE_JSON_KEY; i++) {
            const pace_trace_format *found = with_member(list, json);
            if (found) *out = found;
            if (found) return PACE_OK;
            PACE_TRY(pace_foreign_refuse_member(path, json));
            pace_json_token token = pace_json_skip(json);
            if (token == PACE_JSON_ERROR || token == PACE_JSON_TRUNCATED) break;
        }
    return PACE_OK;
}

static pace_status first_bytes(unsigned char *bytes, size_t capacity, size_t *length, const char *path) {
    pace_input *input;
    pace_status status = PACE_OK;
    PACE_TRY(pace_input_peek(&input, path));
    *length = 0;
    for (size_t got = 1; status == PACE_OK && got > 0 && *length < capacity; *length += got)
        status = pace_input_read(input, bytes + *length, capacity - *length, &got);
    pace_input_free(input);
    return status == PACE_E_INPUT ? PACE_OK : status; /* whoever reads it says so */
}

static pace_status of_json(const pace_trace_format **out, const format_list *list, const char *path,
                           const pace_trace_format *otherwise) {
    pace_input *input;
    pace_json *json;
    PACE_TRY(pace_input_peek(&input, path));
    pace_status status = pace_json_open(&json, input);
    if (status == PACE_OK) {
        status = by_members(out, list, json, path, otherwise);
        pace_json_free(json);
    }
    pace_input_free(input);
    return status;
}

/* NULL where its first bytes tell none. What is known and not read is refused. */
static pace_status by_bytes(const pace_trace_format **out, const format_list *list, const char *path) {
    unsigned char bytes[4096];
    size_t length = 0;
    PACE_TRY(first_bytes(bytes, sizeof bytes, &length, path));
    *out = NULL;
    for (size_t i = 0; i < list->count && !*out; i++)
        if (list->formats[i].begins && list->formats[i].begins(path, bytes, length)) *out = &list->formats[i];
    return *out ? PACE_OK : pace_foreign_refuse(path, bytes, length);
}

pace_status pace_trace_format_among(const pace_trace_format **out, const char *path, const pace_trace_format *formats,
                                    size_t count) {
    const format_list list = {formats, count};
    const pace_trace_format *found;
    PACE_TRY(by_bytes(&found, &list, path));
    if (!found) PACE_TRY(of_json(&found, &list, path, &formats[0]));
    *out = found;
    return PACE_OK;
}

pace_status pace_trace_format_surely(const pace_trace_format **out, const char *path) {
    const format_list list = {pace_trace_formats, pace_trace_format_count};
    PACE_TRY(by_bytes(out, &list, path));
    return *out ? PACE_OK : of_json(out, &list, path, NULL);
}

pace_status pace_trace_format_of(const pace_trace_format **out, const char *path) {
    return pace_trace_format_among(out, path, pace_trace_formats, pace_trace_format_count);
}

bool pace_is_trace_name(const char *name) {
    const char *slash = name ? strrchr(name, '/') : NULL;
    if (!name || (slash ? slash[1] : name[0]) == '.') return false;
    for (size_t i = 0; i < pace_trace_format_count; i++)
        if (has_suffix(pace_trace_formats[i].suffixes, name)) return true;
    return false;
}

void pace_trace_patterns(char *out, size_t size) {
    *out = '\0';
    for (size_t i = 0; i < pace_trace_format_count; i++) {
        const char *at = pace_trace_formats[i].suffixes;
        for (size_t length; at && (at += strspn(at, " "), length = strcspn(at, " ")) > 0; at += length)
            if (strlen(out) + length + 4 < size) pace_list(out, size, ", ", "*%.*s", (int)length, at);
    }
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

pace_status pace_graph_read(pace_graph *out, pace_read_notes *notes, const pace_trace_format *format,
                            const char *path) {
    pace_input *input;
    if (format->holds == PACE_HOLDS_MODEL)
        return pace_fail(PACE_E_INPUT,
                         "%s: is a model's description: expected a file whose name ends with .yaml, or - for standard "
                         "input",
                         path);
    if (!format->read_graph)
        return pace_fail(PACE_E_INPUT, "%s: expected a profiler's or an execution trace, found another file (%s)", path,
                         format->name);
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = format->read_graph(out, notes, input);
    pace_input_free(input);
    return status;
}

static pace_status refuse_untimed(const char *path, const pace_trace_format *format) {
    return pace_fail(
        PACE_E_INPUT,
        "%s: expected a trace, found a %s, which does not say when anything ran: paceline predict %s --on DEVICE", path,
        format->name, path);
}

/* Behind what the reader said. Of several the first says which code they have, unless it counts for no doubt. */
static void note_code(pace_read_notes *notes, pace_warning_code code) {
    if (!notes->warning[0] || notes->code == PACE_WARN_TIMELINE_ASSUMED) notes->code = code;
}

static void note_depth(pace_read_notes *notes, const pace_step_list *steps, const char *path) {
    bool flattened = false;
    PACE_ITEMS (const pace_step, step, steps) flattened |= step->flattened_count > 0;
    if (!flattened) return;
    note_code(notes, PACE_WARN_NESTING_CUT);
    pace_list(notes->warning, sizeof notes->warning, "; ",
              "%s: tasks nested deeper than %d levels hang on the task %d levels deep", path, PACE_STEP_DEPTH,
              PACE_STEP_DEPTH - 1);
}

static void note_repeated(pace_read_notes *notes, const pace_step_list *steps, const char *path) {
    uint64_t repeated = 0;
    PACE_ITEMS (const pace_step, step, steps) repeated += step->repeated_count;
    if (!repeated) return;
    note_code(notes, PACE_WARN_EVENTS_LEFT_OUT);
    pace_list(notes->warning, sizeof notes->warning, "; ",
              "%s: %" PRIu64 " records stand there twice (same thread or stream, times, name and id): each counts once",
              path, repeated);
}

/* Traces of whole microseconds are as exact as that. */
enum { ROUNDED_NS = 1000 };

/* No work begins before the call that launched it, unless times are damaged or host and device differ in clocks. */
static void note_early(pace_read_notes *notes, const pace_step_list *steps, const char *path) {
    uint64_t early = 0;
    int64_t most_ns = 0;
    PACE_ITEMS (const pace_step, step, steps)
        for (uint32_t task = 0; task < step->count && !step->shared_calls; task++) {
            uint32_t call = pace_task_cause(step, task);
            int64_t by_ns = call == PACE_NO_TASK ? 0 : step->start_ns[call] - step->start_ns[task];
            early += by_ns > ROUNDED_NS;
            if (by_ns > most_ns) most_ns = by_ns;
        }
    if (!early) return;
    note_code(notes, PACE_WARN_CLOCKS_DIFFER);
    pace_list(notes->warning, sizeof notes->warning, "; ",
              "%s: %" PRIu64 " kernels and copies begin before the call that launched them, by up to %.4g ms: host and "
              "device have different clocks, or times are damaged, and what the device waited for is uncertain",
              path, early, (double)most_ns / 1e6);
}

/* No device starts and ends a kernel within so short a time, and none takes so long on average. */
static const int64_t SHORTEST_NS = 500, LONGEST_MEAN_NS = INT64_C(10000000000);

/* Whoever writes a timeline of his own may write it in another unit. */
static void note_unit(pace_read_notes *notes, const pace_step_list *steps, const char *path) {
    int64_t longest_ns = 0;
    double sum_ns = 0, count = 0;
    PACE_ITEMS (const pace_step, step, steps)
        for (uint32_t task = 0; task < step->count; task++) {
            int64_t ns = step->kind[task] == PACE_TASK_KERNEL ? pace_task_ns(step, task) : 0;
            if (ns > longest_ns) longest_ns = ns;
            sum_ns += (double)ns;
            count += ns > 0;
        }
    bool is_short = longest_ns > 0 && longest_ns < SHORTEST_NS;
    bool is_long = sum_ns > count * (double)LONGEST_MEAN_NS;
    if (!is_short && !is_long) return;
    note_code(notes, PACE_WARN_UNIT_DOUBTED);
    pace_list(notes->warning, sizeof notes->warning, "; ",
              "%s: %s of the device takes %.3g s: are its times in the unit of this format (docs/formats.md)?", path,
              is_short ? "the longest work" : "the mean piece of work",
              is_short ? (double)longest_ns / 1e9 : sum_ns / count / 1e9);
}

static bool has_times(const pace_trace_format *format) { return format->read_step || format->read_ranks; }

static pace_status read_steps(pace_step_list *out, const pace_trace_format *format, const char *path,
                              pace_read_notes *notes, pace_progress progress) {
    if (format->read_ranks) return format->read_ranks(out, path, notes, progress);
    pace_step step;
    pace_step_list one = {0};
    PACE_TRY(format->read_step(&step, path, notes, progress));
    pace_status status = PACE_KEEP(&one, step, pace_step_free(&step));
    return PACE_GIVE(out, one, status, pace_step_list_free(&one));
}

/* A trace may be long before its first member that tells: here its first bytes must, or it is of the first format. */
pace_status pace_trace_read(pace_step_list *out, const char *path, pace_read_notes *notes, pace_progress progress) {
    const format_list list = {pace_trace_formats, pace_trace_format_count};
    const pace_trace_format *format;
    PACE_TRY(by_bytes(&format, &list, path));
    if (format && !has_times(format)) return refuse_untimed(path, format);
    if (!format) format = &pace_trace_formats[0];
    pace_status status = read_steps(out, format, path, notes, progress);
    if (status == PACE_OK) note_repeated(notes, out, path);
    if (status == PACE_OK) note_depth(notes, out, path);
    if (status == PACE_OK) note_early(notes, out, path);
    if (status == PACE_OK && format->begins != begins_database) note_unit(notes, out, path);
    bool again = status == PACE_E_INPUT && strcmp(path, "-") != 0;
    if (!again || pace_trace_format_of(&format, path) != PACE_OK || has_times(format)) return status;
    return refuse_untimed(path, format);
}

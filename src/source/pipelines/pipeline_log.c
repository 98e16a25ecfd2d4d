/*
 * Logs of Primus (AMD, tools/visualization/pp_vis): a file a stage, pp_rank_N.json, by iteration the milliseconds at
 * which each pass begins and ends, and config.json beside them.
 *
 * Logs hold no messages. A stage that is not first waits for one before each pass, from the end of the pass before it
 * on, and sends one behind each, which takes no time of its own: so the time from the sender's pass to the receiver's
 * is that of the message, and all before it waiting.
 */
#include "source/pipelines/pipeline_rows.h"

#include "base/json_walk.h"
#include "base/order.h"
#include "base/print.h"
#include "base/text.h"
#include "source/traces/event_time.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PASS_BEGINS, PASS_ENDS, PASS_CHUNKS, PASS_LISTS };
enum { FORWARD, BACKWARD, WEIGHTS, PASSES };

static const char *const lists[PASSES][PASS_LISTS] = {{"fwd_start", "fwd_end", "fwd_chunk"},
                                                      {"bwd_start", "bwd_end", "bwd_chunk"},
                                                      {"wgrad_start", "wgrad_end", "wgrad_chunk"}};
static const char *const kinds[PASSES] = {"forward-compute", "backward-compute", "backward-wgrad-compute"};

typedef PACE_VEC(double) numbers;

typedef struct {
    const char *path;
    pace_json *json;
    pace_pipeline_rows *rows; /* NULL = only steps and settings are read */
    int64_t stage;            /* -1 = the file's name does not say */
    int64_t iteration;
    double total_ms; /* of the iteration at hand; NAN = not said */
    numbers passes[PASSES][PASS_LISTS];
    PACE_VEC(pace_pipeline_step) steps;
    int64_t stages, chunks; /* of config.json; 0 = not said */
} reader;

/* --- how files begin --------------------------------------------------------------------------------------------- */

/* {"1": {, as no other file begins. */
bool pace_begins_pipeline_log(const char *path, const unsigned char *bytes, size_t length) {
    (void)path;
    const char *at = (const char *)bytes, *end = at + length;
    if (at == end || *at++ != '{') return false;
    while (at < end && pace_is_space(*at)) at++;
    if (at == end || *at++ != '"') return false;
    const char *digits = at;
    while (at < end && pace_is_digit(*at)) at++;
    if (at == digits || at == end || *at++ != '"') return false;
    while (at < end && (pace_is_space(*at) || *at == ':')) at++;
    return at < end && *at == '{';
}

bool pace_begins_pipeline_log_settings(const char *path, const unsigned char *bytes, size_t length) {
    const char *text = (const char *)bytes;
    (void)path;
    return length && *text == '{' && pace_span_holds(text, length, "\"pp_size\"") &&
           (pace_span_holds(text, length, "\"num_mbs\"") || pace_span_holds(text, length, "\"micro_batches\""));
}

/* "…/pp_rank_3.json" is of stage 3. */
static int64_t stage_of_path(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *digits = name + strlen("pp_rank_");
    if (!pace_starts(name, "pp_rank_") || !pace_is_digit(*digits)) return -1;
    long number = strtol(digits, NULL, 10);
    return number < 1 << 20 ? number : -1;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

static pace_status expected(const reader *r, const char *what) {
    return pace_fail(PACE_E_INPUT, "%s: byte %" PRIu64 ": iteration %" PRId64 ": expected %s", r->path,
                     pace_json_offset(r->json), r->iteration, what);
}

static pace_status read_list(numbers *out, reader *r, const char *key) {
    out->count = 0;
    for (;;) {
        double value;
        pace_json_token token = pace_json_next(r->json);
        if (pace_json_failed(token)) return pace_json_status(r->json);
        if (token == PACE_JSON_ARRAY_END) return PACE_OK;
        if (token != PACE_JSON_NUMBER || !pace_json_double(r->json, &value) || fabs(value) > 1e12)
            return expected(r, key);
        PACE_TRY(PACE_PUSH(out, value));
    }
}

static numbers *list_of(reader *r, const char *key) {
    for (int pass = 0; pass < PASSES; pass++)
        for (int list = 0; list < PASS_LISTS; list++)
            if (strcmp(key, lists[pass][list]) == 0) return &r->passes[pass][list];
    return NULL;
}

static pace_status read_member(reader *r, const char *key, pace_json_token token) {
    numbers *list = r->rows ? list_of(r, key) : NULL;
    if (list && token == PACE_JSON_ARRAY) return read_list(list, r, "numbers in a list of passes");
    if (list) return expected(r, "a list of passes");
    if (token == PACE_JSON_ARRAY || token == PACE_JSON_OBJECT)
        return pace_json_failed(pace_json_leave(r->json)) ? pace_json_status(r->json) : PACE_OK;
    if (strcmp(key, "total") == 0 &&
        !(pace_json_double(r->json, &r->total_ms) && r->total_ms >= 0 && r->total_ms < 1e9))
        return expected(r, "milliseconds as total");
    return PACE_OK;
}

static int64_t ms_to_ns(double ms) { return (int64_t)llround(ms * 1e6); }

/* --- passes to rows ----------------------------------------------------------------------------------------------- */

PACE_ORDER(by_start, pace_pipeline_row, PACE_UP(start_ns) PACE_UP(duration_ns))

/* Virtual stages whose chunks are not said take turns as Megatron's do: a stage's worth of micro-batches each. */
static int64_t chunk_of(const reader *r, int pass, size_t i) {
    const numbers *said = &r->passes[pass][PASS_CHUNKS];
    int64_t chunks = r->rows->chunks;
    if (i < said->count && said->items[i] >= 0 && said->items[i] < 1024) return (int64_t)said->items[i];
    int64_t turn = (int64_t)i / (r->stages > 0 ? r->stages : 1) % chunks;
    return pass == FORWARD ? turn : chunks - 1 - turn;
}

static pace_status add_row(reader *r, const char *kind, int64_t start_ns, int64_t end_ns, int64_t chunk) {
    pace_pipeline_row row = {.rank = r->stage < 0 ? 0 : r->stage,
                             .stage = r->stage < 0 ? 0 : r->stage,
                             .step = r->iteration,
                             .start_ns = start_ns,
                             .duration_ns = end_ns - start_ns,
                             .chunk = chunk};
    if (row.duration_ns < 0 || !pace_time_is_sane(row.start_ns, row.duration_ns))
        return expected(r, "passes that end behind their begin");
    PACE_TRY(pace_names_add(&row.kind, &r->rows->names, kind, strlen(kind)));
    return PACE_PUSH(&r->rows->rows, row);
}

static pace_status add_passes(reader *r, int pass) {
    const numbers *begins = &r->passes[pass][PASS_BEGINS], *ends = &r->passes[pass][PASS_ENDS];
    if (begins->count != ends->count) return expected(r, "as many ends of passes as begins");
    for (size_t i = 0; i < begins->count; i++)
        PACE_TRY(add_row(r, kinds[pass], ms_to_ns(begins->items[i]), ms_to_ns(ends->items[i]), chunk_of(r, pass, i)));
    return PACE_OK;
}

static bool is_kind(const reader *r, const pace_pipeline_row *row, int pass) {
    return strcmp(pace_names_text(&r->rows->names, row->kind), kinds[pass]) == 0;
}

/* Whether a pass of this chunk of the model has one before it (or, of a backward pass, behind it) elsewhere. */
static bool has_neighbour(const reader *r, int64_t chunk, bool above) {
    int64_t global = chunk * r->stages + r->stage;
    return above ? global + 1 < r->stages * r->rows->chunks : global > 0;
}

static pace_status add_messages(reader *r, size_t first) {
    size_t count = r->rows->rows.count;
    int64_t free_ns = 0; /* since when the stage has had nothing to do */
    if (r->stage < 0 || r->stages < 2) return PACE_OK;
    for (size_t i = first; i < count; i++) {
        const pace_pipeline_row row = r->rows->rows.items[i];
        int64_t end_ns = row.start_ns + row.duration_ns;
        bool forward = is_kind(r, &row, FORWARD), backward = is_kind(r, &row, BACKWARD);
        if ((forward || backward) && has_neighbour(r, row.chunk, backward))
            PACE_TRY(add_row(r, forward ? "forward-recv" : "backward-recv",
                             free_ns < row.start_ns ? free_ns : row.start_ns, row.start_ns, row.chunk));
        if ((forward || backward) && has_neighbour(r, row.chunk, forward))
            PACE_TRY(add_row(r, forward ? "forward-send" : "backward-send", end_ns, end_ns, row.chunk));
        if (end_ns > free_ns) free_ns = end_ns;
    }
    return PACE_OK;
}

static pace_status add_iteration(reader *r) {
    if (isnan(r->total_ms)) return expected(r, "its total");
    PACE_TRY(PACE_PUSH(&r->steps, ((pace_pipeline_step){r->iteration, ms_to_ns(r->total_ms)})));
    if (!r->rows) return PACE_OK;
    size_t first = r->rows->rows.count;
    for (int pass = 0; pass < PASSES; pass++) PACE_TRY(add_passes(r, pass));
    if (r->rows->rows.count == first) return expected(r, "passes");
    qsort(r->rows->rows.items + first, r->rows->rows.count - first, sizeof *r->rows->rows.items, by_start);
    return add_messages(r, first);
}

static pace_status read_iteration(reader *r) {
    char key[PACE_JSON_KEY_TEXT];
    r->total_ms = NAN;
    for (int i = 0; i < PASSES * PASS_LISTS; i++) r->passes[i / PASS_LISTS][i % PASS_LISTS].count = 0;
    for (;;) {
        pace_json_token token = pace_json_next_member(r->json, key);
        if (pace_json_failed(token)) return pace_json_status(r->json);
        if (token == PACE_JSON_OBJECT_END) return add_iteration(r);
        PACE_TRY(read_member(r, key, token));
    }
}

PACE_ORDER(by_number, pace_pipeline_step, PACE_UP(step))

static pace_status read_document(reader *r) {
    char key[PACE_JSON_KEY_TEXT];
    if (pace_json_next(r->json) != PACE_JSON_OBJECT) return expected(r, "an object");
    for (;;) {
        pace_json_token token = pace_json_next_member(r->json, key);
        if (pace_json_failed(token)) return pace_json_status(r->json);
        if (token == PACE_JSON_OBJECT_END) break;
        char *end;
        r->iteration = strtol(key, &end, 10);
        if (end == key || *end || r->iteration < 0 || r->iteration > 1000000000 || token != PACE_JSON_OBJECT)
            return expected(r, "iterations by number");
        PACE_TRY(read_iteration(r));
    }
    PACE_SORT(&r->steps, by_number);
    for (size_t i = 1; i < r->steps.count; i++)
        if (r->steps.items[i].step == r->steps.items[i - 1].step)
            return pace_fail(PACE_E_INPUT, "%s: expected each iteration once, found %" PRId64 " twice", r->path,
                             r->steps.items[i].step);
    return PACE_OK;
}

static pace_status read_settings(reader *r) {
    char key[PACE_JSON_KEY_TEXT];
    if (pace_json_next(r->json) != PACE_JSON_OBJECT) return expected(r, "an object");
    for (;;) {
        int64_t value;
        pace_json_token token = pace_json_next_member(r->json, key);
        if (pace_json_failed(token)) return pace_json_status(r->json);
        if (token == PACE_JSON_OBJECT_END) return PACE_OK;
        bool stages = strcmp(key, "pp_size") == 0, chunks = strcmp(key, "vp_size") == 0 || strcmp(key, "vpp_size") == 0;
        bool whole = token == PACE_JSON_NUMBER && pace_json_int(r->json, &value) && value > 0 && value < 1 << 20;
        if (stages && whole) r->stages = value;
        if (chunks && whole) r->chunks = value;
        if (pace_json_failed(pace_json_pass(r->json, token))) return pace_json_status(r->json);
    }
}

/* --- the files beside it ------------------------------------------------------------------------------------------ */

static pace_status read_file(reader *r, pace_status (*read)(reader *), uint64_t *bytes) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, r->path));
    pace_status status = pace_json_open(&r->json, input);
    if (status == PACE_OK) {
        status = read(r);
        if (bytes) *bytes = pace_json_bytes(r->json);
        pace_json_free(r->json);
    }
    pace_input_free(input);
    return status;
}

static void free_reader(reader *r) {
    for (int i = 0; i < PASSES * PASS_LISTS; i++) PACE_VEC_FREE(&r->passes[i / PASS_LISTS][i % PASS_LISTS]);
    PACE_VEC_FREE(&r->steps);
}

/* The path of another file in the same folder; "" = too long. */
static void path_beside(char *out, size_t size, const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    if (pace_snprintf(out, size, "%.*s%s", folder, path, name) >= (int)size) *out = '\0';
}

static int64_t count_logs(const char *path) {
    char name[64], other[4096];
    for (int64_t stage = 0;; stage++) {
        snprintf(name, sizeof name, "pp_rank_%" PRId64 ".json", stage);
        path_beside(other, sizeof other, path, name);
        if (!pace_is_file(other)) return stage;
    }
}

static void assume(pace_read_notes *notes, const char *path, const char *what) {
    notes->code = PACE_WARN_TIMELINE_ASSUMED;
    pace_list(notes->warning, sizeof notes->warning, "; ", "%s: %s", path, what);
}

/* The number of stages: said by the settings, or by how many logs there are. */
static pace_status find_stages(reader *r, pace_read_notes *notes) {
    char settings[4096];
    path_beside(settings, sizeof settings, r->path, "config.json");
    if (r->stage >= 0 && pace_is_file(settings)) {
        reader beside = {.path = settings};
        PACE_TRY(read_file(&beside, read_settings, NULL));
        r->stages = beside.stages;
        r->chunks = beside.chunks;
    }
    if (r->stage < 0) assume(notes, r->path, "is named otherwise than pp_rank_N.json: its stage is not known");
    else if (r->stages == 0) {
        r->stages = count_logs(r->path);
        assume(notes, r->path, "no config.json beside it says how many stages there are: taken are those with a log");
    }
    if (r->stages <= r->stage) r->stages = r->stage + 1;
    if (r->stages < 1) r->stages = 1;
    if (r->chunks < 1) r->chunks = 1;
    return PACE_OK;
}

/* All stages count time alike: an iteration takes what the first stage says it does. */
static pace_status find_totals(pace_pipeline_rows *rows, reader *r) {
    char first[4096];
    reader beside = {.path = first};
    pace_status status = PACE_OK;
    path_beside(first, sizeof first, r->path, "pp_rank_0.json");
    if (r->stage > 0 && pace_is_file(first)) status = read_file(&beside, read_document, NULL);
    size_t at = 0;
    for (size_t i = 0; status == PACE_OK && i < r->steps.count; i++) {
        while (at < beside.steps.count && beside.steps.items[at].step < r->steps.items[i].step) {
            status = PACE_PUSH(&rows->steps, beside.steps.items[at]);
            if (status != PACE_OK) break;
            at++;
        }
        bool both = at < beside.steps.count && beside.steps.items[at].step == r->steps.items[i].step;
        if (status == PACE_OK) status = PACE_PUSH(&rows->steps, both ? beside.steps.items[at++] : r->steps.items[i]);
    }
    free_reader(&beside);
    return status;
}

static pace_status read_log(pace_pipeline_rows *rows, reader *r, pace_read_notes *notes) {
    PACE_TRY(find_stages(r, notes));
    rows->stages = r->stages;
    rows->chunks = r->chunks;
    rows->alone = true;
    PACE_TRY(read_file(r, read_document, &notes->bytes));
    return find_totals(rows, r);
}

pace_status pace_pipeline_log_read(pace_step_list *out, const char *path, pace_read_notes *notes,
                                   pace_progress progress) {
    (void)progress;
    pace_pipeline_rows rows;
    *notes = (pace_read_notes){0};
    PACE_TRY(pace_pipeline_rows_init(&rows));
    reader r = {.path = path, .rows = &rows, .stage = stage_of_path(path)};
    pace_status status = read_log(&rows, &r, notes);
    if (status == PACE_OK) status = pace_pipeline_steps_make(out, &rows, path, notes);
    free_reader(&r);
    pace_pipeline_rows_free(&rows);
    return status;
}

pace_status pace_pipeline_log_settings_read(pace_step_list *out, const char *path, pace_read_notes *notes,
                                            pace_progress progress) {
    (void)progress;
    reader r = {.path = path};
    *notes = (pace_read_notes){0};
    PACE_TRY(read_file(&r, read_settings, &notes->bytes));
    *out = (pace_step_list){0};
    return PACE_OK;
}

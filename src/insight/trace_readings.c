#include "insight/trace_readings.h"

#include "base/parallel.h"
#include "step/step_pack.h"

#include <string.h>

typedef struct {
    pace_readings readings;
    const pace_texts *paths;
    const pace_analyze_options *options;
    const pace_processes *processes; /* NULL = this one alone */
} reader;

void pace_readings_free(pace_readings *readings) {
    for (size_t i = 0; i < readings->count; i++) {
        pace_free(readings->items[i].message);
        pace_step_list_free(&readings->items[i].steps);
    }
    pace_free(readings->items);
    *readings = (pace_readings){0};
}

/* --- on the cores of this process --------------------------------------------------------------------------------- */

/* Files are dealt in turn; standard input is that of process 0. */
static bool is_own(const reader *r, size_t i) {
    if (!r->processes) return true;
    bool standard = strcmp(r->paths->items[i], "-") == 0;
    return r->processes->rank == (standard ? 0 : (int)(i % (size_t)r->processes->count));
}

static bool tells_progress(const reader *r, size_t worker) {
    return worker == 0 && !(r->processes && r->processes->rank > 0);
}

static pace_status keep_failure(pace_reading *reading, pace_status status) {
    const char *message = pace_message_marked();
    reading->status = status;
    reading->message = pace_copy_text(message, strlen(message));
    return reading->message ? PACE_OK : PACE_E_MEMORY;
}

/* Only the first of several threads tells how far it is. */
static pace_status read_one(void *context, size_t worker, size_t i) {
    reader *r = context;
    pace_reading *reading = &r->readings.items[i];
    if (!is_own(r, i)) return PACE_OK;
    pace_progress progress = tells_progress(r, worker) ? r->options->progress : (pace_progress){0};
    pace_status status = pace_trace_read(&reading->steps, r->paths->items[i], &reading->notes, progress);
    return status == PACE_OK ? PACE_OK : keep_failure(reading, status);
}

/* --- among processes ---------------------------------------------------------------------------------------------- */

static pace_status pack_text(pace_packed *out, const char *text) {
    uint64_t length = text ? strlen(text) : 0;
    PACE_TRY(pace_pack(out, &length, sizeof length));
    return pace_pack(out, text, length);
}

static char *unpack_text(const char **at, const char *end) {
    uint64_t length;
    if (!pace_unpack(&length, sizeof length, at, end) || length > (uint64_t)(end - *at)) return NULL;
    char *text = pace_copy_text(*at, length);
    *at += length;
    return text;
}

static pace_status pack_reading(pace_packed *out, uint64_t number, const pace_reading *reading) {
    PACE_TRY(pace_pack(out, &number, sizeof number));
    PACE_TRY(pace_pack(out, &reading->status, sizeof reading->status));
    PACE_TRY(pace_pack(out, &reading->notes, sizeof reading->notes));
    uint64_t count = reading->steps.count;
    PACE_TRY(pack_text(out, reading->message));
    PACE_TRY(pace_pack(out, &count, sizeof count));
    PACE_ITEMS (const pace_step, step, &reading->steps) PACE_TRY(pace_step_pack(out, step));
    return PACE_OK;
}

static pace_status pack_own(pace_packed *out, const reader *r) {
    for (size_t i = 0; i < r->readings.count; i++)
        if (is_own(r, i)) PACE_TRY(pack_reading(out, i, &r->readings.items[i]));
    return PACE_OK;
}

static bool unpack_reading(reader *r, const char **at, const char *end) {
    uint64_t number;
    if (!pace_unpack(&number, sizeof number, at, end) || number >= r->readings.count) return false;
    pace_reading *reading = &r->readings.items[number];
    uint64_t count;
    bool whole = pace_unpack(&reading->status, sizeof reading->status, at, end) &&
                 pace_unpack(&reading->notes, sizeof reading->notes, at, end) &&
                 (reading->message = unpack_text(at, end)) != NULL && pace_unpack(&count, sizeof count, at, end);
    for (uint64_t i = 0; whole && i < count; i++) {
        pace_step step;
        whole = pace_step_unpack(&step, at, end) == PACE_OK &&
                PACE_KEEP(&reading->steps, step, pace_step_free(&step)) == PACE_OK;
    }
    return whole;
}

/* What a process has to say: how it fared as a whole, then its files. */
static int take(void *context, int rank, const void *bytes, size_t length) {
    reader *r = context;
    const char *at = bytes, *end = at + length;
    pace_status status;
    if (rank == 0) return 0; /* its own are in place */
    if (!pace_unpack(&status, sizeof status, &at, end)) return 1;
    if (status != PACE_OK) {
        char *message = unpack_text(&at, end);
        (void)!pace_fail(status, "%s", message ? message : "a process failed");
        pace_free(message);
        return (int)status;
    }
    while (at < end)
        if (!unpack_reading(r, &at, end)) {
            (void)!pace_fail(PACE_E_IO, "the processes could not talk to each other");
            return (int)PACE_E_IO;
        }
    return 0;
}

static pace_status pack_all(pace_packed *out, const reader *r, pace_status status) {
    PACE_TRY(pace_pack(out, &status, sizeof status));
    return status == PACE_OK ? pack_own(out, r) : pack_text(out, pace_message_marked());
}

/* All take part, also who has failed, or the others would wait for ever. */
static pace_status share(reader *r, pace_status status) {
    pace_packed own = {0};
    char message[2048] = "";
    if (status != PACE_OK) pace_snprintf(message, sizeof message, "%s", pace_message_marked());
    bool sends = r->processes->rank > 0;
    if (sends && pack_all(&own, r, status) != PACE_OK) { /* no memory to say more */
        static const pace_status no_memory = PACE_E_MEMORY;
        own.count = 0;
        if (pace_pack(&own, &no_memory, sizeof no_memory) != PACE_OK) own.count = 0;
        status = PACE_E_MEMORY;
    }
    int failed = r->processes->gather(r->processes, own.items ? own.items : "", own.count, take, r);
    PACE_VEC_FREE(&own);
    r->readings.elsewhere = sends;
    if (status != PACE_OK) return message[0] ? pace_fail(status, "%s", message) : status;
    return (pace_status)failed;
}

static pace_status read_all(reader *r) {
    if (!PACE_MAKE(r->readings.items, r->paths->count)) return PACE_E_MEMORY;
    r->readings.count = r->paths->count;
    return pace_for_each(r->paths->count, read_one, r);
}

pace_status pace_readings_read(pace_readings *out, const pace_texts *paths, pace_status so_far,
                               const pace_analyze_options *options) {
    reader r = {.paths = paths, .options = options, .processes = options->processes};
    pace_status status = so_far == PACE_OK ? read_all(&r) : so_far;
    if (r.processes) status = share(&r, status);
    return PACE_GIVE(out, r.readings, status, pace_readings_free(&r.readings));
}

#include "report/fleet_processes.h"

#include <string.h>

void pace_fleet_own_files(size_t *first, size_t *count, size_t path_count, const pace_processes *processes) {
    size_t rank = (size_t)processes->rank, all = (size_t)processes->count;
    *first = path_count * rank / all;
    *count = path_count * (rank + 1) / all - *first;
}

/* ---- as bytes: status and message; or counts, remarks, ids, and the fleet ---- */

static pace_status pack_remarks(pace_bytes *bytes, const pace_remarks *remarks) {
    PACE_TRY(pace_pack_u64(bytes, remarks->count));
    for (size_t i = 0; i < remarks->count; i++) PACE_TRY(pace_pack_text(bytes, remarks->items[i]));
    return PACE_OK;
}

enum { COUNTS = 5 };

static uint64_t *const *counts_of(uint64_t *out[COUNTS], pace_job_reading *reading) {
    out[0] = &reading->rows, out[1] = &reading->jobs, out[2] = &reading->rejected;
    out[3] = &reading->repeated, out[4] = &reading->unchecked_ids;
    return out;
}

static pace_status pack_ids(pace_bytes *bytes, const pace_job_ids *ids) {
    PACE_TRY(pace_pack_u64(bytes, ids->count));
    for (size_t i = 0; i < ids->slot_count; i++)
        if (ids->slots[i]) PACE_TRY(pace_pack_u64(bytes, ids->slots[i]));
    return PACE_OK;
}

/* In the order of the files, as the processes are. */
static pace_status pack_sizes(pace_bytes *bytes, const pace_job_reading *reading) {
    PACE_TRY(pace_pack_u64(bytes, reading->bytes.count));
    for (size_t i = 0; i < reading->bytes.count; i++) PACE_TRY(pace_pack_u64(bytes, reading->bytes.items[i]));
    return PACE_OK;
}

static pace_status pack(pace_bytes *bytes, pace_fleet *fleet, pace_job_reading *reading) {
    uint64_t *counts[COUNTS];
    PACE_TRY(pace_pack_u64(bytes, PACE_OK));
    counts_of(counts, reading);
    for (int i = 0; i < COUNTS; i++) PACE_TRY(pace_pack_u64(bytes, *counts[i]));
    PACE_TRY(pack_sizes(bytes, reading));
    for (int i = 0; i < PACE_JOB_COLUMNS; i++) PACE_TRY(pace_pack_real(bytes, reading->greatest[i]));
    PACE_TRY(pack_remarks(bytes, &reading->rejects));
    PACE_TRY(pack_remarks(bytes, &reading->remarks));
    PACE_TRY(pack_ids(bytes, &reading->ids));
    return pace_fleet_pack(bytes, fleet);
}

static pace_status pack_failure(pace_bytes *bytes, pace_status status) {
    bytes->count = 0;
    PACE_TRY(pace_pack_u64(bytes, (uint64_t)status));
    return pace_pack_text(bytes, pace_message());
}

/* ---- and back ---- */

static pace_status merge_remarks(pace_remarks *into, pace_unpack *from, size_t most) {
    uint64_t count = 0;
    PACE_TRY(pace_unpack_u64(&count, from));
    for (uint64_t i = 0; i < count; i++) {
        const char *text;
        size_t length = 0;
        PACE_TRY(pace_unpack_text(&text, &length, from));
        if (into->count < most) PACE_TRY(pace_remark(into, "%.*s", (int)length, text));
    }
    return PACE_OK;
}

static pace_status merge_sizes(pace_job_reading *into, pace_unpack *from) {
    uint64_t count = 0, size = 0;
    PACE_TRY(pace_unpack_u64(&count, from));
    for (uint64_t i = 0; i < count; i++) {
        PACE_TRY(pace_unpack_u64(&size, from));
        PACE_TRY(PACE_PUSH(&into->bytes, size));
    }
    return PACE_OK;
}

static pace_status merge_ids(pace_job_ids *into, pace_unpack *from, uint64_t *shared) {
    uint64_t count = 0, hash = 0;
    PACE_TRY(pace_unpack_u64(&count, from));
    for (uint64_t i = 0; i < count; i++) {
        bool seen;
        size_t repeats;
        PACE_TRY(pace_unpack_u64(&hash, from));
        PACE_TRY(pace_job_ids_add(&seen, &repeats, into, &hash, 1));
        *shared += repeats;
    }
    return PACE_OK;
}

typedef struct {
    pace_fleet *fleet;
    pace_job_reading *reading;
    pace_status status;
    uint64_t shared; /* ids that several processes read */
} gathering;

static pace_status merge(gathering *g, pace_unpack *from) {
    pace_job_reading theirs = {0};
    uint64_t *counts[COUNTS], *ours[COUNTS], status = 0;
    PACE_TRY(pace_unpack_u64(&status, from));
    if (status != PACE_OK) {
        const char *text;
        size_t length = 0;
        PACE_TRY(pace_unpack_text(&text, &length, from));
        return pace_fail((pace_status)status, "%.*s", (int)length, text);
    }
    counts_of(counts, &theirs);
    counts_of(ours, g->reading);
    for (int i = 0; i < COUNTS; i++) {
        PACE_TRY(pace_unpack_u64(counts[i], from));
        *ours[i] += *counts[i];
    }
    PACE_TRY(merge_sizes(g->reading, from));
    for (int i = 0; i < PACE_JOB_COLUMNS; i++) {
        PACE_TRY(pace_unpack_real(&theirs.greatest[i], from));
        if (theirs.greatest[i] > g->reading->greatest[i]) g->reading->greatest[i] = theirs.greatest[i];
    }
    PACE_TRY(merge_remarks(&g->reading->rejects, from, PACE_JOB_SHOWN_REJECTS));
    PACE_TRY(merge_remarks(&g->reading->remarks, from, SIZE_MAX));
    if (!g->reading->ids.slots) PACE_TRY(pace_job_ids_init(&g->reading->ids, 0));
    PACE_TRY(merge_ids(&g->reading->ids, from, &g->shared));
    return pace_fleet_merge_packed(g->fleet, from);
}

static int take(void *context, int rank, const void *bytes, size_t length) {
    gathering *g = context;
    pace_unpack from = {bytes, length};
    if (rank > 0 && g->status == PACE_OK) g->status = merge(g, &from);
    return 0;
}

pace_status pace_fleet_gather(pace_fleet *fleet, pace_job_reading *reading, pace_status status,
                              const pace_processes *processes) {
    gathering g = {.fleet = fleet, .reading = reading, .status = status};
    pace_bytes bytes = {0};
    if (processes->rank > 0) {
        if (status == PACE_OK) status = pack(&bytes, fleet, reading);
        if (status != PACE_OK) status = pack_failure(&bytes, status);
    }
    int failed = processes->gather(processes, bytes.items, bytes.count, take, &g);
    PACE_VEC_FREE(&bytes);
    if (failed) return pace_fail(PACE_E_IO, "the processes could not talk to each other");
    if (processes->rank > 0) return PACE_OK;
    if (g.status == PACE_OK && g.shared > 0)
        return pace_fail(PACE_E_INPUT,
                         "%llu job ids are in files of several processes: read these files with one process",
                         (unsigned long long)g.shared);
    return g.status;
}

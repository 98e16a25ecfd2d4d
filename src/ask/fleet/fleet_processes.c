#include "ask/fleet/fleet_processes.h"
#include "base/intern.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- who reads what ---- */

/* Where a process stops within a file: how many lines it has of it. */
typedef struct {
    uint64_t file, lines;
} part_read;

typedef struct {
    pace_job_stretch *first; /* that begins within a file; NULL = none */
    int rank;
} placing;

static int add_lines(void *context, int rank, const void *bytes, size_t length) {
    const placing *p = context;
    part_read part;
    if (length != sizeof part) return 1;
    memcpy(&part, bytes, sizeof part);
    if (p->first && rank < p->rank && part.file == p->first->file) p->first->line += part.lines;
    return 0;
}

static pace_status fail_talk(void) { return pace_fail(PACE_E_IO, "the processes could not talk to each other"); }

/* Everybody is told the same. Without memory for it the exchange ends all: it is given NULL. */
static pace_status tell_all(const pace_processes *processes, const void *bytes, size_t length, pace_gathered_fn take,
                            void *context) {
    size_t count = (size_t)processes->count;
    const void **same = pace_alloc(count, sizeof *same);
    size_t *lengths = pace_alloc(count, sizeof *lengths);
    for (size_t i = 0; same && lengths && i < count; i++) same[i] = bytes, lengths[i] = length;
    int failed = processes->exchange(processes, same, lengths, take, context);
    PACE_FREE(same, lengths);
    return failed ? fail_talk() : PACE_OK;
}

typedef struct {
    pace_status status;
    char message[2048];
} outcome;

static int take_first_failure(void *context, int rank, const void *bytes, size_t length) {
    outcome *first = context;
    (void)rank;
    if (length != sizeof *first) return 1;
    if (first->status == PACE_OK) memcpy(first, bytes, length);
    return 0;
}

pace_status pace_fleet_agree(pace_status status, const pace_processes *processes) {
    outcome own = {.status = status}, first = {.status = PACE_OK};
    if (status != PACE_OK) snprintf(own.message, sizeof own.message, "%s", pace_message_marked());
    PACE_TRY(tell_all(processes, &own, sizeof own, take_first_failure, &first));
    return first.status == PACE_OK ? PACE_OK : pace_fail(first.status, "%s", first.message);
}

/* A process that cannot see a file would take it for an empty one, and its part of the rows would be read by nobody. */
static pace_status see_all(const char *const *paths, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(paths[i], "-") != 0 && access(paths[i], R_OK) != 0)
            return pace_fail(PACE_E_IO, "%s: %s", paths[i], strerror(errno));
    return PACE_OK;
}

pace_status pace_fleet_deal(pace_job_stretches *out, const char *const *paths, size_t count,
                            const pace_processes *processes) {
    part_read part = {UINT64_MAX, 0};
    placing p = {.rank = processes->rank};
    pace_status status = see_all(paths, count);
    if (status == PACE_OK)
        status = pace_job_stretches_of(out, paths, count, (size_t)processes->rank, (size_t)processes->count);
    if (status == PACE_OK && out->count > 0) {
        pace_job_stretch *last = &out->items[out->count - 1];
        if (out->items[0].begin > 0) p.first = &out->items[0];
        if (last->end < last->size) {
            part.file = last->file;
            status = pace_job_stretch_lines(&part.lines, last, paths[last->file]);
        }
    }
    PACE_TRY(pace_fleet_agree(status, processes));
    return tell_all(processes, &part, sizeof part, add_lines, &p);
}

/* ---- ids that several processes have: each looks at a range of them ---- */

typedef struct {
    pace_job_ids ids;
    pace_fleet_hashes *of; /* by process: what an earlier one has, too */
    pace_status status;
} comparing;

static int compare(void *context, int rank, const void *bytes, size_t length) {
    comparing *c = context;
    for (size_t at = 0; c->status == PACE_OK && at + 8 <= length; at += 8) {
        uint64_t hash;
        bool seen = false;
        size_t repeats = 0;
        memcpy(&hash, (const char *)bytes + at, sizeof hash);
        c->status = pace_job_ids_add(&seen, &repeats, &c->ids, &hash, 1);
        if (c->status == PACE_OK && seen) c->status = PACE_PUSH(&c->of[rank], hash);
    }
    return 0;
}

static int take_repeats(void *context, int rank, const void *bytes, size_t length) {
    comparing *c = context;
    (void)rank;
    for (size_t at = 0; c->status == PACE_OK && at + 8 <= length; at += 8) {
        uint64_t hash;
        memcpy(&hash, (const char *)bytes + at, sizeof hash);
        c->status = PACE_PUSH(&c->of[0], hash);
    }
    return 0;
}

/* Keys that follow each other go to all. */
static size_t looked_at_by(uint64_t key, size_t processes) {
    return (size_t)((pace_hash(&key, sizeof key) >> 32) * processes >> 32);
}

static pace_status deal(pace_fleet_hashes *to, pace_job_ids *ids, size_t processes) {
    for (size_t p = 0; p < PACE_JOB_ID_PARTS; p++)
        for (size_t i = 0; i < ids->parts[p].slot_count; i++) {
            uint64_t hash = ids->parts[p].slots[i];
            if (hash) PACE_TRY(PACE_PUSH(&to[looked_at_by(hash, processes)], hash));
        }
    pace_job_ids_free(ids);
    return PACE_OK;
}

static int swap(const pace_processes *processes, pace_fleet_hashes *lists, const void **bytes, size_t *lengths,
                pace_gathered_fn take, comparing *c) {
    for (int i = 0; i < processes->count; i++) {
        bytes[i] = lists[i].items;
        lengths[i] = lists[i].count * sizeof(uint64_t);
    }
    int failed = processes->exchange(processes, bytes, lengths, take, c);
    for (int i = 0; i < processes->count; i++) PACE_VEC_FREE(&lists[i]);
    return failed;
}

/* Both exchanges take place whatever fails: the others wait for them. */
static pace_status find_repeats(pace_fleet_hashes *out, pace_job_ids *ids, const pace_processes *processes,
                                pace_fleet_hashes *dealt, pace_fleet_hashes *found, const void **bytes,
                                size_t *lengths) {
    comparing looking = {.of = found}, told = {.of = out};
    looking.status = pace_job_ids_init(&looking.ids, SIZE_MAX);
    pace_status status = deal(dealt, ids, (size_t)processes->count);
    int failed = swap(processes, dealt, bytes, lengths, compare, &looking);
    pace_job_ids_free(&looking.ids);
    failed |= swap(processes, found, bytes, lengths, take_repeats, &told);
    if (failed) return fail_talk();
    if (status != PACE_OK) return status;
    return looking.status != PACE_OK ? looking.status : told.status;
}

pace_status pace_fleet_find_repeats(pace_fleet_hashes *out, pace_job_ids *ids, pace_status status,
                                    const pace_processes *processes) {
    size_t count = (size_t)processes->count;
    pace_fleet_hashes *lists = pace_alloc(2 * count, sizeof *lists);
    const void **bytes = pace_alloc(count, sizeof *bytes);
    size_t *lengths = pace_alloc(count, sizeof *lengths);
    if (status == PACE_OK && (!lists || !bytes || !lengths)) status = PACE_E_MEMORY;
    if (pace_fleet_agree(status, processes) == PACE_OK)
        status = find_repeats(out, ids, processes, lists, lists + count, bytes, lengths);
    PACE_FREE(lists, bytes, lengths);
    return status;
}

/* ---- as bytes: status and message; or counts, remarks, ids, and the fleet ---- */

static pace_status pack_rejects(pace_bytes *bytes, const pace_texts *rejects) {
    PACE_TRY(pace_pack_u64(bytes, rejects->count));
    for (size_t i = 0; i < rejects->count; i++) PACE_TRY(pace_pack_text(bytes, rejects->items[i]));
    return PACE_OK;
}

static pace_status pack_remarks(pace_bytes *bytes, const pace_warnings *remarks) {
    PACE_TRY(pace_pack_u64(bytes, remarks->count));
    PACE_ITEMS (const pace_held_warning, one, remarks) {
        PACE_TRY(pace_pack_u64(bytes, one->code));
        PACE_TRY(pace_pack_text(bytes, one->place ? one->place : ""));
        PACE_TRY(pace_pack_text(bytes, one->text));
    }
    return PACE_OK;
}

enum { COUNTS = 5 };

static uint64_t *const *counts_of(uint64_t *out[COUNTS], pace_job_reading *reading) {
    out[0] = &reading->rows, out[1] = &reading->jobs, out[2] = &reading->rejected;
    out[3] = &reading->repeated, out[4] = &reading->unchecked_ids;
    return out;
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
    PACE_TRY(pack_rejects(bytes, &reading->rejects));
    PACE_TRY(pack_remarks(bytes, &reading->remarks));
    return pace_fleet_pack(bytes, fleet);
}

static pace_status pack_failure(pace_bytes *bytes, pace_status status) {
    bytes->count = 0;
    PACE_TRY(pace_pack_u64(bytes, (uint64_t)status));
    return pace_pack_text(bytes, pace_message_marked());
}

/* ---- and back ---- */

static pace_status unpack_copy(char **out, pace_unpack *from) {
    const char *text;
    size_t length = 0;
    PACE_TRY(pace_unpack_text(&text, &length, from));
    *out = pace_copy_text(text, length);
    return *out ? PACE_OK : PACE_E_MEMORY;
}

static pace_status merge_rejects(pace_texts *into, pace_unpack *from) {
    uint64_t count = 0;
    char *text;
    PACE_TRY(pace_unpack_u64(&count, from));
    for (uint64_t i = 0; i < count; i++) {
        PACE_TRY(unpack_copy(&text, from));
        if (into->count < PACE_JOB_SHOWN_REJECTS) PACE_TRY(pace_texts_take(into, text));
        else pace_free(text);
    }
    return PACE_OK;
}

static pace_status merge_remark(pace_warnings *into, pace_unpack *from) {
    uint64_t code = 0;
    char *place, *text;
    PACE_TRY(pace_unpack_u64(&code, from));
    PACE_TRY(unpack_copy(&place, from));
    pace_status status = unpack_copy(&text, from);
    if (status == PACE_OK)
        status = pace_warn_take(into, (pace_warning_code)(code % PACE_WARNING_CODES), *place ? place : NULL, text);
    pace_free(place);
    return status;
}

static pace_status merge_remarks(pace_warnings *into, pace_unpack *from) {
    uint64_t count = 0;
    PACE_TRY(pace_unpack_u64(&count, from));
    for (uint64_t i = 0; i < count; i++) PACE_TRY(merge_remark(into, from));
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

typedef struct {
    pace_fleet *fleet;
    pace_job_reading *reading;
    pace_status status;
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
    PACE_TRY(merge_rejects(&g->reading->rejects, from));
    PACE_TRY(merge_remarks(&g->reading->remarks, from));
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
        if (status != PACE_OK) (void)pack_failure(&bytes, status);
    }
    int failed = processes->gather(processes, bytes.items, bytes.count, take, &g);
    PACE_VEC_FREE(&bytes);
    if (failed) return fail_talk();
    return processes->rank > 0 ? PACE_OK : g.status;
}

/* ---- refused rows ---- */

typedef struct {
    const char *path;
    bool failed;
} listing;

/* A failed run without refused rows has no list so far, and gets one with the first that another process refused. */
static int append(void *context, int rank, const void *bytes, size_t length) {
    listing *to = context;
    if (rank == 0 || length == 0) return 0;
    FILE *file = fopen(to->path, "ab");
    if (file && ftell(file) == 0) fputs("file,line,reason,row\n", file);
    bool written = file && fwrite(bytes, 1, length, file) == length;
    if (file && fclose(file) != 0) written = false;
    to->failed = to->failed || !written;
    return 0;
}

/* All that is in the list behind its heading. */
static pace_status read_list(pace_bytes *out, const char *path) {
    char piece[4096];
    size_t got;
    int at = 0;
    FILE *list = fopen(path, "rb");
    if (!list) return PACE_OK; /* none was kept */
    while (at != EOF && at != '\n') at = getc(list);
    pace_status status = PACE_OK;
    while (status == PACE_OK && (got = fread(piece, 1, sizeof piece, list)) > 0) {
        status = pace_grow(&out->items, &out->capacity, out->count + got, 1);
        if (status == PACE_OK) memcpy(out->items + out->count, piece, got);
        if (status == PACE_OK) out->count += got;
    }
    fclose(list);
    return status;
}

pace_status pace_fleet_gather_rejects(const char *own, const char *path, const pace_processes *processes) {
    pace_bytes bytes = {0};
    listing to = {.path = path};
    pace_status status = own ? read_list(&bytes, own) : PACE_OK;
    if (status != PACE_OK) bytes.count = 0;
    int failed = processes->gather(processes, bytes.items, bytes.count, append, &to);
    PACE_VEC_FREE(&bytes);
    if (failed) return fail_talk();
    if (to.failed) return pace_fail(PACE_E_IO, "%s: could not be written", path);
    return status;
}

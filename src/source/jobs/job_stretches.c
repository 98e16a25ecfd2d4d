#include "source/jobs/job_stretches.h"
#include "source/traces/nsys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 18 };

typedef struct {
    uint64_t size;
    bool stream, plain; /* stream: nothing that could be read twice or in parts */
} about_file;

static bool is_compressed(const unsigned char magic[4]) {
    return (magic[0] == 0x1f && magic[1] == 0x8b) || memcmp(magic, "\x28\xb5\x2f\xfd", 4) == 0 ||
           ((magic[0] & 0xf0) == 0x50 && memcmp(magic + 1, "\x2a\x4d\x18", 3) == 0);
}

/* What cannot be looked at is no stream: whoever reads it says why. */
static about_file look_at(const char *path) {
    struct stat status;
    unsigned char magic[4] = {0};
    about_file about = {.stream = strcmp(path, "-") == 0};
    if (about.stream || stat(path, &status) != 0) return about;
    about.stream = !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
    if (!S_ISREG(status.st_mode)) return about;
    about.size = (uint64_t)status.st_size;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    about.plain = file >= 0 && read(file, magic, sizeof magic) >= 0 && !is_compressed(magic) && !pace_is_database(path);
    if (file >= 0) close(file);
    return about;
}

/* Calls `take` with the bytes of [begin, end) until it wants no more. */
typedef bool (*bytes_fn)(void *context, const char *bytes, size_t length);

static pace_status for_bytes(const char *path, uint64_t begin, uint64_t end, bytes_fn take, void *context) {
    char *chunk = pace_alloc(CHUNK_BYTES, 1);
    int file = chunk ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    pace_status status = chunk ? PACE_OK : PACE_E_MEMORY;
    if (chunk && file < 0) status = pace_fail(PACE_E_IO, "%s: %s", path, strerror(errno));
    for (uint64_t at = begin; status == PACE_OK && at < end;) {
        size_t most = end - at < CHUNK_BYTES ? (size_t)(end - at) : CHUNK_BYTES;
        ssize_t got = pread(file, chunk, most, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = pace_fail(PACE_E_IO, "%s: %s", path, strerror(errno));
        if (got <= 0 || !take(context, chunk, (size_t)got)) break;
        at += (uint64_t)got;
    }
    if (file >= 0) close(file);
    pace_free(chunk);
    return status;
}

typedef struct {
    uint64_t passed;
    bool found;
} line_end;

static bool find_line_end(void *context, const char *bytes, size_t length) {
    line_end *find = context;
    const char *at = memchr(bytes, '\n', length);
    find->found = at != NULL;
    find->passed += at ? (uint64_t)(at - bytes) : (uint64_t)length;
    return !at;
}

/* The first row that begins at `at` or behind it: behind the first line end from `at` - 1 on. */
static pace_status row_from(uint64_t *out, const char *path, uint64_t at, uint64_t size) {
    line_end find = {0};
    *out = at == 0 ? 0 : size;
    if (at == 0 || at >= size) return PACE_OK;
    PACE_TRY(for_bytes(path, at - 1, size, find_line_end, &find));
    if (find.found) *out = at - 1 + find.passed + 1;
    return PACE_OK;
}

/* The part of a file of which [from, to) is this process's. */
static pace_status cut(pace_job_stretches *out, size_t file, const char *path, const about_file *about, uint64_t from,
                       uint64_t to) {
    pace_job_stretch stretch = {.file = file, .whole = !about->plain, .size = about->size, .line = 1};
    if (stretch.whole) {
        stretch.end = about->size;
        return from == 0 ? PACE_PUSH(out, stretch) : PACE_OK;
    }
    PACE_TRY(row_from(&stretch.begin, path, from, about->size));
    PACE_TRY(row_from(&stretch.end, path, to, about->size));
    stretch.whole = stretch.begin == 0 && stretch.end == about->size;
    return from == 0 || stretch.begin < stretch.end ? PACE_PUSH(out, stretch) : PACE_OK;
}

static pace_status take_all(pace_job_stretches *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        PACE_TRY(PACE_PUSH(out, ((pace_job_stretch){.file = i, .whole = true, .line = 1})));
    return PACE_OK;
}

pace_status pace_job_stretches_of(pace_job_stretches *out, const char *const *paths, size_t count, size_t rank,
                                  size_t processes) {
    uint64_t all = 0, before = 0;
    for (size_t i = 0; i < count; i++) {
        about_file about = look_at(paths[i]);
        if (about.stream) return rank == 0 ? take_all(out, count) : PACE_OK;
        all += about.size;
    }
    uint64_t from = (uint64_t)((double)all * (double)rank / (double)processes);
    uint64_t to = rank + 1 == processes ? UINT64_MAX : (uint64_t)((double)all * (double)(rank + 1) / (double)processes);
    for (size_t i = 0; i < count; i++) {
        about_file about = look_at(paths[i]);
        uint64_t after = before + about.size;
        bool begins_here = before >= from && before < to;
        if (begins_here || (before < from && after > from))
            PACE_TRY(
                cut(out, i, paths[i], &about, begins_here ? 0 : from - before, to < after ? to - before : about.size));
        before = after;
    }
    return PACE_OK;
}

static bool count_line_ends(void *context, const char *bytes, size_t length) {
    uint64_t *lines = context;
    size_t found = 0;
    for (size_t i = 0; i < length; i++) found += bytes[i] == '\n';
    *lines += found;
    return true;
}

pace_status pace_job_stretch_lines(uint64_t *out, const pace_job_stretch *stretch, const char *path) {
    *out = 0;
    return for_bytes(path, stretch->begin, stretch->end, count_line_ends, out);
}

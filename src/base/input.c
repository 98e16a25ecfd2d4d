/*
 * Inputs: bytes of a file, of standard input or of memory, with gzip and zstd undone on the way. The stored bytes
 * come through one chunk (for memory, the chunk is the memory); a decoder turns it into what the caller reads.
 * The first failure is kept, so that the bytes before it can be handed out first.
 */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/foreign_bytes.h"
#include "base/memory.h"

enum { CHUNK_BYTES = 256 << 10, MAGIC_BYTES = 4, HEAD_BYTES = 512, MESSAGE_BYTES = 1024 };

/* Real traces compress 10 to 100 times; gzip reaches 1032 times, zstd far more. */
#define BOMB_RATIO UINT64_C(200)
#define BOMB_FLOOR (UINT64_C(1) << 30)
#define STEP_MAX ((size_t)1 << 30) /* zlib counts in unsigned int */

typedef enum { KIND_UNKNOWN, KIND_PLAIN, KIND_GZIP, KIND_ZSTD } input_kind;

struct pace_input {
    char *name;
    int fd; /* -1 = memory */
    bool owns_fd;
    struct stream *stream; /* of what comes once; NULL = a file that can be opened again */
    bool peeks;            /* at a stream: what it reads is kept */
    size_t peeked_at;      /* of what others have peeked at before */
    input_kind kind;

    const unsigned char *stored; /* the chunk being consumed: stored[at .. length) is left */
    size_t at, length;
    uint64_t base; /* place of stored[0] in the file */
    unsigned char *chunk;
    size_t chunk_bytes;
    uint64_t size;

    z_stream gzip;
    bool gzip_ready;
    ZSTD_DStream *zstd;
    bool inside; /* a gzip member or zstd frame has begun and not ended */
    uint64_t produced;
    uint64_t most; /* to be produced; 0 = BOMB_RATIO times what is stored, from BOMB_FLOOR on */

    pace_status status; /* the failure to repeat for ever */
    char message[MESSAGE_BYTES];
};

/* Standard input, named pipes and what a shell puts for <(COMMAND) come once. What was peeked at, [at, count), is read
 * before the rest; the pipe stays open in between, for its writer would else be told that nobody reads. */
typedef struct stream {
    bool used;
    dev_t device;
    ino_t number;
    int fd;
    unsigned char *items;
    size_t at, count, capacity;
} stream;

enum { MOST_STREAMS = 64 };
static stream streams[MOST_STREAMS];
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;

/* The stream behind a descriptor or path; with `fd` >= 0 one is made where there is none. NULL: there is none, or no
 * room for one. */
static stream *stream_of(const struct stat *about, int fd) {
    stream *found = NULL, *empty = NULL;
    pthread_mutex_lock(&streams_lock);
    for (size_t i = 0; i < MOST_STREAMS && !found; i++) {
        stream *one = &streams[i];
        if (one->used && one->device == about->st_dev && one->number == about->st_ino) found = one;
        if (!one->used && !empty) empty = one;
    }
    if (!found && fd >= 0 && empty) {
        *empty = (stream){.used = true, .device = about->st_dev, .number = about->st_ino, .fd = fd};
        found = empty;
    }
    pthread_mutex_unlock(&streams_lock);
    return found;
}

static void end_stream(stream *s) {
    if (s->fd != STDIN_FILENO) close(s->fd);
    pace_free(s->items);
    pthread_mutex_lock(&streams_lock);
    *s = (stream){0};
    pthread_mutex_unlock(&streams_lock);
}

static pace_status keep_peeked(stream *s, const void *bytes, size_t length) {
    if (length == 0) return PACE_OK;
    PACE_TRY(pace_grow(&s->items, &s->capacity, s->count + length, 1));
    memcpy(s->items + s->count, bytes, length);
    s->count += length;
    return PACE_OK;
}

static size_t copy_peeked(const stream *s, void *buffer, size_t capacity, size_t *at) {
    size_t left = s->count - *at, got = left < capacity ? left : capacity;
    if (got > 0) memcpy(buffer, s->items + *at, got);
    *at += got;
    return got;
}

static size_t take_peeked(stream *s, void *buffer, size_t capacity) {
    size_t got = copy_peeked(s, buffer, capacity, &s->at);
    if (s->items && s->at == s->count) {
        pace_free(s->items);
        s->items = NULL;
        s->at = s->count = s->capacity = 0;
    }
    return got;
}

/* ---- opening ---- */

bool pace_is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static _Thread_local uint64_t limit_bytes;

uint64_t pace_input_limit(void) { return limit_bytes; }

void pace_input_set_limit(uint64_t bytes) { limit_bytes = bytes; }

static pace_input *new_input(const char *name) {
    pace_input *input = pace_alloc(1, sizeof *input);
    if (!input) return NULL;
    input->fd = -1;
    input->most = limit_bytes;
    input->name = pace_copy_text(name, strlen(name));
    if (!input->name) {
        pace_free(input);
        return NULL;
    }
    return input;
}

/* Opens what is not being peeked at already. */
static void open_descriptor(pace_input *input, const char *path) {
    bool standard = strcmp(path, "-") == 0;
    struct stat about;
    if (!standard && stat(path, &about) == 0 && S_ISFIFO(about.st_mode)) input->stream = stream_of(&about, -1);
    input->fd = standard ? STDIN_FILENO : input->stream ? input->stream->fd : open(path, O_RDONLY | O_CLOEXEC);
    input->owns_fd = !standard && !input->stream;
    if (input->stream || input->fd < 0 || fstat(input->fd, &about) != 0) return;
    if (standard || (input->peeks && S_ISFIFO(about.st_mode))) input->stream = stream_of(&about, input->fd);
    if (input->stream) input->owns_fd = false;
}

static pace_status open_file(pace_input *input, const char *path) {
    open_descriptor(input, path);
    if (input->fd < 0) return pace_fail(PACE_E_IO, "%s: %s", input->name, strerror(errno));
    struct stat about;
    if (fstat(input->fd, &about) != 0) return pace_fail(PACE_E_IO, "%s: %s", input->name, strerror(errno));
    if (S_ISDIR(about.st_mode)) return pace_fail(PACE_E_IO, "%s: %s", input->name, strerror(EISDIR));
    if (S_ISREG(about.st_mode) && about.st_size > 0) input->size = (uint64_t)about.st_size;
    input->chunk_bytes = pace_input_room(input, CHUNK_BYTES);
    if (!PACE_MAKE(input->chunk, input->chunk_bytes)) return PACE_E_MEMORY;
    input->stored = input->chunk;
    return PACE_OK;
}

static pace_status open_input(pace_input **out, const char *path, bool peeks) {
    pace_input *input = new_input(strcmp(path, "-") == 0 ? "<stdin>" : path);
    if (!input) return PACE_E_MEMORY;
    input->peeks = peeks;
    pace_status status = open_file(input, path);
    return PACE_GIVE(out, input, status, pace_input_free(input));
}

pace_status pace_input_open(pace_input **out, const char *path) { return open_input(out, path, false); }

pace_status pace_input_peek(pace_input **out, const char *path) { return open_input(out, path, true); }

pace_status pace_input_open_memory(pace_input **out, const char *name, const void *bytes, size_t length) {
    pace_input *input = new_input(name);
    if (!input) return PACE_E_MEMORY;
    input->stored = bytes;
    input->length = length;
    input->size = length;
    *out = input;
    return PACE_OK;
}

void pace_input_free(pace_input *input) {
    if (!input) return;
    if (input->gzip_ready) inflateEnd(&input->gzip);
    ZSTD_freeDStream(input->zstd);
    if (input->stream && !input->peeks && input->fd != STDIN_FILENO) end_stream(input->stream);
    else if (input->owns_fd && input->fd >= 0) close(input->fd);
    PACE_FREE(input->chunk, input->name, input);
}

const char *pace_input_name(const pace_input *input) { return input->name; }

uint64_t pace_input_stored_bytes(const pace_input *input) { return input->base + input->at; }

uint64_t pace_input_stored_size(const pace_input *input) { return input->size; }

size_t pace_input_room(const pace_input *input, size_t most) {
    enum { LEAST = 4096 };
    bool known = input->size > 0 || input->fd < 0;
    if (!known || input->size >= most) return most;
    return input->size < LEAST ? LEAST : (size_t)input->size + 1;
}

pace_status pace_input_seek(pace_input *input, uint64_t at) {
    if (input->kind != KIND_PLAIN || input->fd < 0)
        return pace_fail(PACE_E_INTERNAL, "%s: no plain file, or not read so far", input->name);
    if (lseek(input->fd, (off_t)at, SEEK_SET) < 0)
        return pace_fail(PACE_E_IO, "%s: byte %llu: %s", input->name, (unsigned long long)at, strerror(errno));
    input->at = input->length = 0;
    input->base = at;
    return PACE_OK;
}

/* ---- stored bytes ---- */

static size_t left_over(const pace_input *input) { return input->length - input->at; }

static pace_status read_fd(pace_input *input, void *buffer, size_t capacity, size_t *got) {
    ssize_t n;
    bool keeps = input->stream && input->peeks;
    *got = keeps           ? copy_peeked(input->stream, buffer, capacity, &input->peeked_at)
           : input->stream ? take_peeked(input->stream, buffer, capacity)
                           : 0;
    if (*got > 0) return PACE_OK;
    do {
        n = read(input->fd, buffer, capacity < STEP_MAX ? capacity : STEP_MAX);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return pace_fail(PACE_E_IO, "%s: byte %llu: %s", input->name,
                         (unsigned long long)pace_input_stored_bytes(input), strerror(errno));
    }
    *got = (size_t)n;
    input->peeked_at += *got;
    return keeps ? keep_peeked(input->stream, buffer, *got) : PACE_OK;
}

/* Makes sure of at least one stored byte; none are left when the file is over. A pipe may deliver single bytes, so
 * it reads on until the head would fit that tells what it is. */
static pace_status fill_chunk(pace_input *input) {
    if (left_over(input) > 0 || input->fd < 0) return PACE_OK;
    input->base += input->length;
    input->at = input->length = 0;
    while (input->length < HEAD_BYTES) {
        size_t got = 0;
        PACE_TRY(read_fd(input, input->chunk + input->length, input->chunk_bytes - input->length, &got));
        if (got == 0) break;
        input->length += got;
    }
    return PACE_OK;
}

static pace_status broken(const pace_input *input, const char *what) {
    return pace_fail(PACE_E_INPUT, "%s: byte %llu of the compressed file: %s", input->name,
                     (unsigned long long)pace_input_stored_bytes(input), what);
}

/* ---- decoders ---- */

/* zlib's own memory is counted and made to fail like all other memory. */
static voidpf zlib_alloc(voidpf opaque, uInt count, uInt size) {
    (void)opaque;
    return pace_alloc(count, size);
}

static void zlib_free(voidpf opaque, voidpf block) {
    (void)opaque;
    pace_free(block);
}

static pace_status start_gzip(pace_input *input) {
    input->gzip.zalloc = zlib_alloc;
    input->gzip.zfree = zlib_free;
    if (inflateInit2(&input->gzip, 15 + 16) != Z_OK) return pace_fail(PACE_E_MEMORY, "out of memory (zlib)");
    input->gzip_ready = true;
    input->inside = true;
    return PACE_OK;
}

static pace_status start_zstd(pace_input *input) {
    input->zstd = ZSTD_createDStream();
    if (!input->zstd) return pace_fail(PACE_E_MEMORY, "out of memory (zstd)");
    input->inside = true;
    return PACE_OK;
}

static bool is_skippable_frame(const unsigned char *magic) {
    return (magic[0] & 0xf0) == 0x50 && magic[1] == 0x2a && magic[2] == 0x4d && magic[3] == 0x18;
}

static pace_status detect(pace_input *input) {
    PACE_TRY(fill_chunk(input));
    static const unsigned char zstd_magic[MAGIC_BYTES] = {0x28, 0xb5, 0x2f, 0xfd};
    const unsigned char *magic = input->stored;
    input->kind = KIND_PLAIN;
    if (input->length >= 2 && magic[0] == 0x1f && magic[1] == 0x8b) input->kind = KIND_GZIP;
    if (input->length >= MAGIC_BYTES && (memcmp(magic, zstd_magic, MAGIC_BYTES) == 0 || is_skippable_frame(magic))) {
        input->kind = KIND_ZSTD;
    }
    if (input->kind == KIND_GZIP) return start_gzip(input);
    if (input->kind == KIND_ZSTD) return start_zstd(input);
    return PACE_OK;
}

static pace_status read_plain(pace_input *input, unsigned char *buffer, size_t capacity, size_t *got) {
    size_t left = left_over(input);
    if (left == 0 && input->fd >= 0) { /* the chunk served detection; now the caller's buffer is filled directly */
        PACE_TRY(read_fd(input, buffer, capacity, got));
        input->base += *got;
        return PACE_OK;
    }
    *got = left < capacity ? left : capacity;
    if (*got > 0) memcpy(buffer, input->stored + input->at, *got);
    input->at += *got;
    return PACE_OK;
}

/* Between gzip members: *more tells whether another one begins. Zeros up to the end are tape padding. */
static pace_status next_member(pace_input *input, bool *more) {
    *more = false;
    bool padded = false;
    for (;;) {
        PACE_TRY(fill_chunk(input));
        if (left_over(input) == 0) return PACE_OK;
        if (input->stored[input->at] != 0) break;
        padded = true;
        input->at++;
    }
    if (padded || input->stored[input->at] != 0x1f) {
        return broken(input, "expected the end or another gzip member, found other bytes");
    }
    if (inflateReset(&input->gzip) != Z_OK) return pace_fail(PACE_E_INTERNAL, "%s: zlib lost its state", input->name);
    input->inside = *more = true;
    return PACE_OK;
}

static pace_status inflate_step(pace_input *input, unsigned char *buffer, size_t capacity, size_t *got) {
    z_stream *gzip = &input->gzip;
    size_t left = left_over(input) < STEP_MAX ? left_over(input) : STEP_MAX;
    size_t room = capacity - *got < STEP_MAX ? capacity - *got : STEP_MAX;
    gzip->next_in = (Bytef *)(uintptr_t)(input->stored + input->at);
    gzip->avail_in = (uInt)left;
    gzip->next_out = buffer + *got;
    gzip->avail_out = (uInt)room;
    int result = inflate(gzip, Z_NO_FLUSH);
    input->at += left - gzip->avail_in;
    *got += room - gzip->avail_out;
    if (result == Z_STREAM_END) input->inside = false;
    if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR) return PACE_OK;
    if (result == Z_MEM_ERROR) return pace_fail(PACE_E_MEMORY, "%s: out of memory (zlib)", input->name);
    char what[128];
    snprintf(what, sizeof what, "the gzip stream is corrupt (%s)", gzip->msg ? gzip->msg : "unknown fault");
    return broken(input, what);
}

static pace_status read_gzip(pace_input *input, unsigned char *buffer, size_t capacity, size_t *got) {
    while (*got < capacity) {
        if (!input->inside) {
            bool more;
            PACE_TRY(next_member(input, &more));
            if (!more) return PACE_OK;
        }
        PACE_TRY(fill_chunk(input));
        if (left_over(input) == 0) {
            /* what zlib holds back comes out before the end is a fault */
            size_t before = *got;
            PACE_TRY(inflate_step(input, buffer, capacity, got));
            if (*got == before && input->inside) return broken(input, "the gzip stream breaks off");
            continue;
        }
        PACE_TRY(inflate_step(input, buffer, capacity, got));
    }
    return PACE_OK;
}

static pace_status zstd_step(pace_input *input, unsigned char *buffer, size_t capacity, size_t *got) {
    ZSTD_inBuffer in = {input->stored + input->at, left_over(input), 0};
    ZSTD_outBuffer out = {buffer + *got, capacity - *got, 0};
    size_t result = ZSTD_decompressStream(input->zstd, &out, &in);
    input->at += in.pos;
    *got += out.pos;
    if (ZSTD_isError(result)) {
        char what[128];
        snprintf(what, sizeof what, "the zstd stream is corrupt (%s)", ZSTD_getErrorName(result));
        return broken(input, what);
    }
    input->inside = result != 0;
    return PACE_OK;
}

static pace_status read_zstd(pace_input *input, unsigned char *buffer, size_t capacity, size_t *got) {
    while (*got < capacity) {
        PACE_TRY(fill_chunk(input));
        bool over = left_over(input) == 0;
        if (over && !input->inside) return PACE_OK;
        size_t before = *got;
        PACE_TRY(zstd_step(input, buffer, capacity, got));
        if (over && *got == before && input->inside) return broken(input, "the zstd stream breaks off");
    }
    return PACE_OK;
}

/* A few kilobytes must not become an endless stream. */
static pace_status check_size(const pace_input *input) {
    uint64_t stored = pace_input_stored_bytes(input);
    if (input->most && input->produced > input->most)
        return pace_fail(PACE_E_LIMIT,
                         "%s: expected at most %llu bytes of content (" PACE_FIELD "max_size), found more", input->name,
                         (unsigned long long)input->most);
    if (input->most || input->kind == KIND_PLAIN) return PACE_OK;
    if (input->produced <= BOMB_FLOOR || input->produced / BOMB_RATIO <= stored) return PACE_OK;
    return pace_fail(PACE_E_LIMIT,
                     "%s: byte %llu of the compressed file: expands more than %llu times: " PACE_FIELD
                     "max_size=SIZE says how large it may become",
                     input->name, (unsigned long long)stored, (unsigned long long)BOMB_RATIO);
}

/* What no reader takes is told by its first bytes, here for all of them. */
static pace_status check_known(const pace_input *input, const unsigned char *first, size_t count) {
    if (input->fd < 0) return PACE_OK;
    return pace_foreign_bytes_refuse(input->name, first, count, input->kind != KIND_PLAIN);
}

static pace_status decode(pace_input *input, unsigned char *buffer, size_t capacity, size_t *got) {
    if (input->kind == KIND_UNKNOWN) PACE_TRY(detect(input));
    bool first = input->produced == 0;
    pace_status status = input->kind == KIND_PLAIN  ? read_plain(input, buffer, capacity, got)
                         : input->kind == KIND_GZIP ? read_gzip(input, buffer, capacity, got)
                                                    : read_zstd(input, buffer, capacity, got);
    input->produced += *got;
    if (status == PACE_OK && first) {
        status = check_known(input, buffer, *got);
        if (status != PACE_OK) *got = 0;
    }
    return status == PACE_OK ? check_size(input) : status;
}

pace_status pace_input_read(pace_input *input, void *buffer, size_t capacity, size_t *got) {
    *got = 0;
    if (input->status != PACE_OK) return pace_fail(input->status, "%s", input->message);
    if (capacity == 0) return PACE_OK;
    pace_status status = decode(input, buffer, capacity, got);
    if (status == PACE_OK) return PACE_OK;
    input->status = status;
    snprintf(input->message, sizeof input->message, "%s", pace_message_marked());
    return *got > 0 ? PACE_OK : status;
}

pace_status pace_input_read_all(char **out, size_t *length, pace_input *input, size_t most) {
    enum { CHUNK = 1 << 16 };
    PACE_VEC(char) bytes = {0};
    pace_status status = PACE_OK;
    for (size_t got = 1, room; status == PACE_OK && got > 0;) {
        if (bytes.count + 2 > bytes.capacity)
            status = pace_grow(&bytes.items, &bytes.capacity, bytes.count + pace_input_room(input, CHUNK) + 1, 1);
        room = bytes.capacity - bytes.count - 1;
        if (status == PACE_OK) status = pace_input_read(input, bytes.items + bytes.count, room, &got);
        if (status == PACE_OK) bytes.count += got;
        if (status == PACE_OK && bytes.count > most)
            status = pace_fail(PACE_E_LIMIT, "%s: expected at most %zu %s", pace_input_name(input),
                               most >> 20 ? most >> 20 : most >> 10, most >> 20 ? "MiB" : "KiB");
    }
    if (status == PACE_OK) bytes.items[bytes.count] = '\0', *length = bytes.count;
    return PACE_GIVE(out, bytes.items, status, PACE_VEC_FREE(&bytes));
}

pace_status pace_input_read_file(void *out, const char *path, pace_status (*read)(void *out, pace_input *input)) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = read(out, input);
    pace_input_free(input);
    return status;
}
